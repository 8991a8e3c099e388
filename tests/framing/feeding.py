"""Ways of feeding a framer, bodies made of awkward pieces, and event-stream frames of our own making."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from harness.findings import Finding, Level
from harness.framing import Frame, framer

BOM = b"\xef\xbb\xbf"
FRAMINGS = ("sse", "ndjson", "json-array", "event-stream")
quick = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Fed(NamedTuple):
    """What a framer made of a body: the frames before the body's end, those that only the end completed, the findings."""

    frames: list[Frame]
    last: list[Frame]
    findings: list[Finding]


def feed(framing: str, pieces: Iterable[bytes], times: Sequence[float] | None = None, end: float = 0.0) -> Fed:
    """Feed the pieces, each at its time, and close."""
    cutter = framer(framing)
    frames: list[Frame] = []
    for number, piece in enumerate(pieces):
        frames += cutter.feed(piece, times[number] if times else 0.0)
    last = cutter.close(end)
    return Fed(frames, last, list(cutter.findings))


def one(framing: str, body: bytes) -> Fed:
    return feed(framing, [body])


def every_byte(body: bytes) -> list[bytes]:
    return [body[i : i + 1] for i in range(len(body))]


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    """The body cut at these offsets; a place that comes twice gives an empty piece."""
    edges = [0, *sorted(min(place, len(body)) for place in places), len(body)]
    return [body[start:end] for start, end in pairwise(edges)]


def told(fed: Fed) -> tuple[Any, ...]:
    """All that a framer says but the times."""
    frames = [(f.index, f.name, f.data, f.span, f.headers) for f in fed.frames + fed.last]
    return frames, len(fed.last), fed.findings


def events(fed: Fed) -> list[tuple[str | None, bytes]]:
    return [(f.name, f.data) for f in fed.frames + fed.last]


def kinds(fed: Fed) -> list[str]:
    """What is wrong; information is left out."""
    return [finding.kind for finding in fed.findings if finding.level is not Level.INFO]


def remarks(fed: Fed) -> list[tuple[str, tuple[int, int] | None]]:
    """The information, and where it points."""
    return [(finding.kind, finding.where.span) for finding in fed.findings if finding.level is Level.INFO]


def spans(fed: Fed) -> list[tuple[int, int] | None]:
    """Where that stands."""
    return [finding.where.span for finding in fed.findings if finding.level is not Level.INFO]


# event-stream frames

Header = tuple[str, int, bytes]
"""Name, type and value as they stand on the wire, the length in front of the value included."""


def string(name: str, value: str) -> Header:
    encoded = value.encode()
    return name, 7, struct.pack("!H", len(encoded)) + encoded


def raw_frame(headers: bytes, data: bytes, total: int | None = None, length: int | None = None) -> bytes:
    """A frame with right checksums, whatever the lengths say."""
    size = 16 + len(headers) + len(data)
    prelude = struct.pack("!II", size if total is None else total, len(headers) if length is None else length)
    head = prelude + struct.pack("!I", crc32(prelude)) + headers + data
    return head + struct.pack("!I", crc32(head))


def header_block(headers: Iterable[Header]) -> bytes:
    return b"".join(bytes([len(n.encode())]) + n.encode() + bytes([kind]) + value for n, kind, value in headers)


def event_frame(data: bytes, *headers: Header) -> bytes:
    return raw_frame(header_block(headers), data)


def event(name: str, data: bytes) -> bytes:
    """A frame as Bedrock sends them."""
    return event_frame(
        data, string(":event-type", name), string(":content-type", "application/json"), string(":message-type", "event")
    )


# bodies made of awkward pieces

