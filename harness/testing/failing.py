"""What a failing test says: each fact as expected and as observed, the frame and its bytes, the rule, and how to ask again."""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from rich.console import Console

from harness.conformance.rules import RULES
from harness.conformance.verdict import Verdict
from harness.findings import Finding, Level
from harness.matrix import Bench, Cell
from harness.reporting.excerpt import excerpt, harmless
from harness.reporting.results import dumped
from harness.reporting.terminal import Terminal

_WIDTH = 110
_BEFORE = 40  # characters of a value that are shown in front of where it differs
_MOST = 400  # characters of a value
_MOST_RULES = 3


def told(verdict: Verdict, bench: Bench, cell: Cell, item: pytest.Item | None, words: Sequence[str], trace: str) -> str:
    """The message of a failure. `words` are the options by which the test is there."""
    exchange, _ = bench.right(cell)
    glyph = Terminal(Console(file=io.StringIO())).glyph(verdict.grade)
    fault = f" · {verdict.fault}" if verdict.fault else ""
    lines = [f"{glyph} {verdict.cassette}{fault} · {verdict.grade.value}"]
    for finding in verdict.findings:
        lines += _finding(finding, exchange.body)
    lines += _rules(bench, cell) if any(f.kind == "subject/broken-stream" for f in verdict.findings) else ()
    if trace:
        lines += ["", *trace.rstrip().splitlines()]
    if item is not None:
        lines += ["", f"again: {shlex.join(['pytest', _node(item), *words])}"]
    return "\n".join(harmless(line) for line in lines)


def _node(item: pytest.Item) -> str:
    """The test, as whoever stands where pytest was started calls it."""
    _, colons, name = str(item.nodeid).partition("::")
    return os.path.relpath(item.path, item.config.invocation_params.dir) + colons + name


def _finding(finding: Finding, body: bytes) -> Iterator[str]:
    place = f"   {finding.where.path}" if finding.where.path else ""
    yield f"  {finding.message}{place}"
    if finding.compares:
        yield from _beside(finding.expected, finding.got)
    if finding.where.span is not None and finding.level is not Level.INFO:
        start, end = finding.where.span
        yield f"    frame {finding.where.frame} · bytes {start:,}–{end:,} of the body"
        yield from (f"      {row}" for row in excerpt(body, (start, end), _WIDTH))


def _beside(expected: Any, got: Any) -> Iterator[str]:
    """Both values, one below the other, around the first character in which they differ; elements of lists by their numbers."""
    if isinstance(expected, list) and isinstance(got, list):
        yield from _listed("expected", expected)
        yield from _listed("observed", got)
        return
    wanted, observed = _shown(expected), _shown(got)
    alike = next((n for n, (one, other) in enumerate(zip(wanted, observed, strict=False)) if one != other), None)
    alike = min(len(wanted), len(observed)) if alike is None else alike
    start = 0 if alike < _MOST // 2 else alike - _BEFORE
    yield f"    expected  {_cut(wanted, start)}"
    yield f"    observed  {_cut(observed, start)}"
    if isinstance(expected, str) and isinstance(got, str):
        yield f"              {' ' * (alike - start + bool(start))}^"


def _listed(word: str, values: list[Any]) -> Iterator[str]:
    if not values:
        yield f"    {word}  none"
    for number, value in enumerate(values):
        yield f"    {'' if number else word:8}  {number}: {_cut(_shown(value), 0)}"


def _cut(text: str, start: int) -> str:
    end = start + _MOST
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def _rules(bench: Bench, cell: Cell) -> Iterator[str]:
    """The rules that the stream itself breaks, and where they stand."""
    broken = dict.fromkeys(f.rule for f in bench.judged(cell) if f.level is Level.MUST and f.rule in RULES)
    for name in list(broken)[:_MOST_RULES]:
        rule = RULES[str(name)]
        yield f"    {rule.id}  {rule.says}   ({rule.source})"


def _shown(value: Any) -> str:
    return " ".join(dumped(value).split())
