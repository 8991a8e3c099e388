"""Raw files: an exchange folder for each side, the stream in NAME-stream and its twin in NAME-plain.

`body.*` has the bytes as they were sent, `response.head` the head as text, `timing.json` when pieces came and how it ended.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from itertools import accumulate
from typing import Any

from harness.cassette.model import Cassette, Exchange, Headers
from harness.errors import InputError
from harness.exporting.formats import Files, scenario_of

_ENDINGS = {"event-stream": "sse", "ndjson": "ndjson", "amazon.eventstream": "bin", "json": "json"}
"""Of names of files, by words in media types."""
_ENDS = {"eof": "final chunk", "reset": "connection reset", "timeout": "timeout"}


def render(cassette: Cassette) -> Files:
    files: Files = {}
    for kind, side in (("stream", cassette.stream), ("plain", cassette.reference)):
        if side is not None:
            files |= {f"{scenario_of(cassette)}-{kind}/{name}": data for name, data in _files(side, cassette.id).items()}
    return files


def _files(side: Exchange, name: str) -> Files:
    body = f"body.{_suffix(side)}"
    about = {
        "status": side.status,
        "headers": _headers(side.headers),
        "body_file": body,
        **({"wire": side.wire} if side.wire != "original" else {}),
    }
    ends = accumulate(len(chunk.data) for chunk in side.chunks)
    timing = {"body": [[chunk.at, end] for chunk, end in zip(side.chunks, ends, strict=True)], "end": _ENDS[side.ending]}
    return {
        "request.json": _json(_request(side, name)),
        "response.json": _json(about),
        "response.head": _head(side),
        body: side.body,
        **({"timing.json": _json(timing)} if side.chunks or side.ending != "eof" else {}),
    }


def _request(side: Exchange, name: str) -> dict[str, Any]:
    request = side.request
    told: dict[str, Any] = {
        "method": request.method,
        "scheme": request.scheme,
        "host": request.host,
        "path": request.target if request.target.startswith("/") else f"/{request.target}",
        "headers": _headers(request.headers),
    }
    if request.body is None:
        return told
    try:
        return told | {"text": request.body.decode()}
    except UnicodeDecodeError:
        message = "the body of the request is no UTF-8, and request.json can hold no other"
        raise InputError(message, where=name, hint="--format vcrpy and --format har can") from None


def _head(side: Exchange) -> bytes:
    try:
        phrase = HTTPStatus(side.status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {side.status} {phrase}", *(f"{name}: {value}" for name, value in side.headers.fields), "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape")


def _suffix(side: Exchange) -> str:
    media = side.content_type or ""
    return next((suffix for word, suffix in _ENDINGS.items() if media.endswith(word)), "bin")


def _headers(headers: Headers) -> dict[str, Any]:
    by_name: dict[str, list[str]] = {}
    for name, value in headers.fields:
        by_name.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in by_name.items()}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass") + b"\n"
