"""One answer, played on a connection: head, pieces, end, as they were recorded and when."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol

from harness.cassette.model import Exchange
from harness.replay.clock import Clock
from harness.replay.heads import head_of
from harness.serving.desk import Answer
from harness.serving.entry import Ended, Entry

_TURNS = 64  # pieces after which the others have a turn
_BODILESS = (204, 304)
Fields = list[tuple[bytes, bytes]]
OF_CONNECTION = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"}
)
"""Header fields that are between two neighbours (RFC 9110, section 7.6.1)."""


class Wire(Protocol):
    """The client's side of one exchange, whatever protocol it speaks. What fails because the client left raises `OSError`."""

    async def head(self, status: int, fields: Fields) -> None:
        """Send the status and the header fields."""

    def piece(self, data: bytes) -> Awaitable[None] | None:
        """Send one piece of the body, in one write; what is to be waited for until the client has taken it, if anything."""

    async def end(self) -> None:
        """Say that the body is over."""

    async def reset(self) -> None:
        """Break off, so that the client sees that it was no end."""


class Pace:
    """How pieces keep to their times: `clock` for those that were recorded, none where nothing waits; `own` for the times of
    faults, `stall` seconds for what never comes."""

    def __init__(self, clock: Clock | None, own: Clock, stall: float) -> None:
        self.clock = clock
        self.own = own
        self.stall = stall


async def play(answer: Answer, wire: Wire, entry: Entry, pace: Pace) -> Ended:
    """Play an answer, and say how it ended."""
    exchange = answer.exchange
    entry.status = exchange.status
    bodiless = entry.request.method == "HEAD" or exchange.status in _BODILESS
    entry.of = 0 if bodiless else sum(1 for chunk in exchange.chunks if chunk.data)
    if exchange.status:
        await wire.head(exchange.status, _fields(exchange))
    if entry.of:
        await _pieces(exchange, wire, entry, pace.own if answer.timed else pace.clock)
    if exchange.ending == "eof" and exchange.status:
        await wire.end()
        return "eof"
    stalls = exchange.ending == "timeout"
    if stalls:
        await asyncio.sleep(pace.stall)
    await wire.reset()
    return "stall" if stalls else "reset"


async def _pieces(exchange: Exchange, wire: Wire, entry: Entry, clock: Clock | None) -> None:
    pieces = [chunk for chunk in exchange.chunks if chunk.data]
    since = clock() if clock is not None else 0.0
    step = 1 if clock is not None else _TURNS
    for start in range(0, len(pieces), step):
        if clock is not None:
            await clock.sleep(since + pieces[start].at - clock())
        else:
            await asyncio.sleep(0)
        await _written([chunk.data for chunk in pieces[start : start + step]], wire, entry)


async def _written(pieces: list[bytes], wire: Wire, entry: Entry) -> None:
    """Send pieces one after the other."""
    send, sizes = wire.piece, entry.sizes
    try:
        for data in pieces:
            waits = send(data)
            if waits is not None:
                await waits
            sizes.append(len(data))
    finally:
        sent = sizes[entry.chunks :]
        entry.chunks += len(sent)
        entry.bytes += sum(sent)


def _fields(exchange: Exchange) -> Fields:
    """The recorded header fields that are true of what is sent. A length that is promised and not kept stays."""
    fields = [(name.lower(), value) for name, value in head_of(exchange) if name.lower() not in OF_CONNECTION]
    return [(name, value) for name, value in fields if name != b"content-length" or _promises(value, len(exchange.body))]


def _promises(size: bytes, sent: int) -> bool:
    return size.isdigit() and len(size) < 16 and int(size) >= sent
