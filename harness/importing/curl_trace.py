"""`curl --trace` and `--trace-ascii`, with `--trace-time` or without: every piece as curl received it, and when.

The bytes are those on the connection, so that a chunked body has its transfer coding. `--trace` has each byte in hexadecimal
digits. `--trace-ascii` has a dot for each byte that is no printable ASCII, and nothing for CR LF, at which it begins a new row;
what is missing is found out by the offsets. Line ends of a stream can be told from other dots, characters beyond ASCII cannot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime

from harness.cassette.model import Chunk, Ending, Exchange, Request
from harness.importing.found import ENDING, NO_ANSWER, TIMES, Found, Told
from harness.importing.http_text import Unchunker, content_length, is_chunked, request, response_head, unchunked
from harness.importing.source import Source

MARK = re.compile(
    rb"(?:(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d\.\d+) )?(?:\[[\d-]+\] )?"
    rb"(?:== Info: (?P<info>.*)|(?:=>|<=) (?P<kind>Send|Recv) (?P<what>header|data|SSL data), (?P<size>\d+) bytes .*)$"
)
_ROW = re.compile(rb"[0-9a-f]{4,}: ?")
_HEX_WIDTH = 16
_DAY = 86_400.0
_RESET = re.compile(rb"reset|transfer closed|outstanding|was not closed cleanly|unexpected eof|broken pipe", re.IGNORECASE)
_TIMEOUT = re.compile(rb"timed out|timeout", re.IGNORECASE)
_CLOSED = re.compile(rb"left intact|clos(?:ing|ed) connection", re.IGNORECASE)
_TLS = re.compile(rb"SSL connection using|TLS handshake|ALPN", re.IGNORECASE)
_MARGIN = "characters that are no printable ASCII: there are dots for them"
_DOTS_IN = {
    "text/event-stream": (
        (re.compile(rb"\.\.(?=(?:data|event|id|retry|):|\Z)"), b"\n\n"),
        (re.compile(rb"\.(?=(?:data|event|id|retry):)"), b"\n"),
        (re.compile(rb"(?<=[}\]])\.\Z"), b"\n"),
    ),
    "application/x-ndjson": ((re.compile(rb"(?<=\})\.(?=\{|\Z)"), b"\n"),),
}
"""Dots that are line ends, by the media type."""


@dataclass(slots=True)
class _Block:
    """A piece that passed: its bytes, and whether the file has all of them."""

    kind: bytes
    what: bytes
    size: int
    at: float | None
    line: int
    rows: list[bytes] = field(default_factory=list)


def read(source: Source, told: Told) -> Iterator[Found]:
    """The exchanges in order. Raises `InputError`; a trace that ends inside a body gives what is there, and says so."""
    reader = _Reader(source)
    for entry in _entries(source):
        if isinstance(entry, bytes):
            reader.info(entry)
        else:
            yield from reader.block(entry)
    yield from reader.close()


def _entries(source: Source) -> Iterator[_Block | bytes]:
    """Blocks with their rows, and what curl tells in between."""
    block: _Block | None = None
    day, last = 0.0, 0.0
    for number, line in enumerate(source.lines(), start=1):
        mark = MARK.match(line)
        if mark is None:
            if block is not None:
                block.rows.append(line)
            continue
        if block is not None:
            yield block
            block = None
        if mark["info"] is not None:
            yield mark["info"]
            continue
        at = None
        if mark["h"] is not None:
            at = int(mark["h"]) * 3600.0 + int(mark["m"]) * 60.0 + float(mark["s"]) + day
            if at < last - _DAY / 2:
                day, at = day + _DAY, at + _DAY
            last = at
        block = _Block(mark["kind"], mark["what"], int(mark["size"]), at, number)
    if block is not None:
        yield block


class _Reader:
    """Puts exchanges together of the blocks of a trace."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tls = False
        self._begin()

    def _begin(self, at: float | None = None) -> None:
        self._start = at
        self._asked = b""
        self._sent = b""
        self._head = b""
        self._chunks: list[Chunk] = []
        self._ending: Ending | None = None
        self._over = False
        self._ascii = False
        self._cut: int | None = None  # the line of a block that the file does not have to its end

    def info(self, text: bytes) -> None:
        self._tls = self._tls or bool(_TLS.search(text))
        if self._asked and self._ending is None:
            self._ending = "timeout" if _TIMEOUT.search(text) else "reset" if _RESET.search(text) else None
        self._over = self._over or bool(_CLOSED.search(text))

    def block(self, block: _Block) -> Iterator[Found]:
        if block.what == b"SSL data":
            return
        data, is_ascii = _bytes(block)
        if len(data) != block.size:
            self._cut = block.line
        sends = block.kind == b"Send"
        if sends and block.what == b"header" and (self._head or not self._asked):
            yield from self.close()
            self._begin(block.at)
        self._ascii = self._ascii or is_ascii
        if sends and block.what == b"header":
            self._asked += data
        elif sends:
            self._sent += data
        elif block.what == b"header":
            interim = response_head(self._head)
            self._head = data if interim is not None and interim[0] < 200 else self._head + data
        else:
            self._chunks.append(Chunk(data=data, at=self._seconds(block.at)))

    def close(self) -> Iterator[Found]:
        """The exchange that is complete now, or as complete as it gets."""
        asked = request(self._asked, self._sent, "https" if self._tls else "http") if self._asked else None
        if self._asked and asked is None:
            raise self._source.error("the head of a request is damaged", at=self._place())
        if asked is None or asked.method == "CONNECT":
            return
        head = response_head(self._head)
        if head is None:
            if self._head:
                raise self._source.error("ends inside the head of a response", at=self._place())
            yield Found(exchange=Exchange(request=asked, status=0, ending=self._ending or "reset"), unusable=NO_ANSWER)
            return
        exchange = Exchange(request=_decoded(asked), status=head[0], headers=head[1], chunks=tuple(self._chunks))
        yield self._found(*_with_body(exchange))

    def _found(self, exchange: Exchange, whole: bool | None) -> Found:
        """`whole` says whether the body came to the end that its head promised, None where that promised nothing."""
        lost = [TIMES] if self._start is None else []
        ending: Ending = self._ending or ("reset" if whole is False else "eof")
        exchange = replace(exchange, ending=ending)
        unusable = None
        if self._cut is not None:
            lost.append(f"the rest: the trace is cut in the middle of the piece in line {self._cut}")
        elif not self._over and self._ending is None and whole is None:
            lost.append(ENDING)
        if self._ascii:
            lost.append(_MARGIN)
            exchange, unusable = _undotted(exchange)
        date = exchange.headers.get("date")
        return Found(exchange=exchange, lost=tuple(lost), unusable=unusable, on=_day(date), by="curl")

    def _seconds(self, at: float | None) -> float:
        return round(at - self._start, 6) if at is not None and self._start is not None else 0.0

    def _place(self) -> str | None:
        return f"line {self._cut}" if self._cut is not None else None


