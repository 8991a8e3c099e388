"""Clients that lie, through the door that everybody comes in by: each is caught, with the right grade and the right evidence.

What breaks nothing is told apart from what breaks everything: after every cell the next one must be as good as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import cassette as cassettes
from harness.adapters import environments
from harness.adapters.process import Process
from harness.adapters.subjects import Subject
from harness.conformance.verdict import Grade, Verdict
from harness.matrix import Bench, Cell
from harness.serving import serving

LIAR = Path(__file__).parent / "liar.py"
PLAIN = "openai-chat/llamacpp/text"
CALLS = "openai-chat/llamacpp/parallel-tool-calls"
ALONE = "openai-chat/together/text"
"""A cassette without a twin."""
COUNTED = "openai-chat/llamacpp/usage"
MEMORY = 400 << 20


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    cases = [cassettes.load_one(cassettes.shipped() / f"{name}.yaml") for name in (PLAIN, CALLS, COUNTED, ALONE)]
    with serving(cases, stall=30) as server:
        yield Bench(cases, server, timeout=1.5)


def asked(bench: Bench, lie: str, case: str, fault: str | None = None, times: int = 1) -> list[Verdict]:
    """What comes of asking a liar, so many times."""
    subject = Subject(name=lie, file=LIAR, language="python", dialects=("openai-chat",))
    process = Process(
        environments.command(subject, LIAR.parent), about={"name": lie}, environ={"LIE": lie}, memory=MEMORY, grace=0.5
    )
    try:
        return [bench.verdict(Cell(subject=lie, cassette=case, fault=fault), process) for _ in range(times)]
    finally:
        process.close()


def kinds(verdict: Verdict) -> set[str]:
    return {finding.kind for finding in verdict.findings}


@pytest.mark.parametrize("fault", [None, "byte-by-byte", "truncated", "error-in-band", "http-503"])
@pytest.mark.parametrize("case", [PLAIN, CALLS])
def test_the_honest_one_passes(bench: Bench, case: str, fault: str | None) -> None:
    (verdict,) = asked(bench, "none", case, fault)
    assert (verdict.grade, verdict.findings) == (Grade.PASS, ())


@pytest.mark.parametrize(
    ("lie", "case", "fault", "grade", "kind"),
    [
        ("drops-a-delta", PLAIN, None, Grade.WRONG, "subject/text"),
        ("swaps-arguments", CALLS, None, Grade.WRONG, "subject/arguments"),
        ("swaps-calls", CALLS, None, Grade.WRONG, "subject/calls"),
        ("drops-a-call", CALLS, None, Grade.WRONG, "subject/calls"),
        ("welds-calls", CALLS, None, Grade.WRONG, "subject/calls"),
        ("makes-ids", CALLS, None, Grade.WRONG, "subject/id"),
        ("loses-ids", CALLS, None, Grade.WRONG, "subject/id"),
        ("loses-usage", COUNTED, None, Grade.WRONG, "subject/usage"),
        ("buries-usage", COUNTED, None, Grade.LOSSY, "subject/usage"),
        ("invents-usage", PLAIN, None, Grade.WRONG, "subject/usage"),
        ("invents-a-finish", PLAIN, None, Grade.WRONG, "subject/finish"),
        ("invents-a-finish", PLAIN, "truncated", Grade.WRONG, "subject/failure-hidden"),
        ("swallows-the-failure", PLAIN, "error-in-band", Grade.WRONG, "subject/failure-hidden"),
        ("swallows-the-failure", PLAIN, "truncated", Grade.LOSSY, "subject/failure-hidden"),
        ("raises", PLAIN, None, Grade.CRASH, "subject/failed"),
        ("hangs", PLAIN, None, Grade.HANG, "subject/hung"),
        ("waits", PLAIN, "stall", Grade.HANG, "subject/hung"),
        ("exits", PLAIN, None, Grade.CRASH, "subject/exited"),
        ("prints", PLAIN, None, Grade.CRASH, "subject/garbage"),
        ("eats-memory", PLAIN, None, Grade.CRASH, "subject/memory"),
        ("calls-home", PLAIN, None, Grade.WRONG, "subject/outside"),
        ("cannot", PLAIN, None, Grade.UNSUPPORTED, "subject/unsupported"),
        ("refuses-to-ask", PLAIN, None, Grade.UNSUPPORTED, "subject/never-asked"),
        ("asks-plainly", ALONE, None, Grade.UNSUPPORTED, "subject/unsupported"),
        ("asks-plainly", PLAIN, None, Grade.PASS, None),
    ],
)
def test_a_liar_is_caught(bench: Bench, lie: str, case: str, fault: str | None, grade: Grade, kind: str | None) -> None:
    (verdict,) = asked(bench, lie, case, fault)
    assert verdict.grade is grade, verdict.findings
    assert kind is None or kind in kinds(verdict)


@pytest.mark.parametrize("lie", ["exits", "prints", "raises"])
def test_it_spoils_its_own_cell_only(bench: Bench, lie: str) -> None:
    """The next question goes to a client that works as before, in a new process where the old one is gone."""
    verdicts = asked(bench, lie, PLAIN, times=3)
    assert [verdict.grade for verdict in verdicts] == [Grade.CRASH] * 3
    assert len({frozenset(kinds(verdict)) for verdict in verdicts}) == 1  # no reply is taken for that to another question


def test_the_evidence_names_the_frame(bench: Bench) -> None:
    """The frame that carries the letter that was dropped, both texts, and the place in the bytes."""
    (verdict,) = asked(bench, "drops-a-delta", PLAIN)
    (finding,) = verdict.findings
    exchange, right = bench.right(Cell(subject="any", cassette=PLAIN))
    assert right.response is not None
    assert finding.expected == right.response.text
    assert finding.where.frame is not None
    assert finding.where.span is not None
    start, end = finding.where.span
    piece = exchange.body[start:end]
    before = exchange.body[:start].count(b'"content":"')
    assert piece.startswith(b'"')  # the value itself, and not all of its frame
    assert exchange.body[:start].endswith(b'"content":')
    assert before <= 4  # the fourth letter comes with one of the first pieces


def test_an_exception_is_kept(bench: Bench) -> None:
    (verdict,) = asked(bench, "raises", PLAIN)
    assert verdict.findings[0].got == {"type": "builtins.KeyError", "message": "'index'"}
