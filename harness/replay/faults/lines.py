"""The same stream, written otherwise: line ends, comments, marks, compression, headers. The turn must come out the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

from harness.cassette.model import Exchange, Headers
from harness.dialects import Dialect
from harness.replay.faults.making import Framed, framed, number, with_payloads
from harness.replay.faults.named import NamedFault, neutral
from harness.replay.faults.primitives import Compress, FaultError
from harness.replay.reel import Reel

_LINES = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
_TEXT = ("sse", "ndjson", "json-array")


def _gzip(exchange: Exchange, dialect: Dialect, _: str) -> Exchange:
    reel = Reel(exchange, dialect)
    if not reel.pieces:
        raise FaultError("the body is empty")
    Compress().apply(reel)
    return reel.exchange()


def _charset(exchange: Exchange, _: Dialect, __: str) -> Exchange:
    """The media type with a parameter, or without one."""
    old = exchange.headers.get("content-type")
    if not old:
        raise FaultError("the response has no media type")
    new = old.partition(";")[0] if ";" in old else f"{old}; charset=utf-8"
    fields = [(n, new if n.lower() == "content-type" else v) for n, v in exchange.headers.fields]
    return replace(exchange, headers=Headers(fields))


def _line_ends(new: bytes) -> Framed:
    def made(reel: Reel, _: str) -> None:
        raws = [_LINES.sub(new, piece.raw) for piece in reel.pieces]
        if raws == [piece.raw for piece in reel.pieces]:
            raise FaultError("the lines end so already")
        for piece, raw in zip(reel.pieces, raws, strict=True):
            piece.raw = raw

    return made


def _before_frames(text: Callable[[int], bytes]) -> Framed:
    """Bytes before each frame."""

    def made(reel: Reel, _: str) -> None:
        for place, piece in enumerate(reel.pieces):
            piece.raw = piece.raw[: piece.start] + text(place) + piece.raw[piece.start :]

    return made


def _long_comment(reel: Reel, argument: str) -> None:
    piece = reel.pieces[len(reel.pieces) // 2]
    comment = b": " + b"~" * number(argument, most=1_000_000) + b"\n\n"
    piece.raw = piece.raw[: piece.start] + comment + piece.raw[piece.start :]


def _bom(reel: Reel, _: str) -> None:
    if reel.pieces[0].raw.startswith(_BOM):
        raise FaultError("there is one already")
    reel.pieces[0].raw = _BOM + reel.pieces[0].raw


def _without_space(reel: Reel, _: str) -> None:
    _in_frame(reel, lambda inner: re.sub(rb"(?m)^(data|event|id):[ ]", rb"\1:", inner))


def _on_several_lines(reel: Reel, _: str) -> None:
    """The payload with a line for each field, each on a data line of its own."""
    for piece in with_payloads(reel):
        reel.write_data(piece, json.dumps(json.loads(piece.frame.data), ensure_ascii=False, indent=1).encode())


def _in_frame(reel: Reel, change: Callable[[bytes], bytes]) -> None:
    changed = False
    for piece in reel.pieces:
        inner = piece.raw[piece.start : piece.end]
        new = change(inner)
        changed = changed or new != inner
        piece.raw = piece.raw[: piece.start] + new + piece.raw[piece.end :]
        piece.end = piece.start + len(new)
    if not changed:
        raise FaultError("nothing in the stream is written so")


def _written(name: str, what: str, change: Framed, *framings: str, argument: str = "") -> NamedFault:
    """A fault of streams in these framings."""
    return neutral(name, what, framed(change, *framings), framings=framings, argument=argument)


FAULTS = (
    neutral("gzip", "The body is compressed, and the header says so.", _gzip, plain=True),
    neutral("charset", "The media type has a parameter, or lacks it.", _charset, plain=True),
    _written("bom", "The stream begins with a byte order mark.", _bom, "sse"),
    _written("crlf", "Lines end in CR LF.", _line_ends(b"\r\n"), *_TEXT),
    _written("cr", "Lines end in CR alone.", _line_ends(b"\r"), "sse"),
    _written("comments", "A comment before each event.", _before_frames(lambda _: b": keep-alive\n\n"), "sse"),
    _written("long-comment", "A comment of so many bytes.", _long_comment, "sse", argument="200000"),
    _written("blank-lines", "Blank lines between frames.", _before_frames(lambda _: b"\n\n"), "sse", "json-array"),
    _written(
        "event-ids",
        "Each event has an `id`, the first a `retry`.",
        _before_frames(lambda n: b"id: %d\n" % n if n else b"id: 0\nretry: 3000\n"),
        "sse",
    ),
    _written("no-space", "No space after the colons of field names.", _without_space, "sse"),
    _written("data-lines", "Each payload on several `data` lines.", _on_several_lines, "sse"),
)
