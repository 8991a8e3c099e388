"""The JSON documents in a body, and where the bytes of each lie in it: payloads of a stream, lines, the body itself."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from harness import payload
from harness.framing import framer
from harness.json_spans import Spans, character
from harness.redacting.buffers import Buffer, Span, is_event_stream

_SSE = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:(?:data|event|id|retry)(?::|\r|\n)|:)")
_BASE64 = re.compile(r"(?:data:[^,\s]{0,200};base64,)?(?P<packed>(?:[A-Za-z0-9+/]{16,}|[A-Za-z0-9_-]{16,})={0,2})\Z")
"""Base64 of either alphabet, alone or as the data of a URL."""
_PROBE = 64  # letters that tell text from what is none
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_DEEPEST = 4
_SHORTEST = 16
_LONGEST_CHARACTER = 12  # bytes, of a pair of escapes


@dataclass(slots=True)
class Document:
    """A document; `runs` say where its bytes lie in the buffer: (start in the document, end, start in the buffer)."""

    data: bytes
    value: Any
    buffer: Buffer
    runs: list[tuple[int, int, int]]
    _spans: Spans | None = field(default=None, init=False)
    _last: tuple[str, int, int] = field(default=("", 0, 0), init=False)

    def in_buffer(self, span: Span) -> Iterator[Span]:
        """The places in the buffer of some bytes of the document."""
        for start, end, at in self.runs:
            first, last = max(start, span[0]), min(end, span[1])
            if first < last:
                yield at + first - start, at + last - start

    def characters(self, pointer: str, first: int, last: int) -> Iterator[Span]:
        """The places in the buffer of some characters of the string at `pointer`."""
        string = self.locate(pointer)
        if string is not None:
            start, end = (self._place(pointer, string, number) for number in (first, last))
            yield from self.in_buffer((start, end))

    def _place(self, pointer: str, string: Span, number: int) -> int:
        """Where a character of a string begins, counted from the last one that was asked for, if that is in front of it."""
        known, done, at = self._last
        if known != pointer or number < done:
            done, at = 0, string[0] + 1
        end = min(string[1], at + _LONGEST_CHARACTER * (number - done) + 2)
        at = character(self.data, (at - 1, end), number - done)[0]
        self._last = (pointer, number, at)
        return at

    def locate(self, pointer: str) -> Span | None:
        if self._spans is None:
            self._spans = Spans(self.data)
        return self._spans.locate(pointer)


def documents(buffer: Buffer, depth: int = 0) -> Iterator[Document]:
    """Every document in a buffer, in order, with those that it carries in base64 after it."""
    for found in _documents(buffer):
        yield found
        if depth < _DEEPEST:
            yield from _carried(found, depth + 1)


def _documents(buffer: Buffer) -> Iterator[Document]:
    data = buffer.data
    if is_event_stream(data):
        framing = "event-stream"
    elif _SSE.match(data):
        framing = "sse"
    else:
        value = _value(data)
        if value is not None:
            yield Document(data, value, buffer, [(0, len(data), 0)])
            return
        framing = "json-array" if data.lstrip()[:1] == b"[" else "ndjson"
    cut = framer(framing)
    for frame in (*cut.feed(data), *cut.close()):
        value = _value(frame.data)
        if value is not None:
            yield Document(frame.data, value, buffer, list(_runs(data, frame.span, frame.data)))


def _runs(body: bytes, span: Span, data: bytes) -> Iterator[tuple[int, int, int]]:
    """Where the data of a frame lie; those of an event may stand on several lines."""
    whole = body.rfind(data, *span)
    if whole >= 0:
        yield 0, len(data), whole
        return
    done, at = 0, span[0]
    for line in data.split(b"\n"):
        found = body.find(line, at, span[1])
        if found < 0:
            return
        yield done, done + len(line), found
        done, at = done + len(line) + 1, found + len(line)


def _carried(holder: Document, depth: int) -> Iterator[Document]:
    for pointer, text in leaves(holder.value):
        match = _BASE64.match(text) if len(text) >= _SHORTEST else None
        unpacked = _unpacked(match["packed"]) if match else None
        string = holder.locate(pointer) if unpacked is not None else None
        if match is None or unpacked is None or string is None:
            continue
        inside = list(holder.in_buffer((string[0] + 1, string[1] - 1)))
        if len(inside) == 1 and inside[0][1] - inside[0][0] == len(text):
            span = inside[0][0] + match.start("packed"), inside[0][1]
            yield from _inside(holder.buffer.carry(span, *unpacked), depth)


def _inside(buffer: Buffer, depth: int) -> Iterator[Document]:
    """The documents in unpacked bytes, which may be base64 once more."""
    unpacked = None
    if depth < _DEEPEST and buffer.data.isascii() and (match := _BASE64.match(text := buffer.data.decode())):
        unpacked = _unpacked(match["packed"])
    if unpacked is not None and match is not None:
        yield from _inside(buffer.carry((match.start("packed"), len(text)), *unpacked), depth + 1)
    else:
        yield from documents(buffer, depth)


def _unpacked(text: str) -> tuple[bytes, Callable[[bytes], bytes]] | None:
    """What base64 holds, and how it is packed again to the same letters; None if that is no text, or cannot be done."""
    altchars = b"-_" if "-" in text or "_" in text else b"+/"
    padded = text + "=" * (-len(text) % 4)
    try:
        if not _is_text(base64.b64decode(padded[:_PROBE], altchars, validate=True)):
            return None
        data = base64.b64decode(padded, altchars, validate=True)
    except (binascii.Error, ValueError):
        return None

    def packed(data: bytes) -> bytes:
        return base64.b64encode(data, altchars)[: len(text)]

    return (data, packed) if packed(data).decode() == text and _is_text(data) else None


def _is_text(data: bytes) -> bool:
    """Whether bytes may be a text in UTF-8, which may end inside a character."""
    if _NO_TEXT.search(data):
        return False
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.end == len(data) and len(data) - error.start < 4 and error.reason == "unexpected end of data"
    return True


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Every string of a value, with its JSON pointer."""
    stack = [(pointer, value)]
    while stack:
        at, one = stack.pop()
        if isinstance(one, str):
            yield at, one
        elif isinstance(one, dict):
            stack += [(f"{at}/{_step(name)}", inner) for name, inner in one.items()]
        elif isinstance(one, list):
            stack += [(f"{at}/{number}", inner) for number, inner in enumerate(one)]


def _step(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1") if "~" in name or "/" in name else name


def _value(data: bytes) -> Any:
    """The document's value if it is an object or array; None for what is no JSON, or no container."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return payload.strict(data)
    except ValueError:
        pass
    try:
        return payload.tolerant(data)[0]
    except payload.NotJSON:
        return None
