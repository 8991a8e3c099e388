"""Bodies as they were before a content encoding: recordings keep what was on the wire, dialects read what was meant."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from harness.cassette.model import Chunk, Exchange
from harness.errors import Where
from harness.findings import Finding

GZIP = b"\x1f\x8b"
_IDENTITY = ("", "identity")
_INFLATED = ("gzip", "x-gzip", "deflate")
_ANY_HEADER = 47  # zlib finds out by itself whether it is gzip or zlib
_MOST_AT_ONCE = 1 << 20


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
        zipped = b"".join(chunk.data for chunk in chunks[:2])[:2] == GZIP
        if self._encoding in _IDENTITY and zipped:
            self._note("the body is compressed with gzip and no header says so; it was decompressed")
            yield from self._inflated(chunks)
        elif self._encoding in _INFLATED and (zipped or self._encoding == "deflate"):
            yield from self._inflated(chunks)
        elif self._encoding in _IDENTITY or self._encoding in _INFLATED:
            yield from chunks  # a recorder that decoded the body and kept the header: HTTP-006, no fault of the stream
        else:
            self._note(f"the content encoding {self._encoding!r} cannot be decoded here; the bytes were taken as they are")
            yield from chunks

    def _inflated(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        inflate = zlib.decompressobj(_ANY_HEADER)
        for chunk in chunks:
            data = chunk.data
            while data:
                try:
                    plain = inflate.decompress(data, _MOST_AT_ONCE)
                except zlib.error as error:
                    self._note(f"the compressed body is damaged: {error}; nothing after this place was used")
                    return
                yield Chunk(at=chunk.at, data=plain)
                data = inflate.unconsumed_tail
                if inflate.eof and inflate.unused_data:  # a body of several gzip members
                    data, inflate = inflate.unused_data, zlib.decompressobj(_ANY_HEADER)
        if not inflate.eof:
            self._note("the compressed body ends too early")

    def _note(self, message: str) -> None:
        self.findings.append(Finding(kind="http/content-encoding", message=message, where=Where()))
