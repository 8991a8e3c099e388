"""Cutting a body otherwise than it was recorded: the turn that comes of it must be the same (law 1).

A *cut* says how long the next piece is. Recorded pieces show the faults that lie at their borders; other cuts show others.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from harness.cassette.model import Chunk, Exchange

Cut = Iterator[int]


def each(size: int = 1) -> Cut:
    """Pieces of `size` bytes."""
    while True:
        yield size


def randomly(seed: int, most: int = 64) -> Cut:
    """Pieces of one to `most` bytes, the same ones for the same seed."""
    numbers = random.Random(seed)  # noqa: S311 - nothing here is to be kept secret
    while True:
        yield numbers.randint(1, most)


def joined() -> Cut:
    """One piece, as recorders leave it that join what they get."""
    while True:
        yield 1 << 62


def recut(exchange: Exchange, cut: Cut) -> Exchange:
    """The same exchange in other pieces. A piece arrives when its last byte did."""
    body, chunks = exchange.body, [chunk for chunk in exchange.chunks if chunk.data]
    ends = list(accumulate(len(chunk.data) for chunk in chunks))
    pieces, start = [], 0
    while start < len(body):
        end = min(start + max(1, next(cut)), len(body))
        pieces.append(Chunk(data=body[start:end], at=chunks[bisect_left(ends, end)].at))
        start = end
    return replace(exchange, chunks=tuple(pieces))
