"""AWS event stream: frames, headers, checksums, and every way in which they can be wrong."""

from __future__ import annotations

import struct
from uuid import UUID
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.framing import framer
from tests.framing.feeding import (
    Header,
    cut,
    event,
    event_frame,
    every_byte,
    feed,
    header_block,
    kinds,
    one,
    quick,
    raw_frame,
    spans,
    string,
)

EMPTY = bytes.fromhex("000000100000000005c248eb7d98c8ff")
STOP = bytes.fromhex(
    "0000007a00000051ca2c46650b3a6576656e742d7479706507000b6d65737361676553746f700d3a636f6e74656e742d74797065"
    "0700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b2273746f70526561736f"
    "6e223a22656e645f7475726e227d5fbf09fc"
)
"""The two vectors of spec, wire/framing.md section 4."""

STOP_HEADERS = {":event-type": "messageStop", ":content-type": "application/json", ":message-type": "event"}
TWO = event("first", b'{"n":1}') + event("second", b'{"n":2}')
ONE = len(event("first", b'{"n":1}'))


def test_the_empty_frame() -> None:
    (frame,) = one("event-stream", EMPTY).frames
    assert (frame.index, frame.name, frame.data, frame.span, frame.headers) == (0, None, b"", (0, 16), {})


def test_a_frame_with_headers() -> None:
    (frame,) = one("event-stream", STOP).frames
    assert (frame.name, frame.data, frame.span) == ("messageStop", b'{"stopReason":"end_turn"}', (0, 122))
    assert frame.headers == STOP_HEADERS


def test_our_own_frames_are_like_the_vectors() -> None:
    assert event_frame(b"") == EMPTY
    assert event("messageStop", b'{"stopReason":"end_turn"}') == STOP


def test_both_vectors_in_one_body() -> None:
    fed = feed("event-stream", cut(STOP + EMPTY + STOP, [7, 121, 122, 130, 140]))
    assert [f.span for f in fed.frames] == [(0, 122), (122, 138), (138, 260)]
    assert fed.findings == []


UUID_BYTES = bytes(range(16))
TYPES: dict[str, tuple[Header, object]] = {
    "true": (("h", 0, b""), True),
    "false": (("h", 1, b""), False),
    "int8": (("h", 2, b"\x80"), -128),
    "int16": (("h", 3, struct.pack("!h", -300)), -300),
    "int32": (("h", 4, struct.pack("!i", -(2**31))), -(2**31)),
    "int64": (("h", 5, struct.pack("!q", 2**63 - 1)), 2**63 - 1),
    "bytes": (("h", 6, b"\x00\x03a\x00\xff"), b"a\x00\xff"),
    "no_bytes": (("h", 6, b"\x00\x00"), b""),
    "string": (string("h", "é\u2028"), "é\u2028"),
    "no_string": (string("h", ""), ""),
    "timestamp": (("h", 8, struct.pack("!q", 1_764_547_200_123)), 1_764_547_200_123),
    "uuid": (("h", 9, UUID_BYTES), UUID(bytes=UUID_BYTES)),
    "name_that_is_not_ascii": (string("é", "x"), "x"),
    "name_of_255_bytes": (string("n" * 255, "x"), "x"),
}


@pytest.mark.parametrize(("header", "value"), TYPES.values(), ids=TYPES)
def test_header_types(header: Header, value: object) -> None:
    """Alone, and with others before and behind it."""
    around = (string("a", "1"), header, string("z", "2"))
    frames = one("event-stream", event_frame(b"x", header) + event_frame(b"y", *around)).frames
    assert frames[0].headers == {header[0]: value}
    assert type((frames[0].headers or {})[header[0]]) is type(value)
    assert frames[1].headers == {"a": "1", header[0]: value, "z": "2"}
    assert [f.data for f in frames] == [b"x", b"y"]


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ([string(":event-type", "metadata")], "metadata"),
        ([string(":message-type", "exception"), string(":exception-type", "throttlingException")], "throttlingException"),
        ([string(":message-type", "error"), string(":error-code", "500"), string(":error-message", "x")], "500"),
        ([string(":message-type", "event")], None),
        ([(":event-type", 4, b"\x00\x00\x00\x07")], None),
    ],
)
def test_the_name_of_a_frame(headers: list[Header], name: str | None) -> None:
    (frame,) = one("event-stream", event_frame(b"{}", *headers)).frames
    assert frame.name == name


