"""Exchanges and cassettes of our own making."""

from __future__ import annotations

import json
from typing import Any

from harness.cassette.model import Cassette, Chunk, Ending, Exchange, Headers, Request
from tests.chat import DONE, encoded

SSE = "text/event-stream"
CHAT = "/v1/chat/completions"


def exchange(
    body: bytes,
    *,
    media: str | None = SSE,
    status: int = 200,
    path: str = CHAT,
    request: Any = None,
    ending: Ending = "eof",
    pieces: int | None = None,
    **headers: str,
) -> Exchange:
    """An exchange that asked for a stream, unless `request` says otherwise; the body in pieces of this many bytes. Names of
    headers have `_` for `-`."""
    size = pieces or max(len(body), 1)
    fields = {} if media is None else {"content-type": media}
    return Exchange(
        request=Request(target=path, body=encoded({"stream": True} if request is None else request)),
        status=status,
        headers=Headers(fields | {name.replace("_", "-"): value for name, value in headers.items()}),
        chunks=tuple(Chunk(data=body[at : at + size], at=0.1 * at) for at in range(0, len(body), size)),
        ending=ending,
    )


def document(value: Any, *, status: int = 200, path: str = CHAT, **headers: str) -> Exchange:
    """The answer to a request that asked for no stream."""
    body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    return exchange(body, media="application/json", status=status, path=path, request={"stream": False}, **headers)


def sse(*payloads: Any, end: bool = True) -> bytes:
    """An SSE body; payloads are bytes, or values to encode."""
    return b"".join(b"data: " + encoded(payload) + b"\n\n" for payload in (*payloads, *([DONE] if end else [])))


def cassette(
    stream: Exchange | None,
    reference: Exchange | None = None,
    dialect: str = "openai-chat",
    provider: str = "here",
    **more: Any,
) -> Cassette:
    more = {"id": f"{dialect}/{provider}/case", "match": "exact", **more}
    return Cassette(dialect=dialect, provider=provider, stream=stream, reference=reference, **more)


def completion(message: dict[str, Any], finish: str = "stop", **top: Any) -> dict[str, Any]:
    """The twin of a stream that tests.chat makes."""
    envelope = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_764_547_200, "model": "tide-1"}
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {**envelope, "choices": [choice], **top}
