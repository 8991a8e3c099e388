"""What all four framers promise: how the bytes were cut changes nothing but `at`, the frames point back into the body, and
nothing is kept that is not needed any more."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.framing import Frame, event_stream, framer, json_array
from tests.framing.feeding import BODIES, FRAMINGS, Fed, cut, event, every_byte, feed, one, quick, told

every_framing = pytest.mark.parametrize("framing", FRAMINGS)


def body_of(framing: str, payloads: list[bytes]) -> bytes:
    """A body in order."""
    if framing == "sse":
        return b"".join(b"data: %b\n\n" % p for p in payloads)
    if framing == "ndjson":
        return b"".join(b"%b\n" % p for p in payloads)
    if framing == "json-array":
        return b"[" + b",\n".join(payloads) + b"]"
    return b"".join(event("chunk", p) for p in payloads)


@every_framing
@quick
@given(data=st.data())
def test_any_cut_gives_the_same_frames_and_findings(framing: str, data: st.DataObject) -> None:
    body = data.draw(BODIES[framing], label="body")
    places = data.draw(st.lists(st.integers(0, len(body)), max_size=8), label="cuts")
    whole = told(one(framing, body))
    assert told(feed(framing, every_byte(body))) == whole
    assert told(feed(framing, cut(body, places))) == whole
    spaced = [piece for byte in every_byte(body) for piece in (b"", byte, b"")]
    assert told(feed(framing, spaced)) == whole


@every_framing
@quick
@given(body=st.binary(max_size=60), places=st.lists(st.integers(0, 60), max_size=4))
def test_any_bytes_at_all(framing: str, body: bytes, places: list[int]) -> None:
    whole = told(one(framing, body))
    assert told(feed(framing, every_byte(body))) == whole
    assert told(feed(framing, cut(body, places))) == whole


@every_framing
@quick
@given(data=st.data())
def test_frames_point_into_the_body(framing: str, data: st.DataObject) -> None:
    """Frames are numbered from 0, and every span, of a frame or of a finding, lies in the body."""
    body = data.draw(BODIES[framing], label="body")
    fed = one(framing, body)
    frames = fed.frames + fed.last
    assert [f.index for f in frames] == list(range(len(frames)))
    assert all(0 <= f.span[0] <= f.span[1] <= len(body) for f in frames)
    for finding in fed.findings:
        assert finding.where.span is not None
        assert 0 <= finding.where.span[0] < finding.where.span[1] <= len(body)


@every_framing
@quick
@given(data=st.data())
def test_at_is_the_time_of_the_completing_piece(framing: str, data: st.DataObject) -> None:
    body = data.draw(BODIES[framing], label="body")
    places = data.draw(st.lists(st.integers(0, len(body)), max_size=5), label="cuts")
    bytewise = feed(framing, every_byte(body), range(len(body)), end=-1.0)
    pieces = cut(body, places)
    ends = [sum(map(len, pieces[: n + 1])) for n in range(len(pieces))]
    fed = feed(framing, pieces, [1000.0 + n for n in range(len(pieces))], end=-1.0)
    for frame, completed in zip(fed.frames, bytewise.frames, strict=True):
        assert frame.at == 1000.0 + next(n for n, end in enumerate(ends) if completed.at < end)
    assert [f.at for f in fed.last] == [-1.0] * len(fed.last)


@every_framing
@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_body_in_order_has_no_findings(framing: str, count: int) -> None:
    payloads = [b'{"n":%d}' % n for n in range(count)]
    fed = one(framing, body_of(framing, payloads))
    assert [f.data for f in fed.frames] == payloads
    assert (fed.last, fed.findings) == ([], [])


@every_framing
@pytest.mark.parametrize("trailing", [b"x", b"\r\n", b"{", b"\x00\x00\x00", b"<html>", b"data: {"])
def test_bytes_after_the_frames_do_not_change_them(framing: str, trailing: bytes) -> None:
    body = body_of(framing, [b'{"n":1}', b'{"n":2}'])
    frames = framer(framing).feed(body)
    more = framer(framing)
    assert more.feed(body + trailing)[:2] == frames
    more.close()
    assert told(feed(framing, every_byte(body + trailing))) == told(one(framing, body + trailing))


@every_framing
def test_an_empty_body(framing: str) -> None:
    assert one(framing, b"") == Fed([], [], [])
    assert feed(framing, []) == Fed([], [], [])


@every_framing
def test_frames_come_as_soon_as_they_are_whole(framing: str) -> None:
    """An event is not held back until the next one comes."""
    cutter = framer(framing)
    seen: list[Frame] = []
    counts = []
    for payload in (b'{"n":1}', b'{"n":2}', b'{"n":3}'):
        piece = body_of(framing, [payload])
        if framing == "json-array":
            piece = (b"," if seen else b"[") + payload
        seen += cutter.feed(piece)
        counts.append(len(seen))
    assert counts == [1, 2, 3]


@every_framing
def test_memory_is_bounded_by_one_event(framing: str) -> None:
    """Four megabytes go through, and what stays behind is no more than some pieces of them."""
    payload = b'{"t":"%b"}' % (b"x" * 2000)
    piece = body_of(framing, [payload])
    opening, gap = (b"[", b",") if framing == "json-array" else (b"", b"")
    if framing == "json-array":
        piece = payload
    cutter = framer(framing)
    cutter.feed(opening)
    tracemalloc.start()
    try:
        for _ in range(2000):
            cutter.feed(piece[:1500])
            cutter.feed(piece[1500:] + gap)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100_000


@every_framing
@pytest.mark.parametrize("junk", [b"<p>\n", b"{}\n", b"]\n", b"[[\n", b'{"a"}\n', b"error: {}\n\n", b"\xef\xbb\xbf\n", b"\r"])
def test_findings_are_bounded_however_long_the_body(framing: str, junk: bytes) -> None:
    cutter = framer(framing)
    for _ in range(100):
        cutter.feed(junk * 10)
    cutter.close()
    assert len(cutter.findings) <= 21


class _Counted(bytearray):
    """Bytes that count how many of them are copied."""

    copied = 0

    def __iadd__(self, other: Any) -> _Counted:
        self.copied += len(other)
        super().__iadd__(other)
        return self

    def __add__(self, other: Any) -> bytearray:
        self.copied += len(self) + len(other)
        return bytearray.__add__(self, other)

    def __bytes__(self) -> bytes:
        self.copied += len(self)
        return bytes(memoryview(self))

    def __getitem__(self, key: Any) -> Any:
        part = bytearray.__getitem__(self, key)
        self.copied += len(part) if isinstance(key, slice) else 1
        return part


class _Scanner:
    """A pattern that counts the bytes that it is given to search."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self.pattern = pattern
        self.scanned = 0

    def search(self, data: bytes, pos: int) -> re.Match[bytes] | None:
        found = self.pattern.search(data, pos)
        self.scanned += max(0, (found.end() if found else len(data)) - pos)
        return found


