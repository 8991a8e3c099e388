"""A scenario, played: the loop as the client that the scenario describes, on a clock that costs no time.

It retries, is cancelled, is listened to by the slow, and records what it plays, if the scenario says so. Everything that can
be observed of such a client is counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.adapters.recorded import Recorded, asked, run
from harness.cassette.model import Exchange
from harness.dialects import Dialect
from harness.errors import HarnessError
from harness.inputs import Cancelling, Client, Subscriber
from harness.loop.cancel import Cancel
from harness.loop.context import RunContext, StreamConfig
from harness.loop.events import Event
from harness.loop.fanout import Subscription
from harness.loop.provider import DialectProvider
from harness.loop.retry import RetryPolicy
from harness.loop.stream_response import Reply, ResponseStream
from harness.recording import RecordingWire
from harness.replay.clock import VirtualClock

_MIDDLE = 0.5  # of the range that random numbers come from: no jitter


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What one subscriber heard: so many events, and so many that it missed."""

    name: str
    events: int
    dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a client did: its requests, its waits before further attempts in seconds, the pieces that it read of each response,
    the responses that it left open, what it was told, and how the turn came out."""

    requests: int
    waits: tuple[float, ...]
    reads: tuple[int, ...]
    open: int
    events: tuple[Event, ...]
    heard: tuple[Heard, ...]
    reply: Reply

    def as_dict(self) -> dict[str, Any]:
        """As `check --json` has it."""
        return {
            "requests": self.requests,
            "waits_s": list(self.waits),
            "reads": list(self.reads),
            "events": len(self.events),
            "subscribers": [{"name": h.name, "events": h.events, "dropped": h.dropped} for h in self.heard],
        }


def play(exchanges: Sequence[Exchange], dialect: Dialect, client: Client) -> Played:
    """Play the client against the exchanges. Raises `HarnessError` where it asks for more of them than there are."""
    return run(_play(tuple(exchanges), dialect, client))


async def _play(exchanges: tuple[Exchange, ...], dialect: Dialect, client: Client) -> Played:
    if client.record_then_replay:
        recording = _Client(exchanges, dialect, client)
        await recording.played()
        exchanges = tuple(recording.wire.recorder.exchanges)
    return await _Client(exchanges, dialect, client).played()


class _Client:
    """A client of a scenario, and what is counted of it."""

    def __init__(self, exchanges: tuple[Exchange, ...], dialect: Dialect, client: Client) -> None:
        self._client = client
        self._clock = VirtualClock()
        self._events: list[Event] = []
        self._waits: list[float] = []
        self._cancel = Cancel()
        self._recorded = Recorded(*exchanges, clock=self._clock)
        self.wire = RecordingWire(self._recorded)
        self._provider = DialectProvider(dialect, self.wire, build=asked(exchanges[0]), now=self._now)

    async def played(self) -> Played:
        """Run the turn to its end."""
        retries = self._client.max_retries
        policy = RetryPolicy() if retries is None else RetryPolicy(max_retries=retries)
        on_emit: list[Callable[[Event], None]] = [self._events.append]
        if self._client.cancel_after_events is not None:
            on_emit.append(_canceller(self._client.cancel_after_events, self._cancel))
        async with ResponseStream(
            self._provider,
            retry=policy,
            on_emit=on_emit,
            clock=self._clock,
            sleep=self._sleep,
            random=lambda: _MIDDLE,
        ) as stream:
            listeners = [_Listener(s, stream) for s in self._client.subscribers]
            reply = await stream.respond(RunContext(), StreamConfig(), cancel=self._cancel)
        if isinstance(reply.error, HarnessError):
            raise reply.error
        return Played(
            requests=len(self._recorded.sent),
            waits=tuple(self._waits),
            reads=tuple(r.read for r in self._recorded.replies),
            open=self._recorded.open,
            events=tuple(self._events),
            heard=tuple([await listener.heard() for listener in listeners]),
            reply=reply,
        )

    def _now(self) -> float:
        begun = self._client.clock
        return time.time() if begun is None else begun.timestamp() + self._clock()

    async def _sleep(self, seconds: float) -> None:
        self._waits.append(seconds)
        await self._clock.sleep(seconds)


class _Listener:
    """A subscriber that reads as events come, or once all is over."""

    def __init__(self, settings: Subscriber, stream: ResponseStream) -> None:
        self._name = settings.name
        self._subscription: Subscription = stream.step.subscribe(buffer=settings.buffer, on_full=settings.on_full)
        self._task = None if settings.reads_after else asyncio.create_task(_count(self._subscription))

    async def heard(self) -> Heard:
        count = await (self._task or _count(self._subscription))
        return Heard(name=self._name, events=count, dropped=self._subscription.dropped)


async def _count(subscription: Subscription) -> int:
    count = 0
    async for _ in subscription:
        count += 1
    return count


def _canceller(when: Cancelling, cancel: Cancel) -> Callable[[Event], None]:
    """Cancels once so many events of a kind were told."""
    left = when.count

    def count(event: Event) -> None:
        nonlocal left
        if when.kind in (event.kind, event.topic):
            left -= 1
            if left == 0:
                cancel.cancel()

    return count


def as_read(exchange: Exchange, reads: int) -> Exchange:
    """An exchange as far as a client read it."""
    return replace(exchange, chunks=exchange.chunks[:reads], ending="eof")
