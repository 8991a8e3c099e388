"""Other cuts of a recorded body: the same bytes, and no piece before its bytes had arrived."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cassette.model import Chunk, Exchange
from harness.replay import each, joined, randomly, recut

RECORDED = Exchange(chunks=(Chunk(at=0.1, data=b"abc"), Chunk(at=0.2, data=b""), Chunk(at=0.3, data=b"defgh")))


def test_byte_by_byte() -> None:
    cut = recut(RECORDED, each(1))
    assert [chunk.data for chunk in cut.chunks] == [bytes([byte]) for byte in b"abcdefgh"]
    assert [chunk.at for chunk in cut.chunks] == [0.1] * 3 + [0.3] * 5


def test_a_piece_comes_when_its_last_byte_did() -> None:
    assert recut(RECORDED, each(4)).chunks == (Chunk(at=0.3, data=b"abcd"), Chunk(at=0.3, data=b"efgh"))


def test_joined() -> None:
    assert recut(RECORDED, joined()).chunks == (Chunk(at=0.3, data=b"abcdefgh"),)


def test_no_body_no_pieces() -> None:
    assert recut(Exchange(), each(1)).chunks == ()


def test_one_seed_one_cut() -> None:
    body = Exchange(chunks=(Chunk(data=bytes(1000)),))
    assert recut(body, randomly(7)).chunks == recut(body, randomly(7)).chunks
    assert recut(body, randomly(7)).chunks != recut(body, randomly(8)).chunks


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=9), max_size=9), st.integers(), st.integers(1, 12))
def test_bytes_are_kept(pieces: list[bytes], seed: int, most: int) -> None:
    recorded = Exchange(chunks=tuple(Chunk(at=float(n), data=data) for n, data in enumerate(pieces)), ending="reset")
    cut = recut(recorded, randomly(seed, most))
    assert cut.body == recorded.body
    assert cut.ending == "reset"
    assert all(0 < len(chunk.data) <= most for chunk in cut.chunks)
    assert [c.at for c in cut.chunks] == sorted(c.at for c in cut.chunks)


@pytest.mark.parametrize("size", [0, -3])
def test_a_cut_always_goes_on(size: int) -> None:
    assert recut(RECORDED, each(size)).body == RECORDED.body
