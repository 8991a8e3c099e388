"""Rows of semantics.md 5.1 on the Responses API, one test each."""

from __future__ import annotations

from typing import Any

import pytest

from harness.api_error import ErrorKind
from harness.response import FinishReason
from tests.responses_events import (
    added,
    arguments,
    call,
    collected,
    created,
    delta,
    ended,
    event,
    kinds,
    message,
    said,
    text,
)


def test_C14_start_and_fragments() -> None:
    out = collected(
        created(), added(0, **call()), arguments('{"port":'), arguments('"Brest"}'), ended(call('{"port":"Brest"}'))
    )
    (tide,) = out.response.tool_calls
    assert (tide.id, tide.name, tide.arguments, tide.kind) == ("call_1", "tide", '{"port":"Brest"}', "function")
    assert out.response.finish_reason is FinishReason.TOOL_CALLS
    assert (out.complete, out.disagreements, out.notes) == (True, (), ())


@pytest.mark.parametrize("lacks", ["item_id", "output_index"])
def test_C15_fragment_goes_to_the_item_of_its_index_or_id(lacks: str) -> None:
    """An index of 1 and an id of `fc_2` lead to the second call each on their own, though the first began later."""
    second, first = call(id="fc_2", call_id="call_2"), call()
    fragment = arguments('{"n":2}', 1, "fc_2")
    del fragment[lacks]
    out = collected(created(), added(1, **second), added(0, **first), fragment, arguments('{"n":1}'), ended())
    assert [(c.id, c.arguments) for c in out.response.tool_calls] == [("call_1", '{"n":1}'), ("call_2", '{"n":2}')]


def test_C15_fragment_without_index_and_id_goes_to_the_call_begun_last() -> None:
    fragment = event("function_call_arguments.delta", delta="{}")
    out = collected(created(), added(0, **call()), fragment, added(1, **call(id="fc_2", call_id="call_2")), fragment, fragment)
    assert [(c.id, c.arguments) for c in out.response.tool_calls] == [("call_1", "{}"), ("call_2", "{}{}")]


def test_C16_interleaved_calls() -> None:
    one, two = call(), call(id="fc_2", call_id="call_2", name="wind")
    pieces = [
        arguments(piece, n, f"fc_{n + 1}")
        for pair in (('{"a', '{"b'), ('":1', '":2'), ("}", "}"))
        for n, piece in enumerate(pair)
    ]
    out = collected(created(), added(0, **one), added(1, **two), *pieces, ended())
    assert [(c.name, c.arguments) for c in out.response.tool_calls] == [("tide", '{"a":1}'), ("wind", '{"b":2}')]


def test_C17_fragment_before_any_start() -> None:
    """It waits for the call that claims it, or is reported as an orphan."""
    claimed = collected(created(), arguments('{"a"'), added(0, **call()), arguments(":1}"), ended())
    (tide,) = claimed.response.tool_calls
    assert (tide.id, tide.name, tide.arguments) == ("call_1", "tide", '{"a":1}')
    assert "responses/item-not-announced" in kinds(claimed)
    assert "tool/fragment-orphan" not in kinds(claimed)
    orphan = collected(created(), arguments('{"a":1}'), ended())
    assert [(c.name, c.arguments, c.synthetic_id) for c in orphan.response.tool_calls] == [("", '{"a":1}', True)]
    assert "tool/fragment-orphan" in kinds(orphan)


def test_C18_duplicate_start() -> None:
    out = collected(
        created(), added(0, **call()), arguments('{"a"'), added(0, **call()), arguments(":1}"), ended(call('{"a":1}'))
    )
    assert [(c.id, c.arguments) for c in out.response.tool_calls] == [("call_1", '{"a":1}')]
    assert kinds(out) == ["responses/index-collision"]
    assert out.disagreements == ()


def test_C19_final_arguments_differ() -> None:
    finished = event("function_call_arguments.done", item_id="fc_1", output_index=0, arguments='{"a": 1}')
    out = collected(created(), added(0, **call()), arguments('{"a":1}'), finished, ended(call('{"a": 1}')))
    assert out.response.tool_calls[0].arguments == '{"a": 1}'
    (differs,) = out.disagreements
    assert (differs.where.path, differs.gathered, differs.repeated) == ("/output/0/arguments", '{"a":1}', '{"a": 1}')
    assert differs.where.frame == 3


def failed(**error: Any) -> dict[str, Any]:
    return ended(word="failed", error={"code": "server_error", "message": "broke"} | error, usage=None)


def test_C57_failed() -> None:
    out = collected(created(), *said("So far")[:4], failed())
    assert out.error is not None
    assert (out.error.kind, out.error.message, out.error.retryable) == (ErrorKind.SERVER, "broke", True)
    assert (out.complete, out.missing, out.response.text) == (False, None, "So far")
    assert (out.response.raw_finish_reason, out.response.finish_reason) == ("failed", FinishReason.ERROR)


def test_C57_error_event_then_failed_is_one_error() -> None:
    error = event(
        "error", error={"type": "insufficient_quota", "code": "insufficient_quota", "message": "no credit", "param": None}
    )
    out = collected(created(), error, failed(code="insufficient_quota", message="no credit, really"))
    assert out.error is not None
    assert (out.error.kind, out.error.message) == (ErrorKind.QUOTA, "no credit")
    assert out.response.raw_finish_reason == "failed"


def test_C57_error_event_alone() -> None:
    out = collected(created(), event("error", code="rate_limit_exceeded", message="slow down", param=None))
    assert out.error is not None
    assert (out.error.kind, out.error.type, out.complete) == (ErrorKind.RATE_LIMITED, None, False)
    assert out.response.raw_finish_reason is None


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ({"reason": "max_output_tokens"}, FinishReason.LENGTH),
        ({"reason": "content_filter"}, FinishReason.CONTENT_FILTER),
        ({"reason": "steered"}, FinishReason.OTHER),
        (None, FinishReason.OTHER),
    ],
)
def test_C57_incomplete(why: Any, reason: FinishReason) -> None:
    out = collected(created(), *said("Half an"), ended(message(text("Half an")), word="incomplete", incomplete_details=why))
    assert (out.complete, out.error) == (True, None)
    assert (out.response.finish_reason, out.response.raw_finish_reason) == (reason, "incomplete")


def test_C58_every_prefix_is_incomplete() -> None:
    events = [created(), *said("Low tide")]
    for end in range(len(events) + 1):
        out = collected(*events[:end])
        assert not out.complete
        assert out.missing
        assert out.response.finish_reason is out.response.raw_finish_reason is None
        assert kinds(out) == ["stream/truncated" if end else "stream/empty"]


def test_C61_empty_delta_and_unknown_event() -> None:
    out = collected(
        created(),
        *said("Low tide")[:2],
        delta(""),
        event("hum", note=1),
        *said("Low tide")[2:],
        ended(message(text("Low tide"))),
    )
    assert (out.response.text, out.complete, out.notes, out.disagreements) == ("Low tide", True, (), ())
    assert [u.where.path for u in out.unknown] == ["event:response.hum"]


def test_C62_completed_without_usage() -> None:
    last = ended(message(text("Low tide")))
    del last["response"]["usage"]
    out = collected(created(usage=None), *said("Low tide"), last)
    assert (out.response.raw_finish_reason, out.response.finish_reason) == ("completed", FinishReason.STOP)
    assert out.response.usage is None
    assert out.complete
