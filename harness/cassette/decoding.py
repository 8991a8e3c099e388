"""Bodies as they were before a content encoding: recordings keep what was on the wire, dialects read what was meant."""

from __future__ import annotations

import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator

from harness.cassette.model import Chunk, Exchange
from harness.errors import Where
from harness.findings import Finding

GZIP = b"\x1f\x8b"
_IDENTITY = ("", "identity")
_INFLATED = ("gzip", "x-gzip", "deflate")
_GZIP_OR_ZLIB, _RAW = 47, -15  # what zlib is told to expect; the first means that it finds out by itself
_HEAD = 64  # bytes, enough to tell text from compressed data
_MOST_AT_ONCE = 1 << 20
_MOST = 1 << 28  # bytes; a body that grows beyond this is no turn of a model


class DecodedBody:
    """Iterates over the chunks of an exchange's body, decoded, at their arrival times; then `findings` say what went wrong.

    A body that cannot be decoded, or need not be although a header says so, is passed on as it is.
    """

    def __init__(self, exchange: Exchange) -> None:
        self.findings: list[Finding] = []
        self._exchange = exchange
        self._encoding = exchange.headers.get("content-encoding", "").strip().lower()

    def __iter__(self) -> Iterator[Chunk]:
        chunks = [chunk for chunk in self._exchange.chunks if chunk.data]
        head = b"".join(chunk.data[:_HEAD] for chunk in chunks[:_HEAD])[:_HEAD]
        if self._encoding in _IDENTITY and head[:2] == GZIP:
            self._note("the body is compressed with gzip and no header says so; it was decompressed")
            return self._inflated(chunks, _GZIP_OR_ZLIB)
        if self._encoding in _INFLATED and (expected := _format(head, self._encoding)):
            return self._inflated(chunks, expected)
        if self._encoding not in (*_IDENTITY, *_INFLATED) and not _is_text(head):
            self._note(f"the content encoding {self._encoding!r} cannot be decoded here; the bytes were taken as they are")
        return iter(chunks)  # a recorder that decoded the body may have kept the header: HTTP-006, no fault of the stream

    def _inflated(self, chunks: Iterable[Chunk], expected: int) -> Iterator[Chunk]:
        inflate = zlib.decompressobj(expected)
        size = 0
        for chunk in chunks:
            data, plain = chunk.data, b""
            while data or len(plain) == _MOST_AT_ONCE:
                try:
                    plain = inflate.decompress(data, _MOST_AT_ONCE)
                except zlib.error as error:
                    self._note(f"the compressed body is damaged: {error}; nothing after this place was used")
                    return
                if plain:
                    yield Chunk(at=chunk.at, data=plain)
                size += len(plain)
                if size >= _MOST:
                    self._note(f"the compressed body grows beyond {_MOST >> 20} MiB; the rest was not used")
                    return
                data = inflate.unconsumed_tail
                if inflate.eof and inflate.unused_data:  # a body of several gzip members
                    data, inflate = inflate.unused_data, zlib.decompressobj(expected)
        if not inflate.eof:
            self._note("the compressed body ends too early")

    def _note(self, message: str) -> None:
        self.findings.append(Finding(kind="http/content-encoding", message=message, where=Where()))


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
