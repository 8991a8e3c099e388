"""Rows P24–P33 of semantics.md 5.3: one response as messages, and as the reply that comes back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from harness.api_error import ApiError
from harness.loop.artifacts import ArtifactKind, ReasoningDelta, Settled, Side, TextDelta, ToolCallDelta
from harness.loop.cancel import Cancel
from harness.loop.events import (
    ArtifactEvent,
    Event,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    Stage,
    TurnCompleteEvent,
)
from harness.loop.messages import MessageProjection
from harness.loop.state import Role
from harness.response import FinishReason, Response, Text, ToolCall, Usage

from .scripted import Asked, Scripted, answer, ask, failure, text_of


def messages(events: list[Event]) -> list[Any]:
    projection = MessageProjection()
    return [message for event in events for message in projection.add(event)]


def paired(events: list[Event]) -> tuple[MessageStartEvent, list[MessageUpdateEvent], MessageEndEvent]:
    """The one message of these events: its start, what came in between, its end."""
    start, *updates, end = messages(events)
    assert isinstance(start, MessageStartEvent)
    assert all(isinstance(update, MessageUpdateEvent) for update in updates)
    assert isinstance(end, MessageEndEvent)
    assert start.role is end.role is Role.ASSISTANT
    return start, updates, end


def cancelled_after(topic: str, provider: Scripted) -> Asked:
    cancel = Cancel()
    return ask(provider, cancel=cancel, emit=lambda event: cancel.cancel() if event.topic == topic else None)


async def never() -> None:
    await asyncio.Event().wait()


def test_P24_a_message_starts_is_updated_and_ends() -> None:
    asked = ask(Scripted(answer("Hello")))
    start, updates, end = paired(asked.events)
    assert (start.parts, start.error) == ((), None)
    assert [update.delta for update in updates] == [TextDelta("He"), TextDelta("llo")]
    assert (end.parts, end.stop, end.error) == ((Text(text="Hello"),), "stop", None)
    assert asked.reply.turn.parts == end.parts


def test_P24_messages_come_while_the_answer_comes() -> None:
    projection, seen = MessageProjection(), []
    at_first_delta: list[int] = []

    async def look() -> None:
        at_first_delta.append(len(seen))

    provider = Scripted([TextDelta("He"), look, TextDelta("llo")])
    ask(provider, emit=lambda event: seen.extend(projection.add(event)))
    assert at_first_delta == [2]  # the start and one update, before the rest was there


def test_P25_a_fragment_before_any_start_starts_the_message() -> None:
    fragment = ArtifactEvent(turn=1, artifact=ArtifactKind.TEXT_DELTA, value=TextDelta("Hi"))
    over = TurnCompleteEvent(turn=1, role=Role.ASSISTANT, parts=(Text(text="Hi"),))
    start, updates, _ = paired([fragment, over])
    assert (start.parts, len(updates)) == ((), 1)


def test_P26_an_error_before_the_start_is_a_message_of_its_own() -> None:
    start, updates, end = paired(ask(Scripted([failure("no such model", status=404)])).events)
    assert (start.error, end.error, updates) == ("no such model", "no such model", [])
    assert end.stop == "error"


def test_P27_an_error_after_the_start_ends_the_message() -> None:
    start, updates, end = paired(ask(Scripted([TextDelta("Here is"), failure("reset")])).events)
    assert (start.error, len(updates)) == (None, 1)
    assert (end.error, end.stop) == ("reset", "error")


def test_P28_a_provider_that_raises_without_a_word_gives_a_pair_and_an_error() -> None:
    asked = ask(Scripted([OSError("no route")]))
    start, _, end = paired(asked.events)
    assert "no route" in (start.error or "")
    assert "no route" in (end.error or "")
    assert (asked.reply.ok, asked.reply.error_message) == (False, "no route")


def test_P29_a_provider_that_raises_in_the_middle_leaves_no_message_open() -> None:
    asked = ask(Scripted([TextDelta("Here is"), OSError("cut")]))
    start, updates, end = paired(asked.events)
    assert (start.error, len(updates), end.stop) == (None, 1, "error")
    assert asked.told[-1] == "error"


def test_P30_a_reply_that_failed_is_one_empty_text() -> None:
    reply = ask(Scripted([TextDelta("Here is"), failure("reset")])).reply
    assert reply.turn.role is Role.ASSISTANT
    assert reply.turn.parts == (Text(text=""),)
    assert (reply.stop, reply.usage) == (FinishReason.ERROR, None)
    assert (reply.provider, reply.model) == ("unknown", "m-1")
    assert (reply.error_message, reply.stage) == ("reset", Stage.PROVIDER)
    assert isinstance(reply.error, ApiError)
    assert reply.tool_calls == ()


@pytest.mark.parametrize("topic", ["submitted", "request", "text_delta"])
def test_P31_a_cancelled_turn_is_cancelled_and_no_error(topic: str) -> None:
    provider = Scripted([TextDelta("tick"), never])
    asked = cancelled_after("lifecycle" if topic == "submitted" else topic, provider)
    assert (asked.reply.stop, asked.reply.error, asked.reply.ok) == (FinishReason.CANCELLED, None, False)
    assert (asked.told[-1], asked.told.count("cancelled")) == ("cancelled", 1)
    assert "error" not in asked.told
    assert messages(asked.events)[-1].stop == "cancelled"
    assert asked.reply.partial == ((Text(text="tick"),) if topic == "text_delta" else ())
    assert len(provider.requests) == (topic == "text_delta")  # what was not sent yet is not sent


def test_P32_an_update_shows_what_has_come_so_far() -> None:
    pieces = ["One", " two", "", " three"]
    _, updates, _ = paired(ask(Scripted([ReasoningDelta("hm"), *(TextDelta(piece) for piece in pieces)])).events)
    for n, update in enumerate(updates[1:], start=1):
        assert text_of_parts(update) == "".join(pieces[:n])
    assert [part.text for part in updates[-1].parts] == ["hm", "One two three"]


def text_of_parts(update: MessageUpdateEvent) -> str:
    return "".join(part.text for part in update.parts if isinstance(part, Text))


def test_P33_calls_are_seen_as_they_begin_and_when_they_are_whole() -> None:
    calls = (ToolCall(id="a", name="tide", arguments='{"n":1}'), ToolCall(id="b", name="wind", arguments="{}"))
    provider = Scripted(
        [
            ToolCallDelta(0, id="a", name="tide"),
            ToolCallDelta(1, id="b", name="wind", arguments="{}"),
            ToolCallDelta(0, arguments='{"n":1}'),
            Settled(calls),
        ]
    )
    asked = ask(provider)
    _, updates, end = paired(asked.events)
    assert [(u.delta.slot, u.delta.id, u.delta.name) for u in updates if u.delta.id] == [(0, "a", "tide"), (1, "b", "wind")]
    assert [event.value for event in asked.of("artifact") if event.topic == "tool_call"] == list(calls)
    assert (end.parts, asked.reply.tool_calls) == (calls, calls)


def test_a_reply_says_what_the_response_says() -> None:
    whole = Response(
        model="m-1-exact",
        parts=(Text(text="Hi"),),
        finish_reason=FinishReason.LENGTH,
        raw_finish_reason="max_tokens",
        usage=Usage(input_tokens=3, output_tokens=2),
    )
    sides = [Side(ArtifactKind.USAGE, whole.usage), Side(ArtifactKind.FINISH, whole.finish_reason)]
    reply = ask(Scripted([Settled(whole.parts, whole), *sides])).reply
    assert (reply.ok, reply.model, reply.provider) == (True, "m-1-exact", "scripted")
    assert (reply.stop, reply.raw_stop, reply.usage) == (FinishReason.LENGTH, "max_tokens", whole.usage)
    assert reply.turn.response is whole
    assert text_of(reply.turn) == "Hi"
    assert ask(Scripted([Settled(whole.parts, replace(whole, model=None))])).reply.model == "m-1"
