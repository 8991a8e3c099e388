"""The rows of semantics.md 5.2 on those who listen: filters, order, slow subscribers, the end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.loop.artifacts import Complete, TextDelta
from harness.loop.events import Event, LifecycleEvent, Phase, PropertiesEvent
from harness.loop.failures import StepClosedError
from harness.loop.fanout import FanOut, Subscription
from harness.loop.state import State
from harness.loop.step import Step

from .running import rounds, run
from .scripted import Scripted
from .stepping import Told, call, names

T = TextDelta


def event(number: int = 0) -> PropertiesEvent:
    return PropertiesEvent(properties={"number": str(number)})


def numbers(events: list[Event]) -> list[int]:
    return [int(event.properties["number"] or 0) for event in events if isinstance(event, PropertiesEvent)]


DONE = LifecycleEvent(phase=Phase.DONE)


async def read(subscription: Subscription) -> list[Event]:
    return [event async for event in subscription]


def test_L24_subscriptions_see_what_they_asked_for_in_the_order_of_telling() -> None:
    async def go() -> None:
        whole = Told([T("a"), Complete(call()), T("b")])
        subscribe = whole.step.subscribe
        one, several = subscribe("text"), subscribe("text_delta", "tool_call", "lifecycle")
        artifacts, every = subscribe("artifact"), subscribe()
        await whole.turn()
        assert names(one.take()) == ["text", "text"]
        expected = ["submitted", "streaming", "text_delta", "tool_call", "text_delta", "done"]
        assert names(several.take()) == expected
        assert names(artifacts.take()) == ["text_delta", "text", "tool_call", "text_delta", "text"]
        assert every.take() == whole.events

    run(go())


def test_L25_two_subscriptions_to_one_kind_both_get_every_event() -> None:
    async def go() -> None:
        whole = Told([T("a"), T("b")])
        first, second = whole.step.subscribe("text_delta"), whole.step.subscribe("text_delta")
        await whole.turn()
        assert [e.value for e in first.take()] == [e.value for e in second.take()] == [T("a"), T("b")]  # type: ignore[attr-defined]

    run(go())


def test_L26_a_slow_subscription_holds_its_buffer_and_counts_the_rest() -> None:
    async def go() -> None:
        whole = Told([T("x")] * 500)
        slow = whole.step.subscribe("text_delta")
        fast = whole.step.subscribe("text_delta")
        task = asyncio.create_task(read(fast))
        await whole.turn()
        assert (len(slow), slow.dropped) == (100, 400)
        assert whole.names[-1] == "done"
        await whole.step.close()
        assert (len(await task), fast.dropped) == (500, 0)
        assert len(await read(slow)) == 100

    run(go())


def test_L26_how_the_turn_ended_is_never_what_is_lost() -> None:
    async def go() -> None:
        whole = Told([T("x")] * 500)
        slow = whole.step.subscribe(buffer=10)
        await whole.turn()
        await whole.turn()
        held = slow.take()
        assert (len(held), slow.dropped) == (10, len(whole.events) - 10)
        assert [e.seq for e in held if e.terminal] == [len(whole.events) // 2, len(whole.events)]
        assert [e.seq for e in held] == sorted(e.seq for e in held)

    run(go())


def test_L26_a_subscription_full_of_ends_stays_within_its_buffer() -> None:
    fanout = FanOut()
    slow = fanout.subscribe(buffer=2)
    for _ in range(5):
        fanout.put(DONE)
    assert (len(slow), slow.dropped) == (2, 3)


@pytest.mark.parametrize("buffer", [1, 2, 7, 100])
def test_L26_who_does_nothing_but_read_loses_nothing(buffer: int) -> None:
    async def go() -> None:
        whole = Told([T("x")] * 1000)
        reading = whole.step.subscribe(buffer=buffer)
        task = asyncio.create_task(read(reading))
        await whole.turn()
        await whole.step.close()
        assert (await task, reading.dropped) == (whole.events, 0)

    run(go())


def test_L27_a_subscription_that_blocks_loses_nothing_and_makes_the_provider_wait() -> None:
    emitted: list[int] = []

    class Counted:
        name = "counted"

        async def invoke(self, request: Any, emit: Any) -> None:
            for number in range(500):
                await emit(T("x"))
                emitted.append(number)

    async def go() -> None:
        whole = Told(Counted())
        slow = whole.step.subscribe("text_delta", buffer=100, on_full="block")
        turn = asyncio.create_task(whole.turn())
        await rounds(50)
        assert (len(emitted), len(slow), turn.done()) == (100, 101, False)  # the one that waits is queued already
        read_ = [await anext(slow) for _ in range(50)]
        await rounds(50)
        assert len(emitted) == 150
        task = asyncio.create_task(read(slow))
        await turn
        await whole.step.close()
        assert (len(read_) + len(await task), slow.dropped) == (500, 0)

    run(go())


def test_L27_a_subscription_that_blocks_and_is_closed_blocks_nobody() -> None:
    async def go() -> None:
        whole = Told([T("x")] * 50)
        slow = whole.step.subscribe(buffer=5, on_full="block")
        turn = asyncio.create_task(whole.turn())
        await rounds(20)
        assert not turn.done()
        slow.close()
        await turn
        assert whole.names[-1] == "done"
        assert len(await read(slow)) == 6

    run(go())


def test_L27_a_turn_that_waits_for_a_reader_can_be_cancelled() -> None:
    async def go() -> None:
        whole = Told([T("x")] * 50)
        slow = whole.step.subscribe(buffer=5, on_full="block")
        turn = asyncio.create_task(whole.step.run_turn(whole.state))
        await rounds(20)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert names(slow.take())[-1] == "cancelled"

    run(go())


def test_L27_closing_a_step_frees_a_turn_that_waits_for_a_reader() -> None:
    async def go() -> None:
        whole = Told([T("x")] * 50)
        slow = whole.step.subscribe(buffer=5, on_full="block")
        turn = asyncio.create_task(whole.turn())
        await rounds(20)
        await whole.step.close()
        await turn
        assert isinstance(whole.raised, StepClosedError)
        assert names(await read(slow))[-1] == "cancelled"

    run(go())


def test_L28_who_subscribes_late_gets_only_what_comes_later() -> None:
    late: list[Subscription] = []

    async def go() -> None:
        whole = Told(())

        async def subscribe() -> None:
            late.append(whole.step.subscribe())

        whole.provider.attempts = [[T("a"), subscribe, T("b")]]
        await whole.turn()
        assert names(late[0].take()) == ["text_delta", "text", "turn_complete", "done"]

    run(go())


def test_L29_closing_twice_and_subscribing_to_what_is_closed() -> None:
    async def go() -> None:
        step = Step(Scripted())
        before = step.subscribe()
        await asyncio.gather(step.close(), step.close())
        await step.close()
        after = step.subscribe()
        assert (before.closed, after.closed) == (True, True)
        assert (await read(before), await read(after)) == ([], [])

    run(go())


def test_L30_what_is_queued_when_a_step_is_closed_is_delivered() -> None:
    async def go() -> None:
        whole = Told([T("a")])
        queued, waiting = whole.step.subscribe(), whole.step.subscribe("error")
        task = asyncio.create_task(read(waiting))
        await whole.turn()
        await whole.step.close()
        assert await read(queued) == whole.events
        assert await task == []

    run(go())


def test_L31_telling_after_the_end_is_an_error() -> None:
    async def go() -> None:
        step = Step(Scripted())
        await step.close()
        with pytest.raises(StepClosedError):
            await step.emit(event())
        fanout = FanOut()
        fanout.close()
        fanout.close()
        with pytest.raises(StepClosedError):
            fanout.put(event())

    run(go())


def test_L32_what_a_callback_emits_is_told_after_the_event_it_was_called_for() -> None:
    second: list[Event] = []

    def nests(outer: Event) -> None:
        if isinstance(outer, LifecycleEvent) and outer.phase is not Phase.DONE:
            whole.step.emit(event(1))
            whole.step.emit(event(2))
        elif numbers([outer]) == [1]:
            whole.step.emit(event(3))

    whole = Told([T("a")], on_emit=[nests, second.append])

    async def go() -> None:
        listening = whole.step.subscribe()
        await whole.turn()
        assert listening.take() == second == whole.events

    run(go())
    assert whole.names[:5] == ["submitted", "properties", "properties", "properties", "streaming"]
    assert numbers(whole.events) == [1, 2, 3, 1, 2, 3]
    assert [e.seq for e in whole.events] == list(range(1, len(whole.events) + 1))


def test_L32_what_a_callback_emits_at_the_end_is_not_of_the_turn() -> None:
    def nests(outer: Event) -> None:
        if outer.terminal:
            whole.step.emit(event(1))

    async def go() -> None:
        whole.step.set_context({"trace": "t-1"})
        await whole.turn()

    whole = Told([T("a")], on_emit=[nests])
    run(go())
    assert whole.names[-2:] == ["done", "properties"]
    assert [(e.turn, dict(e.context)) for e in whole.events[-2:]] == [(1, {"trace": "t-1"}), (0, {})]


# the fan-out by itself


def test_a_subscription_says_what_it_holds_and_is_closed_by_leaving_it() -> None:
    async def go() -> None:
        fanout = FanOut()
        async with fanout.subscribe() as subscription:
            assert bool(subscription)
            fanout.put(event(1))
            assert (len(subscription), subscription.closed, fanout.subscriptions) == (1, False, (subscription,))
        fanout.put(event(2))
        assert (numbers(await read(subscription)), fanout.subscriptions) == ([1], ())

    run(go())


def test_several_readers_share_the_events_of_a_subscription() -> None:
    async def go() -> None:
        fanout = FanOut()
        subscription = fanout.subscribe()
        readers = [asyncio.create_task(read(subscription)) for _ in range(3)]
        await rounds()
        readers[0].cancel()
        await rounds()
        for number in range(4):
            await fanout.put(event(number))
            await rounds()
        fanout.close()
        got = [await reader for reader in readers[1:]]
        assert sorted(numbers([*got[0], *got[1]])) == [0, 1, 2, 3]

    run(go())


@pytest.mark.parametrize("wrong", [{"buffer": 0}, {"buffer": -1}, {"on_full": "wait"}])
def test_a_subscription_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(HarnessError):
        FanOut().subscribe(**wrong)


def test_the_state_of_a_step_without_anything_is_left_alone() -> None:
    state = State()
    assert run(Step(Scripted([])).run_turn(state)) is state
    assert len(state) == 0
