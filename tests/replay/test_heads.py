"""The header fields of a response that is played: what is still true of it."""

from __future__ import annotations

import gzip

import pytest

from harness.cassette.model import Chunk, Ending, Exchange, Headers
from harness.replay.heads import head_of

BODY = b"data: {}\n\n"


def head(body: bytes = BODY, ending: Ending = "eof", **fields: str) -> dict[bytes, bytes]:
    headers = Headers({name.replace("_", "-"): value for name, value in fields.items()})
    return dict(head_of(Exchange(headers=headers, chunks=(Chunk(data=body),), ending=ending)))


def test_the_transfer_coding_is_undone() -> None:
    assert head(transfer_encoding="chunked", x_a="1") == {b"x-a": b"1"}


@pytest.mark.parametrize(
    ("size", "ending", "stays"), [("10", "eof", True), ("11", "eof", False), ("11", "reset", True), ("x", "eof", False)]
)
def test_a_length_stays_if_it_is_right_or_was_broken_off(size: str, ending: Ending, stays: bool) -> None:
    assert (b"content-length" in head(ending=ending, content_length=size)) is stays


def test_an_encoding_that_a_recorder_undid_is_not_said() -> None:
    packed = gzip.compress(BODY)
    assert head(packed, content_encoding="gzip", content_length=str(len(packed))).keys() == {
        b"content-encoding",
        b"content-length",
    }
    assert head(content_encoding="gzip", content_length="10") == {}


def test_values_keep_their_bytes() -> None:
    assert head(x_a="\xe9", x_b="\u20ac") == {b"x-a": b"\xe9", b"x-b": b"\xe2\x82\xac"}
