"""Clocks: who sleeps on a virtual one wakes in order and costs no time; the recorded time can be had at any speed."""

from __future__ import annotations

import asyncio
import math
import time

import pytest

from harness.replay import RecordedTime, VirtualClock
from tests.loop.running import rounds, run


def test_sleeping_takes_no_time() -> None:
    clock = VirtualClock()
    began = time.perf_counter()
    run(clock.sleep(3600.0))
    assert clock() == 3600.0
    assert time.perf_counter() - began < 1.0


def test_it_starts_where_it_is_told() -> None:
    clock = VirtualClock(1_764_547_200.0)
    run(clock.sleep(7.0))
    assert clock() == 1_764_547_207.0


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan])
def test_nothing_to_wait_for_is_one_round(seconds: float) -> None:
    clock = VirtualClock()
    went_on = []

    async def scenario() -> None:
        task = asyncio.create_task(rounds(1))
        task.add_done_callback(lambda _: went_on.append(True))
        await rounds(1)
        await clock.sleep(seconds)
        await rounds(1)

    run(scenario())
    assert went_on
    assert clock() == 0.0


def test_sleepers_wake_in_the_order_of_their_times() -> None:
    clock = VirtualClock()
    woken = []

    async def sleeper(name: str, *naps: float) -> None:
        for nap in naps:
            await clock.sleep(nap)
            woken.append((clock(), name))

    async def scenario() -> None:
        await asyncio.gather(sleeper("late", 5.0), sleeper("often", 1.0, 1.0, 1.0), sleeper("middle", 2.5))

    run(scenario())
    assert woken == [(1.0, "often"), (2.0, "often"), (2.5, "middle"), (3.0, "often"), (5.0, "late")]


def test_sleepers_of_one_time_wake_in_the_order_in_which_they_lay_down() -> None:
    clock = VirtualClock()
    woken: list[int] = []

    async def sleeper(name: int) -> None:
        await clock.sleep(1.0)
        woken.append(name)

    async def scenario() -> None:
        await asyncio.gather(*map(sleeper, range(50)))

    run(scenario())
    assert woken == list(range(50))


def test_whoever_lies_down_meanwhile_for_less_is_waited_for() -> None:
    clock = VirtualClock()
    seen = []

    async def short() -> None:
        await rounds(1)  # the long sleeper is first of all by now
        await clock.sleep(0.5)
        seen.append(clock())

    async def scenario() -> None:
        await asyncio.gather(clock.sleep(9.0), short())

    run(scenario())
    assert seen == [0.5]
    assert clock() == 9.0


def test_a_cancelled_sleeper_holds_nobody_up() -> None:
    clock = VirtualClock()

    async def scenario() -> None:
        first = asyncio.create_task(clock.sleep(1.0))
        other = asyncio.create_task(clock.sleep(2.0))
        await rounds(1)
        first.cancel()
        await other
        assert first.cancelled()

    run(scenario())
    assert clock() == 2.0
    assert clock.sleeping == 0


def test_a_time_that_never_comes_can_be_cancelled() -> None:
    clock = VirtualClock()

    async def scenario() -> None:
        forever = asyncio.create_task(clock.sleep(math.inf))
        await clock.sleep(10.0)
        assert not forever.done()
        forever.cancel()
        await asyncio.wait([forever])

    run(scenario())


def test_a_thousand_sleepers_are_quick() -> None:
    clock = VirtualClock()

    async def sleeper(number: int) -> None:
        for nap in range(20):
            await clock.sleep(0.01 + (number * 7 + nap) % 13 / 100)

    async def scenario() -> None:
        await asyncio.gather(*map(sleeper, range(1000)))

    run(scenario(), deadline=30.0)
    assert clock.sleeping == 0


def test_recorded_time_passes_as_fast_as_it_is_told() -> None:
    slept = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    clock = RecordedTime(4.0, clock=lambda: 100.0, sleep=sleep)
    run(clock.sleep(2.0))
    run(clock.sleep(-1.0))
    assert slept == [0.5, 0.0]
    assert clock() == 400.0


@pytest.mark.parametrize("speed", [0.0, -1.0, math.inf, math.nan])
def test_a_speed_is_a_number_above_nothing(speed: float) -> None:
    with pytest.raises(ValueError, match="speed"):
        RecordedTime(speed)