BAD_HEADERS: dict[str, bytes] = {
    "no_name": header_block([("", 0, b"")]),
    "name_twice": header_block([("a", 0, b""), ("a", 1, b"")]),
    "type_10": header_block([("a", 10, b"")]),
    "type_255": header_block([("a", 255, b"")]),
    "name_longer_than_the_block": b"\x09abc",
    "name_without_type": b"\x01a",
    "number_cut": header_block([("a", 5, b"\x00" * 7)]),
    "string_without_length": header_block([("a", 7, b"\x00")]),
    "string_cut": header_block([("a", 7, b"\x00\x05four")]),
    "bytes_cut": header_block([("a", 6, b"\x00\x05four")]),
    "timestamp_cut": header_block([("a", 8, b"\x00")]),
    "uuid_cut": header_block([("a", 9, b"\x00" * 15)]),
    "name_not_utf8": b"\x01\xff\x00",
    "value_not_utf8": header_block([("a", 7, b"\x00\x01\xff")]),
}


@pytest.mark.parametrize("block", BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_headers_that_cannot_be_read(block: bytes) -> None:
    bad = raw_frame(block, b"{}")
    for pieces in ([TWO + bad + TWO], every_byte(TWO + bad + TWO)):
        fed = feed("event-stream", pieces)
        assert [f.name for f in fed.frames] == ["first", "second"]
        assert (kinds(fed), spans(fed)) == (["framing/bad-header"], [(len(TWO), len(TWO + bad))])


@pytest.mark.parametrize("place", range(12), ids=lambda n: f"byte_{n}")
def test_a_prelude_whose_checksum_is_wrong(place: int) -> None:
    body = bytearray(TWO)
    body[ONE + place] ^= 0x10
    for pieces in ([bytes(body)], every_byte(bytes(body))):
        fed = feed("event-stream", pieces)
        assert [f.name for f in fed.frames] == ["first"]
        assert (kinds(fed), spans(fed)) == (["framing/bad-crc"], [(ONE, ONE + 12)])


@pytest.mark.parametrize("place", range(12, ONE), ids=lambda n: f"byte_{n}")
def test_a_frame_whose_checksum_is_wrong(place: int) -> None:
    """The headers, the payload or the checksum itself are damaged: the frame and all that follows are not used."""
    body = bytearray(TWO + TWO)
    body[place] ^= 0x01
    fed = one("event-stream", bytes(body))
    assert (fed.frames, kinds(fed), spans(fed)) == ([], ["framing/bad-crc"], [(0, ONE)])


@pytest.mark.parametrize(
    ("total", "length"),
    [(0, 0), (12, 0), (15, 0), (16, 1), (20, 5), (40, 0xFFFFFFFF), (200_016, 131_073), (16 + 25_165_825, 0), (0xFFFFFFFF, 0)],
)
def test_lengths_that_cannot_be(total: int, length: int) -> None:
    bad = raw_frame(b"", b"....", total=total, length=length)
    for pieces in ([TWO + bad], every_byte(TWO + bad)):
        fed = feed("event-stream", pieces)
        assert [f.name for f in fed.frames] == ["first", "second"]
        assert (kinds(fed), spans(fed)) == (["framing/bad-length"], [(len(TWO), len(TWO) + 12)])


@pytest.mark.parametrize(("total", "length"), [(131_088, 131_072), (16 + 25_165_824, 0), (16 + 131_072 + 25_165_824, 131_072)])
def test_the_greatest_lengths_are_waited_for(total: int, length: int) -> None:
    fed = one("event-stream", raw_frame(b"", b"....", total=total, length=length))
    assert (fed.frames, kinds(fed)) == ([], ["framing/frame-truncated"])
    assert f"of {total} bytes" in fed.findings[0].message


@pytest.mark.parametrize("end", range(len(TWO) + 1))
def test_a_body_cut_at_every_byte(end: int) -> None:
    """A cut inside a frame is never a clean end."""
    fed = one("event-stream", TWO[:end])
    assert [f.name for f in fed.frames] == ["first", "second"][: (end >= ONE) + (end == len(TWO))]
    left = end - ONE if end >= ONE else end
    clean = end in (0, ONE, len(TWO))
    assert kinds(fed) == ([] if clean else ["framing/frame-truncated"])
    assert spans(fed) == ([] if clean else [(end - left, end)])


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><html><h1>502</h1></html>",
        b'{"message":"The security token is invalid"}',
        b"data: {}\n\n" * 3,
        b"\x00" * 40,
    ],
)
def test_what_is_no_event_stream(body: bytes) -> None:
    for pieces in ([body], every_byte(body), [TWO[:0], body[:13], body[13:]]):
        fed = feed("event-stream", pieces)
        assert (fed.frames, kinds(fed), spans(fed)) == ([], ["framing/bad-crc"], [(0, 12)])
    assert repr(body[:12].decode())[1:-1] in fed.findings[0].message


