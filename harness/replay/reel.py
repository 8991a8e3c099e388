"""An exchange taken apart into frames that can be changed, and put together again.

What is not changed keeps its bytes, line ends and comments included. What is changed is written in the framing of its
neighbours, event streams with the right checksums.
"""

from __future__ import annotations

import base64
import gzip
import json
import struct
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from zlib import crc32

from harness import dialects
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Chunk, Exchange, Headers
from harness.dialects import Dialect
from harness.framing import Frame, framer, framing_of

_CODED = ("content-encoding", "content-length")


@dataclass(slots=True)
class Piece:
    """One frame and the bytes around it: `raw` is all of it, `start` and `end` say where the frame itself lies in it."""

    raw: bytes
    start: int
    end: int
    frame: Frame


class Reel:
    """The frames of one exchange, to be changed in place; `exchange()` is what comes of it."""

    def __init__(self, exchange: Exchange, dialect: str | Dialect) -> None:
        api = dialects.dialect(dialect) if isinstance(dialect, str) else dialect
        self.api = api
        self.original = exchange
        self.request = exchange.request
        self.status = exchange.status
        self.ending = exchange.ending
        self.compressed = False
        chunks = tuple(DecodedBody(exchange))
        body = b"".join(chunk.data for chunk in chunks)
        coded = body != exchange.body
        self.headers = {n: v for n, v in exchange.headers.fields if not (coded and n.lower() in _CODED)}
        head = body.lstrip()
        self.framing = framing_of(api.framings, head)
        self._carries = api.name == "bedrock-invoke"
        self.pieces = _pieces(body, chunks, self.framing)

    def payload(self, piece: Piece) -> Any:
        """The JSON value of a frame; of a Bedrock Invoke chunk the one inside `bytes`. None if it is none."""
        value = _json(piece.frame.data)
        if self._carries and isinstance(value, dict) and isinstance(value.get("bytes"), str):
            return _json(base64.b64decode(value["bytes"]))
        return value

    def write(self, piece: Piece, value: Any) -> None:
        """Let a frame have this payload."""
        data = _compact(value)
        outer = _json(piece.frame.data)
        if self._carries and isinstance(outer, dict) and "bytes" in outer:
            data = _compact({**outer, "bytes": base64.b64encode(data).decode()})
        self.write_data(piece, data)

    def write_data(self, piece: Piece, data: bytes, name: str | None = None) -> None:
        """Let a frame have these bytes as its data, and `name` as the name of its event."""
        inner = piece.raw[piece.start : piece.end]
        if self.framing == "event-stream":
            inner = _message(inner, data, piece.frame.name, name)
        elif self.framing == "sse":
            inner = _event(inner, piece.frame, data, name)
        else:
            inner = data
        piece.raw = piece.raw[: piece.start] + inner + piece.raw[piece.end :]
        piece.end = piece.start + len(inner)
        piece.frame = _changed(piece.frame, data, name)

    def copy(self, piece: Piece) -> Piece:
        """Another piece with the same frame, to be put in beside it; what stood before the first frame is not copied."""
        return Piece(piece.raw[piece.start :], 0, piece.end - piece.start, piece.frame)

    def exchange(self) -> Exchange:
        """The exchange as it is now: decoded, one chunk for each frame, at the times of the frames."""
        chunks = tuple(Chunk(data=piece.raw, at=piece.frame.at) for piece in self.pieces if piece.raw)
        if self.compressed:
            whole = gzip.compress(b"".join(chunk.data for chunk in chunks), mtime=0)
            chunks = (Chunk(data=whole, at=chunks[-1].at if chunks else 0.0),)
        headers = [(name, value) for name, value in self.headers.items() if name.lower() != "content-length"]
        return replace(
            self.original,
            request=self.request,
            status=self.status,
            headers=Headers(headers),
            chunks=chunks,
            ending=self.ending,
        )


def _pieces(body: bytes, chunks: tuple[Chunk, ...], framing: str) -> list[Piece]:
    cut = framer(framing)
    frames = [frame for chunk in chunks for frame in cut.feed(chunk.data, chunk.at)]
    frames += cut.close(chunks[-1].at if chunks else 0.0)
    if not frames:
        return [Piece(body, 0, len(body), Frame(0, None, body))] if body else []
    starts = [0, *(frame.span[0] for frame in frames[1:]), len(body)]
    return [
        Piece(body[start:end], frame.span[0] - start, frame.span[1] - start, frame)
        for frame, (start, end) in zip(frames, pairwise(starts), strict=True)
    ]


def _event(inner: bytes, frame: Frame, data: bytes, name: str | None) -> bytes:
    """A server-sent event with other data, in the style of the one that it takes the place of."""
    if name is None and inner.count(frame.data) == 1 and frame.data and b"\n" not in data:
        return inner.replace(frame.data, data)
    name = frame.name if name is None else name
    lines = [b"event: " + name.encode()] if name else []
    return b"\n".join([*lines, *(b"data: " + line for line in data.split(b"\n"))])


def _message(inner: bytes, data: bytes, old: str | None, new: str | None) -> bytes:
    """An event-stream message with another payload, and perhaps another name; both checksums are right."""
    (length,) = struct.unpack_from("!I", inner, 4)
    headers = inner[12 : 12 + length]
    if old and new is not None:
        before, after = (struct.pack("!H", len(text.encode())) + text.encode() for text in (old, new))
        headers = headers.replace(before, after)
    return message(headers, data)


def relabelled(inner: bytes, old: bytes, new: bytes) -> bytes:
    """An event-stream message with other bytes in its headers; both checksums are right."""
    (length,) = struct.unpack_from("!I", inner, 4)
    return message(inner[12 : 12 + length].replace(old, new, 1), inner[12 + length : -4])


def message(headers: bytes, data: bytes) -> bytes:
    """An event-stream message of encoded headers and a payload."""
    prelude = struct.pack("!II", 16 + len(headers) + len(data), len(headers))
    prelude += struct.pack("!I", crc32(prelude))
    whole = prelude + headers + data
    return whole + struct.pack("!I", crc32(whole))


def _changed(frame: Frame, data: bytes, name: str | None) -> Frame:
    return Frame(frame.index, frame.name if name is None else name, data, frame.at, frame.span, frame.headers)


def _compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None
