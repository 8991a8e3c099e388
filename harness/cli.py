"""The command line: arguments in, an exit status out (product contract, section 5).

Exit status: 0 conforms, 1 violations or failures found, 2 bad usage or unreadable input, 3 the harness itself failed.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
import tomllib
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from harness import __version__, checking, inputs, suite
from harness import cassette as cassettes
from harness.adapters import Ours
from harness.cassette.model import Cassette
from harness.conformance import known as known_deviations
from harness.conformance.trace import Trace
from harness.conformance.verdict import Verdict
from harness.dialects import dialect as dialect_called
from harness.errors import HarnessError, InputError, Where
from harness.reporting import markdown, results
from harness.reporting.excerpt import harmless
from harness.reporting.terminal import Terminal

app = typer.Typer(
    name="streamproof",
    help="Proves that a streamed turn is the turn the model would have returned without streaming.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_JSON = typer.Option("--json", help="Print JSON lines on standard output, and nothing else there.")
_ASCII = typer.Option("--ascii", help="Keep to plain letters.")
_LONG = 40  # cassettes from which on a progress bar is worth it


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    _State.debug = debug


class _State:
    debug = False


@app.command()
def run(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Cassettes, or folders of them. Default: the cassettes that are shipped.")
    ] = None,
    adapter: Annotated[list[str] | None, typer.Option(help="A system under test; may be given again.")] = None,
    known: Annotated[list[Path] | None, typer.Option(help="A file of known deviations; may be given again.")] = None,
    reports: Annotated[Path, typer.Option(help="The folder that reports are written to.")] = Path("reports"),
    as_json: Annotated[bool, _JSON] = False,
    ascii_only: Annotated[bool, _ASCII] = False,
) -> None:
    """Replay cassettes, compare what comes out with the twin, judge, and write a report."""
    _adapters(adapter or ["ours"])
    selected = _Selection(paths or [])
    deviations = [*selected.known(), *_configured(known, partial=selected.partial)]
    versions = {"ours": Ours().version}
    with results.Draft(reports) as draft:
        with _progress(len(selected.cassettes), quiet=as_json) as advance:
            outcome = suite.run(selected.cassettes, known=deviations, progress=advance)
        lines = list(results.render(outcome, version=__version__, selection=selected.names, adapters=versions))
        draft.write("results.jsonl", lines)
        draft.write("report.md", markdown.render(outcome, version=__version__).split("\n"))
        folder = draft.publish(datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S"))
    if as_json:
        _print_json(lines)
    else:
        terminal = Terminal(Console(highlight=False), ascii=ascii_only)
        terminal.head(__version__, outcome, list(versions))
        terminal.table(outcome)
        terminal.failures(outcome, selected.body_of, selected.again)
        terminal.summary(outcome, f"{folder}/")
    raise typer.Exit(3 if outcome.harness_failed else 0 if outcome.conforms else 1)


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Captures, scenario files, exchange folders or cassettes.")],
    dialect: Annotated[str | None, typer.Option(help="The API, where it should not be detected.")] = None,
    as_json: Annotated[bool, _JSON] = False,
    ascii_only: Annotated[bool, _ASCII] = False,
) -> None:
    """Judge captures: the reassembled response and the findings."""
    terminal = Terminal(Console(highlight=False), ascii=ascii_only)
    status = 0
    for path in files:
        for given in inputs.load(path, dialect):
            checked = checking.check(given)
            if as_json:
                _print_json([results.dumped(checked.as_dict())])
            else:
                terminal.checked(checked)
            status = max(status, int(checked.outcome is not checking.Outcome.OK))
    raise typer.Exit(status)


@app.command(name="cassettes")
def list_cassettes(
    paths: Annotated[list[Path] | None, typer.Argument(help="Folders of cassettes. Default: the shipped ones.")] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    """List cassettes: id, model, what they hold."""
    terminal = Terminal(Console(highlight=False))
    for case in _Selection(paths or []).cassettes:
        row = {
            "id": case.id,
            "dialect": case.dialect,
            "provider": case.provider,
            "model": case.model,
            "stream": case.stream is not None,
            "reference": case.reference is not None,
            "match": case.match,
            "provenance": case.provenance.kind,
        }
        if as_json:
            _print_json([results.dumped(row)])
        else:
            sides = "stream + twin" if case.stream and case.reference else "stream" if case.stream else "plain"
            terminal.line(f"{case.id}  {case.model or '-'}  {sides}  {case.match}  {case.provenance.kind}")


def main() -> None:
    """Run the program; whatever goes wrong ends in one line that says where and what to do."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(standalone_mode=True)
    except HarnessError as error:
        _fail(error, 2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        _fail(error, 3)


def _fail(error: Exception, status: int) -> None:
    if _State.debug:
        traceback.print_exception(error)
        sys.exit(status)
    said = str(error) if isinstance(error, HarnessError) else f"streamproof itself failed: {type(error).__name__}: {error}"
    hint = "" if isinstance(error, HarnessError) else " (run again with --debug before the command, and report it)"
    sys.stderr.write(f"streamproof: {harmless(said)}{hint}\n")
    sys.exit(status)


def _print_json(lines: Iterable[str]) -> None:
    """JSON is UTF-8, whatever the terminal speaks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.writelines(f"{line}\n" for line in lines)


class _Selection:
    """The cassettes that a command was given, each with the path it came from."""

    def __init__(self, paths: list[Path]) -> None:
        self.names = [str(path) for path in paths] or ["shipped cassettes"]
        self._paths = list(dict.fromkeys(paths)) or [cassettes.shipped()]
        self.partial = any(path.is_file() for path in self._paths)
        """Whether only some of the cassettes of a folder are looked at."""
        self.cassettes: list[Cassette] = []
        self._from: dict[str, list[Path]] = defaultdict(list)
        self._called: dict[str, list[Cassette]] = defaultdict(list)
        for path in self._paths:
            for case in cassettes.load(path):
                self.cassettes.append(case)
                self._from[case.id].append(path)
                self._called[case.id].append(case)
        if not self.cassettes:
            raise InputError("no cassette there", where=", ".join(self.names), hint="give a cassette or a folder of them")

    def known(self) -> Iterator[known_deviations.Known]:
        """The known.toml files in the folders given, for the cassettes beside them."""
        for path in self._paths:
            for file in sorted(path.rglob(known_deviations.FILE)) if path.is_dir() else ():
                yield from known_deviations.load(file, below=_below(file.parent))
            if path.is_file() and (file := path.parent / known_deviations.FILE).is_file():
                yield from known_deviations.load(file, below=_below(file.parent), partial=True)

    def body_of(self, where: Where) -> bytes | None:
        """The response body that a place lies in; None where two cassettes share the name."""
        cases = self._called.get(where.cassette or "", [])
        side = (cases[0].stream, cases[0].reference)[where.exchange or 0] if len(cases) == 1 else None
        return Trace(side, dialect_called(cases[0].dialect)).body if side is not None else None

    def again(self, verdict: Verdict) -> str:
        """The command that shows a verdict again."""
        paths = (_narrowest(path, verdict.cassette) for path in self._from[verdict.cassette])
        return f"streamproof run {' '.join(shlex.quote(str(path)) for path in dict.fromkeys(paths))}"


def _narrowest(path: Path, name: str) -> Path:
    """The file or folder of a cassette below the path that it came from, if it stands where its name says."""
    inner = path / name
    return next((p for p in (inner, inner.with_name(f"{inner.name}.yaml")) if path.is_dir() and p.exists()), path)


def _below(folder: Path) -> str:
    """The start of the ids of the cassettes in a folder `<dialect>/<provider>`."""
    return "/".join(Path(os.path.abspath(folder)).parts[-2:])  # not resolved: a link is called what it is called


def _adapters(names: list[str]) -> None:
    unknown = [name for name in names if name != "ours"]
    if unknown:
        raise InputError(f"no adapter is called {unknown[0]!r}", hint="there is: ours")


def _configured(given: list[Path] | None, *, partial: bool) -> Iterator[known_deviations.Known]:
    """The known deviations in the files given, and in those that `known` of [tool.streamproof] names in the pyproject.toml of
    this folder."""
    for path in [*(given or []), *_in_project(Path("pyproject.toml"))]:
        yield from known_deviations.load(path, partial=partial)


def _in_project(project: Path) -> list[Path]:
    if not project.is_file():
        return []
    try:
        table: Any = tomllib.loads(project.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", where=str(project), hint="known deviations may stand there") from None
    for step in ("tool", "streamproof"):
        table = table.get(step, {}) if isinstance(table, dict) else {}
    listed = table.get("known", []) if isinstance(table, dict) else []
    if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
        hint = 'write known = ["FILE"]'
        raise InputError("known must be a list of file names", where=f"{project} [tool.streamproof]", hint=hint)
    return [project.parent / entry for entry in listed]


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Any]:
    """A progress bar on standard error, where that is a terminal and the run is long."""
    console = Console(stderr=True)
    if quiet or total < _LONG or not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("replaying", total=total)
        yield lambda _: bar.advance(task)
