"""The message view: starts and ends in pairs, updates inside, whatever the step was told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.api_error import ApiError, ErrorKind
from harness.loop.artifacts import ArtifactKind, Complete, Settled, Side, TextDelta
from harness.loop.events import (
    ErrorEvent,
    Event,
    LifecycleEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    Phase,
    Stage,
    TurnCompleteEvent,
)
from harness.loop.gathering import Snapshot
from harness.loop.messages import MessageProjection, messages
from harness.loop.sequence import message_faults
from harness.loop.state import Role
from harness.loop.step import Step
from harness.response import FinishReason, Response, Text

from .running import run
from .scripted import Scripted
from .stepping import Stuck, Told, call, text, told

T = TextDelta


def viewed(events: list[Event]) -> list[Any]:
    projection = MessageProjection()
    view = [message for event in events for message in projection.add(event)]
    assert list(message_faults(view)) == []
    return view


def kinds(view: list[Any]) -> list[str]:
    return [message.kind.removeprefix("message_") for message in view]


def test_a_turn_is_a_message_that_grows() -> None:
    whole = told([T("Hel"), T("lo"), Complete(call()), Side(ArtifactKind.FINISH, FinishReason.STOP)])
    view = viewed(whole.events)
    assert kinds(view) == ["start", "update", "update", "update", "end"]
    start, first, second, third, end = view
    assert (start.role, start.parts, start.error) == (Role.ASSISTANT, (), None)
    assert (first.parts, first.delta) == ((text("Hel"),), T("Hel"))
    assert (second.parts, second.delta) == ((text("Hello"),), T("lo"))
    assert (third.parts, third.delta) == ((text("Hello"), call()), call())
    assert (end.parts, end.stop, end.error) == ((text("Hello"), call()), "tool_calls", None)


def test_a_message_has_the_place_of_the_event_that_it_shows() -> None:
    whole = Told([T("a")])
    whole.step.set_context({"trace": "t-1"})
    run(whole.turn())
    by_seq = {event.seq: event for event in whole.events}
    for message in viewed(whole.events):
        source = by_seq[message.seq]
        assert (message.turn, message.at, message.context) == (source.turn, source.at, {"trace": "t-1"})


def test_snapshots_do_not_change_when_more_comes() -> None:
    whole = told([T("a"), T("b"), T("c")])
    updates = [message for message in viewed(whole.events) if isinstance(message, MessageUpdateEvent)]
    assert [update.parts for update in updates] == [(text("a"),), (text("ab"),), (text("abc"),)]


def test_a_turn_without_artifacts_is_a_pair() -> None:
    assert kinds(viewed(told([]).events)) == ["start", "end"]


def test_side_channels_start_a_message_and_update_nothing() -> None:
    whole = told([Side(ArtifactKind.METADATA, {"id": 1}), T("a")])
    assert kinds(viewed(whole.events)) == ["start", "update", "end"]


def test_what_is_submitted_is_a_pair() -> None:
    whole = Told([])
    run(whole.step.submit(whole.state, Role.USER, text("Hello")))
    start, end = viewed(whole.events)
    assert (start.role, end.role, end.parts) == (Role.USER, Role.USER, (text("Hello"),))


def test_an_error_ends_the_message_or_is_one() -> None:
    after = viewed(told([T("a"), ValueError("broken")]).events)
    assert kinds(after) == ["start", "update", "end"]
    assert (after[-1].parts, after[-1].stop, after[-1].error) == ((text("a"),), "error", "ValueError: broken")
    before = viewed(told([ValueError("broken")]).events)
    assert kinds(before) == ["start", "end"]
    assert [message.error for message in before] == ["ValueError: broken"] * 2


def test_a_handler_that_fails_is_seen_after_the_message() -> None:
    async def breaks(part: Any, emitter: Any) -> None:
        raise ValueError("handler")

    view = viewed(told([T("a")], handlers=[breaks]).events)
    assert kinds(view) == ["start", "update", "end", "start", "end"]
    assert (view[2].error, view[-1].error) == (None, "ValueError: handler")


def test_an_api_error_is_told_in_its_own_words() -> None:
    error = ApiError(kind=ErrorKind.OVERLOADED, message="busy")
    start, end = viewed([ErrorEvent(turn=1, stage=Stage.PROVIDER, error=error)])
    assert (start.error, end.error) == ("busy", "busy")


@pytest.mark.parametrize("said", [[T("a"), asyncio.CancelledError()], [asyncio.CancelledError()]])
def test_a_cancelled_turn_is_a_cancelled_message_and_no_error(said: list[Any]) -> None:
    view = viewed(told(said).events)
    assert (view[-1].stop, view[-1].error) == ("cancelled", None)
    assert kinds(view).count("start") == 1


def test_cancelling_after_the_message_tells_nothing_more() -> None:
    async def cancels(part: Any, emitter: Any) -> None:
        raise asyncio.CancelledError

    whole = told([T("a")], handlers=[cancels])
    assert whole.names[-1] == "cancelled"
    assert kinds(viewed(whole.events)) == ["start", "update", "end"]


def test_turns_of_handlers_are_messages_of_their_own() -> None:
    async def answers(part: Any, emitter: Any) -> None:
        await emitter.turn(Role.TOOL, text("42"))

    view = viewed(told([Complete(call())], handlers=[answers]).events)
    assert [(message.kind, message.role) for message in view if not isinstance(message, MessageUpdateEvent)] == [
        ("message_start", Role.ASSISTANT),
        ("message_end", Role.ASSISTANT),
        ("message_start", Role.TOOL),
        ("message_end", Role.TOOL),
    ]


def test_what_is_submitted_while_a_message_is_open_comes_after_it() -> None:
    provider = Stuck(T("a"))
    whole = Told(provider)

    async def go() -> None:
        turn = asyncio.create_task(whole.turn())
        await provider.waiting.wait()
        await whole.step.submit(whole.state, Role.USER, text("wait!"))
        provider.release.set()
        await turn

    run(go())
    view = viewed(whole.events)
    assert kinds(view) == ["start", "update", "update", "end", "start", "end"]
    assert [view[0].role, view[-1].role] == [Role.ASSISTANT, Role.USER]


def test_what_the_provider_settles_is_what_the_message_ends_with() -> None:
    response = Response(parts=(Text(text="Hello!"),))
    view = viewed(told([T("Hello"), Settled(response.parts, response)]).events)
    assert view[-1].parts == (text("Hello!"),)


def test_messages_of_a_subscription_that_lost_events_are_pairs_all_the_same() -> None:
    first = told([T("a"), T("b")]).events
    for missing in range(len(first)):
        viewed([event for number, event in enumerate(first) if number != missing])
    lost = [event for event in first if not isinstance(event, TurnCompleteEvent)]
    view = viewed(lost)
    assert (kinds(view)[-1], view[-1].parts) == ("end", (text("ab"),))
    unended = [event for event in first if not event.terminal and not isinstance(event, TurnCompleteEvent)]
    again = [LifecycleEvent(turn=2, phase=Phase.SUBMITTED), ErrorEvent(turn=2, stage=Stage.PROVIDER, error=ValueError())]
    view = viewed([*unended, *again])
    assert kinds(view) == ["start", "update", "update", "end", "start", "end"]
    assert view[3].stop == "error"


def test_the_view_of_a_subscription() -> None:
    async def go() -> None:
        step = Step(Scripted([T("a")]))
        listening = step.subscribe()
        await step.run_turn(Told([]).state)
        await step.close()
        view = [message async for message in messages(listening)]
        assert [type(message) for message in view] == [MessageStartEvent, MessageUpdateEvent, MessageEndEvent]
        assert isinstance(view[1], MessageUpdateEvent)
        assert isinstance(view[1].parts, Snapshot)

    run(go())
