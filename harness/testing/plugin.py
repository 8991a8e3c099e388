"""The pytest plugin. It is loaded with every pytest on the machine, hence it loads nothing else until a test asks for it."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.cassette.model import Cassette
    from harness.recording import Recorder
    from harness.testing.session import Case, Options, Session

_SESSION = pytest.StashKey["Session"]()
_OPTIONS = ("cassettes", "dialect", "fault")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("streamproof", "conformance of LLM provider adapters")
    group.addoption(
        "--streamproof-cassettes", action="append", metavar="DIR", help="take these cassettes, not those of the class"
    )
    group.addoption("--streamproof-dialect", action="append", metavar="NAME", help="only this dialect; may be given again")
    group.addoption("--streamproof-fault", action="append", metavar="NAME", help="this fault, not those of the class; or none")
    group.addoption("--streamproof-report", metavar="PATH", help="write the results of all conformance tests to this file")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "streamproof_cassette(name): the cassette that the fixture `cassette` gives: the id of a shipped one, or a file",
    )
    if any(config.getoption(f"--streamproof-{name}") for name in _OPTIONS):
        _session(config)  # it looks at them
    config.pluginmanager.register(_Gathering(config), "streamproof-gathering")


def pytest_unconfigure(config: pytest.Config) -> None:
    session = config.stash.get(_SESSION, None)
    if session is not None:
        session.stack.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each cassette and fault."""
    if "streamproof_case" not in metafunc.fixturenames:
        return
    from harness.testing.conformance import ProviderConformance
    from harness.testing.session import known_of

    tests = metafunc.cls
    if tests is None or not issubclass(tests, ProviderConformance):
        return
    cases = _session(metafunc.config).cases(tests)
    metafunc.parametrize("streamproof_case", [_param(case, known_of(tests, case)) for case in cases], indirect=True)


def _param(case: Case, known: Any) -> Any:
    fails = pytest.fail.Exception
    marks = [pytest.mark.xfail(reason=known.reason, strict=True, raises=fails)] if known is not None else []
    return pytest.param(case, id=case.id, marks=marks)


def pytest_enter_pdb() -> None:
    """A test that somebody looks at does not hang."""
    from harness.testing.door import debugged

    debugged.set()


@pytest.fixture
def streamproof_case(request: pytest.FixtureRequest) -> Case:
    """The cassette and the fault of a conformance test."""
    from dataclasses import replace

    case: Case = request.param
    return replace(case, item=request.node)


@pytest.fixture
def cassette(request: pytest.FixtureRequest) -> Cassette:
    """The cassette of a conformance test, or the one that `@pytest.mark.streamproof_cassette(name)` names: the id of a shipped
    one, or a file beside the test."""
    if "streamproof_case" in request.fixturenames:
        case: Case = request.getfixturevalue("streamproof_case")
        return case.cassette
    mark = request.node.get_closest_marker("streamproof_cassette")
    if mark is None or not mark.args:
        pytest.fail('the fixture cassette wants to know which: @pytest.mark.streamproof_cassette("openai-chat/llamacpp/text")')
    from harness import cassette as cassettes

    beside = request.path.parent / mark.args[0]
    return cassettes.load_one(beside if beside.is_file() else cassettes.shipped() / f"{mark.args[0]}.yaml")


@pytest.fixture
def replay_server() -> Iterator[Any]:
    """`replay_server(cassettes, **settings)`: a server that stops with the test (`harness.serving.fixtures`)."""
    from harness.serving.fixtures import starting

    with starting() as start:
        yield start


@pytest.fixture
def recorder() -> Recorder:
    """Keeps what passes through `harness.recording.RecordingTransport(inner, recorder)`."""
    from harness.recording import Recorder

    return Recorder()


class _Gathering:
    """Gathers verdicts, which come with the reports of tests, and what was deselected; under pytest-xdist from its workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._began = time.monotonic()
        self._is_worker = hasattr(config, "workerinput")
        self._path: str | None = None if config.option.collectonly else config.getoption("--streamproof-report")
        self._reports: list[pytest.TestReport] = []
        self._deselected = "[]"
        if self._path and not self._is_worker:
            self._begin(Path(self._path))

    def _begin(self, path: Path) -> None:
        """An old report is not to be taken for that of a session that broke off."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
        except OSError as error:
            raise pytest.UsageError(f"--streamproof-report: {error}") from None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and any(name == "streamproof" for name, _ in report.user_properties):
            self._reports.append(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Every worker has collected the same tests."""
        self._deselected = getattr(node, "workeroutput", {}).get("streamproof", self._deselected)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        session = self._config.stash.get(_SESSION, None)
        if session is not None and session.deselected:
            from harness.testing.report import packed

            self._deselected = packed(session.deselected)
        if self._is_worker:
            self._config.workeroutput["streamproof"] = self._deselected  # type: ignore[attr-defined]
        elif self._path:
            from harness.testing.report import unpacked, write

            write(self._path, self._reports, unpacked(self._deselected), time.monotonic() - self._began)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What was not tested, and why."""
        told = [(each["adapter"], each["findings"][0]["message"], each["cassette"]) for each in json.loads(self._deselected)]
        for (name, reason), count in Counter(each[:2] for each in told).items():
            of = len({each for each in told if each[:2] == (name, reason)})
            terminalreporter.write_line(f"streamproof: {name}: {count} tests of {of} cassettes deselected: {reason}")
        if self._path and self._reports:
            terminalreporter.write_line(f"streamproof: {len(self._reports)} verdicts in {self._path}")


def _session(config: pytest.Config) -> Session:
    session = config.stash.get(_SESSION, None)
    if session is None:
        from harness.testing.session import Session

        session = config.stash[_SESSION] = Session(_options(config))
    return session


def _options(config: pytest.Config) -> Options:
    """Raises `UsageError` for an option that names what there is not."""
    from harness import dialects
    from harness.errors import HarnessError
    from harness.replay.faults.catalogue import called
    from harness.testing.session import Options

    places, spoken, faults = (config.getoption(f"--streamproof-{name}") or () for name in _OPTIONS)
    option = "dialect"
    try:
        names = tuple(dialects.dialect(name).name for name in spoken)
        option = "fault"
        for fault in faults:
            for name in fault.split("+") if fault != "none" else ():
                called(name)
    except HarnessError as error:
        raise pytest.UsageError(f"--streamproof-{option}: {error}") from None
    roots = tuple(config.invocation_params.dir / place for place in places)
    for root in roots:
        if not root.exists():
            raise pytest.UsageError(f"--streamproof-cassettes: there is no {root}")
    said = (("cassettes", places), ("fault", faults))
    words = tuple(word for name, values in said for value in values for word in (f"--streamproof-{name}", value))
    return Options(roots=roots, dialects=names, faults=tuple(faults), words=words)
