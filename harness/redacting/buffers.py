"""Bytes whose secrets are covered, however they lie in one another: a body, and what it carries in base64."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from zlib import crc32

from harness.redacting.looks import NUMBER, NUMBERS, Spot
from harness.redacting.placeholders import placeholder, placeholder_numbers

_PRELUDE = struct.Struct("!III")
_CRC = struct.Struct("!I")
_OVERHEAD = 16  # prelude and both checksums

Span = tuple[int, int]


class Buffer:
    """Some bytes, the places in them that are to be covered, and the buffers that they carry."""

    def __init__(self, data: bytes, above: Buffer | None = None) -> None:
        self.data = data
        self.above = above
        self.spots: list[Spot] = []
        self._carried: list[tuple[Span, Buffer, Callable[[bytes], bytes]]] = []

    def carry(self, span: Span, data: bytes, packed: Callable[[bytes], bytes] = base64.b64encode) -> Buffer:
        """`span` holds these bytes in base64, in the variant that `packed` makes."""
        inner = Buffer(data, self)
        self._carried.append((span, inner, packed))
        return inner

    @property
    def all_buffers(self) -> Iterator[Buffer]:
        """The buffer itself, and those that it carries at any depth."""
        yield self
        for _, buffer, _ in self._carried:
            yield from buffer.all_buffers

    @property
    def all_spots(self) -> list[Spot]:
        """The places, those of carried buffers as the places of what carries them."""
        inner = [Spot(*span, spot.kind) for span, buffer, _ in self._carried for spot in buffer.all_spots]
        return self.spots + inner

    def covered(self) -> bytes:
        """The bytes with placeholders, as many of them."""
        out = bytearray(self.data)
        for (start, end), buffer, packed in self._carried:
            inner = buffer.covered()
            if inner != buffer.data:
                out[start:end] = packed(inner)
        for spot in self.spots:  # last: it may be that all of what is packed is to be covered
            secret = self.data[spot.start : spot.end]
            of_kind = placeholder_numbers if spot.kind in (NUMBER, NUMBERS) else placeholder
            out[spot.start : spot.end] = of_kind(secret)
        return bytes(out)


def is_event_stream(data: bytes) -> bool:
    """Whether a body begins with the prelude of an event-stream message."""
    return len(data) >= _PRELUDE.size and crc32(data[:8]) == _CRC.unpack_from(data, 8)[0]


def with_checksums(before: bytes, after: bytes) -> bytes:
    """`after`, an event stream of which bytes were covered, with checksums that are right wherever they were in `before`."""
    out = bytearray(after)
    start = 0
    while len(before) - start >= _PRELUDE.size:
        total = _PRELUDE.unpack_from(before, start)[0]
        end = start + total
        if not is_event_stream(before[start : start + _PRELUDE.size]) or total < _OVERHEAD or end > len(before):
            break
        if crc32(before[start : end - 4]) == _CRC.unpack_from(before, end - 4)[0]:
            _CRC.pack_into(out, end - 4, crc32(out[start : end - 4]))
        start = end
    return bytes(out)
