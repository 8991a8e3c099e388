"""Real streams, damaged by chance: in their bytes, in their frames, and in the JSON of their payloads.

A mutation is a function of a reel and of a `Chance`; who plays the part of chance is left open: hypothesis, a seeded generator,
or a fuzzer that watches which lines a choice leads to.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol, TypeVar

from harness import dialects
from harness.cassette.model import Chunk, Exchange
from harness.replay.reel import Piece, Reel
from tests.laws.cases import SHIPPED, Stream, of

T = TypeVar("T")
MOST_BYTES = 40_000
ODD: list[Any] = [None, True, False, 0, -1, 1, 1.5, 1e300, 10**40, "", "x", "\ud83d", "stop", "tool_calls", "error", "null"]
ODD += [[], [None], [[]], {}, {"a": {}}, {"type": "text"}, {"type": 5}, {"error": {"message": "no"}}, {"text": ["a"]}]
SCRAPS = [
    b"\n",
    b"\r\n",
    b"\n\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"data: ",
    b"data: [DONE]\n\n",
    b"event: error\n",
    b":\n",
]
SCRAPS += [
    b"null",
    b"[DONE]",
    b'{"error": {"message": "no"}}',
    b'"',
    b"\\",
    b"[",
    b"{",
    b"}",
    b"]",
    b"\xe2\x80\xa8",
    b"\\ud83d",
]


class Chance(Protocol):
    """What decides; `random.Random` is one."""

    def randint(self, a: int, b: int) -> int: ...


def one_of(chance: Chance, things: Sequence[T]) -> T:
    return things[chance.randint(0, len(things) - 1)]


@dataclass(frozen=True)
class Mutated:
    """What came of a stream, and of which API it was."""

    dialect: str
    provider: str
    exchange: Exchange


@cache
def streams(dialect: str) -> list[Stream]:
    """The streams of an API that are short enough to be tried often."""
    return [s for s in of(dialect) if 0 < len(s.body) <= MOST_BYTES] or [s for s in SHIPPED if s.case.dialect == dialect]


def mutated(stream: Stream, chance: Chance) -> Mutated:
    """A stream after one to five mutations."""
    reel = Reel(stream.exchange, stream.case.dialect)
    for _ in range(chance.randint(1, 5)):
        if reel.pieces:
            with suppress(LookupError, ValueError, struct.error):  # what is left of a frame may be none any more
                one_of(chance, MUTATIONS)(reel, chance)
    exchange = reel.exchange()
    if chance.randint(0, 2) == 0:
        exchange = _recut(exchange, chance)
    return Mutated(dialect=stream.case.dialect, provider=stream.case.provider, exchange=exchange)


def made(chance: Chance) -> Mutated:
    """A mutated stream, of any API."""
    return mutated(one_of(chance, streams(one_of(chance, dialects.names()))), chance)


# bytes


def _flip(reel: Reel, chance: Chance) -> None:
    piece = _piece(reel, chance)
    if piece.raw:
        at = chance.randint(0, len(piece.raw) - 1)
        piece.raw = piece.raw[:at] + bytes([piece.raw[at] ^ (1 << chance.randint(0, 7))]) + piece.raw[at + 1 :]


def _scrap(reel: Reel, chance: Chance) -> None:
    piece = _piece(reel, chance)
    at = chance.randint(0, len(piece.raw))
    piece.raw = piece.raw[:at] + one_of(chance, SCRAPS) + piece.raw[at:]


def _without_bytes(reel: Reel, chance: Chance) -> None:
    piece = _piece(reel, chance)
    start = chance.randint(0, len(piece.raw))
    piece.raw = piece.raw[:start] + piece.raw[start + chance.randint(1, 40) :]


def _cut(reel: Reel, chance: Chance) -> None:
    """The body ends early, most often inside a frame."""
    number = chance.randint(0, len(reel.pieces) - 1)
    piece = reel.pieces[number]
    piece.raw = piece.raw[: chance.randint(0, len(piece.raw))]
    del reel.pieces[number + 1 :]


# frames


def _lose(reel: Reel, chance: Chance) -> None:
    del reel.pieces[chance.randint(0, len(reel.pieces) - 1)]


def _lose_the_end(reel: Reel, chance: Chance) -> None:
    del reel.pieces[-chance.randint(1, 4) :]


def _repeat(reel: Reel, chance: Chance) -> None:
    number = chance.randint(0, len(reel.pieces) - 1)
    reel.pieces[number:number] = [reel.copy(reel.pieces[number]) for _ in range(chance.randint(1, 3))]


def _move(reel: Reel, chance: Chance) -> None:
    piece = reel.pieces.pop(chance.randint(0, len(reel.pieces) - 1))
    reel.pieces.insert(chance.randint(0, len(reel.pieces)), piece)


def _rename(reel: Reel, chance: Chance) -> None:
    """A frame under the name of another, or under one that nobody knows."""
    piece = _piece(reel, chance)
    name = one_of(chance, [_piece(reel, chance).frame.name, "error", "unheard-of"])
    if name:
        reel.write_data(piece, piece.frame.data, name)


# payloads


def _odd(reel: Reel, chance: Chance) -> None:
    """An odd value in the place of one that is there."""
    _change(reel, chance, lambda inside, key: inside.__setitem__(key, one_of(chance, ODD)))


def _without(reel: Reel, chance: Chance) -> None:
    _change(reel, chance, lambda inside, key: inside.__delitem__(key))


def _misnamed(reel: Reel, chance: Chance) -> None:
    """A field that nobody has heard of, in the place of one."""

    def change(inside: Any, key: Any) -> None:
        if isinstance(inside, dict):
            inside[f"{key}_x"] = inside.pop(key)

    _change(reel, chance, change)


def _crossed(reel: Reel, chance: Chance) -> None:
    """The value of one payload in the place of another's."""
    other = reel.payload(_piece(reel, chance))
    places = _places(other)
    if places:
        inside, key = one_of(chance, places)
        value = inside[key]
        _change(reel, chance, lambda inside, key: inside.__setitem__(key, value))


def _replaced(reel: Reel, chance: Chance) -> None:
    reel.write(_piece(reel, chance), one_of(chance, ODD))


MUTATIONS: tuple[Callable[[Reel, Chance], None], ...] = (
    *(_flip, _scrap, _without_bytes, _cut),
    *(_lose, _lose_the_end, _repeat, _move, _rename),
    *(_odd, _odd, _without, _misnamed, _crossed, _replaced),
)


def _piece(reel: Reel, chance: Chance) -> Piece:
    return one_of(chance, reel.pieces)


def _change(reel: Reel, chance: Chance, change: Callable[[Any, Any], None]) -> None:
    piece = _piece(reel, chance)
    value = reel.payload(piece)
    places = _places(value)
    if places:
        change(*one_of(chance, places))
        reel.write(piece, value)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    found: list[tuple[Any, Any]] = []
    todo = [value]
    while todo:
        inside = todo.pop()
        pairs = (
            list(inside.items()) if isinstance(inside, dict) else list(enumerate(inside)) if isinstance(inside, list) else []
        )
        for key, field in pairs:
            found.append((inside, key))
            todo.append(field)
    return found


def _recut(exchange: Exchange, chance: Chance) -> Exchange:
    """The same bytes in other pieces."""
    body, pieces = exchange.body, []
    while body:
        size = chance.randint(1, max(1, len(body)))
        pieces.append(Chunk(data=body[:size]))
        body = body[size:]
    return replace(exchange, chunks=tuple(pieces))
