"""A `TurnRequest` as a request of the Messages API (wire/anthropic-messages.md section 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.anthropic_messages.reader import read
from harness.dialects.asking import (
    as_arguments,
    claude_thinking,
    elements,
    is_foreign,
    joined,
    kept,
    native,
    schema_of,
    turns,
    words,
)
from harness.request import CacheSettings, Image, RequestParts, Role, ToolResult, Turn, TurnPart, TurnRequest
from harness.response import Reasoning, Refusal, Text, ToolCall

VERSION = "2023-06-01"
_ROOM = 4096  # tokens for the answer, which the API wants to be told
_CHOICES = {"auto": {"type": "auto"}, "none": {"type": "none"}, "required": {"type": "any"}}
_UNMARKED = ("thinking", "redacted_thinking")  # blocks that take no cache mark


def build(request: TurnRequest, stream: bool) -> RequestParts:
    cache = request.cache
    messages = joined(_messages(request), "content")
    if cache is not None and cache.turns and messages:
        messages[-1] = {**messages[-1], "content": _marked(messages[-1]["content"], cache)}
    body: dict[str, Any] = {"model": request.model, "max_tokens": request.max_tokens or _ROOM, "messages": messages}
    system = [{"type": "text", "text": text} for text in _systems(request)]
    if system:
        body["system"] = _marked(system, cache) if cache is not None and cache.system else system
    if request.tools:
        tools = [{"name": t.name, "description": t.description, "input_schema": dict(t.parameters)} for t in request.tools]
        body["tools"] = _marked(tools, cache) if cache is not None and cache.tools else tools
    choice = request.tool_choice
    if choice is not None:
        body["tool_choice"] = dict(_CHOICES.get(choice, {"type": "tool", "name": choice}))
    _thinking(request, body)
    schema = schema_of(request, "the Messages API")
    if schema is not None:
        body.setdefault("output_config", {})["format"] = {"type": "json_schema", "schema": schema}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop:
        body["stop_sequences"] = list(request.stop)
    if stream:
        body["stream"] = True
    return RequestParts(path="/v1/messages", body=body, headers={"anthropic-version": VERSION})


def _thinking(request: TurnRequest, body: dict[str, Any]) -> None:
    if request.thinking_level is None:
        return
    body["thinking"], effort, room = claude_thinking(request.model, request.thinking_level)
    if request.max_tokens is None:
        body["max_tokens"] += room  # thinking counts as answer
    if effort is not None:
        body["output_config"] = {"effort": effort}


def _systems(request: TurnRequest) -> Iterator[str]:
    """System prompts stand before all messages here, those in mid-conversation too."""
    if request.system:
        yield request.system
    yield from (text for turn in turns(request) if turn.role is Role.SYSTEM and (text := words(turn)))


def _marked(blocks: list[dict[str, Any]], cache: CacheSettings) -> list[dict[str, Any]]:
    """The blocks, the last that can be marked with the mark up to which the prompt is cached."""
    mark = kept({"type": "ephemeral", "ttl": cache.ttl})
    at = next((n for n in range(len(blocks) - 1, -1, -1) if blocks[n].get("type") not in _UNMARKED), None)
    return [{**block, "cache_control": mark} if n == at else block for n, block in enumerate(blocks)]


def _messages(request: TurnRequest) -> Iterator[dict[str, Any]]:
    for turn in turns(request):
        if turn.role is Role.ASSISTANT:
            yield {"role": "assistant", "content": list(_assistant(turn))}
        elif turn.role is not Role.SYSTEM:
            parts = sorted(turn.parts, key=lambda part: not isinstance(part, ToolResult))  # results come first
            yield {"role": "user", "content": [block for part in parts for block in _content(part)]}


def _content(part: TurnPart) -> Iterator[dict[str, Any]]:
    if isinstance(part, Text) and part.text:
        yield {"type": "text", "text": part.text}
    elif isinstance(part, Image):
        yield {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": part.data}}
    elif isinstance(part, ToolResult):
        result = {"type": "tool_result", "tool_use_id": part.call_id, "content": part.content}
        yield {**result, "is_error": True} if part.is_error else result


def _assistant(turn: Turn) -> Iterator[dict[str, Any]]:
    """The blocks as they came, thoughts with their signatures; an empty text, which may not be sent, is left out."""
    body = native(turn, read)
    if body is None:
        yield from _told(turn, signed=not is_foreign(turn, body))
        return
    made = iter([part for part in turn.parts if isinstance(part, ToolCall)])
    for block in elements(body.get("content")):
        if block.get("type") == "tool_use":
            yield {**block, "id": next(made).id, "input": as_arguments(block.get("input"))}
        elif block.get("type") != "text" or block.get("text"):
            yield block


def _told(turn: Turn, signed: bool) -> Iterator[dict[str, Any]]:
    """A turn of which there are no blocks of this API. Thoughts without a signature are not taken back."""
    for part in turn.parts:
        if isinstance(part, Text | Refusal) and part.text:
            yield {"type": "text", "text": part.text}
        elif isinstance(part, Reasoning) and signed and part.signature is not None:
            yield {"type": "thinking", "thinking": part.text or "", "signature": part.signature}
        elif isinstance(part, Reasoning) and signed and isinstance(part.encrypted, str):
            yield {"type": "redacted_thinking", "data": part.encrypted}
        elif isinstance(part, ToolCall):
            yield {"type": "tool_use", "id": part.id, "name": part.name, "input": as_arguments(part.arguments)}
