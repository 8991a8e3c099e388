"""The command line: arguments in, an exit status out (product contract, section 5).

Exit status: 0 conforms, 1 violations or failures found, 2 bad usage or unreadable input, 3 the harness itself failed.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
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
    selected = _Selection(paths or [])
    _adapters(adapter or ["ours"])
    deviations = [*selected.known(), *(d for path in _configured(known) for d in known_deviations.load(path))]
    with _progress(len(selected.cassettes), quiet=as_json) as advance:
        outcome = suite.run(selected.cassettes, known=deviations, progress=advance)
    versions = {"ours": Ours().version}
    lines = list(results.render(outcome, version=__version__, selection=selected.names, adapters=versions))
    folder = _fresh(reports)
    results.write(folder / "results.jsonl", lines)
    results.write(folder / "report.md", markdown.render(outcome, version=__version__).split("\n"))
    if as_json:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
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
                sys.stdout.write(results.dumped(checked.as_dict()) + "\n")
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
            sys.stdout.write(results.dumped(row) + "\n")
        else:
            sides = "stream + twin" if case.stream and case.reference else "stream" if case.stream else "plain"
            sys.stdout.write(f"{case.id}  {case.model or '-'}  {sides}  {case.match}  {case.provenance.kind}\n")


def main() -> None:
    """Run the program; whatever goes wrong ends in one line that says where and what to do."""
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
        raise error
    said = str(error) if isinstance(error, HarnessError) else f"streamproof itself failed: {type(error).__name__}: {error}"
    hint = "" if isinstance(error, HarnessError) else " (run again with --debug before the command, and report it)"
    sys.stderr.write(f"streamproof: {said}{hint}\n")
    sys.exit(status)


class _Selection:
    """The cassettes that a command was given, each with the path it came from."""

    def __init__(self, paths: list[Path]) -> None:
        self.names = [str(path) for path in paths] or ["shipped cassettes"]
        self._paths = paths or [cassettes.shipped()]
        self.cassettes: list[Cassette] = []
        self._from: dict[str, Path] = {}
        for path in self._paths:
            for case in cassettes.load(path):
                self.cassettes.append(case)
                self._from.setdefault(case.id, path)
        if not self.cassettes:
            raise InputError("no cassette there", where=", ".join(self.names), hint="give a cassette or a folder of them")
        self._by_id = {case.id: case for case in self.cassettes}

    def known(self) -> Iterator[known_deviations.Known]:
        """The known.toml files in the folders given, for the cassettes beside them."""
        for path in self._paths:
            for file in sorted(path.rglob(known_deviations.FILE)) if path.is_dir() else ():
                yield from known_deviations.load(file, below=_below(file.parent))
            if path.is_file() and (file := path.parent / known_deviations.FILE).is_file():
                yield from known_deviations.load(file, below=_below(file.parent), partial=True)

    def body_of(self, where: Where) -> bytes | None:
        """The response body that a place lies in."""
        case = self._by_id.get(where.cassette or "")
        side = (case.stream, case.reference)[where.exchange or 0] if case is not None else None
        return Trace(side, dialect_called(case.dialect)).body if case is not None and side is not None else None

    def again(self, verdict: Verdict) -> str:
        """The command that shows a verdict again."""
        path = self._from[verdict.cassette]
        inner = path if path.is_file() else path / verdict.cassette
        return f"streamproof run {inner if inner.exists() else inner.with_name(inner.name + '.yaml')}"


def _below(folder: Path) -> str:
    """The start of the ids of the cassettes in a folder `<dialect>/<provider>`."""
    return "/".join(folder.parts[-2:])


def _adapters(names: list[str]) -> None:
    unknown = [name for name in names if name != "ours"]
    if unknown:
        raise InputError(f"no adapter is called {unknown[0]!r}", hint="there is: ours")


def _configured(given: list[Path] | None) -> list[Path]:
    """Files of known deviations: those given, and `known` of [tool.streamproof] in the pyproject.toml of this folder."""
    project = Path("pyproject.toml")
    listed: list[Any] = []
    if project.is_file():
        try:
            table = tomllib.loads(project.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"is no TOML: {error}", where=str(project)) from None
        listed = table.get("tool", {}).get("streamproof", {}).get("known", [])
        if not isinstance(listed, list) or not all(isinstance(entry, str) for entry in listed):
            raise InputError("known must be a list of file names", where=f"{project} [tool.streamproof]")
    return [*(given or []), *map(Path, listed)]


def _fresh(reports: Path) -> Path:
    """A new folder for a run, named by the time in UTC; a number follows where one second has seen two runs."""
    name = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S")
    folder = reports / name
    number = 1
    while True:
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
            folder = reports / f"{name}-{number}"
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", where=str(folder), hint="choose one with --reports") from None
        else:
            return folder


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
