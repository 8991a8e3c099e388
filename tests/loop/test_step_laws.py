"""Laws 5 and 9 for a step, whatever its provider says and whatever becomes of it."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.loop.artifacts import (
    DELTAS,
    ArtifactKind,
    Complete,
    Finish,
    ReasoningDelta,
    RefusalDelta,
    Settled,
    Side,
    TextDelta,
    ToolCallDelta,
)
from harness.loop.events import ArtifactEvent, as_json, from_json
from harness.loop.gathering import folded
from harness.loop.messages import MessageProjection
from harness.loop.sequence import faults, message_faults
from harness.response import FinishReason, Reasoning, Refusal, Response, Text, ToolCall, Usage

from .running import run
from .stepping import Told, turns

_WORDS = st.text(alphabet="ab ", max_size=3)
_COUNT = st.none() | st.integers(0, 9)
_PARTS = st.one_of(
    st.builds(Text, text=_WORDS),
    st.builds(Reasoning, text=_WORDS, signature=st.none() | _WORDS),
    st.builds(Refusal, text=_WORDS),
    st.builds(ToolCall, id=st.sampled_from(["c0", "c1"]), name=_WORDS, arguments=_WORDS),
)
_SIDES = st.one_of(
    st.builds(Side, st.just(ArtifactKind.USAGE), st.builds(Usage, input_tokens=_COUNT, output_tokens=_COUNT)),
    st.builds(Side, st.just(ArtifactKind.FINISH), st.none() | st.sampled_from(FinishReason)),
    st.builds(Side, st.just(ArtifactKind.FINISH), st.builds(Finish, reason=st.none(), raw=st.none() | _WORDS)),
    st.builds(Side, st.just(ArtifactKind.REASONING_SIGNATURE), _WORDS),
    st.builds(Side, st.sampled_from([ArtifactKind.METADATA, ArtifactKind.UNKNOWN]), st.just({"a": 1})),
)
_FRAGMENTS = st.one_of(
    st.builds(TextDelta, _WORDS, st.sampled_from([("text",), ("text", 1)])),
    st.builds(ReasoningDelta, _WORDS),
    st.builds(RefusalDelta, _WORDS),
    st.builds(ToolCallDelta, st.integers(0, 2), id=_WORDS, name=_WORDS, arguments=_WORDS),
)
_SAID = st.lists(st.one_of(_FRAGMENTS, _FRAGMENTS, _SIDES, st.builds(Complete, _PARTS)), max_size=12)
_ENDS = st.sampled_from([None, ValueError("broken"), asyncio.CancelledError()])


def holds(whole: Told) -> None:
    """What is true of every turn."""
    events = whole.events
    assert [event.terminal for event in events] == [False] * (len(events) - 1) + [True]
    assert list(faults(events)) == []
    view = [message for projection in [MessageProjection()] for event in events for message in projection.add(event)]
    assert list(message_faults(view)) == []
    for event in [*events, *view]:
        shown = json.loads(json.dumps(as_json(event)))
        assert as_json(from_json(shown)) == shown
    assert [turn.parts for turn in whole.state] == [turn.parts for turn in turns(events)]


@settings(deadline=None)
@given(said=_SAID, end=_ENDS)
def test_law_9_whatever_is_said_there_is_one_end_and_a_legal_sequence(said: list[Any], end: BaseException | None) -> None:
    whole = Told([*said, *([] if end is None else [end])])
    run(whole.turn())
    holds(whole)


@settings(deadline=None)
@given(said=_SAID)
def test_law_5_the_artifacts_fold_to_the_turn(said: list[Any]) -> None:
    whole = Told(said)
    run(whole.turn())
    (turn,) = turns(whole.events)
    told = folded(whole.events)
    assert (told.parts, told.usage, told.finish) == (turn.parts, turn.usage, turn.finish)
    assert not any(isinstance(part, DELTAS) for part in turn.parts)


@settings(deadline=None)
@given(said=st.lists(st.one_of(_FRAGMENTS, _SIDES), max_size=8), parts=st.lists(_PARTS, max_size=4).map(tuple))
def test_law_5_the_artifacts_fold_to_what_was_settled(said: list[Any], parts: tuple[Any, ...]) -> None:
    whole = Told([*said, Settled(parts, Response(parts=parts))])
    run(whole.turn())
    assert folded(whole.events).parts == turns(whole.events)[0].parts == parts
    holds(whole)


@settings(deadline=None)
@given(said=_SAID, at=st.integers(1, 30))
def test_law_9_a_turn_that_is_cancelled_at_any_event_ends_there(said: list[Any], at: int) -> None:
    async def go() -> tuple[Told, bool]:
        task = asyncio.current_task()
        assert task is not None
        whole = Told(said)
        whole.then = lambda event: task.cancel() if event.seq == at else None
        await whole.turn()
        cancelled = task.cancelling() > 0
        task.uncancel()
        if cancelled and not isinstance(whole.raised, asyncio.CancelledError):  # it came at the very end
            assert whole.events[-1].seq == at
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
        return whole, cancelled

    whole, cancelled = run(go())
    holds(whole)
    assert len(whole.events) <= at + 1
    assert cancelled is (whole.events[-1].seq >= at)
    if len(whole.events) == at + 1:
        assert whole.names[-1] == "cancelled"


@settings(deadline=None)
@given(said=_SAID, buffer=st.integers(1, 5))
def test_no_listener_loses_order_or_count(said: list[Any], buffer: int) -> None:
    async def go() -> None:
        whole = Told(said)
        never, every = whole.step.subscribe(buffer=buffer), whole.step.subscribe(buffer=buffer)
        blocking = whole.step.subscribe("artifact", buffer=buffer, on_full="block")
        readers = [asyncio.create_task(_read(subscription)) for subscription in (every, blocking)]
        await whole.turn()
        await whole.step.close()
        assert await readers[0] == whole.events
        assert await readers[1] == [event for event in whole.events if isinstance(event, ArtifactEvent)]
        held = never.take()
        assert (len(held) + never.dropped, held[-1]) == (len(whole.events), whole.events[-1])
        assert [event.seq for event in held] == sorted(event.seq for event in held)

    run(go())


async def _read(subscription: Any) -> list[Any]:
    return [event async for event in subscription]


def test_law_5_a_provider_that_speaks_from_several_tasks_is_told_in_one_order() -> None:
    class Several:
        name = "several"

        async def invoke(self, request: Any, emit: Any) -> None:
            async with asyncio.TaskGroup() as group:
                for number in range(4):
                    group.create_task(self.one(str(number), emit))

        async def one(self, name: str, emit: Any) -> None:
            for _ in range(5):
                await emit(TextDelta(name, ("text", name)))
                await asyncio.sleep(0)
                await emit(Complete(Text(text=f"whole {name}")))

    async def go() -> None:
        whole = Told(Several())
        slow = whole.step.subscribe(buffer=1, on_full="block")
        reader = asyncio.create_task(_read(slow))
        await whole.turn()
        await whole.step.close()
        events = await reader
        assert events == whole.events
        assert folded(events).parts == turns(events)[0].parts
        assert len(turns(events)[0].parts) >= 4 * 5
        holds(whole)

    run(go())
