"""A body, payload by payload, in the places where they stand."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Sequence
from zlib import crc32

from harness.anonymizing import policy
from harness.anonymizing.payloads import Payloads, Piecewise
from harness.anonymizing.scanning import Kind, Mode, tokens, unquoted
from harness.anonymizing.streams import Pieces
from harness.anonymizing.texts import Texts
from harness.dialects import Dialect
from harness.framing import Frame, framer, framing_of
from harness.json_spans import Span

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FIELD = re.compile(rb"(data|event|id|retry|error)(: ?|(?=[\r\n]|\Z))")
_FIELDS = (b"data", b"event", b"id", b"retry")
_PRELUDE = struct.Struct("!III")
_CRC = struct.Struct("!I")
_OVERHEAD = 16  # bytes of a frame without headers and payload
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
"""What the lengths of a prelude have, and no text."""
_ALIVE = re.compile(r":\s*(?:OPENROUTER PROCESSING|ping|keep-?alive|heartbeat)?[\s\d:.,TZ+-]*", re.IGNORECASE)
_EVENT = re.compile(r"[A-Za-z0-9_.:-]{0,80}")


class Body:
    """The body of a stream; `frames` are its frames."""

    def __init__(self, body: bytes, dialect: Dialect, request: object, texts: Texts) -> None:
        self._body = body
        self._dialect = dialect
        self._texts = texts
        self._payloads = Payloads(texts, dialect)
        self._framing = framing_of(dialect.framings, body[:4096].lstrip())
        cutter = framer(self._framing)
        self._frames = [*cutter.feed(body), *cutter.close()]
        self._pieces = Pieces(self._frames, dialect, request, texts)
        self._payloads.said = _with_all_together(self._pieces.said)

    def replaced(self) -> bytes:
        """The body of the same length with other words."""
        if self._framing == "event-stream":
            return self._event_stream()
        return self._lines() if self._framing == "sse" else self._spans()

    def _payload(self, frame: Frame | None, data: bytes) -> bytes:
        """The replacement of a payload; one that carries another in base64 carries its replacement."""
        if frame is None:
            return _bytes(self._payloads.replaced(_text(data)))
        carried = self._dialect.carried(frame)
        if carried is None:
            return _bytes(self._payloads.replaced(_text(data), *self._asked(frame)))
        inner, (start, end) = carried
        held = base64.b64encode(self._inner(frame, inner))
        outer = _bytes(self._payloads.replaced(_text(data)))
        return outer[:start] + held + outer[end:]

    def _inner(self, frame: Frame, inner: bytes) -> bytes:
        return _bytes(self._payloads.replaced(_text(inner), *self._asked(frame)))

    def _asked(self, frame: Frame) -> tuple[Piecewise, Piecewise]:
        number = frame.index
        return (
            lambda source, value: self._pieces.of(number, source, value),
            lambda _, value: self._pieces.saying(number, value),
        )

    def _spans(self) -> bytes:
        """Bodies whose frames are spans of the body: what is between them is no payload, or a damaged one."""
        out, done = [], 0
        for frame in self._frames:
            start = self._body.find(frame.data, *frame.span)
            if start < 0:
                continue
            out += [self._payload(None, self._body[done:start]), self._payload(frame, frame.data)]
            done = start + len(frame.data)
        return b"".join([*out, self._payload(None, self._body[done:])])

    def _lines(self) -> bytes:
        """Server-sent events: the data lines of an event are one payload."""
        out = bytearray(self._body)
        frames = iter(self._frames)
        frame = next(frames, None)
        event: list[Span] = []
        for line in _LINE.finditer(self._body):
            start, end = line.start(), line.start() + len(line[0].rstrip(b"\r\n"))
            while frame is not None and frame.span[1] <= start:
                self._event(out, event, frame)
                event = []
                frame = next(frames, None)
            field = _FIELD.match(self._body, start)
            inside = frame is not None and frame.span[0] <= start
            if field and field[1] == b"data":
                event.append((min(field.end(), end), end))
            elif start == end:
                continue
            elif inside and not field and not self._body.startswith(b":", start):  # JSON outside the syntax
                event.append((start, end))
            else:
                out[start:end] = self._other(self._body[start:end], field, frame if inside else None)
        self._event(out, event, frame)
        return bytes(out)

    def _event(self, out: bytearray, lines: Sequence[Span], frame: Frame | None) -> None:
        data = b"\n".join(self._body[slice(*line)] for line in lines)
        new = self._payload(frame if frame is not None and frame.data == data else None, data)
        for (start, end), said in zip(lines, new.split(b"\n"), strict=False):
            out[start:end] = said

    def _other(self, line: bytes, field: re.Match[bytes] | None, frame: Frame | None) -> bytes:
        """A line that is no data: a field, a comment, or JSON where none should be."""
        text = _text(line)
        if any(name.startswith(line) for name in _FIELDS):  # cut off
            return line
        if field and field[1] in (b"event", b"retry"):
            word = text[field.end() - field.start() :]
            return line if _EVENT.fullmatch(word) else line[: len(field[0])] + _bytes(self._texts.text(word))
        if field:
            width = len(field[0])
            return line[:width] + self._payload(frame, line[width:])
        if text.startswith(":"):
            return line if _ALIVE.fullmatch(text) else _bytes(self._texts.text(text))
        return self._payload(frame, line)

    def _event_stream(self) -> bytes:
        """Frames with checksums: those that were right are so again, and wrong ones are as wrong as before."""
        out, at = bytearray(self._body), 0
        frames = {frame.span[0]: frame for frame in self._frames}
        while at + _PRELUDE.size <= len(out):
            total, length, check = _PRELUDE.unpack_from(out, at)
            start, end = at + _PRELUDE.size + length, min(at + total, len(out)) - (4 if at + total <= len(out) else 0)
            if total < _OVERHEAD or start > end or crc32(out[at : at + 8]) != check:
                break
            stated = _CRC.unpack_from(out, end)[0] if at + total <= len(out) else None
            wrong = crc32(out[at:end]) ^ (stated or 0)
            out[start:end] = self._payload(frames.get(at), bytes(out[start:end]))
            if stated is not None:
                _CRC.pack_into(out, end, crc32(out[at:end]) ^ wrong)
            at += total
        if not self._is_cut_in_head(bytes(out[at:])):
            start = at + (_PRELUDE.size if _CONTROL.search(out, at, at + _PRELUDE.size) else 0)
            out[start:] = self._payload(None, bytes(out[start:]))
        return bytes(out)

    def _is_cut_in_head(self, rest: bytes) -> bool:
        """Whether a stream ends inside the head of a frame, in which nothing is said."""
        if len(rest) < _PRELUDE.size:
            return _CONTROL.search(rest) is not None
        total, length, check = _PRELUDE.unpack_from(rest)
        return bool(total > len(rest) and _PRELUDE.size + length > len(rest) and crc32(rest[:8]) == check)


def document(body: bytes, dialect: Dialect, texts: Texts) -> bytes:
    """The replacement of a body that is one document, JSON or not."""
    payloads = Payloads(texts, dialect)
    payloads.said = _all_strings(body, texts)
    return _bytes(payloads.replaced(_text(body)))


def _all_strings(body: bytes, texts: Texts) -> list[tuple[str, str]]:
    """The long texts of a document, each and all of them together."""
    text = _text(body)
    found = [
        unquoted(text[token.start : token.end])
        for token in tokens(text, Mode.API, policy.mode_of)
        if token.kind is Kind.STRING and token.path[-1:] == ("text",) and "segment" not in token.path
    ]
    return _with_all_together([(said, texts.text(said)) for said in found])


def _with_all_together(said: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [*said, ("".join(old for old, _ in said), "".join(new for _, new in said))] if len(said) > 1 else said


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