def test_what_is_too_short_for_a_frame() -> None:
    fed = one("event-stream", b"<html>")
    assert (kinds(fed), spans(fed)) == (["framing/frame-truncated"], [(0, 6)])
    assert "<html>" in fed.findings[0].message


def test_after_the_first_damage_nothing_is_taken_or_kept() -> None:
    cutter = framer("event-stream")
    assert cutter.feed(b"?" * 12) == []
    assert cutter.feed(TWO) == []
    assert cutter.close() == []
    assert [f.kind for f in cutter.findings] == ["framing/bad-crc"]


_headers = st.lists(
    st.one_of(
        st.builds(string, st.just("s"), st.text(max_size=8)),
        st.builds(lambda v: ("b", 6, struct.pack("!H", len(v)) + v), st.binary(max_size=8)),
        st.builds(lambda n: ("i", 4, struct.pack("!i", n)), st.integers(-(2**31), 2**31 - 1)),
        st.sampled_from([("t", 0, b""), ("f", 1, b"")]),
    ),
    max_size=5,
    unique_by=lambda header: header[0],
)


@quick
@given(
    frames=st.lists(st.tuples(st.binary(max_size=40), _headers), max_size=5), places=st.lists(st.integers(0, 300), max_size=6)
)
def test_frames_of_any_content(frames: list[tuple[bytes, list[Header]]], places: list[int]) -> None:
    wire = [event_frame(data, *headers) for data, headers in frames]
    fed = feed("event-stream", cut(b"".join(wire), places))
    assert [(f.data, list(f.headers or {})) for f in fed.frames] == [
        (data, [h[0] for h in headers]) for data, headers in frames
    ]
    assert [b"".join(wire)[slice(*f.span)] for f in fed.frames] == wire
    assert fed.findings == []


@quick
@given(place=st.integers(0, len(TWO) - 1), bit=st.integers(0, 7))
def test_one_flipped_bit_is_never_overlooked(place: int, bit: int) -> None:
    body = bytearray(TWO)
    body[place] ^= 1 << bit
    fed = one("event-stream", bytes(body))
    assert len(fed.frames) == int(place >= ONE)
    assert kinds(fed) == ["framing/bad-crc"]


def test_the_checksums_cover_what_the_spec_says() -> None:
    assert struct.unpack("!I", STOP[8:12])[0] == crc32(STOP[:8])
    assert struct.unpack("!I", STOP[-4:])[0] == crc32(STOP[:-4])
