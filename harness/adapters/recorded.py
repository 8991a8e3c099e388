"""Recorded exchanges as a transport of the loop: in memory, chunk by chunk, with an eye on what is left open.

No HTTP client stands between, so that a whole suite of recordings runs through the loop in seconds. `harness.replay` plays
exchanges to HTTP clients.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from harness.cassette.model import Chunk, Exchange
from harness.dialects import Dialect
from harness.errors import NoRecordingError
from harness.loop.events import Event
from harness.loop.failures import TurnFailed
from harness.loop.provider import DialectProvider
from harness.loop.state import State
from harness.loop.step import Step
from harness.loop.wire import WireError, WireRequest
from harness.replay.clock import Clock
from harness.request import RequestParts, TurnRequest

T = TypeVar("T")


class Recorded:
    """Answers each request with the next of `exchanges`. Raises `NoRecordingError` when there is none left.

    With a clock chunks come when they are due, without one at once. `sent` has the requests, `replies` their answers, `open`
    counts the answers that nobody let go of.
    """

    def __init__(self, *exchanges: Exchange, clock: Clock | None = None) -> None:
        self.sent: list[WireRequest] = []
        self.replies: list[Reply] = []
        self._exchanges = exchanges
        self._clock = clock

    @property
    def open(self) -> int:
        return sum(not reply.closed for reply in self.replies)

    async def send(self, request: WireRequest) -> Reply:
        number = len(self.sent)
        if number >= len(self._exchanges):
            raise NoRecordingError(f"a request too many: {number} exchanges are recorded", hint="record more of them")
        self.sent.append(request)
        exchange = self._exchanges[number]
        if exchange.status == 0:
            raise broken(exchange) or WireError("network", "no response was recorded")
        reply = Reply(exchange, self._clock)
        self.replies.append(reply)
        return reply


class Reply:
    """A recorded response. `read` counts the chunks that were taken."""

    def __init__(self, exchange: Exchange, clock: Clock | None) -> None:
        self.read = 0
        self.closed = False
        self._exchange = exchange
        self._clock = clock
        self._since = clock() if clock is not None else 0.0

    @property
    def status(self) -> int:
        return self._exchange.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._exchange.headers

    async def chunks(self) -> AsyncIterator[Chunk]:
        for chunk in self._exchange.chunks:
            if self._clock is not None:
                await self._clock.sleep(self._since + chunk.at - self._clock())
            self.read += 1
            yield chunk
        error = broken(self._exchange)
        if error is not None:
            raise error

    async def aclose(self) -> None:
        self.closed = True


def broken(exchange: Exchange) -> WireError | None:
    """How the connection of an exchange ended, if not in order."""
    if exchange.ending == "reset":
        return WireError("network", "the connection was reset")
    if exchange.ending == "timeout":
        return WireError("timeout", "nothing came for too long")
    return None


def asked(exchange: Exchange) -> Callable[[TurnRequest], RequestParts]:
    """Builds the recorded request, whatever is asked for."""
    body = exchange.request.json
    parts = RequestParts(
        method=exchange.request.method, path=exchange.request.target, body=body if isinstance(body, dict) else {}
    )
    return lambda _: parts


def events_of(exchange: Exchange, dialect: Dialect) -> tuple[Event, ...]:
    """All that the loop tells of the turn that an exchange answers."""
    return run(_told(exchange, dialect))


def run(turn: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns; also where an event loop runs already, whose thread then waits."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(turn)
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(asyncio.run, turn).result()


async def _told(exchange: Exchange, dialect: Dialect) -> tuple[Event, ...]:
    told: list[Event] = []
    provider = DialectProvider(dialect, Recorded(exchange), build=asked(exchange))
    async with Step(provider, on_emit=[told.append]) as step:
        with suppress(TurnFailed):  # which is told as well
            await step.run_turn(State())
    return tuple(told)
