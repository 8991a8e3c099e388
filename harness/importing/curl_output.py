"""`curl -i`: the head of a response and its body, as they came; with `--raw` the body has its transfer coding.

Heads of redirects, of proxies and of `100 Continue` stand in front of the last one, which is the answer's.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.cassette.metadata import whole
from harness.cassette.model import Chunk, Ending, Exchange, Headers
from harness.errors import InputError
from harness.importing.bodies import asking
from harness.importing.found import ENDING, PIECES, REQUEST, TIMES, Found, Told
from harness.importing.http_text import STATUS_LINE, Unchunker, content_length, is_chunked, response_head
from harness.importing.source import Source


def read(source: Source, told: Told) -> Iterator[Found]:
    """The responses one after the other, as several URLs in one call of curl give them. Raises `InputError`."""
    data, start, others = source.whole(), 0, False
    while start < len(data):
        head = response_head(data, start)
        if head is None:
            raise source.error("ends inside the head of a response", at=f"byte {start}")
        status, headers, end = head
        if STATUS_LINE.match(data, end):
            start = end
            continue
        if end == len(data) and headers.get("content-length") != "0" and status not in (204, 304):
            hint = "`curl -D` writes it apart: import the file with the body, and name this one with --head"
            raise source.error("holds the head of a response and no body", hint=hint)
        found, start = _found(data, end, status, headers)
        yield _asking(found, source, told, alone=not others and start >= len(data))
        others = True


def _asking(found: Found, source: Source, told: Told, *, alone: bool) -> Found:
    """The response with a request. What is of no known API is passed over where it is not `alone` in the file."""
    try:
        return asking(found, source, told)
    except InputError:
        if alone:
            raise
        return found


def _found(data: bytes, start: int, status: int, headers: Headers) -> tuple[Found, int]:
    """What was found, and where it ends."""
    chunks, ending, end = _body(data, start, headers)
    lost = (REQUEST, TIMES) if len(chunks) > 1 else (REQUEST, TIMES, PIECES)
    exchange = Exchange(status=status, headers=headers, chunks=chunks, ending=ending or "eof")
    return Found(exchange=exchange, lost=lost if ending else (*lost, ENDING), by="curl"), end


def _body(data: bytes, start: int, headers: Headers) -> tuple[tuple[Chunk, ...], Ending | None, int]:
    """The chunks, the ending where it is known, and where the body ends."""
    if is_chunked(headers):
        coding = Unchunker()
        parts = coding.feed(data[start:])
        if not coding.broken and parts:
            trailer = len(b"\r\n") if coding.over else 0
            end = len(data) - coding.left + trailer
            return tuple(Chunk(data=part) for part in parts), "eof" if coding.over else "reset", end
    length = content_length(headers)
    if length is not None:
        end = start + length
        if STATUS_LINE.match(data, end) or end >= len(data):
            return whole(data[start:end]), "eof" if end <= len(data) else "reset", end
    return whole(data[start:]), None, len(data)
