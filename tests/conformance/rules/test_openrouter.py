"""Rules of OpenRouter: the boundaries of the trickier ones, and payloads in which anything may stand anywhere."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from harness.conformance.inspection import inspect
from harness.conformance.rules import Judged, Outcome
from tests.chat import DONE, choice, chunk, says, stops
from tests.conformance.rules.anything import damaged
from tests.exchanges import exchange, sse

PASS, FAIL, NOT = Outcome.PASS, Outcome.FAIL, Outcome.NOT_APPLICABLE
ALIVE = b": OPENROUTER PROCESSING\n\n"
COUNTS = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13, "cost": 0.00001}
USED = chunk(choice({"role": "assistant", "content": ""}), usage=COUNTS)


def judged(body: bytes, *, pieces: int | None = None, provider: str = "openrouter", dialect: str = "openai-chat") -> Judged:
    path = "/api/v1/responses" if dialect == "openai-responses" else "/api/v1/chat/completions"
    _, out = inspect(exchange(body, path=path, pieces=pieces), dialect, provider)
    assert not out.errors
    return out


def outcome(rule: int, *payloads: Any, end: bool = True) -> Outcome:
    return judged(sse(*payloads, end=end)).outcomes[f"ORT-{rule:03}"]


def detail(kind: str = "text", index: Any = 0, **fields: Any) -> dict[str, Any]:
    return {"type": f"reasoning.{kind}", "index": index, **fields}


def thinks(*details: Any, reasoning: str | None = None) -> dict[str, Any]:
    return says({"role": "assistant", "content": "", "reasoning": reasoning, "reasoning_details": list(details)})


def test_only_openrouters_streams_are_judged() -> None:
    out = judged(sse(stops()), provider="openai").outcomes
    assert {said for rule, said in out.items() if rule.startswith("ORT")} == {NOT}


@pytest.mark.parametrize("pieces", [None, 1, 7])
def test_keep_alives_are_found_however_they_are_cut(pieces: int | None) -> None:
    assert judged(ALIVE + sse(stops()), pieces=pieces).outcomes["ORT-001"] is PASS
    assert judged(sse(stops()), pieces=pieces).outcomes["ORT-001"] is NOT
    assert judged(b"data" + ALIVE + sse(stops()), pieces=pieces).outcomes["ORT-001"] is FAIL


def test_the_marker_comes_after_errors_too() -> None:
    failed = chunk(choice({}, "error"), error={"code": 502, "message": "busy"})
    assert (outcome(2, failed), outcome(2, failed, end=False)) == (PASS, FAIL)
    assert (outcome(2, stops()), outcome(2, stops(), end=False)) == (PASS, FAIL)


def test_usage_comes_once_and_in_time() -> None:
    assert outcome(4, stops(), USED) is PASS
    assert outcome(4, stops()) is FAIL
    assert outcome(4, stops(), USED, USED) is FAIL
    assert outcome(4, stops(), DONE, USED, end=False) is FAIL
    assert outcome(4, says({"content": "a"}), end=False) is NOT


def test_the_finish_reason_beside_the_usage() -> None:
    again = chunk(choice({}, "stop"), usage=COUNTS)
    assert (outcome(6, stops(), USED), outcome(6, stops(), again), outcome(6, again)) == (PASS, FAIL, PASS)


def test_reasoning_and_its_details_are_compared_when_all_of_them_came() -> None:
    assert (
        outcome(7, thinks(detail(text="Count"), reasoning="Count"), thinks(detail("summary", 1, summary="!"), reasoning="!"))
        is PASS
    )
    assert outcome(7, thinks(detail(text="Count"), reasoning="Coun")) is FAIL
    steady = [thinks(detail(text=word), reasoning=word) for word in "abcdefgh"]
    assert outcome(7, *steady) is PASS
    assert outcome(7, *steady, thinks(detail(text="i"), reasoning="j"), *steady) is FAIL
    assert outcome(7, thinks(detail("encrypted", data="c2Vh"), reasoning="Count")) is NOT
    assert outcome(7, thinks(detail(text="Count"))) is NOT


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (detail(text=""), PASS),
        (detail(signature="c2Vh"), PASS),
        (detail(text=None, signature=None), FAIL),
        (detail("summary", summary="a"), PASS),
        (detail("summary", text="a"), FAIL),
        (detail("encrypted", data="c2Vh"), PASS),
        (detail("encrypted"), FAIL),
        (detail("server_tool_call", tool_name="openrouter:web_search", arguments="{}", result="[]"), PASS),
        (detail("server_tool_call", text="a"), FAIL),
        (detail("thought", text="a"), FAIL),
        ({"type": ["reasoning.text"], "text": "a"}, FAIL),
        ("text", FAIL),
    ],
)
def test_what_a_detail_is_made_of(given: Any, said: Outcome) -> None:
    assert outcome(8, thinks(given)) is said


def test_each_block_is_signed_once() -> None:
    signed = detail(signature="c2Vh")
    assert outcome(9, thinks(detail(text="a", signature="")), thinks(signed)) is PASS
    assert outcome(9, thinks(signed), thinks(signed)) is FAIL
    assert outcome(9, thinks(signed), thinks(detail(index=1, signature="c2Vh"))) is PASS
    assert outcome(9, thinks(detail(index=None, signature="a")), thinks(detail(index=None, signature="b"))) is PASS


@pytest.mark.parametrize("error", ["busy", {"code": 502}, {"message": "busy"}, {"code": 5.02, "message": "busy"}])
def test_what_an_error_lacks(error: Any) -> None:
    assert outcome(10, chunk(choice({}, "error"), error=error)) is FAIL
    assert outcome(10, chunk(choice({}, "error"), error={"code": "rate_limited", "message": "busy"})) is PASS


def test_an_error_is_a_finish() -> None:
    error = {"code": 502, "message": "busy"}
    assert outcome(11, chunk(choice({}, "error"), error=error)) is PASS
    assert outcome(11, chunk(choice({}), error=error)) is FAIL
    assert outcome(11, {"error": error}) is FAIL


def test_responses_without_names_are_noted() -> None:
    created = {"type": "response.created", "response": {}}
    named = b"event: response.created\n" + sse(created, end=False)
    for body, said in ((named, PASS), (named + sse(), FAIL), (sse(created, end=False), FAIL), (sse(), NOT)):
        assert judged(body, dialect="openai-responses").outcomes["ORT-012"] is said


FULL = [
    thinks(detail(text="a", signature="b"), detail("summary", 1, summary="c"), reasoning="ac"),
    says({"content": "d"}),
    stops(),
    USED,
    chunk(choice({}, "error"), error={"code": 502, "message": "busy"}),
]


@given(damaged(FULL))
@settings(max_examples=200, deadline=None)
def test_nothing_that_comes_makes_a_rule_fail_to_be_evaluated(stream: list[Any]) -> None:
    judged(sse(*stream))
    judged(sse(*stream), dialect="openai-responses")