LONG = b'{"t":"%b"}' % (b"x{[\\n" * 4000)


@pytest.mark.parametrize("framing", ["sse", "ndjson", "event-stream"])
@pytest.mark.parametrize("size", [1, 7])
def test_a_long_event_is_not_copied_again_for_each_piece(framing: str, size: int) -> None:
    cutter: Any = framer(framing)
    body = body_of(framing, [LONG])
    assert type(cutter._tail) is bytearray
    cutter._tail = tail = _Counted()
    frames = [f for i in range(0, len(body), size) for f in cutter.feed(body[i : i + size])]
    assert [f.data for f in frames] == [LONG]
    assert tail is cutter._tail
    assert len(body) * 0.9 < tail.copied < 3 * len(body)


@pytest.mark.parametrize("size", [1, 7])
def test_a_long_element_is_not_scanned_again_for_each_piece(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scanners = [_Scanner(json_array._MARKS), _Scanner(json_array._IN_STRING)]
    monkeypatch.setattr(json_array, "_MARKS", scanners[0])
    monkeypatch.setattr(json_array, "_IN_STRING", scanners[1])
    body = body_of("json-array", [LONG])
    cutter = framer("json-array")
    frames = [f for i in range(0, len(body), size) for f in cutter.feed(body[i : i + size])]
    assert [f.data for f in frames] == [LONG]
    assert len(body) * 0.5 < sum(s.scanned for s in scanners) < 2 * len(body)


def test_what_follows_an_element_is_not_copied_with_each() -> None:
    body = body_of("json-array", [b'{"n":1}'] * 3000)
    cutter: Any = framer("json-array")
    cutter._buffer = buffer = _Counted()
    assert len(cutter.feed(body)) == 3000
    assert buffer is cutter._buffer
    assert len(body) * 0.9 < buffer.copied < 4 * len(body)


def test_a_frame_is_not_summed_again_for_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checksum is made once the frame is there."""
    summed = []
    monkeypatch.setattr(event_stream, "crc32", lambda data, *more: summed.append(len(data)) or _crc32(data, *more))
    body = event("chunk", LONG)
    frames = feed("event-stream", every_byte(body)).frames
    assert [f.data for f in frames] == [LONG]
    assert len(body) * 0.9 < sum(summed) < 2 * len(body)


_crc32 = event_stream.crc32


def test_no_such_framing() -> None:
    with pytest.raises(InputError, match=r"no framing is called 'csv'.*sse, ndjson"):
        framer("csv")


def test_frames_compare_by_all_they_say() -> None:
    frame = Frame(1, "n", b"d", 0.5, (0, 4), {"a": 1})
    assert frame == Frame(1, "n", b"d", 0.5, (0, 4), {"a": 1})
    assert frame != Frame(2, "n", b"d", 0.5, (0, 4), {"a": 1})
    assert frame != Frame(1, "n", b"d", 0.6, (0, 4), {"a": 1})
    assert frame != "frame"
    assert repr(Frame(0, None, b"x" * 100)).count("x") == 57
