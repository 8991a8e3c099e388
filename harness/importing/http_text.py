"""HTTP/1 as text: heads, and bodies in chunked transfer coding, as programs write them down."""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.cassette.model import Chunk, Headers, Request

STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)? (\d{3})(?: [^\r\n]*)?\r?\n")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_REQUEST_LINE = re.compile(r"([A-Z][A-Z-]*) (\S+) HTTP/\d(?:\.\d)?$")
_URL = re.compile(r"(?:(https?)://([^/?#]+))?(/?[^#]*)")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r\n")
_LENGTH = re.compile(r"[0-9]{1,15}")
_MOST_LINE = 4096


def response_head(data: bytes, start: int = 0) -> tuple[int, Headers, int] | None:
    """Status, header fields, and where the body begins, of a head at `start`; None if there is none, or not all of it."""
    line = STATUS_LINE.match(data, start)
    if line is None:
        return None
    end = _HEAD_END.search(data, line.end() - 2)
    if end is None:
        return None
    return int(line.group(1)), fields(data[line.end() : end.start()]), end.end()


def fields(data: bytes) -> Headers:
    lines = (line.partition(":") for line in data.decode("latin-1").splitlines())
    return Headers([(name.strip(), value.strip()) for name, colon, value in lines if colon and name.strip()])


def request(head: bytes, body: bytes | None, scheme: str = "https") -> Request | None:
    """The request of a head; None if it is none."""
    first, _, rest = head.decode("latin-1").replace("\r\n", "\n").partition("\n")
    line = _REQUEST_LINE.match(first)
    if line is None:
        return None
    headers = fields(rest.encode("latin-1"))
    told, host, target = split(line.group(2))
    return Request(
        method=line.group(1),
        scheme=told or scheme,
        host=host or headers.get("host", headers.get(":authority", "")),
        target=target,
        headers=headers,
        body=body,
    )


def split(url: str) -> tuple[str, str, str]:
    """Scheme, host and target of a URL; the first two are empty where it has none."""
    parts = _URL.match(url)
    scheme, host, target = parts.groups() if parts else (None, None, url)
    return scheme or "", host or "", target if target.startswith("/") else f"/{target}"


def is_chunked(headers: Headers) -> bool:
    return "chunked" in headers.get("transfer-encoding", "").lower()


def content_length(headers: Headers) -> int | None:
    """How long the head says the body is; None if it does not say, or no length that a body can have."""
    said = headers.get("content-length", "").strip()
    return int(said) if _LENGTH.fullmatch(said) else None


class Unchunker:
    """Takes a chunked transfer coding off a body that comes in pieces. `over` once the last chunk has come; `broken` once it
    was none: then nothing more is taken."""

    def __init__(self) -> None:
        self.over = False
        self.broken = False
        self._buffer = b""
        self._left = 0  # bytes of the chunk that are still to come
        self._after = False  # its line end is still to come

    @property
    def left(self) -> int:
        """How many bytes were not taken."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """What the piece adds to the body, a part for each chunk."""
        self._buffer += data
        out: list[bytes] = []
        while self._buffer and not self.over and not self.broken:
            if self._left:
                part = self._buffer[: self._left]
                out.append(part)
                self._advance(len(part))
                self._left -= len(part)
                self._after = not self._left
            elif not self._size():
                break
        return out

    def _size(self) -> bool:
        """Read the line in front of a chunk; False if it has not come yet."""
        if self._after:
            if len(self._buffer) < 2:
                return False
            self.broken = not self._buffer.startswith(b"\r\n")
            self._advance(2)
            self._after = False
            return not self.broken
        size = _SIZE.match(self._buffer)
        if size is None:
            self.broken = b"\n" in self._buffer or len(self._buffer) > _MOST_LINE
            return False
        self._left = int(size.group(1), 16)
        self.over = not self._left
        self._advance(size.end())
        return True

    def _advance(self, length: int) -> None:
        self._buffer = self._buffer[length:]


def unchunked(chunks: Iterable[Chunk]) -> tuple[tuple[Chunk, ...], bool] | None:
    """The chunks without their transfer coding, and whether the last one came; None if they have none."""
    coding = Unchunker()
    out = tuple(Chunk(data=data, at=chunk.at) for chunk in chunks if (data := b"".join(coding.feed(chunk.data))))
    return None if coding.broken else (out, coding.over)
