"""`streamproof run`: the main job."""

from __future__ import annotations

import os
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
from harness.findings import Level
from harness.reporting import html, markdown, results
from harness.reporting.terminal import Terminal
from harness.suite import Outcome


@app.command()
def run(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Cassettes, or folders of them. Default: the cassettes that are shipped.")
    ] = None,
    adapter: Annotated[
        list[str] | None,
        typer.Option(
            help="A system under test in place of ours: a name, a glob, or the path of a program; may be given again."
        ),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(help="With --adapter: what goes wrong; a name of `streamproof faults`, or none; may be given again."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="With --adapter: how many are asked at once.", min=1)] = os.cpu_count() or 1,
    timeout: Annotated[float, typer.Option(help="With --adapter: seconds that a client may wait.", min=0.1)] = 5.0,
    fresh: Annotated[bool, typer.Option("--fresh", help="With --adapter: do not go on where a run was interrupted.")] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="With --adapter: the results.jsonl of an earlier run; only what differs fails.")
    ] = None,
    shard: Annotated[
        str | None, typer.Option(help="Only a part of the cassettes: 1/3 is every third from the first on.")
    ] = None,
    known: Annotated[list[Path] | None, typer.Option(help="A file of known deviations; may be given again.")] = None,
    fail_on: Annotated[
        Level, typer.Option(help="From which level on a finding makes the run fail; known deviations never do.")
    ] = Level.MUST,
    select: Annotated[list[str] | None, SELECT] = None,
    ignore: Annotated[list[str] | None, IGNORE] = None,
    reports: Annotated[Path, typer.Option(help="The folder that reports are written to.")] = Path("reports"),
    as_json: Annotated[bool, JSON] = False,
    ascii_only: Annotated[bool, ASCII] = False,
) -> None:
    """Replay cassettes, compare what comes out with the twin, judge, and write a report."""
    choice = Choice.of(select, ignore)
    selected = Selection(paths or [], shard)
    deviations = [*selected.known(), *configured(known, partial=selected.partial)]
    if fault or baseline or (adapter or ["ours"]) != ["ours"]:
        if not choice.all:
            raise InputError("--select and --ignore choose rules, which are about streams and not about clients")
        from harness.cli import matrix

        asked = matrix.Asked(
            adapters=adapter or ["ours"],
            faults=fault or [],
            jobs=jobs,
            timeout=timeout,
            fresh=fresh,
            baseline=baseline,
            reports=reports,
            as_json=as_json,
            ascii=ascii_only,
        )
        raise typer.Exit(matrix.run(asked, selected, deviations))
    versions = {"ours": Ours().version}
    with results.Draft(reports) as draft:
        with progress(len(selected.cassettes), quiet=as_json) as advance:
            ours = [entry for entry in deviations if not entry.adapters]
            outcome = suite.run(selected.cassettes, known=ours, choice=choice, progress=advance)
        lines = list(
            results.render(outcome, version=__version__, selection=[*selected.names, *choice.said()], adapters=versions)
        )
        draft.write("results.jsonl", lines)
        draft.write("report.md", markdown.render(outcome, version=__version__).split("\n"))
        draft.write("report.html", [html.render(list(map(results.parsed, lines)), cassettes=selected.cassettes)])
        folder = draft.publish(datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S"))
    if as_json:
        print_json(lines)
    else:
        terminal = Terminal(Console(highlight=False), ascii=ascii_only)
        terminal.head(__version__, outcome, list(versions))
        terminal.table(outcome)
        terminal.failures(outcome, selected.body_of, lambda verdict: " ".join([selected.again(verdict), *choice.said()]))
        terminal.summary(outcome, f"{folder}/")
    conforms = outcome.conforms and not _reached(outcome, fail_on)
    raise typer.Exit(3 if outcome.harness_failed else 0 if conforms else 1)


def _reached(outcome: Outcome, level: Level) -> bool:
    """Whether a finding is as grave as this."""
    grave = list(Level)[: list(Level).index(level) + 1]
    return any(f.level in grave and f.known is None for v in outcome.verdicts for f in v.findings)
