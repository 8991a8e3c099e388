"""Where a value stands in the bytes of a JSON document.

Decoders give values and forget where they stood. Findings, reports and repeated payloads need the place: the span of the
value that a JSON pointer leads to. The document is known to be valid JSON; nothing is decoded but the names on the way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_WHITE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}]+")
_MARK = re.compile(rb'["{}\[\]]')

Span = tuple[int, int]


def steps_of(pointer: str) -> list[str]:
    """The steps of a JSON pointer (RFC 6901)."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def locate(data: bytes, pointer: str) -> Span | None:
    """The span of the value at `pointer`, without white space around it; None if there is no such value.

    Of a name that stands twice in an object the last one counts, as decoders have it.
    """
    return Spans(data).locate(pointer)


class Spans:
    """The spans of several values of one document: no object is walked through twice."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._known: dict[int, dict[str, Span]] = {}

    def locate(self, pointer: str) -> Span | None:
        start, end = _skip_white(self._data, 0), -1
        for step in steps_of(pointer):
            inside = self._known.get(start)
            if inside is None:
                inside = self._known[start] = dict(_children(self._data, start))
            if step not in inside:
                return None
            start, end = inside[step]
        return start, end if end >= 0 else _end_of_value(self._data, start)


def closing_gaps(data: bytes) -> list[Span]:
    """The runs of white space in front of closing brackets, outside strings: some servers pad there."""
    gaps = []
    pos = 0
    while (mark := _MARK.search(data, pos)) is not None:
        end = mark.start()
        if mark.group() in b"]}":
            start = pos + len(data[pos:end].rstrip(b" \t\r\n"))
            if start < end:
                gaps.append((start, end))
        pos = _end_of_value(data, end) if mark.group() == b'"' else mark.end()
    return gaps


def _children(data: bytes, start: int) -> Iterator[tuple[str, Span]]:
    """(name or position, span) of what an object or array at `start` holds."""
    opening = data[start : start + 1]
    if opening not in (b"{", b"["):
        return
    pos = _skip_white(data, start + 1)
    position = 0
    while data[pos : pos + 1] not in (b"}", b"]", b""):
        if opening == b"{":
            end = _end_of_value(data, pos)
            name = _name(data[pos:end])
            pos = _skip_white(data, _skip_white(data, end) + 1)
        else:
            name = str(position)
            position += 1
        end = _end_of_value(data, pos)
        yield name, (pos, end)
        pos = _skip_white(data, end)
        if data[pos : pos + 1] == b",":
            pos = _skip_white(data, pos + 1)


def _name(data: bytes) -> str:
    """A name as a decoder reads it; of a damaged one whatever can be read."""
    text = data.decode(errors="replace")
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text


def _end_of_value(data: bytes, start: int) -> int:
    first = data[start : start + 1]
    if first == b'"':
        string = _STRING.match(data, start)
        return string.end() if string else len(data)
    if first not in (b"{", b"["):
        scalar = _SCALAR.match(data, start)
        return scalar.end() if scalar else start + 1
    depth, pos = 0, start
    while (mark := _MARK.search(data, pos)) is not None:
        if mark.group() == b'"':
            pos = _end_of_value(data, mark.start())
            continue
        pos = mark.end()
        depth += 1 if mark.group() in b"{[" else -1
        if not depth:
            return pos
    return len(data)


def _skip_white(data: bytes, pos: int) -> int:
    white = _WHITE.match(data, pos)
    return white.end() if white else pos
