"""Events to whoever listens: live, in order, and nobody is lost without a count (semantics.md 2.4, decision D9).

Every subscription has a queue of its own, bounded by `buffer`. What happens when it is full is its own choice: `drop` counts
what it could not take and leaves all others alone, `block` makes whoever tells wait. Order within a subscription is the order
of telling, over all kinds; between subscriptions there is none. Nothing is replayed to late subscribers.

The queue is a deque with two events of asyncio. Ways not taken: streams of anyio go round the event loop for every item, which
costs more than all else that is done for a fragment; queues of asyncio cannot be closed before Python 3.13; and neither takes
an item at once and makes its sender wait afterwards, which the order of nested events needs (row L32).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Generator
from typing import Any, Literal, get_args

from harness.errors import HarnessError
from harness.loop.events import Event
from harness.loop.failures import StepClosedError

OnFull = Literal["drop", "block"]


class Subscription:
    """The events of one listener: `async for event in subscription`, which ends once the step is closed and all was read.

    `dropped` counts the events that found the buffer full; `len()` is the number of those that wait to be read. A terminal
    event is never the one that is lost: it takes the place of the newest that is none, which is counted (law 9).
    """

    def __init__(self, fanout: FanOut, topics: tuple[str, ...], buffer: int, on_full: OnFull) -> None:
        self.dropped = 0
        self.buffer = buffer
        self.on_full = on_full
        self.topics = frozenset(topics)
        self.closed = False
        self._fanout = fanout
        self._queue: deque[Event] = deque()
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()

    def take(self) -> list[Event]:
        """All that is queued, without waiting."""
        taken = list(self._queue)
        self._queue.clear()
        self._room.set()
        return taken

    def close(self) -> None:
        """Listen no more. What is queued can still be read; nobody waits for this subscription any longer."""
        self._fanout.remove(self)
        self.closed = True
        self._arrived.set()
        self._room.set()

    def __len__(self) -> int:
        return len(self._queue)

    def __bool__(self) -> bool:
        return True  # an empty queue is a subscription all the same

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Event:
        while not self._queue:
            if self.closed:
                raise StopAsyncIteration
            self._arrived.clear()
            await self._arrived.wait()
        event = self._queue.popleft()
        if len(self._queue) == self.buffer:  # it was exceeded until now
            self._room.set()
        return event

    async def __aenter__(self) -> Subscription:
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.close()

    def offer(self, event: Event) -> bool:
        """Queue an event, or count it. Returns whether its teller should wait for the reader."""
        queued = len(self._queue)
        if queued >= self.buffer and self.on_full == "drop":
            self.dropped += 1
            if event.terminal:
                self._make_way(event)
            return False
        self._queue.append(event)
        if not queued:  # else the reader knows that there is something to read
            self._arrived.set()
        return queued + 1 >= self.buffer

    def _make_way(self, event: Event) -> None:
        for position in range(len(self._queue) - 1, -1, -1):
            if not self._queue[position].terminal:
                del self._queue[position]
                self._queue.append(event)
                return

    async def room(self) -> None:
        """Wait until the buffer is not exceeded."""
        while len(self._queue) > self.buffer and not self.closed:
            self._room.clear()
            await self._room.wait()


class Pressure:
    """To be awaited after something was told: the wait for those whose buffers it filled.

    A reader whose buffer has just become full gets one round of the event loop, so that one who does nothing but read loses
    nothing, even if the teller never waits for anything else.
    """

    __slots__ = ("pressing",)

    def __init__(self, *pressing: Subscription) -> None:
        self.pressing = pressing

    def __add__(self, other: Pressure) -> Pressure:
        """The wait for both."""
        return (
            Pressure(*self.pressing, *other.pressing) if self.pressing and other.pressing else self if self.pressing else other
        )

    def __await__(self) -> Generator[Any, None, None]:
        if self.pressing:
            yield
        for subscription in self.pressing:
            if subscription.on_full == "block":
                yield from subscription.room().__await__()


NOTHING = Pressure()
"""What there is to wait for when nobody's buffer is full."""


class FanOut:
    """Tells events to all subscriptions that want them."""

    def __init__(self) -> None:
        self.subscriptions: tuple[Subscription, ...] = ()
        self.closed = False

    def subscribe(self, *topics: str, buffer: int = 100, on_full: OnFull = "drop") -> Subscription:
        """A subscription to events of these kinds or topics; to all where none are given.

        The topic of an artifact is its kind (`text_delta`, `tool_call` …); `artifact` stands for all of them. After `close` the
        subscription is one that is closed already. Raises `HarnessError` for a buffer or a policy that cannot be.
        """
        if buffer < 1:
            raise HarnessError(f"a buffer of {buffer} holds no event", hint="give one of 1 or more")
        if on_full not in get_args(OnFull):
            raise HarnessError(f"there is no policy {on_full!r} for full buffers", hint="give 'drop' or 'block'")
        subscription = Subscription(self, tuple(map(str, topics)), buffer, on_full)
        if self.closed:
            subscription.close()
        else:
            self.subscriptions += (subscription,)
        return subscription

    def remove(self, subscription: Subscription) -> None:
        self.subscriptions = tuple(s for s in self.subscriptions if s is not subscription)

    def put(self, event: Event) -> Pressure:
        """Queue the event with everybody who wants it, at once. Await what is returned for back-pressure; after a terminal
        event there is none. Raises `StepClosedError` after `close`."""
        if self.closed:
            raise StepClosedError(f"an event ({event.kind}) was told after the end")
        pressure = NOTHING
        for subscription in self.subscriptions:
            topics = subscription.topics
            if topics and event.topic not in topics and event.kind not in topics:
                continue
            if subscription.offer(event):
                pressure += Pressure(subscription)
        return NOTHING if pressure is NOTHING or event.terminal else pressure

    def close(self) -> None:
        """Tell no more. What is queued is still delivered, then iterating ends; a second call does nothing."""
        self.closed = True
        for subscription in self.subscriptions:
            subscription.close()
