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
_ESCAPE = re.compile(rb"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\.", re.DOTALL)

Span = tuple[int, int]


def steps_of(pointer: str) -> list[str]:
    """The steps of a JSON pointer (RFC 6901)."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def locate(data: bytes, pointer: str) -> Span | None:
    """The span of the value at `pointer`, without white space around it; None if there is no such value.

    Of a name that stands twice in an object the last one counts, as decoders have it.
    """
    return Spans(data).locate(pointer)


def locate_name(data: bytes, pointer: str) -> Span | None:
    """The span of the name, with its quotes, of the field at `pointer`; None if there is no such field."""
    return Spans(data).locate_name(pointer)


def strings(data: bytes) -> Iterator[Span]:
    """The spans of all values that are strings, names not among them."""
    for match in _STRING.finditer(data):
        after = _skip_white(data, match.end())
        if data[after : after + 1] != b":":
            yield match.span()


def character(data: bytes, string: Span, number: int) -> Span:
    """The bytes of one character of a string, which may be an escape or a pair of them; empty behind the last one."""
    end = string[1] - 1
    start = _skip_characters(data, (string[0] + 1, end), number)
    return start, _skip_characters(data, (start, end), 1)


def _skip_characters(data: bytes, inside: Span, count: int) -> int:
    pos, end = inside
    for escape in _ESCAPE.finditer(data, pos, end):
        run = data[pos : escape.start()].decode(errors="surrogateescape")
        if count <= len(run):
            break
        count -= len(run) + 1
        pos = escape.end()
    plain = data[pos:end].decode(errors="surrogateescape")[:count]
    return pos + len(plain.encode(errors="surrogateescape"))


class Spans:
    """The spans of several values of one document, `data`: no object is walked through twice."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._known: dict[int, dict[str, tuple[Span, Span]]] = {}

    def locate(self, pointer: str) -> Span | None:
        """As the function of this name."""
        start, end = _skip_white(self.data, 0), -1
        for step in steps_of(pointer):
            member = self._inside(start).get(step)
            if member is None:
                return None
            start, end = member[1]
        return start, end if end >= 0 else _end_of_value(self.data, start)

    def locate_name(self, pointer: str) -> Span | None:
        """As the function of this name."""
        above, slash, _ = pointer.rpartition("/")
        holder = self.locate(above) if slash else None
        if holder is None or self.data[holder[0] : holder[0] + 1] != b"{":
            return None
        member = self._inside(holder[0]).get(steps_of(pointer)[-1])
        return None if member is None else member[0]

    def _inside(self, start: int) -> dict[str, tuple[Span, Span]]:
        inside = self._known.get(start)
        if inside is None:
            inside = self._known[start] = {name: (named, span) for name, named, span in _members(self.data, start)}
        return inside


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


def _members(data: bytes, start: int) -> Iterator[tuple[str, Span, Span]]:
    """(name or position, span of the name, span of the value) of what an object or array at `start` holds."""
    opening = data[start : start + 1]
    if opening not in (b"{", b"["):
        return
    pos = _skip_white(data, start + 1)
    position = 0
    while data[pos : pos + 1] not in (b"}", b"]", b""):
        named = (pos, pos)
        if opening == b"{":
            end = _end_of_value(data, pos)
            named = (pos, end)
            name = _name(data[pos:end])
            pos = _skip_white(data, _skip_white(data, end) + 1)
        else:
            name = str(position)
            position += 1
        end = _end_of_value(data, pos)
        yield name, named, (pos, end)
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