_LINE_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r", b"\r\n\n"])
_VALUES = st.sampled_from(
    [
        b'{"n":1}',
        b"",
        b" two",
        "a\u2028b\u2029c\x85d".encode(),
        b"\x0b\x0c\x1c\x1d\x1e",
        b"nul\x00",
        b"\xff\xc3",
        b"[DONE]",
        b'{"c":"',
    ]
)
_SSE_LINES = st.one_of(
    st.builds(
        lambda name, gap, value: name + gap + value,
        st.sampled_from([b"data", b"event", b"id", b"retry"]),
        st.sampled_from([b": ", b":", b":  "]),
        _VALUES,
    ),
    st.sampled_from(
        [b"data", b"event", b"event: stop", b"event: \xff", b": comment", b":", b"retry: 3s", b"id: \x00", b"DATA: x"]
    ),
    st.sampled_from([b"database: x", b"foo: bar", b" data: x", b"\xef\xbb\xbfdata: x", b"dat", b"id-like"]),
)
_OUTSIDE_LINES = st.sampled_from(
    [
        b'{"error":{"code":500}}',
        b"{",
        b'  "a": "}",',
        b"}",
        b"[1]",
        b"[DONE]",
        b'error: {"code":500}',
        b"error: words",
        b"<html>",
        b'"',
    ]
)
_BOM = st.sampled_from([b"", b"", BOM, BOM[:2], BOM[:1]])


def _joined(parts: Any) -> st.SearchStrategy[bytes]:
    return st.lists(parts, max_size=14).map(b"".join)


def _lines(lines: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    ended = _joined(st.builds(bytes.__add__, lines, _LINE_ENDS))
    return st.builds(lambda bom, body, last: bom + body + last, _BOM, ended, st.one_of(st.just(b""), lines))


standard_sse = _lines(_SSE_LINES)
_sse = st.one_of(standard_sse, _lines(st.one_of(_SSE_LINES, _OUTSIDE_LINES)))

_json_values = st.sampled_from(
    [
        b'{"a":1}',
        b'{"a":"x\\"}\\\\"}',
        b'{"a":{"b":[{}]}}',
        b"[[],[1]]",
        b'"s]\\""',
        b"12",
        b"null",
        b"{}",
        b'"\\u0085"',
        '"\x85"'.encode(),
    ]
)
_ndjson = st.builds(
    lambda bom, body, last: bom + body + last,
    _BOM,
    _joined(st.builds(bytes.__add__, st.one_of(_json_values, st.sampled_from([b"", b" ", BOM, b"{", b"\x85"])), _LINE_ENDS)),
    st.sampled_from([b"", b'{"a":1}', b'{"a"', b"  ", b"{}\r"]),
)
_json_array = st.builds(
    lambda head, body, tail: head + body + tail,
    st.sampled_from([b"[", b"[", b" [\n", b"\xef\xbb\xbf[", b"", b'"', b"<html>", b"{}"]),
    _joined(st.one_of(_json_values, st.sampled_from([b",", b",", b",\r\n", b" ", b"}", b'{"a":', b"\\"]))),
    st.sampled_from([b"]", b"]\n", b"", b']{"error":{}}', b"]]", b"] x", b",", b'{"cut":"']),
)
_frames = st.sampled_from(
    [
        event("messageStart", b'{"role":"assistant"}'),
        event("messageStop", b""),
        event_frame(b"bare"),
        event_frame(b"", ("flag", 0, b""), ("count", 5, b"\xff" * 8)),
        event_frame(b"x", ("twice", 1, b""), ("twice", 1, b"")),
        raw_frame(b"\x00\x07", b""),
        raw_frame(b"", b"", total=15),
        raw_frame(b"", b"long", length=9),
        event("contentBlockDelta", b"{}")[:-1] + b"\x00",
        b"<!DOCTYPE html><p>502</p>",
        b"\x00",
    ]
)
_event_stream = st.builds(
    lambda body, keep: body[: len(body) - keep], st.lists(_frames, max_size=5).map(b"".join), st.integers(0, 20)
)

BODIES = {"sse": _sse, "ndjson": _ndjson, "json-array": _json_array, "event-stream": _event_stream}
