"""HAR 1.2. Bodies stand there as they were sent: as text where they are UTF-8 and no content encoding was used, else in base64.

`_streamproof` of an entry has what HAR has no place for: when pieces came and where they ended, and how the body ended.
"""

from __future__ import annotations

import base64
import json
from datetime import datetime
from itertools import accumulate
from typing import Any
from urllib.parse import parse_qsl

from harness import __version__
from harness.cassette import interactions
from harness.cassette.model import Cassette, Exchange, Headers
from harness.exporting.formats import Files, scenario_of

_NEVER = "1970-01-01"
_HTTP = "HTTP/1.1"


def render(cassette: Cassette) -> Files:
    sides = [side for side in (cassette.stream, cassette.reference) if side is not None]
    log = {
        "version": "1.2",
        "creator": {"name": "streamproof", "version": __version__},
        "entries": [_entry(side, cassette.provenance.on) for side in sides],
    }
    text = json.dumps({"log": log}, ensure_ascii=False, indent=1)
    return {f"{scenario_of(cassette)}.har": text.encode("utf-8", "surrogatepass") + b"\n"}


def _entry(side: Exchange, on: str | None) -> dict[str, Any]:
    times = [round(chunk.at * 1000, 3) for chunk in side.chunks] or [0.0]
    return {
        "startedDateTime": f"{datetime.fromisoformat(on or _NEVER).date().isoformat()}T00:00:00.000Z",
        "time": times[-1],
        "request": _request(side),
        "response": _response(side),
        "cache": {},
        "timings": {"send": 0, "wait": times[0], "receive": round(times[-1] - times[0], 3)},
        "_streamproof": {
            "chunks": [[chunk.at, end] for chunk, end in zip(side.chunks, _ends(side), strict=True)],
            "ending": side.ending,
            "wire": side.wire,
        },
    }


def _ends(side: Exchange) -> list[int]:
    return list(accumulate(len(chunk.data) for chunk in side.chunks))


def _request(side: Exchange) -> dict[str, Any]:
    request = side.request
    told: dict[str, Any] = {
        "method": request.method,
        "url": interactions.uri(request),
        "httpVersion": _HTTP,
        "cookies": [],
        "headers": _headers(request.headers),
        "queryString": [
            {"name": name, "value": value}
            for name, value in parse_qsl(request.target.partition("?")[2], keep_blank_values=True)
        ],
        "headersSize": -1,
        "bodySize": -1 if request.body is None else len(request.body),
    }
    if request.body:
        told["postData"] = {"mimeType": request.headers.get("content-type", ""), **_text(request.body)}
    return told


def _response(side: Exchange) -> dict[str, Any]:
    told: dict[str, Any] = {
        "status": side.status,
        "statusText": "",
        "httpVersion": _HTTP,
        "cookies": [],
        "headers": _headers(side.headers),
        "content": {"size": len(side.body), "mimeType": side.headers.get("content-type", ""), **_content(side)},
        "redirectURL": side.headers.get("location", ""),
        "headersSize": -1,
        "bodySize": len(side.body),
    }
    failure = {"reset": "net::ERR_CONNECTION_RESET", "timeout": "net::ERR_TIMED_OUT"}.get(side.ending)
    return told | ({"_error": failure} if failure else {})


def _content(side: Exchange) -> dict[str, str]:
    encoded = side.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity")
    return _base64(side.body) if encoded else _text(side.body)


def _text(body: bytes) -> dict[str, str]:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return _base64(body)
    return _base64(body) if "\ufffd" in text else {"text": text}


def _base64(body: bytes) -> dict[str, str]:
    return {"text": base64.b64encode(body).decode("ascii"), "encoding": "base64"}


def _headers(headers: Headers) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.fields]
