"""What a second is while a recording plays: nothing at all, or a second, or a part of one.

A clock is called for the time in seconds and slept on. Whoever takes a clock and a sleep apart gets `clock` and `clock.sleep`.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import time
from collections.abc import Awaitable, Callable
from typing import Protocol


class Clock(Protocol):
    """A time to read and to wait by."""

    def __call__(self) -> float:
        """The time in seconds, from wherever it is counted."""

    async def sleep(self, seconds: float) -> None:
        """Wait so long. Nothing to wait for still lets others go on for one round."""


class VirtualClock:
    """A clock that jumps: when all who sleep on it wait, it is the time at which the first of them wakes.

    Sleepers wake in the order of their times, those of one time in the order in which they lay down. There is no way to
    ask an event loop whether anybody still has work to do, so before each jump the others get a few rounds of it: who does
    more than that between two sleeps finds that the time has passed meanwhile, as it does for the slow everywhere.
    """

    def __init__(self, start: float = 0.0, *, rounds: int = 3) -> None:
        self._now = start
        self._rounds = rounds
        self._numbers = itertools.count()
        self._sleepers: list[tuple[float, int, _Sleeper]] = []

    def __call__(self) -> float:
        return self._now

    @property
    def sleeping(self) -> int:
        """How many wait for the clock."""
        return sum(not sleeper.gone for _, _, sleeper in self._sleepers)

    async def sleep(self, seconds: float) -> None:
        if not seconds > 0:
            await asyncio.sleep(0)
            return
        if math.isinf(seconds):  # a time that never comes; the sleeper can be cancelled
            await asyncio.get_running_loop().create_future()
        me = _Sleeper()
        due = self._now + seconds
        heapq.heappush(self._sleepers, (due, next(self._numbers), me))
        try:
            await self._turn_of(me)
            self._now = max(self._now, due)
        finally:
            me.gone = True
            if (first := self._first()) is not None:
                first.called.set()

    async def _turn_of(self, me: _Sleeper) -> None:
        """Wait until nobody is due before `me`; the first of the sleepers waits for those who are awake."""
        while True:
            if self._first() is not me:
                me.called.clear()
                await me.called.wait()
            for _ in range(self._rounds):
                await asyncio.sleep(0)
            if self._first() is me:
                return

    def _first(self) -> _Sleeper | None:
        while self._sleepers and self._sleepers[0][2].gone:
            heapq.heappop(self._sleepers)
        return self._sleepers[0][2] if self._sleepers else None


class _Sleeper:
    __slots__ = ("called", "gone")

    def __init__(self) -> None:
        self.called = asyncio.Event()
        self.gone = False


class RecordedTime:
    """The time as it passes, `speed` times as fast: a recording that took 12 s plays for 4 s at speed 3."""

    def __init__(
        self,
        speed: float = 1.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        if not (speed > 0 and math.isfinite(speed)):
            raise ValueError(f"a speed is a number above 0, not {speed!r}")
        self.speed = speed
        self._clock = clock
        self._sleep = sleep

    def __call__(self) -> float:
        return self._clock() * self.speed

    async def sleep(self, seconds: float) -> None:
        await self._sleep(max(0.0, seconds) / self.speed)
