"""Elements of an array inside a large JSON document, one after the other: only one of them is in memory at a time.

Borders are found by counting brackets outside strings; decoding is left to whoever asked. What stands beside the array and its
parents is kept if it is short, so that a version or the name of a program can be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

_SPACE = re.compile(rb"[\s,:]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\]}]++")
_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+[{}\[\]]', re.DOTALL)
_OPENING = b"{["
_SHORT = 1 << 16
_LEAST = 1 << 20


class Damaged(ValueError):
    """The document is no JSON, or ends too early; `offset` is where in it."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} at byte {offset:,}".replace(",", " "))
        self.offset = offset


class Items:
    """The elements of the array at `path`, a path of names; `beside` holds the short values that stand beside it or above, by
    name, as far as they have been read; `open` is the name whose value is being read. `found` says whether there is such an
    array."""

    def __init__(self, pieces: Iterable[bytes], path: tuple[str, ...], most: int) -> None:
        self.beside: dict[str, Any] = {}
        self.found = False
        self.open: str | None = None
        self._pieces = (piece for piece in pieces if piece)
        self._path = path
        self._most = most
        self._buffer = bytearray()
        self._pos = 0
        self._gone = 0  # bytes of the document in front of the buffer
        self._over = False

    def __iter__(self) -> Iterator[bytes]:
        if self._next() == b"\xef":
            self._pos += 3  # a byte-order mark
        yield from self._object(self._path)

    def _object(self, path: tuple[str, ...]) -> Iterator[bytes]:
        self._expect(b"{")
        while self._next() != b"}":
            name = self.open = self._name()
            byte = self._next()
            if name != path[0]:
                self._pass(name)
            elif len(path) > 1 and byte == b"{":
                yield from self._object(path[1:])
            elif len(path) == 1 and byte == b"[":
                yield from self._array()
            else:
                self._pass(name)
        self._expect(b"}")

    def _array(self) -> Iterator[bytes]:
        self.found = True
        self._expect(b"[")
        while self._next() != b"]":
            yield bytes(self._value(self._most))
        self._expect(b"]")

    def _pass(self, name: str) -> None:
        """Go over a value; a short one is kept."""
        value = self._value(self._most)
        if len(value) <= _SHORT:
            self.beside[name] = self._decoded(value)

    def _name(self) -> str:
        name = self._decoded(self._value(_SHORT))
        if not isinstance(name, str):
            raise self._damaged(f"expected a name, got {name!r:.40}")
        return name

    def _decoded(self, value: bytes | bytearray) -> Any:
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise self._damaged(f"expected JSON: {str(error).split(': line')[0]}") from None

    def _next(self) -> bytes:
        """The first byte of what comes next."""
        while True:
            self._pos = self._match(_SPACE).end()
            if self._pos < len(self._buffer):
                return bytes(self._buffer[self._pos : self._pos + 1])
            self._fill()

    def _expect(self, byte: bytes) -> None:
        if (found := self._next()) != byte:
            raise self._damaged(f"expected {byte.decode()!r}, got {found.decode('latin-1')!r}")
        self._pos += 1

    def _value(self, most: int) -> bytearray:
        """The next value, as it stands there."""
        first = self._next()
        self._drop()
        if first in (b"{", b"["):
            end = self._bracketed(most)
        else:
            pattern = _STRING if first == b'"' else _SCALAR
            while (match := pattern.match(self._buffer)) is None or match.end() == len(self._buffer):
                if match is None and first in b"]}":
                    raise self._damaged(f"unexpected {first.decode()!r}")
                self._fill(most)
            end = match.end()
        self._pos = end
        return self._buffer[:end]

    def _bracketed(self, most: int) -> int:
        depth, pos = 0, 0
        while True:
            match = _TO_BRACKET.match(self._buffer, pos)
            if match is None:
                self._fill(most)
                continue
            pos = match.end()
            depth += 1 if self._buffer[pos - 1] in _OPENING else -1
            if not depth:
                return pos

    def _match(self, pattern: re.Pattern[bytes]) -> re.Match[bytes]:
        match = pattern.match(self._buffer, self._pos)
        assert match is not None  # noqa: S101  # it matches nothing at all, too
        return match

    def _drop(self) -> None:
        del self._buffer[: self._pos]
        self._gone += self._pos
        self._pos = 0

    def _fill(self, most: int | None = None) -> None:
        """Read as much again as there is, so that a value that is looked at anew each time costs no more than twice."""
        if most is not None and len(self._buffer) > most:
            raise self._damaged(f"a value is longer than {most >> 20} MiB")
        wanted = len(self._buffer) + max(_LEAST, len(self._buffer))
        before = len(self._buffer)
        while len(self._buffer) < wanted and (piece := next(self._pieces, b"")):
            self._buffer += piece
        if len(self._buffer) == before:
            if self._over:
                raise self._damaged("the document ends too early")
            self._over = True
            self._buffer += b" "  # a number at the very end has ended now

    def _damaged(self, message: str) -> Damaged:
        return Damaged(message, self._gone + self._pos)
