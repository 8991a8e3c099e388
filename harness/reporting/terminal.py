"""What people see in the terminal (design: reports.md). A glyph and a word for each grade; colour is only a second signal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from harness.adapters.scenario import Played
from harness.checking import Checked
from harness.conformance.compare import ABSENT
from harness.conformance.verdict import Grade, Verdict
from harness.errors import Where
from harness.findings import Finding, Level
from harness.reporting.excerpt import excerpt, harmless, lines_of
from harness.reporting.results import dumped
from harness.reporting.words import fault, reason
from harness.response import Response
from harness.suite import Outcome

_GLYPHS = {
    Grade.PASS: ("✔", "+", "green"),
    Grade.LOSSY: ("◐", "o", "yellow"),
    Grade.WRONG: ("✘", "x", "red"),
    Grade.CRASH: ("✷", "*", "red"),
    Grade.HANG: ("⧖", "~", "red"),
    Grade.UNSUPPORTED: ("–", "-", "dim"),
    Grade.HARNESS_ERROR: ("!", "!", "magenta"),
}
STYLES = {grade: style for grade, (_, _, style) in _GLYPHS.items()}
_LEVELS = {Level.MUST: "red", Level.SHOULD: "yellow", Level.INFO: "dim"}
_MOST_SHOWN = 25  # failures printed in full; the report has all
_MOST_FINDINGS = 4  # of one failure
_MOST_ALIKE = 3  # of one capture: of one kind, at one place

BodyOf = Callable[[Where], bytes | None]
"""Gives the response body that a place lies in."""


class Terminal:
    """Prints runs and findings to a console; `ascii` keeps to letters that every terminal has."""

    def __init__(self, console: Console, *, ascii: bool = False) -> None:
        self._console = console
        self._ascii = ascii or not (console.encoding or "").lower().startswith("utf")

    def line(self, *pieces: str | tuple[str, str]) -> None:
        """Print pieces of text, each plain or with a style; what is recorded text is never markup. On a terminal a long line is
        continued below its beginning; anywhere else it stays one."""
        text = Text()
        for piece in pieces:
            words, style = piece if isinstance(piece, tuple) else (piece, "")
            text.append(harmless(words, ascii=self._ascii), style)
        if not self._console.is_terminal:
            self._console.print(text, soft_wrap=True, highlight=False)
            return
        margin = len(text.plain) - len(text.plain.lstrip(" "))
        for part in text[margin:].wrap(self._console, max(20, self._console.width - margin)):
            self._console.print(Text(" " * margin) + part, highlight=False, no_wrap=True, overflow="ignore", crop=False)

    def head(self, version: str, outcome: Outcome, adapters: list[str]) -> None:
        dialects = len({v.dialect for v in outcome.verdicts})
        self.line(
            f"streamproof {version} · {outcome.cassettes} cassettes · {dialects} dialects · adapter {', '.join(adapters)}"
        )

    def table(self, outcome: Outcome) -> None:
        """One line for each dialect: how many cassettes, and how many at each grade (the worst of their checks)."""
        worst = _worst_of_cassettes(outcome.verdicts)
        names = list(dict.fromkeys(v.dialect for v in outcome.verdicts))
        width = max((len(n) for n in names), default=0)
        for name in names:
            grades = Counter(grade for (dialect, _), grade in worst.items() if dialect == name)
            pieces: list[str | tuple[str, str]] = [f"{name:<{width}}  {sum(grades.values()):>5} "]
            pieces += [(f"  {self.glyph(g)} {grades[g]} {g.value}", _GLYPHS[g][2]) for g in Grade if grades[g]]
            self.line(*pieces)

    def failures(self, outcome: Outcome, body_of: BodyOf, again: Callable[[Verdict], str]) -> None:
        bad = [v for v in outcome.verdicts if v.bad]
        for verdict in bad[:_MOST_SHOWN]:
            self.verdict(verdict, body_of, again(verdict))
        if len(bad) > _MOST_SHOWN:
            self.line(f"… and {len(bad) - _MOST_SHOWN} more; the report has them all")
        for entry in outcome.stale:
            self.line((f"{self.glyph(Grade.WRONG)} known deviation is stale · {entry}", "red"))

    def verdict(self, verdict: Verdict, body_of: BodyOf, again: str) -> None:
        title = f"{self.glyph(verdict.grade)} {verdict.cassette} · {verdict.check.value} · {verdict.grade.value}"
        self.line((title, _GLYPHS[verdict.grade][2]))
        findings = [f for f in verdict.findings if f.fails]
        told = findings[:_MOST_FINDINGS]
        for number, finding in enumerate(told):
            self.finding(finding, body_of, why=finding.rule not in [earlier.rule for earlier in told[:number]])
        if len(findings) > _MOST_FINDINGS:
            self.line(f"  … and {len(findings) - _MOST_FINDINGS} more findings")
        self.line("  again: ", again)

    def finding(self, finding: Finding, body_of: BodyOf, *, why: bool = True) -> None:
        """The rule, what was met, where, whose fault it is, the bytes, and why it matters."""
        place = Where(frame=finding.where.frame, span=finding.where.span)
        rule = f"{finding.rule}  " if finding.rule else ""
        where = f"   {place}" if str(place) else ""
        blame = f"   {blamed}" if (blamed := fault(finding)) else ""
        self.line("  ", (f"{rule}{finding.level.value}", _LEVELS[finding.level]), f"  {finding.kind}{where}{blame}")
        self.line(f"    {_clipped(finding.message, 400)}")
        if finding.compares:
            wanted = "" if finding.expected is None and finding.rule is not None else f"expected {_value(finding.expected)}   "
            self.line(f"    {wanted}got {_value(finding.got)}")
        for row in self._bytes(finding, body_of):
            self.line(f"      {row}")
        if why and (words := reason(finding)):
            self.line(f"    {words}")

    def checked(self, checked: Checked) -> None:
        """One input of `check`: what it is, its findings, what the turn came to."""
        how = " (detected)" if checked.input.detected else ""
        end = "complete" if checked.seen.complete else "incomplete"
        style = {"ok": "green", "violation": "yellow", "error": "red"}[checked.outcome.value]
        self.line(f"{checked.input.name} · {checked.input.dialect.name}{how} · ", (checked.outcome.value, style), f" · {end}")
        alike: Counter[tuple[str, str]] = Counter()
        explained: set[str | None] = set()
        for finding in checked.findings:
            what = finding.kind, re.sub(r"/\d+", "/*", finding.where.path or "")
            alike[what] += 1
            if alike[what] <= _MOST_ALIKE:
                self.finding(finding, checked.body_of, why=finding.rule not in explained)
                explained.add(finding.rule)
        for (kind, path), count in alike.items():
            if count > _MOST_ALIKE:
                self.line(f"  … and {count - _MOST_ALIKE} more of {kind} {path}".rstrip() + "; --json has them all")
        if checked.seen.error is not None:
            error = checked.seen.error
            self.line(("  error ", "red"), f"{error.kind.value}: {_clipped(error.message, 400)}")
        if checked.seen.response is not None:
            self.line(f"  {_turn(checked.seen.response)}")
        if checked.played is not None:
            self.line(f"  {_client(checked.played)}")

    def summary(self, outcome: Outcome, place: str | None) -> None:
        worst = Counter(_worst_of_cassettes(outcome.verdicts).values())
        known = sum(v.known is not None for v in outcome.verdicts)
        parts = [f"{worst[Grade.PASS]} conform"]
        parts += [f"{worst[g]} {g.value}" for g in Grade if g is not Grade.PASS and worst[g]]
        parts.append(f"{known} known deviation{'' if known == 1 else 's'}")
        if outcome.stale:
            parts.append(f"{len(outcome.stale)} stale")
        parts.append(f"{outcome.seconds:.1f} s")
        self.line(" · ".join(parts + ([place] if place else [])))

    def _bytes(self, finding: Finding, body_of: BodyOf) -> Iterator[str]:
        body = body_of(finding.where)
        if body and finding.where.span is not None:
            width = max(20, min(self._console.width, 140) - 8)
            for span in lines_of(body, finding.where.span):
                yield from excerpt(body, span, width, ascii=self._ascii)

    def glyph(self, grade: Grade) -> str:
        """The sign of a grade."""
        return _GLYPHS[grade][1 if self._ascii else 0]


def _worst_of_cassettes(verdicts: list[Verdict]) -> dict[tuple[str, str], Grade]:
    """The worst grade of each cassette; a known deviation counts as a pass."""
    order = list(Grade)
    worst: dict[tuple[str, str], Grade] = {}
    for verdict in verdicts:
        grade = Grade.PASS if verdict.known is not None else verdict.grade
        key = (verdict.dialect, verdict.cassette)
        if order.index(grade) >= order.index(worst.get(key, Grade.PASS)):
            worst[key] = grade
    return worst


def _turn(response: Response) -> str:
    """A turn in one line."""
    calls = response.tool_calls
    shown = ", ".join(f"{call.name}({_clipped(call.arguments, 120)})" for call in calls)
    parts = [f"text {_value(response.text)}"]
    if response.reasoning is not None:
        parts.append(f"reasoning {_value(response.reasoning)}")
    if calls:
        parts.append(f"{len(calls)} tool call{'' if len(calls) == 1 else 's'}: {shown}")
    parts.append(f"finish {response.raw_finish_reason or 'unknown'}")
    usage = response.usage
    known = ("unknown" if count is None else count for count in (usage.input_tokens, usage.output_tokens)) if usage else ()
    counts = f"{'/'.join(map(str, known))} tokens" if usage else "unknown"
    return " · ".join([*parts, f"usage {counts}"])


def _client(played: Played) -> str:
    """What the client of a scenario did, in one line."""
    parts = [f"client: {played.requests} request{'' if played.requests == 1 else 's'}"]
    if played.waits:
        parts.append(f"waited {' + '.join(f'{wait:g}' for wait in played.waits)} s")
    parts.append(f"{len(played.events)} events")
    parts += [f"{h.name} heard {h.events}" + (f", missed {h.dropped}" if h.dropped else "") for h in played.heard]
    return " · ".join(parts)


def _value(value: Any) -> str:
    if value is ABSENT:
        return str(ABSENT)
    return _clipped(dumped(value), 200)


def _clipped(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit] + "…"
