"""Judging readers: the honest one breaks no law, whatever the stream; one that gives little is judged by little."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.adapters import Observation, Ours
from harness.cassette.model import Cassette, Exchange
from harness.conformance.readings import judge_reader
from harness.conformance.rules import RULES, Outcome
from harness.conformance.rules.reassembly.accounts import TOLD
from harness.replay.reel import Reel
from tests import chat
from tests.conformance.rules.anything import damaged
from tests.exchanges import cassette, completion, document, exchange, sse
from tests.laws.cases import CORPUS, SHIPPED, Stream

SERVERS = {"REASM-002", "REASM-003", "REASM-004", "REASM-027", "REASM-028", "REASM-029"}
"""Laws that a server can break as well: the checks `native` and `reference` look at those, with what is known of them."""
LARGE = 8_000  # bytes: longer bodies take long to be read twenty times, and say nothing else

TURN = sse(chat.text("Hello"), chat.text(" there"), chat.stops())


@pytest.mark.parametrize("stream", [s for s in (*SHIPPED, *CORPUS) if len(s.exchange.body) < LARGE], ids=repr)
def test_our_reader_breaks_no_law(stream: Stream) -> None:
    judged = judge_reader(Ours(), stream.case)
    assert not judged.errors
    assert [(finding.rule, finding.message) for finding in judged.findings if finding.rule not in SERVERS] == []


@pytest.mark.parametrize("stream", SHIPPED, ids=repr)
def test_our_loop_breaks_none_either(stream: Stream) -> None:
    judged = judge_reader(Ours(loop=True), stream.case)
    assert not judged.errors
    assert [(finding.rule, finding.message) for finding in judged.findings if finding.rule not in SERVERS] == []


class Sparing:
    """Gives the response and whether it failed, as most SDKs do."""

    name = "sparing"

    def observe(self, exchange: Exchange, dialect: str) -> Observation:
        seen = Ours().observe(exchange, dialect)
        return Observation(adapter=self.name, response=seen.response, error=seen.error, complete=seen.complete)


class Broken:
    """Always raises."""

    name = "broken"

    def observe(self, exchange: Exchange, dialect: str) -> Observation:
        raise RuntimeError("no")


def of(outcome: Outcome, judged: Cassette, adapter: Sparing | Broken) -> set[str]:
    return {rule for rule, got in judge_reader(adapter, judged).outcomes.items() if got is outcome}


def shipped(name: str) -> Cassette:
    return next(stream.case for stream in SHIPPED if stream.case.id == name)


def test_laws_that_need_more_than_an_adapter_gives_are_not_applicable() -> None:
    case = shipped("openai-chat/llamacpp/logprobs")
    assert not of(Outcome.FAIL, case, Sparing())
    bodies, loops = {"REASM-001", "REASM-002", "REASM-003", "REASM-013", "REASM-030"}, {"REASM-020", "REASM-033", "REASM-036"}
    assert bodies | loops <= of(Outcome.NOT_APPLICABLE, case, Sparing())
    assert {"REASM-005", "REASM-006", "REASM-007", "SSE-002", "REASM-018"} <= of(Outcome.PASS, case, Sparing())


def test_an_adapter_that_always_raises_passes_nothing() -> None:
    judged = judge_reader(Broken(), shipped("openai-chat/llamacpp/text"))
    assert not judged.errors
    assert Outcome.PASS not in judged.outcomes.values()


@pytest.mark.parametrize(
    "case",
    [
        cassette(None, document(completion({"content": "Hello"}))),
        cassette(exchange(chat.encoded(completion({"content": "Hello"})))),
        cassette(exchange(b'{"error":{"message":"no"}}', status=500, media="application/json")),
        cassette(None),
    ],
    ids=["no_stream", "a_document_in_its_place", "refused", "nothing"],
)
def test_without_a_stream_nothing_applies(case: Cassette) -> None:
    assert set(judge_reader(Ours(), case).outcomes.values()) <= {Outcome.NOT_APPLICABLE}


@pytest.mark.parametrize("body", [b"", b"\n", b"data: x\n\n", b"data: []\n\n", b": ping\n\n", TURN[:40], b"\xff\xfe"])
def test_streams_of_little(body: bytes) -> None:
    judged = judge_reader(Ours(loop=True), cassette(exchange(body)))
    assert not judged.errors
    assert not judged.findings


@pytest.mark.parametrize("dialect", sorted(TOLD))
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_odd_streams_are_judged_too(dialect: str, data: st.DataObject) -> None:
    """Other values in payloads of shipped streams, and these in another order: no law fails to be evaluated, and those that no
    stream can break are kept."""
    case = data.draw(st.sampled_from([s.case for s in SHIPPED if s.case.dialect == dialect and len(s.exchange.body) < LARGE]))
    assert case.stream is not None
    reel = Reel(case.stream, dialect)
    sound = [(piece, value) for piece in reel.pieces if (value := reel.payload(piece)) is not None]
    values = data.draw(damaged([value for _, value in sound])) if sound else []
    for (piece, _), value in zip(sound, values, strict=True):
        reel.write(piece, value)
    judged = judge_reader(Ours(), replace(case, stream=reel.exchange()))
    assert not judged.errors
    assert not [f.message for f in judged.findings if f.kind in ("reader/cut-dependent", "reader/comment", "reader/unsteady")]


def test_what_is_given_is_not_asked_for_again() -> None:
    class Counting(Sparing):
        asked = 0

        def observe(self, exchange: Exchange, dialect: str) -> Observation:
            self.asked += exchange is stream
            return super().observe(exchange, dialect)

    stream = exchange(TURN)
    adapter, case = Counting(), cassette(stream)
    judge_reader(adapter, case, Ours().observe(stream, "openai-chat"))
    assert adapter.asked == 1  # for the law that says that twice is the same


def test_findings_blame_the_reader_and_name_both_values() -> None:
    class Short(Sparing):
        def observe(self, exchange: Exchange, dialect: str) -> Observation:
            seen = super().observe(exchange, dialect)
            assert seen.response is not None
            parts = tuple(replace(part, text=part.text[1:]) for part in seen.response.parts)  # type: ignore[union-attr]
            return replace(seen, response=replace(seen.response, parts=parts))

    (finding,) = judge_reader(Short(), cassette(exchange(TURN))).findings
    assert (finding.rule, finding.kind, finding.blame) == ("REASM-006", "reader/text-lost", "client")
    assert (finding.expected, finding.got) == ("Hello there", "ello there")
    assert RULES["REASM-006"].reader
