"""Results lines made by hand, small and large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.conformance.verdict import Check, Grade
from harness.reporting.results import AboutLine, FindingLine, Line, PlaceLine, RunLine, SummaryLine, VerdictLine

EVIL = '<script>window.hacked = true</script><img src=x onerror="window.hacked = true">]]>&amp;\u2028\x00'


def run(*adapters: str, version: str = "0.1.0") -> RunLine:
    about = {name: AboutLine(language="python", packages={"openai-chat": f"{name} 1.0"}) for name in adapters}
    return RunLine(
        streamproof=version, python="3.11.7", selection=["cassettes"], adapters=dict.fromkeys(adapters, "1.0"), about=about
    )


def verdict(
    adapter: str = "tide",
    cassette: str = "openai-chat/here/text",
    grade: Grade = Grade.PASS,
    *,
    fault: str | None = None,
    **more: Any,
) -> VerdictLine:
    found = [finding(**{"message": "the text is not what was sent", **more})] if grade is not Grade.PASS else []
    return VerdictLine(
        cassette=cassette,
        dialect=cassette.split("/", maxsplit=1)[0],
        provider=cassette.split("/")[1],
        adapter=adapter,
        fault=fault,
        check=Check.REASSEMBLY,
        grade=grade,
        known=None,
        findings=found,
        events=3,
        ms=1.5,
    )


def finding(message: str, expected: Any = "high tide", got: Any = "low tide", kind: str = "subject/text") -> FindingLine:
    where = PlaceLine(cassette="openai-chat/here/text", exchange=0, frame=1, span=(5, 9))
    return FindingLine(rule=None, kind=kind, level="must", message=message, where=where, expected=expected, got=got)


def summary(cells: list[VerdictLine], seconds: float = 1.0) -> SummaryLine:
    return SummaryLine(
        cassettes=len({cell.cassette for cell in cells}),
        verdicts=len(cells),
        grades={grade: many for grade in Grade if (many := sum(cell.grade is grade for cell in cells))},
        known=0,
        findings={},
        stale=[],
        seconds=seconds,
    )


def whole(cells: list[VerdictLine]) -> list[Line]:
    names = dict.fromkeys(cell.adapter for cell in cells)
    return [run(*names), *cells, summary(cells)]


def many(adapters: int, cassettes: int) -> Iterator[VerdictLine]:
    """A matrix of this size; one cell in seven is wrong."""
    names = (
        "text",
        "tool-call",
        "parallel-tool-calls",
        "reasoning",
        "length",
        "usage",
        "error",
        "unicode",
        "cut-off",
        "json-schema",
    )
    for one in range(adapters):
        for other in range(cassettes):
            case = f"{('openai-chat', 'gemini', 'ollama-chat')[other % 3]}/p{other % 9}/{names[other % 10]}-{other}"
            grade = Grade.WRONG if (one + other) % 7 == 0 else Grade.PASS
            yield verdict(f"adapter-{one:02}", case, grade)
