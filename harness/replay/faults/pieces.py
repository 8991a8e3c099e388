"""Other pieces of the same bytes: cuts, joins, pauses. The turn must come out the same."""

from __future__ import annotations

from dataclasses import replace

from harness.cassette.model import Exchange
from harness.dialects import Dialect
from harness.replay.cuts import each, joined, randomly
from harness.replay.faults.making import cut_after, cutting, framed, number, reel_of, spread
from harness.replay.faults.named import neutral
from harness.replay.faults.primitives import FaultError
from harness.replay.reel import Reel

_SLOW = 5.0  # seconds that a slow stream takes at most


def _frame_by_frame(exchange: Exchange, dialect: Dialect, _: str) -> Exchange:
    return reel_of(exchange, dialect).exchange()


def _in_characters(exchange: Exchange, _: Dialect, __: str) -> Exchange:
    """A cut inside each character of several bytes."""
    body = exchange.body
    inside = [at for at, byte in enumerate(body) if byte & 0xC0 == 0x80]
    if not inside or exchange.headers.get("content-encoding"):
        raise FaultError("no character has several bytes")
    return cut_after(exchange, inside)


def _in_line_ends(exchange: Exchange, _: Dialect, __: str) -> Exchange:
    """A cut after each byte of a line end."""
    ends = [at + 1 for at, byte in enumerate(exchange.body) if byte in b"\r\n"]
    if not ends:
        raise FaultError("the body has no line ends")
    return cut_after(exchange, ends)


def _in_frames(reel: Reel, _: str) -> None:
    """Each frame in two pieces, cut in its middle: the second half comes with the first half of the next."""
    tails = [piece.raw[: len(piece.raw) // 2] for piece in reel.pieces]
    heads = [piece.raw[len(piece.raw) // 2 :] for piece in reel.pieces]
    for piece, before, own in zip(reel.pieces, [b"", *heads[:-1]], tails, strict=True):
        piece.raw = before + own
    reel.pieces.append(replace(reel.pieces[-1], raw=heads[-1]))


def _slow(exchange: Exchange, _: Dialect, argument: str) -> Exchange:
    return spread(exchange, number(argument, most=10_000) / 1000, _SLOW)


FAULTS = (
    neutral("byte-by-byte", "Every byte comes by itself.", cutting(lambda _: each(1)), plain=True),
    neutral(
        "pieces",
        "Pieces of so many bytes.",
        cutting(lambda size: each(max(1, number(size)))),
        argument="7",
        plain=True,
    ),
    neutral(
        "random-pieces",
        "Pieces of one to 64 bytes; the argument is the seed.",
        cutting(lambda seed: randomly(number(seed))),
        argument="1",
        plain=True,
    ),
    neutral("coalesced", "The whole body comes as one piece.", cutting(lambda _: joined()), plain=True),
    neutral("frame-by-frame", "Every frame comes by itself, whole.", _frame_by_frame),
    neutral("half-frames", "Every piece ends in the middle of a frame.", framed(_in_frames)),
    neutral("split-characters", "Pieces end inside characters.", _in_characters, plain=True),
    neutral("split-line-ends", "Pieces end between the line ends that end an event.", _in_line_ends, plain=True),
    neutral(
        "slow",
        f"So many milliseconds between two pieces, {_SLOW:.0f} s in all at most.",
        _slow,
        argument="20",
        timed=True,
        plain=True,
    ),
)
