"""HAR: what browsers, Playwright and mitmproxy write down of a session (HTTP Archive 1.2).

A HAR holds a body as text, after transfer coding and content decoding, with no trace of its pieces. How the text was made of
the bytes is not said, but `content.size` tells: Playwright writes binary media in base64 and the rest as UTF-8; mitmproxy
writes invalid UTF-8 as lone surrogates and media without a charset as Latin-1; DevTools puts U+FFFD for what it cannot decode.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.cassette.decoding import is_encoded
from harness.cassette.metadata import cut, whole
from harness.cassette.model import Ending, Exchange, Headers, Request, Wire
from harness.importing.found import ENCODING, ENDING, NO_ANSWER, NO_BODY, PIECES, TIMES, Found, Told
from harness.importing.http_text import split
from harness.importing.json_items import Damaged, Items
from harness.importing.source import MOST, Source

_TIMEOUTS = ("timed_out", "timeout")
_ENDINGS: dict[str, Ending] = {"eof": "eof", "reset": "reset", "timeout": "timeout"}
_WIRES: dict[str, Wire] = {"original": "original", "reconstructed": "reconstructed"}
_HEAD = 64  # bytes, enough to tell what a body is encoded in
_PSEUDO = ":"  # in front of the names of HTTP/2's own fields


def read(source: Source, told: Told) -> Iterator[Found]:
    """The exchanges in order; entries without an answer or without their body are told as such. Raises `InputError`."""
    items = Items(source.pieces(), ("log", "entries"), MOST)
    number = 0
    try:
        for number, item in enumerate(items):
            entry = _decoded(source, item, number)
            yield _Entry(source, number, entry).found(_program(items.beside))
    except Damaged as error:
        raise source.error(f"is no whole HAR: {error}", at=f"log.entries[{number}]") from None
    if not items.found:
        raise source.error("is no HAR: it has no log.entries")


def _decoded(source: Source, item: bytes, number: int) -> dict[str, Any]:
    try:
        entry = json.loads(item)
    except (ValueError, RecursionError) as error:
        raise source.error(f"is not JSON: {error}", at=f"log.entries[{number}]") from None
    if not isinstance(entry, dict):
        raise source.error("expected an object", at=f"log.entries[{number}]")
    return entry


def _program(beside: dict[str, Any]) -> str | None:
    """Who wrote the file, as far as it has been read."""
    creator = beside.get("creator")
    if not isinstance(creator, dict) or not isinstance(creator.get("name"), str):
        return None
    return f"{creator['name']} {creator.get('version') or ''}".strip()


class _Entry:
    """Reads one entry and knows where it stands."""

    def __init__(self, source: Source, number: int, entry: dict[str, Any]) -> None:
        self._source = source
        self._at = f"log.entries[{number}]"
        self._entry = entry
        self._lost = [PIECES, TIMES]
        self._unusable: str | None = None

    def found(self, by: str | None) -> Found:
        request = self._object(self._entry, "request")
        response = {} if self._entry.get("response") is None else self._object(self._entry, "response")
        status = response.get("status")
        exchange = Exchange(
            request=self._request(request),
            status=status if type(status) is int and status > 0 else 0,
            headers=Headers(list(self._headers(response))),
            ending=_ending(response),
        )
        if exchange.status:
            exchange = self._in_pieces(self._with_body(exchange, response))
        else:
            self._unusable = NO_ANSWER
        started = self._entry.get("startedDateTime")
        on = started[:10] if isinstance(started, str) else None
        return Found(exchange=exchange, lost=tuple(self._lost), unusable=self._unusable, on=on, by=by)

    def _request(self, request: dict[str, Any]) -> Request:
        method, url = request.get("method"), request.get("url")
        if not isinstance(method, str) or not isinstance(url, str):
            raise self._source.error("the request has no method or no URL", at=f"{self._at}.request")
        scheme, host, target = split(url)
        posted = request.get("postData")
        text = posted.get("text") if isinstance(posted, dict) else None
        body = None
        if isinstance(text, str):
            told = posted.get("encoding") if isinstance(posted, dict) else None
            body, _ = self._bytes(text, told, request.get("bodySize"))
        return Request(
            method=method,
            scheme=scheme or "https",
            host=host,
            target=target,
            headers=Headers(list(self._headers(request))),
            body=body if body is not None or method not in ("GET", "HEAD") else b"",
        )

    def _with_body(self, exchange: Exchange, response: dict[str, Any]) -> Exchange:
        content = response.get("content")
        text = content.get("text") if isinstance(content, dict) else None
        if not isinstance(content, dict) or not isinstance(text, str):
            if response.get("bodySize") != 0 and exchange.status not in (204, 304):
                self._unusable = NO_BODY
            return exchange
        body, exact = self._bytes(text, content.get("encoding"), content.get("size"))
        if exchange.ending == "eof" and exchange.headers.get("content-length") != str(len(body)):
            self._lost.append(ENDING)
        encoding = exchange.headers.get("content-encoding", "identity").strip().lower()
        wire: Wire = "original" if exact else "reconstructed"
        if encoding not in ("", "identity") and body and not (exact and is_encoded(encoding, body[:_HEAD])):
            self._lost.append(ENCODING)
            wire = "reconstructed"
            kept = [(name, value) for name, value in exchange.headers.fields if name.lower() != "content-encoding"]
            exchange = replace(exchange, headers=Headers(kept))
        elif not exact:
            self._lost.append("bytes that are no text: characters stand for them")
        return replace(exchange, chunks=whole(body), wire=wire)

    def _in_pieces(self, exchange: Exchange) -> Exchange:
        """The exchange with what our own export says of it."""
        ours = self._entry.get("_streamproof")
        if not isinstance(ours, dict):
            return exchange
        try:
            marks = [(float(at), int(end)) for at, end in ours["chunks"]]
            chunks = cut(exchange.body, marks) if marks else ()
            ending, wire = _ENDINGS[ours["ending"]], _WIRES[ours["wire"]]
        except (KeyError, TypeError, ValueError) as error:
            raise self._source.error(f"does not fit the body: {error}", at=f"{self._at}._streamproof") from None
        self._lost.clear()
        return replace(exchange, chunks=chunks, ending=ending, wire=wire)

    def _bytes(self, text: str, encoding: Any, size: Any) -> tuple[bytes, bool]:
        """The bytes of a text, and whether they are surely those that were sent."""
        if encoding == "base64":
            try:
                return base64.b64decode(text, validate=True), True
            except (binascii.Error, ValueError) as error:
                raise self._source.error(f"a body is not base64: {error}", at=self._at) from None
        body = _encoded(text, "surrogateescape") or text.encode("utf-8", "surrogatepass")
        if type(size) is not int or size < 0 or size == len(body):
            return body, "\ufffd" not in text
        latin = _encoded(text, "strict", "latin-1")
        return (latin, True) if latin is not None and len(latin) == size else (body, False)

    def _headers(self, holder: dict[str, Any]) -> Iterator[tuple[str, str]]:
        listed = holder.get("headers")
        for field in listed if isinstance(listed, list) else ():
            name, value = (field.get("name"), field.get("value")) if isinstance(field, dict) else (None, None)
            if isinstance(name, str) and isinstance(value, str) and not name.startswith(_PSEUDO):
                for line in value.split("\n"):  # browsers join fields of one name so
                    yield name, line

    def _object(self, holder: dict[str, Any], name: str) -> dict[str, Any]:
        value = holder.get(name)
        if not isinstance(value, dict):
            raise self._source.error(f"the {name} is missing, or no object", at=self._at)
        return value


def _encoded(text: str, errors: str, charset: str = "utf-8") -> bytes | None:
    try:
        return text.encode(charset, errors)
    except UnicodeEncodeError:
        return None


def _ending(response: dict[str, Any]) -> Ending:
    """What Playwright (`_failureText`) and Chromium (`_error`) say when a body did not come to its end."""
    failure = response.get("_failureText") or response.get("_error")
    if not isinstance(failure, str):
        return "eof"
    return "timeout" if any(word in failure.lower() for word in _TIMEOUTS) else "reset"
