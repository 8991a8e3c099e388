"""What a failing test says: each fact as expected and as observed, the frame and its bytes, the rule, and how to ask again."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from rich.console import Console

from harness.conformance.rules import RULES
from harness.conformance.verdict import Verdict
from harness.findings import Finding, Level
from harness.matrix import Bench, Cell
from harness.reporting.excerpt import excerpt, harmless
from harness.reporting.results import dumped
from harness.reporting.terminal import Terminal

_WIDTH = 110
_MOST = 400  # characters of a value
_MOST_RULES = 3


def told(verdict: Verdict, bench: Bench, cell: Cell, again: str, trace: str) -> str:
    """The message of a failure."""
    exchange, _ = bench.right(cell)
    glyph = Terminal(Console(file=io.StringIO())).glyph(verdict.grade)
    fault = f" · {verdict.fault}" if verdict.fault else ""
    lines = [f"{glyph} {verdict.cassette}{fault} · {verdict.grade.value}"]
    for finding in verdict.findings:
        lines += _finding(finding, exchange.body)
    lines += _rules(bench, cell) if any(f.kind == "subject/broken-stream" for f in verdict.findings) else ()
    if trace:
        lines += ["", *trace.rstrip().splitlines()]
    lines += ["", f"again: {again}"] if again else ()
    return "\n".join(harmless(line) for line in lines)


def _finding(finding: Finding, body: bytes) -> Iterator[str]:
    place = f"   {finding.where.path}" if finding.where.path else ""
    yield f"  {finding.message}{place}"
    if finding.compares:
        wanted, got = _value(finding.expected), _value(finding.got)
        yield f"    expected  {wanted}"
        yield f"    observed  {got}"
        same = next((n for n, (one, other) in enumerate(zip(wanted, got, strict=False)) if one != other), None)
        if same is not None and isinstance(finding.expected, str) and isinstance(finding.got, str):
            yield f"              {' ' * same}^"
    if finding.where.span is not None and finding.level is not Level.INFO:
        start, end = finding.where.span
        yield f"    frame {finding.where.frame} · bytes {start:,}–{end:,} of the body"
        yield from (f"      {row}" for row in excerpt(body, (start, end), _WIDTH))


def _rules(bench: Bench, cell: Cell) -> Iterator[str]:
    """The rules that the stream itself breaks, and where they stand."""
    broken = dict.fromkeys(f.rule for f in bench.judged(cell) if f.level is Level.MUST and f.rule in RULES)
    for name in list(broken)[:_MOST_RULES]:
        rule = RULES[str(name)]
        yield f"    {rule.id}  {rule.says}   ({rule.source})"


def _value(value: Any) -> str:
    text = " ".join(dumped(value).split())
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"
