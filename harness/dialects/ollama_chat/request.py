"""A `TurnRequest` as a request to `/api/chat` (wire/ollama-chat.md section 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.asking import as_arguments, kept, native, results, turns, unsupported, words
from harness.dialects.ollama_chat.reader import read
from harness.dialects.translating import as_object
from harness.request import Image, RequestParts, Role, ThinkingLevel, Turn, TurnRequest
from harness.response import Reasoning, Text, ToolCall

_LEVELS = {ThinkingLevel.MINIMAL: "low", ThinkingLevel.MAX: "high"}


def build(request: TurnRequest, stream: bool) -> RequestParts:
    body: dict[str, Any] = {"model": request.model, "messages": list(_messages(request)), "stream": stream}
    choice = request.tool_choice
    if choice not in (None, "auto", "none"):
        raise unsupported("Ollama", f"the tool choice {choice!r}", "give it `auto`, or no tools at all")
    if request.tools and choice != "none":
        body["tools"] = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)}}
            for t in request.tools
        ]
    level = request.thinking_level
    if level is not None:
        body["think"] = _think(request.model, level)
    if request.response_format is not None:
        schema = request.response_format.schema
        body["format"] = "json" if schema is None else dict(schema)
    options = kept({"num_predict": request.max_tokens, "temperature": request.temperature, "stop": list(request.stop) or None})
    if options:
        body["options"] = options
    if request.cache is not None and request.cache.ttl:  # the prompt stays cached as long as the model stays loaded
        body["keep_alive"] = request.cache.ttl
    return RequestParts(path="/api/chat", body=body)


def _think(model: str, level: ThinkingLevel) -> bool | str:
    """gpt-oss takes levels and cannot be kept from thinking; others think or do not."""
    if "gpt-oss" in model and level is not ThinkingLevel.OFF:
        return _LEVELS.get(level, level.value)
    return level is not ThinkingLevel.OFF


def _messages(request: TurnRequest) -> Iterator[dict[str, Any]]:
    if request.system is not None:
        yield {"role": "system", "content": request.system}
    for turn in turns(request):
        if turn.role is Role.SYSTEM:
            yield {"role": "system", "content": words(turn)}
        elif turn.role is Role.ASSISTANT:
            yield _assistant(turn)
        else:
            for result in results(turn):
                yield {"role": "tool", "tool_name": result.name, "tool_call_id": result.call_id, "content": result.content}
            images = [part.data for part in turn.parts if isinstance(part, Image)]
            if images or any(isinstance(part, Text) for part in turn.parts):
                yield {"role": "user", "content": words(turn), **({"images": images} if images else {})}


def _assistant(turn: Turn) -> dict[str, Any]:
    """The message as it came, or what the turn says; thoughts go back as text, nothing is signed here."""
    calls = [part for part in turn.parts if isinstance(part, ToolCall)]
    thoughts = "".join(part.text for part in turn.parts if isinstance(part, Reasoning) and part.text)
    own = as_object((native(turn, read) or {}).get("message"))
    out: dict[str, Any] = {"role": "assistant", "content": words(turn)}
    if thoughts and (own or turn.response is None):
        out["thinking"] = thoughts
    if calls:
        out["tool_calls"] = own.get("tool_calls") or [_call(call) for call in calls]
    return out


def _call(call: ToolCall) -> dict[str, Any]:
    named = {} if call.synthetic_id else {"id": call.id}
    return {**named, "function": {"name": call.name, "arguments": as_arguments(call.arguments)}}
