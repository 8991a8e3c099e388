"""A run as Markdown: dialect × grade first, then what is wrong, with expected and observed and the command to see it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from harness.conformance.verdict import Grade, Verdict
from harness.findings import Finding
from harness.reporting.results import dumped
from harness.reporting.words import fault
from harness.suite import Outcome

_MOST = 60_000  # characters; what a pull request's comment and most CI summaries take
_MOST_VALUE = 300
_MOST_FINDINGS = 20  # of one verdict


def render(outcome: Outcome, *, version: str) -> str:
    """The report of a run; cut at a size that CI summaries take, with a line that says what was cut."""
    bad = [v for v in outcome.verdicts if v.bad]
    blocks = [
        f"# streamproof {version}\n",
        f"{outcome.cassettes} cassettes, {len(outcome.verdicts)} verdicts: {len(bad)} not as they should be, "
        f"{sum(v.known is not None for v in outcome.verdicts)} known deviations.\n",
        "\n".join(_table(outcome.verdicts)) + "\n",
        *(f"- stale: {_text(entry)}\n" for entry in outcome.stale),
        *map(_failure, bad),
        _known(outcome.verdicts),
    ]
    return _cut([block for block in blocks if block])


def _table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    grades = [g for g in Grade if any(v.grade is g for v in verdicts)]
    yield "| dialect | cassettes | " + " | ".join(g.value for g in grades) + " | of these known |"
    yield "|---" * (len(grades) + 3) + "|"
    for dialect in dict.fromkeys(v.dialect for v in verdicts):
        mine = [v for v in verdicts if v.dialect == dialect]
        counts = Counter(v.grade for v in mine)
        cells = [str(counts[g]) for g in grades]
        known = sum(v.known is not None for v in mine)
        yield f"| {dialect} | {len({v.cassette for v in mine})} | {' | '.join(cells)} | {known} |"


def _failure(verdict: Verdict) -> str:
    lines = [f"## {_code(verdict.cassette)} · {verdict.check.value} · {verdict.grade.value}\n"]
    findings = [finding for finding in verdict.findings if finding.fails]
    for finding in findings[:_MOST_FINDINGS]:
        lines += _finding(finding)
    if len(findings) > _MOST_FINDINGS:
        lines.append(f"- … and {len(findings) - _MOST_FINDINGS} more findings")
    lines.append(f"\nAgain: `streamproof run` with the cassette {_code(verdict.cassette)}\n")
    return "\n".join(lines)


def _finding(finding: Finding) -> Iterator[str]:
    rule = f"{finding.rule} · " if finding.rule else ""
    message = _text(_value(finding.message))
    blame = f"; {blamed}" if (blamed := fault(finding)) else ""
    yield f"- **{rule}{finding.kind}** {message} ({_text(str(finding.where))}{blame})"
    if finding.compares:
        yield f"  - expected {_code(_value(finding.expected))}"
        yield f"  - observed {_code(_value(finding.got))}"


def _known(verdicts: Sequence[Verdict]) -> str:
    known = [v for v in verdicts if v.known is not None]
    if not known:
        return ""
    rows = [f"- {_code(v.cassette)} · {v.check.value}: {_text(v.known or '')}" for v in known]
    return "<details><summary>Known deviations</summary>\n\n" + "\n".join(rows) + "\n\n</details>\n"


def _cut(blocks: list[str]) -> str:
    size = 0
    for number, block in enumerate(blocks):
        size += len(block) + 1
        if size > _MOST:
            kept = "\n".join(blocks[:number])
            return f"{kept}\n\n… {len(blocks) - number} more sections are in results.jsonl beside this file.\n"
    return "\n".join(blocks)


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else dumped(value)
    return text if len(text) <= _MOST_VALUE else f"{text[:_MOST_VALUE]}… ({len(text):,} characters)"


def _text(text: str) -> str:
    """Recorded text is only ever text: nothing in it becomes Markdown or HTML."""
    for mark in "\\`*_<>[]|&~":
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())


def _code(text: str) -> str:
    text = " ".join(text.split()) or " "
    fence = "`" * (1 + max((len(run) for run in _backticks(text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _backticks(text: str) -> Iterator[str]:
    run = ""
    for letter in [*text, ""]:
        if letter == "`":
            run += letter
        elif run:
            yield run
            run = ""
