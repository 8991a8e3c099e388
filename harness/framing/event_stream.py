"""AWS event stream: binary frames with two checksums (spec, wire/framing.md section 4).

A frame is taken only when both CRC-32 sums are right; botocore and others that skip a bad frame, or ignore what is left
over at the end, turn a damaged turn into a clean one. After the first damage nothing that follows can be trusted, so the
framer reports it and takes no more frames.
"""

from __future__ import annotations

import struct
from typing import NoReturn
from uuid import UUID
from zlib import crc32

from harness import payload
from harness.errors import Where
from harness.findings import Finding
from harness.framing.frame import Frame

_PRELUDE = struct.Struct("!III")  # total length, headers length, CRC of these eight bytes
_CRC = struct.Struct("!I")
_OVERHEAD = 16  # prelude and both checksums
_MOST_HEADERS = 128 * 1024
_MOST_PAYLOAD = 24 * 1024 * 1024
_NUMBERS = {2: struct.Struct("!b"), 3: struct.Struct("!h"), 4: struct.Struct("!i"), 5: struct.Struct("!q")}
_TIMESTAMP = struct.Struct("!q")
_LENGTH = struct.Struct("!H")
_NAMES = (":event-type", ":exception-type", ":error-code")
_MOST_CACHED = 256

Headers = dict[str, object]


class _Damage(ValueError):
    """A frame that cannot be taken; `rule` is the rule of the catalogue that it breaks."""

    def __init__(self, rule: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.kind = kind


class EventStreamFramer:
    """Cuts an `application/vnd.amazon.eventstream` body into frames and verifies both checksums of each."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._frames = 0
        self._pos = 0
        self._tail = bytearray()
        self._needed = _PRELUDE.size  # bytes the tail must have before it is worth another look
        self._headers: dict[bytes, tuple[str | None, Headers]] = {}
        self._dead = False

    def feed(self, data: bytes, at: float = 0.0) -> list[Frame]:
        if self._dead:
            return []
        if self._tail:
            self._tail += data
            if len(self._tail) < self._needed:
                return []
            data = bytes(self._tail)
            self._tail.clear()
        frames: list[Frame] = []
        try:
            self._cut(data, at, frames)
        except _Damage as damage:
            self._dead = True
            where = Where(span=(self._pos, self._pos + min(self._needed, len(data))))
            self.findings.append(Finding(kind=damage.kind, message=str(damage), where=where, rule=damage.rule))
        return frames

    def close(self, at: float = 0.0) -> list[Frame]:
        if self._tail:
            left = len(self._tail)
            message = f"the body ends inside a frame: {left} of {self._needed} bytes are there"
            if left < _PRELUDE.size:
                message = f"the body ends inside the prelude of a frame: {payload.quote(bytes(self._tail))}"
            where = Where(span=(self._pos, self._pos + left))
            self.findings.append(Finding(kind="framing/frame-truncated", message=message, where=where))
        return []

    def _cut(self, data: bytes, at: float, frames: list[Frame]) -> None:
        """Take every whole frame of `data`, which begins at `self._pos`. The hot loop of the framer."""
        view = memoryview(data)
        start, size, base, known = 0, len(data), self._pos, self._headers
        while size - start >= _PRELUDE.size:
            self._pos = base + start
            total, length, prelude_crc = _PRELUDE.unpack_from(data, start)
            running = crc32(view[start : start + 8])
            self._needed = total
            if running != prelude_crc or not 0 <= total - length - _OVERHEAD <= _MOST_PAYLOAD or length > _MOST_HEADERS:
                self._bad_prelude(data, start, total, length, running == prelude_crc)
            end = start + total
            if end > size:
                break
            if crc32(view[start + 8 : end - 4], running) != _CRC.unpack_from(data, end - 4)[0]:
                raise _Damage(
                    "EVS-003", "framing/bad-crc", "the checksum of the frame is wrong; it and what follows are not used"
                )
            body = start + 12 + length
            block = data[start + 12 : body]
            name, headers = known.get(block) or self._read_headers(block)
            frames.append(Frame(self._frames, name, data[body : end - 4], at, (base + start, base + end), headers))
            self._frames += 1
            start = end
        else:
            self._needed = _PRELUDE.size
        self._pos = base + start
        self._tail += view[start:]

    def _bad_prelude(self, data: bytes, start: int, total: int, length: int, intact: bool) -> NoReturn:
        self._needed = _PRELUDE.size
        if not intact:
            begins = payload.quote(data[start : start + _PRELUDE.size])
            raise _Damage(
                "EVS-002", "framing/bad-crc", f"the checksum of the frame's prelude is wrong; it begins with {begins}"
            )
        rule = "EVS-004" if length > _MOST_HEADERS or total - length - _OVERHEAD > _MOST_PAYLOAD else "EVS-001"
        raise _Damage(rule, "framing/bad-length", f"a frame of {total} bytes with {length} bytes of headers cannot be")

    def _read_headers(self, block: bytes) -> tuple[str | None, Headers]:
        headers = _headers(block)
        name = next((headers[n] for n in _NAMES if n in headers), None)
        read = (name if isinstance(name, str) else None, headers)
        if len(self._headers) < _MOST_CACHED:
            self._headers[block] = read
        return read


def _headers(block: bytes) -> Headers:
    """The headers of a frame; raises `_Damage` when the block is not well formed."""
    headers: Headers = {}
    pos = 0
    try:
        while pos < len(block):
            end = pos + 1 + block[pos]
            name = block[pos + 1 : end].decode()
            kind = block[end]
            value, pos = _value(block, kind, end + 1)
            if name in headers or not name:
                raise _Damage("EVS-005", "framing/bad-header", f"the header {name!r} stands twice in a frame or has no name")
            headers[name] = value
    except (IndexError, struct.error, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, _Damage):
            raise
        raise _Damage("EVS-006", "framing/bad-header", f"the headers of the frame cannot be read: {error}") from None
    return headers


def _value(block: bytes, kind: int, pos: int) -> tuple[object, int]:
    """A header's value of type `kind` at `pos`, and the position after it."""
    if kind in (0, 1):
        return kind == 0, pos
    if kind in _NUMBERS:
        number = _NUMBERS[kind]
        return number.unpack_from(block, pos)[0], pos + number.size
    if kind in (6, 7):
        end = pos + 2 + _LENGTH.unpack_from(block, pos)[0]
        if end > len(block):
            raise ValueError("a value is longer than the headers")
        data = block[pos + 2 : end]
        return (data.decode() if kind == 7 else data), end
    if kind == 8:
        return _TIMESTAMP.unpack_from(block, pos)[0], pos + 8
    if kind == 9:
        return UUID(bytes=block[pos : pos + 16]), pos + 16
    raise ValueError(f"no header value has type {kind}")
