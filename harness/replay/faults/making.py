"""What the faults of the catalogue are made of: changes to frames, cuts, the place where a turn ends, arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.cassette.model import Chunk, Ending, Exchange
from harness.collector import StreamCollector
from harness.dialects import Dialect
from harness.replay.cuts import Cut, recut
from harness.replay.faults.named import Change
from harness.replay.faults.primitives import Fault, FaultError
from harness.replay.reel import Piece, Reel

Framed = Callable[[Reel, str], None]
"""Changes the frames of a stream; the text is the fault's argument."""


def reel_of(exchange: Exchange, dialect: Dialect) -> Reel:
    """The frames of a stream. Raises `FaultError` for an answer that is none."""
    reel = Reel(exchange, dialect)
    head = exchange.body.lstrip()[:1]
    if exchange.status >= 300 or not reel.pieces or (head == b"{" and reel.framing != "ndjson"):
        raise FaultError(f"the answer (status {exchange.status}) is no stream of frames")
    return reel


def framed(change: Framed, *framings: str) -> Change:
    """A change to the frames of a stream in one of these framings; none: in any."""

    def made(exchange: Exchange, dialect: Dialect, argument: str) -> Exchange:
        reel = reel_of(exchange, dialect)
        if framings and reel.framing not in framings:
            raise FaultError(f"the stream is framed as {reel.framing}, and this is about {', '.join(framings)}")
        change(reel, argument)
        return reel.exchange()

    return made


def of_primitives(*faults: Fault) -> Framed:
    """These small changes, one after the other."""

    def made(reel: Reel, _: str) -> None:
        for fault in faults:
            fault.apply(reel)

    return made


def cutting(cut: Callable[[str], Cut]) -> Change:
    """Other pieces; `cut` gets the fault's argument."""

    def made(exchange: Exchange, _: Dialect, argument: str) -> Exchange:
        return recut(exchange, cut(argument))

    return made


def cut_after(exchange: Exchange, offsets: list[int]) -> Exchange:
    """The body cut at these offsets."""
    ends = sorted({*offsets, len(exchange.body)} - {0})
    sizes = iter([end - start for start, end in zip([0, *ends], ends, strict=False)])
    return recut(exchange, sizes)


def end_of_turn(reel: Reel) -> int:
    """The number of the frame with which the turn is complete; the number of all frames if it never is."""
    collector = StreamCollector(reel.api, reel.request.json)
    for number, piece in enumerate(reel.pieces):
        collector.extend([piece.frame])
        if collector.complete:
            return number
    return len(reel.pieces)


def middle(reel: Reel, argument: str = "") -> int:
    """How many frames come before something happens: as many as the argument says, else half of those before the end of
    the turn. Never so many that the turn is complete. Raises `FaultError`."""
    end = end_of_turn(reel)
    if not argument:
        return (end + 1) // 2
    kept = number(argument)
    if kept > end:
        raise FaultError(f"the turn ends with frame {end}", hint=f"the argument is a number from 0 to {end}")
    return kept


def number(argument: str, *, most: int = 1_000_000) -> int:
    """The number that an argument is. Raises `FaultError`."""
    if not (argument.isascii() and argument.isdecimal() and len(argument) < 8 and int(argument) <= most):
        raise FaultError(f"the argument {argument!r} is no number from 0 to {most}")
    return int(argument)


def ended(exchange: Exchange, ending: Ending) -> Exchange:
    """The same pieces, after which the connection ends otherwise. A length that is not reached is still promised."""
    return replace(exchange, ending=ending)


def unanswered(exchange: Exchange, ending: Ending) -> Exchange:
    """No response at all."""
    return replace(exchange, status=0, chunks=(), ending=ending)


def spread(exchange: Exchange, seconds: float, most: float) -> Exchange:
    """The pieces, one every so many seconds; faster where they are many, so that all of it takes at most `most`."""
    pieces = [chunk for chunk in exchange.chunks if chunk.data]
    pace = min(seconds, most / max(1, len(pieces)))
    return replace(exchange, chunks=tuple(Chunk(data=chunk.data, at=pace * n) for n, chunk in enumerate(pieces)))


def with_payloads(reel: Reel) -> list[Piece]:
    """The frames whose payload is a JSON object. Raises `FaultError` if there are none."""
    found = [piece for piece in reel.pieces if isinstance(reel.payload(piece), dict)]
    if not found:
        raise FaultError("no payload is a JSON object")
    return found
