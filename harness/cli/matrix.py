"""`streamproof run --adapter …`: other people's clients on our bytes."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from rich.console import Console

from harness import __version__, matrix
from harness.adapters import doors, environments
from harness.adapters.process import Process
from harness.adapters.subjects import Subject
from harness.cassette.model import Cassette
from harness.cli.base import print_json, progress
from harness.cli.selection import Selection
from harness.conformance.known import Known, apply
from harness.conformance.verdict import Verdict
from harness.errors import InputError, Where
from harness.reporting import compatibility, html, results
from harness.reporting.cells import Cells
from harness.reporting.terminal import Terminal
from harness.serving import serving
from harness.suite import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line wants of a matrix. `baseline` is the results file of an earlier run: cells that are as they were
    there are known."""

    adapters: Sequence[str]
    faults: Sequence[str]
    jobs: int
    timeout: float
    fresh: bool
    baseline: Path | None
    reports: Path
    as_json: bool
    ascii: bool


def run(asked: Asked, selected: Selection, known: Sequence[Known]) -> int:
    """Grade these adapters, write the reports, and give the exit status."""
    talk = Terminal(Console(stderr=True, highlight=False), ascii=asked.ascii)
    wanted = doors.named(asked.adapters)
    plan = matrix.plan(wanted, selected.cassettes, asked.faults)
    if not plan.cells:
        hint = f"they speak {', '.join(sorted({d for s in wanted for d in s.dialects}))}"
        raise InputError("none of the adapters speaks the dialect of any of the cassettes", hint=hint)
    start = _started([s for s in wanted if any(cell.subject == s.name for cell in plan.cells)], talk)
    plan = replace(plan, cells=tuple(cell for cell in plan.cells if cell.subject in start))
    began = time.monotonic()
    with matrix.Journal(asked.reports, _identity(asked, wanted, selected.cassettes), afresh=asked.fresh) as journal:
        if journal.done:
            talk.line(f"{len(journal.done)} cells were done before the interruption (--fresh asks for all of them anew)")
        with serving(selected.cassettes) as server, progress(len(plan.cells), quiet=asked.as_json, doing="asking") as advance:
            who = {subject.name: subject for subject in wanted}
            bench = matrix.Bench(
                selected.cassettes, server, timeout=asked.timeout, omits=lambda name, dialect: who[name].omits(dialect)
            )
            verdicts = matrix.run(plan, bench, start, journal, jobs=asked.jobs, progress=advance)
    verdicts, stale = apply(verdicts, [entry for entry in known if entry.adapters], date.today())
    if asked.baseline is not None:
        verdicts, worse = results.since(verdicts, asked.baseline)
        stale += worse
    outcome = Outcome(
        verdicts=verdicts, stale=stale, cassettes=len({v.cassette for v in verdicts}), seconds=time.monotonic() - began
    )
    _reported(asked, outcome, [s for s in wanted if s.name in start], selected, bench)
    journal.remove()
    missing = len({cell.subject for cell in plan.cells}) < len(wanted)
    return 3 if outcome.harness_failed or missing else 0 if outcome.conforms else 1


def _started(wanted: Sequence[Subject], talk: Terminal) -> dict[str, Callable[[], Process]]:
    """What starts each subject; one whose environment cannot be built is left out, and said to be."""
    start: dict[str, Callable[[], Process]] = {}
    for subject in wanted:
        try:
            where = environments.build(subject, environments.home(), talk.line)
        except environments.BuildError as error:
            talk.line((f"{subject.name} is left out: {error}", "red"))
            continue
        about = {"name": subject.name, "packages": subject.packages, "version": subject.version()}
        start[subject.name] = partial(Process, environments.command(subject, where), about=about, environ=subject.environ)
    return start


def _identity(asked: Asked, wanted: Sequence[Subject], cassettes: Sequence[Cassette]) -> Any:
    """All that the outcome depends on."""
    streams = [
        [case.id, sha256(b"".join(chunk.data for chunk in case.stream.chunks)).hexdigest()] for case in cassettes if case.stream
    ]
    files = [[s.name, s.version(), sha256(s.file.read_bytes()).hexdigest()] for s in wanted]
    return [__version__, files, streams, list(asked.faults), asked.timeout]


def _reported(asked: Asked, outcome: Outcome, who: Sequence[Subject], selected: Selection, bench: matrix.Bench) -> None:
    versions = {subject.name: subject.version() for subject in who}
    about = {subject.name: results.about(subject) for subject in who}
    lines = list(results.render(outcome, version=__version__, selection=[*selected.names], adapters=versions, about=about))
    with results.Draft(asked.reports) as draft:
        draft.write("results.jsonl", lines)
        told = [results.parsed(line) for line in lines]
        run = next(line for line in told if isinstance(line, results.RunLine))
        cells = [line for line in told if isinstance(line, results.VerdictLine)]
        draft.write("report.md", compatibility.render(run, cells).split("\n"))
        draft.write("report.html", [html.render(told, cassettes=selected.cassettes)])
        folder = draft.publish(datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S"))
    if asked.as_json:
        print_json(lines)
        return
    shown = Cells(Terminal(Console(highlight=False), ascii=asked.ascii))
    shown.head(__version__, outcome, who)
    shown.table(outcome)
    shown.failures(outcome, partial(_body, bench), partial(_again, selected, {subject.name: subject for subject in who}))
    shown.summary(outcome, f"{folder}/")


def _body(bench: matrix.Bench, verdict: Verdict, _: Where) -> bytes | None:
    """The bytes that the client was sent."""
    cell = matrix.Cell(subject=verdict.adapter, cassette=verdict.cassette, fault=verdict.fault)
    with suppress(ValueError):
        return bench.right(cell)[0].body
    return None


def _again(selected: Selection, who: Mapping[str, Subject], verdict: Verdict) -> str:
    """The command that asks for one cell alone."""
    adapter = shlex.quote(doors.called(who[verdict.adapter]))
    fault = f" --fault {shlex.quote(verdict.fault)}" if verdict.fault else ""
    return f"{selected.again(verdict)} --adapter {adapter}{fault}"
