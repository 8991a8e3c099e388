"""The pytest plugin. It is loaded with pytest, hence it loads no more than `import harness` until a test asks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.cassette.model import Cassette
    from harness.recording import Recorder
    from harness.testing.session import Case, Options, Session

_SESSION = pytest.StashKey["Session"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("streamproof", "conformance of LLM provider adapters")
    group.addoption(
        "--streamproof-cassettes", action="append", metavar="DIR", help="take these cassettes, not those of the class"
    )
    group.addoption("--streamproof-dialect", action="append", metavar="NAME", help="only this dialect; may be given again")
    group.addoption("--streamproof-fault", action="append", metavar="NAME", help="this fault, not those of the class; or none")
    group.addoption("--streamproof-report", metavar="PATH", help="write the results of all conformance tests to this file")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "streamproof_cassette(id): the shipped cassette that the fixture `cassette` gives")


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
    cases = _session(metafunc.config).cases(tests, _options(metafunc.config))
    metafunc.parametrize("streamproof_case", [_param(case, known_of(tests, case)) for case in cases], indirect=True)


def _param(case: Case, known: Any) -> Any:
    fails = pytest.fail.Exception
    marks = [pytest.mark.xfail(reason=known.reason, strict=True, raises=fails)] if known is not None else []
    return pytest.param(case, id=case.id, marks=marks)


@pytest.fixture
def streamproof_case(request: pytest.FixtureRequest) -> Case:
    """The cassette and the fault of a conformance test."""
    from dataclasses import replace

    case: Case = request.param
    return replace(case, node=request.node)


@pytest.fixture
def cassette(request: pytest.FixtureRequest) -> Cassette:
    """The cassette of a conformance test, or the shipped one that `@pytest.mark.streamproof_cassette("id")` names."""
    if "streamproof_case" in request.fixturenames:
        case: Case = request.getfixturevalue("streamproof_case")
        return case.cassette
    mark = request.node.get_closest_marker("streamproof_cassette")
    if mark is None or not mark.args:
        pytest.fail('the fixture cassette wants to know which: @pytest.mark.streamproof_cassette("openai-chat/llamacpp/text")')
    from harness import cassette as cassettes

    return cassettes.load_one(cassettes.shipped() / f"{mark.args[0]}.yaml")


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


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Gather verdicts; under pytest-xdist they come with the reports of the workers."""
    if report.when == "call" and any(name == "streamproof" for name, _ in report.user_properties):
        _gathered.append(report)


_gathered: list[pytest.TestReport] = []


def pytest_sessionstart() -> None:
    _gathered.clear()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption("--streamproof-report")
    if path is None or hasattr(session.config, "workerinput"):
        return
    from harness.testing.report import write

    write(path, _gathered)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """What was not tested, and why."""
    session = config.stash.get(_SESSION, None)
    if session is not None:
        for (name, reason), cells in session.deselected.items():
            count = Counter(cell.split(" ")[0] for cell in cells)
            terminalreporter.write_line(
                f"streamproof: {name}: {len(cells)} tests of {len(count)} cassettes deselected: {reason}"
            )
    path = config.getoption("--streamproof-report")
    if path is not None and _gathered:
        terminalreporter.write_line(f"streamproof: {len(_gathered)} verdicts in {path}")


def _session(config: pytest.Config) -> Session:
    from harness.testing.session import Session

    return config.stash.setdefault(_SESSION, Session())


def _options(config: pytest.Config) -> Options:
    from harness import dialects
    from harness.errors import HarnessError
    from harness.testing.session import Options

    try:
        spoken = tuple(dialects.dialect(name).name for name in config.getoption("--streamproof-dialect") or ())
    except HarnessError as error:
        raise pytest.UsageError(f"--streamproof-dialect: {error}") from None
    return Options(
        cassettes=tuple(config.getoption("--streamproof-cassettes") or ()),
        dialects=spoken,
        faults=tuple(config.getoption("--streamproof-fault") or ()),
    )
