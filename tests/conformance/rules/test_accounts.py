"""Plain accounts of streams: they and the collector, which know nothing of each other, tell the same of every recording."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import dialects, payload
from harness.adapters import Observation, Ours
from harness.conformance.rules.reassembly.accounts import TOLD, Account, account
from harness.conformance.rules.reassembly.reading import refusal_of, signatures_of, strings, text_of, thought_of
from harness.framing import Frame
from harness.response import Text
from tests import chat
from tests.conformance.rules.anything import JSON, damaged
from tests.laws.cases import SHIPPED, Stream, each_stream


def told(given: Account) -> dict[str, Any]:
    return {
        "text": given.text,
        "reasoning": given.thought,
        "refusal": given.refusal,
        "calls": [(call.id, call.name, call.meant) for call in given.calls],
        "usage": given.usage,
        "finish": given.finish,
        "complete": given.ended and given.failed is None,
        "failed": given.failed is not None,
        "id": given.id,
        "model": given.model,
    }


def seen(observed: Observation) -> dict[str, Any]:
    response = observed.response
    assert response is not None
    usage = response.usage.as_dict() if response.usage is not None else {}
    return {
        "text": text_of(observed),
        "reasoning": thought_of(observed),
        "refusal": refusal_of(observed),
        "calls": [
            ("" if call.synthetic_id else call.id, call.name, call.shown_arguments() if call.arguments.strip() else {})
            for call in response.tool_calls
        ],
        "usage": {name: usage[name] for name in ("input_tokens", "output_tokens") if usage.get(name) is not None},
        "finish": response.raw_finish_reason,
        "complete": observed.complete,
        "failed": any(finding.kind == "error/in-band" for finding in observed.findings),
        "id": response.id,
        "model": response.model,
    }


@each_stream
def test_an_account_and_the_collector_agree(stream: Stream) -> None:
    observed = Ours().observe(stream.exchange, stream.dialect)
    if observed.response is None or not observed.frames:
        return
    given = account(stream.frames, stream.dialect.name, stream.exchange.request.json)
    assert told(given) == seen(observed)
    kept = {*signatures_of(observed), *strings(observed.body)}
    assert {signature.value for signature in given.signatures} <= kept
    cited = [c for part in observed.response.parts if isinstance(part, Text) for c in part.annotations]
    assert len(cited) == len(given.citations)


def test_every_dialect_is_given_account_of() -> None:
    assert set(dialects.names()) == TOLD


@pytest.mark.parametrize("dialect", sorted(TOLD))
@settings(deadline=None)
@given(data=st.data())
def test_nothing_makes_an_account_raise(dialect: str, data: st.DataObject) -> None:
    stream = data.draw(st.sampled_from([stream for stream in SHIPPED if stream.case.dialect == dialect]))
    sound = [(frame, payload.tolerant(frame.data)[0]) for frame in stream.frames[:12] if payload.is_whole(frame.data)]
    values = data.draw(damaged([value for _, value in sound])) if sound else []
    frames = [
        Frame(frame.index, frame.name, json.dumps(value).encode(), headers=frame.headers)
        for (frame, _), value in zip(sound, values, strict=True)
    ]
    account(frames, dialect, data.draw(JSON))


def of(*payloads: Any) -> Account:
    return account(chat.frames(*payloads), "openai-chat")


def test_another_id_at_an_index_is_another_call() -> None:
    given = of(chat.calls(chat.head(0, "a", "f", "{}")), chat.calls(chat.head(0, "b", "g", "{}")), chat.more(0, "x"))
    assert [(call.id, call.name) for call in given.calls] == [("a", "f"), ("b", "g")]


def test_calls_stand_in_the_order_of_their_indexes() -> None:
    given = of(chat.calls(chat.head(1, "b", "g"), chat.head(0, "a", "f")), chat.calls(chat.more(1, "[1]")))
    assert [(call.id, call.arguments) for call in given.calls] == [("a", ""), ("b", "[1]")]


def test_a_fragment_without_an_index_goes_on_where_the_last_one_stopped() -> None:
    given = of(chat.calls(chat.head(None, "a", "f", "[")), chat.calls(chat.more(None, "1]")))
    assert [call.arguments for call in given.calls] == ["[1]"]


def test_what_follows_the_marker_is_not_told() -> None:
    given = of(chat.text("one"), chat.stops(), chat.DONE, chat.text("two"))
    assert (given.text, given.ended, given.marked) == ("one", True, 2)


def test_streamed_arguments_are_placed_by_their_paths() -> None:
    pieces = [("$.a[1].b", "x"), ("$.a[1].b", "y"), ("$['c d']", "z"), ("$.a[1].b.c", "lost"), ("$.a[99999]", "far")]
    parts = [{"functionCall": {"name": "f", "willContinue": True}}] + [
        {"functionCall": {"partialArgs": [{"jsonPath": path, "stringValue": text}], "willContinue": True}}
        for path, text in pieces
    ]
    chunk = {"candidates": [{"content": {"parts": [*parts, {"functionCall": {}}]}, "finishReason": "STOP"}]}
    given = account(chat.frames(chunk), "gemini")
    assert [(call.name, call.meant) for call in given.calls] == [("f", {"a": [None, {"b": "xy"}], "c d": "z"})]
