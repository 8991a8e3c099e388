"""mitmproxy's own files (`mitmdump -w`): one flow after the other, each a value in tagged netstrings.

A flow has both bodies as they came, before content decoding, and when the response began and ended; nothing of its pieces. The
format is read here, so that mitmproxy need not be installed; the fields that are used are the same since mitmproxy 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from harness.cassette.metadata import whole
from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.importing.found import NO_ANSWER, NO_BODY, PIECES, TIMES, Found, Told
from harness.importing.source import MOST, Source

_MOST_DIGITS = 12
_PORTS = {"http": 80, "https": 443}


def read(source: Source, told: Told) -> Iterator[Found]:
    """The HTTP flows in order. Raises `InputError`."""
    number = 0
    try:
        for flow in values(source.pieces()):
            if isinstance(flow, dict) and flow.get("type", "http") == "http":
                yield _found(flow)
            number += 1
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        said = error if isinstance(error, ValueError) else f"expected other fields: {error!r}"
        hint = "mitmdump -nr FILE -w NEW writes it anew, in the format of its version"
        raise source.error(f"cannot be read as a flow: {said}", at=f"flow {number}", hint=hint) from None


def _found(flow: dict[str, Any]) -> Found:
    asked, answer = flow["request"], flow.get("response")
    began = asked.get("timestamp_start")
    on = datetime.fromtimestamp(began, UTC).date().isoformat() if isinstance(began, (int, float)) else None
    if not isinstance(answer, dict):
        return Found(exchange=Exchange(request=_request(asked), status=0, ending="reset"), unusable=NO_ANSWER)
    content = answer.get("content")
    exchange = Exchange(
        request=_request(asked),
        status=int(answer["status_code"]),
        headers=_headers(answer),
        chunks=_chunks(content or b"", began, answer.get("timestamp_end")),
        ending="reset" if flow.get("error") else "eof",
    )
    unusable = NO_BODY if content is None else None
    return Found(exchange=exchange, lost=(PIECES, TIMES), unusable=unusable, on=on, by="mitmproxy")


def _chunks(body: bytes, began: Any, ended: Any) -> tuple[Chunk, ...]:
    """The body, which has come when the response ended."""
    if not body or not isinstance(began, (int, float)) or not isinstance(ended, (int, float)):
        return whole(body)
    return (Chunk(data=body, at=max(0.0, round(ended - began, 6))),)


def _request(asked: dict[str, Any]) -> Request:
    headers = _headers(asked)
    scheme = _text(asked.get("scheme") or b"https")
    host, port = _text(asked.get("host") or b""), asked.get("port")
    address = host if port in (None, _PORTS.get(scheme)) else f"{host}:{port}"
    named = headers.get("host") or _text(asked.get("authority") or b"")
    return Request(
        method=_text(asked["method"]),
        scheme=scheme,
        host=named or address,
        target=_text(asked["path"]),
        headers=headers,
        body=asked.get("content"),
    )


def _headers(holder: dict[str, Any]) -> Headers:
    return Headers([(_text(name), _text(value)) for name, value in holder["headers"]])


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


def values(pieces: Iterable[bytes]) -> Iterator[Any]:
    """The values of tagged netstrings (LENGTH:DATA TYPE), one in memory at a time. Raises `ValueError`."""
    rest, source = b"", (piece for piece in pieces if piece)
    while True:
        while b":" not in rest[: _MOST_DIGITS + 1]:
            if len(rest) > _MOST_DIGITS:
                raise ValueError(f"expected a length, got {rest[:_MOST_DIGITS]!r}")
            if not (piece := next(source, b"")):
                if rest:
                    raise ValueError("the file ends inside a length")
                return
            rest += piece
        digits, _, _ = rest.partition(b":")
        if not digits.isdigit():
            raise ValueError(f"expected a length, got {digits!r}")
        end = len(digits) + 1 + int(digits) + 1
        if end > MOST:
            raise ValueError(f"a flow is longer than {MOST >> 20} MiB")
        gathered, size = [rest], len(rest)
        while size < end and (piece := next(source, b"")):
            gathered.append(piece)
            size += len(piece)
        rest = b"".join(gathered)
        if size < end:
            raise ValueError(f"the file ends inside a flow, {end - size} bytes early")
        value, _ = _value(rest, 0, end)
        yield value
        rest = rest[end:]


def _value(data: bytes, start: int, limit: int) -> tuple[Any, int]:
    """The value that begins at `start`, and where it ends, which is not beyond `limit`."""
    colon = data.find(b":", start, min(limit, start + _MOST_DIGITS + 1))
    if colon < 0 or not data[start:colon].isdigit():
        raise ValueError(f"expected a length, got {data[start : start + 12]!r}")
    begin = colon + 1
    end = begin + int(data[start:colon])
    if end >= limit:
        raise ValueError("a value is longer than what holds it")
    tag = data[end : end + 1]
    if tag == b"}":
        items = _items(data, begin, end)
        return {_text(name): value for name, value in zip(items[::2], items[1::2], strict=True)}, end + 1
    if tag == b"]":
        return _items(data, begin, end), end + 1
    if tag not in _SCALARS:
        raise ValueError(f"the type {tag!r} is none")
    return _SCALARS[tag](data[begin:end]), end + 1


def _items(data: bytes, start: int, end: int) -> list[Any]:
    out = []
    while start < end:
        value, start = _value(data, start, end)
        out.append(value)
    return out


_SCALARS: dict[bytes, Callable[[bytes], Any]] = {
    b",": bytes,
    b";": lambda data: data.decode("utf-8", "surrogateescape"),
    b"#": int,
    b"^": float,
    b"!": lambda data: data == b"true",
    b"~": lambda _: None,
}
