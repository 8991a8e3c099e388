"""A matrix in the terminal: of each adapter one line for each dialect with n of m at each grade, then the cells that are not as
they should be, each with its evidence and the command that asks for it alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from harness.adapters.subjects import Subject
from harness.conformance.verdict import Grade, Verdict
from harness.errors import Where
from harness.findings import Finding, Level
from harness.reporting.terminal import STYLES, Terminal
from harness.suite import Outcome

_MOST_SHOWN = 25  # cells told in full; the results file has them all
_SAID_ALONE = ("subject/broken-stream",)
"""Findings that say something about the others, and nothing by themselves."""

BodyOf = Callable[[Verdict, Where], bytes | None]
"""Gives the bytes that the client of a verdict was sent."""


class Cells:
    """Prints a matrix."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def head(self, version: str, outcome: Outcome, who: Sequence[Subject]) -> None:
        faults = dict.fromkeys(verdict.fault for verdict in outcome.verdicts)
        names = ", ".join(fault or "none" for fault in faults)
        counts = _counted(len(who), "adapter"), _counted(outcome.cassettes, "cassette"), _counted(len(outcome.verdicts), "cell")
        self._terminal.line(f"streamproof {version} · {' · '.join(counts)} · fault{'' if len(faults) == 1 else 's'} {names}")

    def table(self, outcome: Outcome) -> None:
        """The lines of one adapter stand together, under each other's columns."""
        counted = Counter((v.adapter, v.dialect, v.grade) for v in outcome.verdicts)
        rows = list(dict.fromkeys((v.adapter, v.dialect) for v in outcome.verdicts))
        grades = [grade for grade in Grade if any(counted[*row, grade] for row in rows)]
        one, two = (max((len(row[n]) for row in rows), default=0) for n in (0, 1))
        before = ""
        for adapter, dialect in rows:
            total = sum(counted[adapter, dialect, grade] for grade in Grade)
            name = adapter if adapter != before else ""
            pieces: list[str | tuple[str, str]] = [f"{name:<{one}}  {dialect:<{two}} {total:>5} "]
            for grade in grades:
                count = counted[adapter, dialect, grade]
                word = f"{self._terminal.glyph(grade)} {count} {grade.value}" if count else ""
                width = max(len(str(counted[*row, grade])) for row in rows) + len(grade.value) + 3
                pieces.append((f"  {word:<{width}}" if grade is not grades[-1] else f"  {word}", STYLES[grade]))
            self._terminal.line(*pieces)
            before = adapter

    def failures(self, outcome: Outcome, body_of: BodyOf, again: Callable[[Verdict], str]) -> None:
        """The worst first: what fails, what is wrong, what has to be dug for."""
        order = [Grade.HARNESS_ERROR, Grade.HANG, Grade.CRASH, Grade.WRONG, Grade.LOSSY]
        bad = sorted((v for v in outcome.verdicts if v.bad), key=lambda v: order.index(v.grade))
        for verdict in bad[:_MOST_SHOWN]:
            self._cell(verdict, body_of, again(verdict))
        if len(bad) > _MOST_SHOWN:
            self._terminal.line(f"… and {len(bad) - _MOST_SHOWN} more cells; the results file has them all")
        for entry in outcome.stale:
            self._terminal.line((f"{self._terminal.glyph(Grade.WRONG)} {entry}", "red"))

    def summary(self, outcome: Outcome, place: str) -> None:
        grades = Counter(verdict.grade for verdict in outcome.verdicts)
        known = sum(verdict.known is not None for verdict in outcome.verdicts)
        total = len(outcome.verdicts)
        parts = [f"{grades[grade]} of {total} {grade.value}" for grade in Grade if grades[grade]]
        parts += [f"{known} of them known"] if known else []
        self._terminal.line(" · ".join([*parts, f"{outcome.seconds:.1f} s", place]))

    def _cell(self, verdict: Verdict, body_of: BodyOf, again: str) -> None:
        fault = f" · {verdict.fault}" if verdict.fault else ""
        title = f"{self._terminal.glyph(verdict.grade)} {verdict.adapter} · {verdict.cassette}{fault} · {verdict.grade.value}"
        self._terminal.line((title, STYLES[verdict.grade]))
        for finding in verdict.findings:
            if finding.kind in _SAID_ALONE or not _is_why(finding, verdict):
                self._terminal.line(f"  {finding.message}")
            else:
                self._terminal.finding(finding, lambda where: body_of(verdict, where))
        self._terminal.line("  again: ", again)


def _is_why(finding: Finding, verdict: Verdict) -> bool:
    return finding.level is not Level.INFO or verdict.grade is Grade.LOSSY


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
