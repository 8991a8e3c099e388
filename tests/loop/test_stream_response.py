"""A response stream over several turns, and what it does with awkward providers, hooks and callers."""

from __future__ import annotations

import asyncio
import json

import pytest

from harness.errors import HarnessError
from harness.loop.artifacts import TextDelta
from harness.loop.cancel import Cancel
from harness.loop.context import RunContext, StreamConfig
from harness.loop.events import Event, Stage, as_json, from_json
from harness.loop.failures import StepClosedError
from harness.loop.state import State, Turn
from harness.loop.stream_response import ResponseStream
from harness.request import CacheSettings, ThinkingLevel
from harness.response import FinishReason

from .running import others, rounds, run
from .scripted import Scripted, Waits, answer, ask, failure, text_of, user

CONTEXT = RunContext(turns=(user("Hello"),))
CONFIG = StreamConfig(model="m-1")


def test_several_turns_are_one_sequence_and_what_is_whole_is_stored() -> None:
    async def scene() -> None:
        events: list[Event] = []
        state = State()
        provider = Scripted(answer("one"), [failure("no", status=401)], answer("two"))
        async with ResponseStream(provider, on_emit=(events.append,), sleep=Waits()) as stream:
            stream.step.bind_state(state)
            replies = [await stream.respond(CONTEXT, CONFIG) for _ in range(3)]
        assert [reply.ok for reply in replies] == [True, False, True]
        assert [text_of(turn) for turn in state.turns] == ["one", "two"]
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert {event.turn for event in events} == {1, 2, 3}
        assert sum(event.terminal for event in events) == 3

    run(scene())


def test_a_hook_that_raises_is_a_failure_of_the_turn() -> None:
    def broken(turns: tuple[Turn, ...]) -> list[Turn]:
        raise KeyError("lost")

    for config in (StreamConfig(transform_context=broken), StreamConfig(convert=broken)):
        provider = Scripted(answer("never"))
        asked = ask(provider, config=config)
        assert (asked.reply.stage, provider.requests) == (Stage.TRANSFORM, [])
        assert isinstance(asked.reply.error, KeyError)
        assert asked.told == ["error"]


def test_a_handler_that_raises_leaves_the_turn_whole() -> None:
    async def scene() -> None:
        async def broken(part: object, emitter: object) -> None:
            raise RuntimeError("handler")

        async with ResponseStream(Scripted(answer("kept")), handlers=(broken,)) as stream:
            reply = await stream.respond(CONTEXT, CONFIG)
        assert (reply.ok, reply.stage, text_of(reply.turn)) == (False, Stage.HANDLER, "kept")

    run(scene())


def test_a_caller_who_is_cancelled_is_no_reply() -> None:
    async def scene() -> None:
        stream = ResponseStream(Scripted([TextDelta("tick"), asyncio.Event().wait]))
        task = asyncio.ensure_future(stream.respond(CONTEXT, CONFIG, cancel=Cancel()))
        await rounds(10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await stream.close()
        assert others() == []

    run(scene())


def test_who_was_cancelled_before_and_went_on_gets_replies() -> None:
    async def scene() -> None:
        async def goodbye() -> bool:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancel = Cancel()
                cancel.cancel()
                async with ResponseStream(Scripted(answer("never"))) as stream:
                    return (await stream.respond(CONTEXT, CONFIG, cancel=cancel)).cancelled
            return False

        task = asyncio.ensure_future(goodbye())
        await rounds()
        task.cancel()
        assert await task

    run(scene())


@pytest.mark.parametrize("last", [answer("whole"), [failure("broken", status=400)]])
def test_cancelled_at_the_very_end_the_reply_is_what_was_told(last: list[object]) -> None:
    cancel = Cancel()
    asked = ask(Scripted(last), cancel=cancel, emit=lambda event: cancel.cancel() if event.terminal else None)
    assert cancel.cancelled
    if asked.told[-1] == "done":
        assert (asked.reply.ok, text_of(asked.reply.turn)) == (True, "whole")
    else:
        assert (asked.reply.cancelled, asked.reply.error_message) == (False, "broken")


def test_after_a_cancelled_turn_the_next_one_is_as_good_as_any() -> None:
    async def scene() -> None:
        cancel = Cancel()
        provider = Scripted([TextDelta("tick"), asyncio.Event().wait], answer("fine"))
        async with ResponseStream(provider) as stream:
            asyncio.get_running_loop().call_later(0.0, lambda: asyncio.get_running_loop().call_later(0.0, cancel.cancel))
            first = await stream.respond(CONTEXT, CONFIG, cancel=cancel)
            second = await stream.respond(CONTEXT, CONFIG, cancel=Cancel())
        assert (first.stop, second.ok) == (FinishReason.CANCELLED, True)

    run(scene())


def test_one_turn_at_a_time_and_none_after_closing() -> None:
    async def scene() -> None:
        cancel = Cancel()
        stream = ResponseStream(Scripted([asyncio.Event().wait]))
        first = asyncio.ensure_future(stream.respond(CONTEXT, CONFIG, cancel=cancel))
        await rounds()
        with pytest.raises(HarnessError, match="a turn within a turn"):
            await stream.respond(CONTEXT, CONFIG)
        cancel.cancel()
        assert (await first).cancelled
        await stream.close()
        with pytest.raises(StepClosedError):
            await stream.respond(CONTEXT, CONFIG)

    run(scene())


def test_closing_while_a_turn_runs_cancels_the_turn() -> None:
    async def scene() -> None:
        stream = ResponseStream(Scripted([TextDelta("tick"), asyncio.Event().wait]))
        going = asyncio.ensure_future(stream.respond(CONTEXT, CONFIG))
        await rounds(10)
        await stream.close()
        assert (await going).cancelled

    run(scene())


def test_what_was_bound_beforehand_stands_where_the_config_says_nothing() -> None:
    provider = Scripted(answer("ok"))
    ask(provider, config=StreamConfig(model="m-2", temperature=0.0))
    assert (provider.requests[0].temperature, provider.requests[0].max_tokens) == (0.0, None)


def test_events_of_a_turn_come_back_from_json() -> None:
    config = StreamConfig(model="m-2", thinking_level=ThinkingLevel.LOW, cache=CacheSettings(ttl="1h"), stop=("END",))
    asked = ask(Scripted([failure()], answer("ok")), CONTEXT, config)
    for event in asked.events:
        assert from_json(json.loads(json.dumps(as_json(event)))) == event
