"""A transport for httpx clients that answers from a recording, with the pieces, the times and the end that it had.

Recorders that join a body into one piece hide the faults at its borders (BR-062); here nothing is joined, and nothing waits
unless the clock does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial

import httpx

from harness.cassette.model import Cassette, Exchange, Headers, Request
from harness.replay.clock import Clock, VirtualClock
from harness.replay.heads import head_of
from harness.replay.matching import Match, Shelf, same_request
from harness.replay.play import Player, play


class ReplayTransport(httpx.AsyncBaseTransport):
    """Answers requests with recorded exchanges: `httpx.AsyncClient(transport=ReplayTransport([exchange]))`.

    The exchanges answer in their order, or with `match` the requests they were recorded for (`same_request`, or a function
    of your own); `again` lets each be played as often as it is asked for. Without a clock nothing waits.

    An exchange that was reset ends in `httpx.ReadError`, one that stalled in `httpx.ReadTimeout` after the client's own
    read limit; one without a response in `ConnectError` or `ConnectTimeout`. Pauses between pieces are not held against the
    client's limits. A request that no recording answers raises `NoRecordingError`, which is no error of the network.
    """

    def __init__(
        self,
        exchanges: Iterable[Exchange],
        *,
        match: Match | None = None,
        again: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self.clock: Clock = clock if clock is not None else VirtualClock()
        self.asked: list[Request] = []
        """The requests so far."""
        self.open = 0
        """How many responses are not closed yet."""
        self._shelf = Shelf(tuple(exchanges), match, again=again)

    @classmethod
    def of(cls, cassette: Cassette, *, again: bool = False, clock: Clock | None = None) -> ReplayTransport:
        """A transport that answers both requests of a cassette, the streaming one and its twin."""
        sides = (side for side in (cassette.stream, cassette.reference) if side is not None)
        return cls(sides, match=same_request, again=again, clock=clock)

    @property
    def left(self) -> int:
        """How many exchanges were not played yet."""
        return len(self._shelf)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        since = self.clock()
        asked = await _read(request)
        self.asked.append(asked)
        exchange = self._shelf.take(asked)
        limits = request.extensions.get("timeout") or {}
        if exchange.status == 0:
            await self.clock.sleep((limits.get("connect") or 0.0) if exchange.ending == "timeout" else 0.0)
            failed = httpx.ConnectTimeout if exchange.ending == "timeout" else httpx.ConnectError
            raise failed("the recording has no response", request=request)
        stall = partial(self.clock.sleep, limits.get("read") or 0.0)
        stream = _Body(exchange, play(exchange, self.clock, since), stall, self._closed)
        self.open += 1
        return httpx.Response(exchange.status, headers=head_of(exchange), stream=stream, request=request)

    def _closed(self) -> None:
        self.open -= 1


class _Body(httpx.AsyncByteStream):
    """The body of one response, which can be read once."""

    def __init__(
        self, exchange: Exchange, player: Player, stall: Callable[[], Awaitable[None]], closed: Callable[[], None]
    ) -> None:
        self._ending = exchange.ending
        self._player = player
        self._stall = stall
        self._closed: Callable[[], None] | None = closed

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        try:
            return (await anext(self._player)).data
        except StopAsyncIteration:
            if self._ending == "eof":
                raise
        if self._ending == "reset":
            raise httpx.ReadError("the connection was reset, as recorded")
        await self._stall()
        raise httpx.ReadTimeout("nothing more came, as recorded")

    async def aclose(self) -> None:
        closed, self._closed = self._closed, None
        if closed is not None:
            closed()


async def _read(request: httpx.Request) -> Request:
    url = request.url
    return Request(
        method=request.method,
        scheme=url.scheme,
        host=url.netloc.decode("ascii"),
        target=url.raw_path.decode("ascii"),
        headers=Headers([(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]),
        body=await request.aread(),
    )
