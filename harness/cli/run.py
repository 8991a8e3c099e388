"""`streamproof run`: the main job."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness import __version__, suite
from harness.adapters import Ours
from harness.cli.base import ASCII, IGNORE, JSON, SELECT, app, print_json, progress
from harness.cli.selection import Selection, configured
from harness.conformance.rules.choice import Choice
from harness.errors import InputError
from harness.reporting import markdown, results
from harness.reporting.terminal import Terminal


@app.command()
def run(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Cassettes, or folders of them. Default: the cassettes that are shipped.")
    ] = None,
    adapter: Annotated[list[str] | None, typer.Option(help="A system under test; may be given again.")] = None,
    known: Annotated[list[Path] | None, typer.Option(help="A file of known deviations; may be given again.")] = None,
    select: Annotated[list[str] | None, SELECT] = None,
    ignore: Annotated[list[str] | None, IGNORE] = None,
    reports: Annotated[Path, typer.Option(help="The folder that reports are written to.")] = Path("reports"),
    as_json: Annotated[bool, JSON] = False,
    ascii_only: Annotated[bool, ASCII] = False,
) -> None:
    """Replay cassettes, compare what comes out with the twin, judge, and write a report."""
    _adapters(adapter or ["ours"])
    choice = Choice.of(select, ignore)
    selected = Selection(paths or [])
    deviations = [*selected.known(), *configured(known, partial=selected.partial)]
    versions = {"ours": Ours().version}
    with results.Draft(reports) as draft:
        with progress(len(selected.cassettes), quiet=as_json) as advance:
            outcome = suite.run(selected.cassettes, known=deviations, choice=choice, progress=advance)
        lines = list(
            results.render(outcome, version=__version__, selection=[*selected.names, *choice.said()], adapters=versions)
        )
        draft.write("results.jsonl", lines)
        draft.write("report.md", markdown.render(outcome, version=__version__).split("\n"))
        folder = draft.publish(datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S"))
    if as_json:
        print_json(lines)
    else:
        terminal = Terminal(Console(highlight=False), ascii=ascii_only)
        terminal.head(__version__, outcome, list(versions))
        terminal.table(outcome)
        terminal.failures(outcome, selected.body_of, lambda verdict: " ".join([selected.again(verdict), *choice.said()]))
        terminal.summary(outcome, f"{folder}/")
    raise typer.Exit(3 if outcome.harness_failed else 0 if outcome.conforms else 1)


def _adapters(names: list[str]) -> None:
    unknown = [name for name in names if name != "ours"]
    if unknown:
        raise InputError(f"no adapter is called {unknown[0]!r}", hint="there is: ours")
