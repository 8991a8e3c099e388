"""Law 1: any way of cutting the body into pieces gives the same frames, findings, edits and response."""

from __future__ import annotations

import random

import pytest

from harness.collector import Collected
from tests.laws.cases import Stream, each_sample, each_stream

SMALL = 16 * 1024
NEAR = 16  # bytes around a frame border
SEEDED = 500


def _same(stream: Stream, pieces: list[bytes]) -> None:
    frames, findings = stream.framed(pieces)
    whole = stream.framed([stream.body])
    assert frames == whole[0]
    assert findings == whole[1]
    assert _told(stream.collected(frames)) == _told(stream.collected())


def _told(collected: Collected) -> object:
    return collected, collected.body


@each_stream
def test_byte_by_byte(stream: Stream) -> None:
    _same(stream, [bytes([byte]) for byte in stream.body])


@each_stream
def test_200_random_places(stream: Stream) -> None:
    places = sorted(random.Random(stream.case.id).choices(range(len(stream.body) + 1), k=200))
    _same(stream, [stream.body[a:b] for a, b in zip([0, *places], [*places, len(stream.body)], strict=True)])


@each_sample
def test_every_single_cut(stream: Stream) -> None:
    body, whole = stream.body, stream.framed([stream.body])
    for place in _places(stream):
        assert stream.framed([body[:place], body[place:]]) == whole, f"cut at byte {place}"


def _places(stream: Stream) -> list[int]:
    """Every place of a small body; of a large one those near a frame border, and 500 seeded ones."""
    size = len(stream.body)
    if size <= SMALL:
        return list(range(size + 1))
    near = {
        place
        for frame in stream.frames
        for border in frame.span
        for place in range(max(0, border - NEAR), min(size, border + NEAR) + 1)
    }
    return sorted(near | set(random.Random(stream.case.id).sample(range(size), SEEDED)))


def test_a_framer_that_forgets_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison bites: a stream that loses its tail at a cut is told from one that does not."""
    stream = next(s for s in _any_sse())
    with pytest.raises(AssertionError):
        _same(stream, [stream.body[:-40], stream.body[-20:]])


def _any_sse() -> list[Stream]:
    from tests.laws.cases import SHIPPED

    return [s for s in SHIPPED if s.dialect.framings[0] == "sse"]
