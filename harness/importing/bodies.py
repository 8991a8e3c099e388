"""Bodies of which nothing else is known: `.sse`, `.ndjson`, `.json`, `.bin`, `.hex`, and what `curl -o` writes.

The API is detected. A head that was written apart (`curl -D`) and the body of the request may be told beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness import dialects, payload
from harness.cassette.decoding import DecodedBody
from harness.cassette.metadata import whole
from harness.cassette.model import Exchange, Request
from harness.detection import detect
from harness.dialects import Dialect
from harness.errors import InputError
from harness.importing.found import ENDING, HEAD, PIECES, REQUEST, TIMES, Found, Told
from harness.importing.http_text import STATUS_LINE, response_head, split
from harness.importing.source import Source
from harness.request import TurnRequest

FRAMINGS = {".sse": "sse", ".ndjson": "ndjson", ".hex": "event-stream"}
"""What the name of a file says of the framing of its body."""

_MODEL = "unknown"


def read(source: Source, told: Told) -> Iterator[Found]:
    """The one exchange of a body. Raises `InputError`, also if it is of no known API."""
    data = source.whole(unpacked=False)
    if source.path.suffix.lower() == ".hex":
        data = unhexed(data, source.path)
    exchange = Exchange(chunks=whole(data))
    lost = [REQUEST, TIMES, PIECES, ENDING]
    if told.head is not None:
        exchange = _headed(exchange, told.head)
    else:
        lost.append(HEAD)
    yield asking(Found(exchange=exchange, lost=tuple(lost)), source, told)


def asking(found: Found, source: Source, told: Told) -> Found:
    """The same with a request: the one that is told, else one that asks for what came. Raises `InputError`."""
    api = dialects.dialect(told.dialect) if told.dialect is not None else detected(found.exchange, source)
    plain = is_document(found.exchange)
    parts = api.build_request(TurnRequest(model=told.model or _MODEL), stream=not plain)
    scheme, host, target = split(told.url) if told.url else ("", "", parts.path)
    body: bytes | None = None
    if told.request is not None:
        body = _contents(told.request)
    elif api.streams(target, None) == plain:  # it is asked for in the body
        body = b'{"stream":false}' if plain else b'{"stream":true}'
    request = Request(scheme=scheme or "https", host=host, target=target, body=body)
    lost = tuple(item for item in found.lost if item != REQUEST or told.request is None)
    return replace(found, exchange=replace(found.exchange, request=request), lost=lost, dialect=api.name)


def detected(exchange: Exchange, source: Source) -> Dialect:
    """The API of a body. Raises `InputError`."""
    plain = b"".join(chunk.data for chunk in DecodedBody(exchange))
    api = detect(plain, FRAMINGS.get(source.path.suffix.lower()))
    if api is None:
        hint = f"say which API it is with --dialect ({', '.join(dialects.names())})"
        begins = f"it begins {payload.quote(plain, 60)}" if plain else "it is empty"
        raise source.error(f"nothing in it looks like a stream of a known API: {begins}", hint=hint)
    return api


def is_document(exchange: Exchange) -> bool:
    """Whether the body is a single JSON object: an answer that was not streamed."""
    plain = b"".join(chunk.data for chunk in DecodedBody(exchange))
    if plain.lstrip()[:1] != b"{":
        return False
    try:
        return isinstance(json.loads(plain), dict)
    except (ValueError, RecursionError):
        return False


def unhexed(data: bytes, path: Path) -> bytes:
    """The bytes of hexadecimal text, white space ignored. Raises `InputError`."""
    try:
        return bytes.fromhex("".join(data.decode("ascii").split()))
    except (ValueError, UnicodeDecodeError) as error:
        hint = "a .hex file holds pairs of hexadecimal digits; name one that holds the bytes themselves .bin"
        raise InputError(f"is no hexadecimal text: {error}", where=str(path), hint=hint) from None


def _headed(exchange: Exchange, path: Path) -> Exchange:
    """The exchange with the last head of a file, as `curl -D` writes them."""
    data, start = _contents(path), 0
    while (head := response_head(data, start)) is not None and STATUS_LINE.match(data, head[2]):
        start = head[2]
    if head is None:
        raise InputError("holds no head of a response", where=str(path), hint="`curl -D FILE` writes one")
    return replace(exchange, status=head[0], headers=head[1])


def _contents(path: Path) -> bytes:
    return Source(path).whole(unpacked=False)
