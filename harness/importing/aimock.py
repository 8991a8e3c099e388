"""Fixtures of aimock: what a model is to say, of which aimock makes an answer in any API. Nothing of a wire is in them.

What is made of one is a Chat Completions stream with its twin, in pieces as aimock cuts texts. It is nobody's recording.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, TypeGuard

from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.importing.found import PIECES, Found, Told
from harness.importing.source import Source

_CHUNK_SIZE = 20  # characters, unless the fixture says otherwise
_MOST_TIME = 366 * 86_400_000.0
_DIALECT = "openai-chat"
_PATH = "/v1/chat/completions"
_LOST = ("the wire: it was made up", PIECES)
_OTHER = ("embedding", "image", "images", "audio", "transcription", "video")


def is_fixtures(head: dict[str, Any]) -> bool:
    """Whether names and short values at the top of a document are those of a file of fixtures."""
    return "fixtures" in head or ("match" in head and "response" in head)


def read(source: Source, told: Told) -> Iterator[Found]:
    """A stream and its twin for each fixture in order. Raises `InputError`."""
    if told.dialect not in (None, _DIALECT):
        raise source.error(f"fixtures of aimock are made into {_DIALECT} only, not into {told.dialect}")
    for number, fixture in enumerate(_fixtures(source)):
        if not isinstance(fixture, dict) or not isinstance(fixture.get("response"), dict):
            raise source.error("is no fixture: it has no response", at=f"fixtures[{number}]")
        yield from _found(fixture, number)


def _fixtures(source: Source) -> list[Any]:
    try:
        value = json.loads(source.whole())
    except (ValueError, RecursionError) as error:
        raise source.error(f"is not JSON: {error}") from None
    listed = value.get("fixtures") if isinstance(value, dict) and "fixtures" in value else [value]
    if not isinstance(listed, list):
        raise source.error("expected a list of fixtures", at="fixtures")
    return listed


def _found(fixture: dict[str, Any], number: int) -> Iterator[Found]:
    response, match = fixture["response"], fixture.get("match")
    match = match if isinstance(match, dict) else {}
    model = next((name for name in (response.get("model"), match.get("model")) if isinstance(name, str)), "aimock")
    told: dict[str, Any] = {"dialect": _DIALECT, "provider": "aimock", "model": model, "by": "aimock", "kind": "authored"}
    if any(name in response for name in _OTHER):
        yield Found(exchange=Exchange(request=_request(match, model, stream=False)), unusable="it is no chat turn", **told)
    elif "error" in response or "json" in response:
        value = response["json"] if "json" in response else {"error": response["error"]}
        status = response.get("status", 500 if "error" in response else 200)
        yield Found(exchange=_plain(match, model, value, status if type(status) is int else 500), lost=_LOST, **told)
    else:
        message, finish = _message(response, number)
        streamed = _streamed(fixture, _envelope(response, model), message, finish)
        whole = _whole(_envelope(response, model), response, message, finish)
        yield Found(exchange=_stream(match, model, streamed, fixture), lost=_LOST, **told)
        yield Found(exchange=_plain(match, model, whole, 200), lost=_LOST, **told)


def _message(response: dict[str, Any], number: int) -> tuple[dict[str, Any], str]:
    """The message that the model is to say, and why it stopped."""
    blocks = [block for block in _listed(response.get("blocks")) if isinstance(block, dict)]
    text = response.get("content")
    calls = _listed(response.get("toolCalls"))
    if blocks:
        text = "".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text") or None
        calls = [block for block in blocks if block.get("type") == "toolCall"]
    message: dict[str, Any] = {"role": response.get("role") or "assistant", "content": text if isinstance(text, str) else None}
    if isinstance(response.get("reasoning"), str):
        message["reasoning_content"] = response["reasoning"]
    if calls:
        message["tool_calls"] = [_call(call, f"call_{number}_{place}") for place, call in enumerate(calls)]
    return message, str(response.get("finishReason") or ("tool_calls" if calls else "stop"))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _call(call: Any, id: str) -> dict[str, Any]:
    call = call if isinstance(call, dict) else {}
    arguments = call.get("arguments", "")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return {"id": call.get("id") or id, "type": "function", "function": {"name": str(call.get("name", "")), "arguments": text}}


def _envelope(response: dict[str, Any], model: str) -> dict[str, Any]:
    return {"id": response.get("id") or "chatcmpl-aimock", "created": response.get("created") or 0, "model": model}


def _whole(envelope: dict[str, Any], response: dict[str, Any], message: dict[str, Any], finish: str) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    body = {**envelope, "object": "chat.completion", "choices": [choice]}
    return body | ({"usage": response["usage"]} if isinstance(response.get("usage"), dict) else {})


def _streamed(fixture: dict[str, Any], envelope: dict[str, Any], message: dict[str, Any], finish: str) -> Iterator[bytes]:
    size = fixture.get("chunkSize")
    size = size if type(size) is int and size > 0 else _CHUNK_SIZE
    head = {**envelope, "object": "chat.completion.chunk"}
    for delta, reason in (*_deltas(message, size), ({}, finish)):
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    usage = fixture["response"].get("usage")
    if isinstance(usage, dict):
        yield _event({**head, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _deltas(message: dict[str, Any], size: int) -> Iterator[tuple[dict[str, Any], str | None]]:
    yield {"role": message["role"], "content": ""}, None
    for name in ("reasoning_content", "content"):
        for piece in _pieces(message.get(name) or "", size):
            yield {name: piece}, None
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        yield {"tool_calls": [{"index": index, **call, "function": {"name": function["name"], "arguments": ""}}]}, None
        for piece in _pieces(function["arguments"], size):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _stream(match: dict[str, Any], model: str, events: Iterator[bytes], fixture: dict[str, Any]) -> Exchange:
    pieces = list(events)
    return Exchange(
        request=_request(match, model, stream=True),
        headers=Headers({"content-type": "text/event-stream"}),
        chunks=tuple(Chunk(data=data, at=at) for data, at in zip(pieces, _times(fixture, len(pieces)), strict=True)),
        wire="reconstructed",
    )


def _times(fixture: dict[str, Any], count: int) -> list[float]:
    """The times that aimock recorded, for as many pieces as it had; 0 where it recorded none."""
    timings = fixture.get("recordedTimings")
    timings = timings if isinstance(timings, dict) else {}
    first, delays = timings.get("ttftMs"), timings.get("interChunkDelaysMs")
    if not _is_time(first) or not isinstance(delays, list):
        return [0.0] * count
    told = [float(first), *(float(delay) for delay in delays if _is_time(delay))][:count]
    times = [round(at / 1000, 6) for at in accumulate(told)]
    return times + [times[-1]] * (count - len(times))


def _is_time(value: Any) -> TypeGuard[float]:
    """Whether a value is so many milliseconds, of not more than a year."""
    return isinstance(value, (int, float)) and 0 <= value <= _MOST_TIME


def _plain(match: dict[str, Any], model: str, value: Any, status: int) -> Exchange:
    return Exchange(
        request=_request(match, model, stream=False),
        status=status,
        headers=Headers({"content-type": "application/json"}),
        chunks=(Chunk(data=json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")),),
        wire="reconstructed",
    )


def _request(match: dict[str, Any], model: str, *, stream: bool) -> Request:
    """A request that the fixture answers, as far as its conditions are told."""
    said = match.get("userMessage")
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": said if isinstance(said, str) else ""}]}
    text = json.dumps(body | ({"stream": True} if stream else {}), ensure_ascii=False)
    return Request(target=_PATH, body=text.encode("utf-8", "surrogatepass"))


def _event(payload: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n\n"
