"""One exchange, played: its pieces as they came, at their times."""

from __future__ import annotations

from harness.cassette.model import Chunk, Exchange
from harness.replay.clock import Clock


class Player:
    """Iterates over the pieces of an exchange, each when it is due on the clock. How the exchange ended, its reader says.

    Every piece is a point at which the reader can be cancelled. A reader that is late gets what is overdue at once, as from
    a socket. (No generator: one that is left half read is finished by a task of the event loop's own.)
    """

    def __init__(self, exchange: Exchange, clock: Clock, since: float | None = None) -> None:
        self._chunks = iter(exchange.chunks)
        self._clock = clock
        self._since = clock() if since is None else since

    def __aiter__(self) -> Player:
        return self

    async def __anext__(self) -> Chunk:
        chunk = next(self._chunks, None)
        if chunk is None:
            raise StopAsyncIteration
        await self._clock.sleep(self._since + chunk.at - self._clock())
        return chunk


def play(exchange: Exchange, clock: Clock, since: float | None = None) -> Player:
    """The pieces of an exchange whose request was sent at `since` on the clock (None: now), each when it is due."""
    return Player(exchange, clock, since)