def _bytes(block: _Block) -> tuple[bytes, bool]:
    """The bytes of a block as far as they are there, and whether they are those of `--trace-ascii`."""
    if not block.rows or not block.size:
        return b"", False
    digits = min(block.size, _HEX_WIDTH)
    start = _ROW.match(block.rows[0])
    if start and re.fullmatch(rb"(?:[0-9a-f]{2} ){%d} *" % digits, block.rows[0][start.end() : start.end() + 3 * _HEX_WIDTH]):
        return _hexadecimal(block), False
    return _ascii(block), True


def _hexadecimal(block: _Block) -> bytes:
    data = bytearray()
    for row in block.rows:
        start = _ROW.match(row)
        pairs = row[start.end() : start.end() + 3 * _HEX_WIDTH].split() if start else []
        if not start or int(row[: row.index(b":")], 16) != len(data):
            break
        wanted = min(block.size - len(data), _HEX_WIDTH)
        try:
            data += bytes.fromhex(b" ".join(pair for pair in pairs[:wanted] if len(pair) == 2).decode("ascii"))
        except ValueError:
            break
    return bytes(data)


def _ascii(block: _Block) -> bytes:
    """Rows begin at the offsets in front of them; the two bytes that are missing in between are CR LF."""
    starts = [int(row[: row.index(b":")], 16) if _ROW.match(row) else -1 for row in block.rows]
    data = bytearray()
    for number, (row, at) in enumerate(zip(block.rows, starts, strict=True)):
        if at != len(data):
            break
        data += row[row.index(b":") + 2 :]
        end = starts[number + 1] if number + 1 < len(starts) else block.size
        if end - len(data) == 2:
            data += b"\r\n"
    return bytes(data[: block.size])


def _with_body(exchange: Exchange) -> tuple[Exchange, bool | None]:
    """The exchange without its transfer coding, and whether its body is whole, where the head says how long it is."""
    if is_chunked(exchange.headers):
        plain = unchunked(exchange.chunks)
        return (replace(exchange, chunks=plain[0]), plain[1]) if plain is not None else (exchange, None)
    length = content_length(exchange.headers)
    return exchange, None if length is None else len(exchange.body) >= length


def _decoded(asked: Request) -> Request:
    """The request without its transfer coding."""
    if not is_chunked(asked.headers) or asked.body is None:
        return asked
    coding = Unchunker()
    body = b"".join(coding.feed(asked.body))
    return asked if coding.broken else replace(asked, body=body)


def _undotted(exchange: Exchange) -> tuple[Exchange, str | None]:
    """The exchange with line ends where dots stand for them; why not, where nothing can be made of it."""
    exchange = replace(exchange, wire="reconstructed")
    media = exchange.content_type or ""
    encoding = exchange.headers.get("content-encoding", "identity").lower()
    if encoding not in ("", "identity") or media == "application/vnd.amazon.eventstream":
        return exchange, "the body is no text, and --trace-ascii does not keep it; use --trace"
    body = exchange.body
    for pattern, ends in _DOTS_IN.get(media, ()):
        body = pattern.sub(ends, body)
    start, chunks = 0, []
    for chunk in exchange.chunks:  # a dot is as long as a line end
        chunks.append(Chunk(data=body[start : start + len(chunk.data)], at=chunk.at))
        start += len(chunk.data)
    return replace(exchange, chunks=tuple(chunks)), None


def _day(date: str | None) -> str | None:
    try:
        return parsedate_to_datetime(date).date().isoformat() if date else None
    except (ValueError, TypeError):
        return None
