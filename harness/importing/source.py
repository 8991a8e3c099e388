"""A file that is imported: read piece by piece, so that its size does not matter, and unpacked where gzip packed it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from harness.errors import InputError

GZIP = b"\x1f\x8b"
MOST = 256 << 20
"""Bytes that are held at a time: of one exchange, or of a file that can only be read as a whole."""

_PIECE = 1 << 20
_HEAD = 1 << 16


class Source:
    """A file. `progress` is told how many bytes of it have been read."""

    def __init__(self, path: Path, progress: Callable[[int], object] | None = None) -> None:
        self.path = path
        self._progress = progress

    @property
    def stem(self) -> str:
        """The name without its endings, as far as those say what the file is."""
        name = self.path.name
        while (stem := Path(name).stem) != name and Path(name).suffix.lower() in _ENDINGS:
            name = stem
        return name

    @property
    def is_packed(self) -> bool:
        return self._start.startswith(GZIP)

    @cached_property
    def head(self) -> bytes:
        """How the file begins, unpacked and without a byte-order mark."""
        if not self.is_packed:
            return self._start.removeprefix(b"\xef\xbb\xbf")
        try:
            return zlib.decompressobj(47).decompress(self._start, _HEAD).removeprefix(b"\xef\xbb\xbf")
        except zlib.error:
            return b""

    @property
    def is_short(self) -> bool:
        """Whether the head is all there is."""
        return len(self._start) < _HEAD and len(self.head) < _HEAD

    def pieces(self, *, unpacked: bool = True) -> Iterator[bytes]:
        """The file from its start. Raises `InputError`."""
        try:
            with self.path.open("rb") as file:
                reader = gzip.GzipFile(fileobj=file) if unpacked and self.is_packed else file
                while piece := reader.read(_PIECE):
                    yield piece
                    if self._progress is not None:
                        self._progress(file.tell())
        except OSError as error:
            raise self.error(f"cannot be read: {error.strerror or error}") from None
        except (EOFError, zlib.error) as error:
            raise self.error(f"the gzip data is damaged: {error}", hint="unpack what is left of it with `gzip -dc`") from None

    def whole(self, *, unpacked: bool = True) -> bytes:
        """All of it. Raises `InputError`, also for a file that is too large for that."""
        data = bytearray()
        for piece in self.pieces(unpacked=unpacked):
            data += piece
            if len(data) > MOST:
                raise self.error(f"is larger than {MOST >> 20} MiB", hint="cut it into smaller files")
        return bytes(data)

    def lines(self) -> Iterator[bytes]:
        """The lines, without their ends, which are LF or CR LF."""
        rest = b""
        for piece in self.pieces():
            lines = (rest + piece).split(b"\n")
            rest = lines.pop()
            if len(rest) > MOST:
                raise self.error(f"a line is longer than {MOST >> 20} MiB")
            yield from (line.removesuffix(b"\r") for line in lines)
        if rest:
            yield rest.removesuffix(b"\r")

    def error(self, message: str, *, at: str | None = None, hint: str | None = None) -> InputError:
        """An error in this file; `at` says where in it."""
        place = f"{self.path}, {at}" if at else str(self.path)
        return InputError(message, where=place, hint=hint or "docs/import.md says what can be imported")

    @cached_property
    def _start(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                return file.read(_HEAD)
        except OSError as error:
            hint = "give a file or a folder that is there"
            raise self.error(f"cannot be read: {error.strerror or error}", hint=hint) from None


_ENDINGS = frozenset(
    {
        *(".bin", ".body", ".curl", ".flow", ".flows", ".gz", ".har", ".hex", ".json", ".jsonl", ".log", ".ndjson", ".raw"),
        *(".sse", ".trace", ".trace-ascii", ".txt", ".yaml", ".yml"),
    }
)
"""Of names of files, that are no part of a scenario's name."""
