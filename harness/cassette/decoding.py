"""Bodies as they were before a content encoding: recordings keep what was on the wire, dialects read what was meant."""

from __future__ import annotations

import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator

from harness.cassette.model import Chunk, Exchange
from harness.errors import Where
from harness.findings import Finding

GZIP = b"\x1f\x8b"
_IDENTITY = ("", "identity")
_INFLATED = ("gzip", "x-gzip", "deflate")
_GZIP_OR_ZLIB, _RAW = 47, -15  # what zlib is told to expect; the first means that it finds out by itself
_HEAD = 64  # bytes, enough to tell text from compressed data
_TOLD = 2  # bytes, enough to tell the kind of compression
_MOST_AT_ONCE = 1 << 20
_MOST = 1 << 28  # bytes; a body that grows beyond this is no turn of a model


class Decoder:
    """Undoes the content encoding of a body that comes in pieces; `findings` say what went wrong.

    A body that cannot be decoded, or need not be although a header says so, is passed on as it is. `head` is how the body
    begins, where that is known beforehand; else the first two bytes are waited for.
    """

    def __init__(self, encoding: str | None, head: bytes | None = None) -> None:
        self.findings: list[Finding] = []
        self._encoding = (encoding or "").strip().lower()
        self._inflate: zlib._Decompress | None = None
        self._format = 0
        self._size = 0
        self._over = False
        self._held = b""
        self._decided = head is not None
        if head is not None:
            self._decide(head)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The next piece, decoded; in parts if it grows beyond a megabyte."""
        if not self._decided:
            data = self._held = self._held + data
            if len(data) < _TOLD:
                return
            self._decided, self._held = True, b""
            self._decide(data[:_HEAD])
        if self._inflate is not None:
            yield from self._inflated(data)
        elif data:
            yield data

    def close(self) -> Iterator[bytes]:
        """The body is over: what was held back."""
        if self._held:
            yield self._held
            self._held = b""
        if self._inflate is not None and not self._over and not self._inflate.eof:
            self._note("the compressed body ends too early")

    def _decide(self, head: bytes) -> None:
        if self._encoding in _IDENTITY and head[:2] == GZIP:
            self._note("the body is compressed with gzip and no header says so; it was decompressed")
            self._format = _GZIP_OR_ZLIB
        elif self._encoding in _INFLATED:  # a recorder that decoded the body may have kept the header: no fault of the stream
            self._format = _format(head, self._encoding) or 0
        elif self._encoding not in _IDENTITY and not _is_text(head):
            self._note(f"the content encoding {self._encoding!r} cannot be decoded here; the bytes were taken as they are")
        if self._format:
            self._inflate = zlib.decompressobj(self._format)

    def _inflated(self, data: bytes) -> Iterator[bytes]:
        plain = b""
        inflate = self._inflate
        while inflate is not None and not self._over and (data or len(plain) == _MOST_AT_ONCE):
            try:
                plain = inflate.decompress(data, _MOST_AT_ONCE)
            except zlib.error as error:
                self._over = True
                self._note(f"the compressed body is damaged: {error}; nothing after this place was used")
                return
            if plain:
                yield plain
            self._size += len(plain)
            if self._size >= _MOST:
                self._over = True
                self._note(f"the compressed body grows beyond {_MOST >> 20} MiB; the rest was not used")
            data = inflate.unconsumed_tail
            if inflate.eof and inflate.unused_data:  # a body of several gzip members
                data = inflate.unused_data
                inflate = self._inflate = zlib.decompressobj(self._format)

    def _note(self, message: str) -> None:
        self.findings.append(Finding(kind="http/content-encoding", message=message, where=Where()))


class DecodedBody:
    """Iterates over the chunks of an exchange's body, decoded, at their arrival times; then `findings` say what went wrong."""

    def __init__(self, exchange: Exchange) -> None:
        self._chunks = [chunk for chunk in exchange.chunks if chunk.data]
        head = b"".join(chunk.data[:_HEAD] for chunk in self._chunks[:_HEAD])[:_HEAD]
        self._decoder = Decoder(exchange.headers.get("content-encoding"), head)
        self.findings = self._decoder.findings

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self._chunks:
            for plain in self._decoder.feed(chunk.data):
                yield Chunk(at=chunk.at, data=plain)
        yield from (Chunk(data=plain) for plain in self._decoder.close())


def is_encoded(encoding: str, head: bytes) -> bool:
    """Whether a body that begins so is in the encoding that its header names, as far as that can be told."""
    name = encoding.strip().lower()
    if name in _IDENTITY:
        return False
    return _format(head, name) is not None if name in _INFLATED else not _is_text(head)


def _format(head: bytes, encoding: str) -> int | None:
    """What zlib is to expect of a body that begins so; None if it is not compressed at all. `deflate` is zlib's format by the
    standard, and bare deflate data by the habit of some servers."""
    if head[:2] == GZIP:
        return _GZIP_OR_ZLIB
    if encoding != "deflate" or len(head) < 2:
        return None
    if head[0] & 15 == zlib.DEFLATED and int.from_bytes(head[:2], "big") % 31 == 0:
        return _GZIP_OR_ZLIB
    return None if _is_text(head) else _RAW


def _is_text(head: bytes) -> bool:
    try:
        getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut in two
    except UnicodeDecodeError:
        return False
    return all(byte >= 32 or byte in b"\t\r\n" for byte in head)
