"""A `TurnRequest` as a request of Converse (wire/bedrock-converse.md section 1). Its path names the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

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
    unsupported,
    words,
)
from harness.dialects.bedrock_converse.reader import read
from harness.dialects.translating import as_json, as_object
from harness.request import CacheSettings, Image, RequestParts, Role, ThinkingLevel, ToolResult, Turn, TurnPart, TurnRequest
from harness.response import Reasoning, Refusal, Text, ToolCall

_CHOICES: dict[str, dict[str, Any]] = {"auto": {"auto": {}}, "required": {"any": {}}}
_NOVA_EFFORTS = {ThinkingLevel.MINIMAL: "low", ThinkingLevel.MAX: "high"}


def build(request: TurnRequest, stream: bool) -> RequestParts:
    cache = request.cache
    messages = joined(_messages(request), "content")
    if cache is not None and cache.turns and messages:
        messages[-1] = {**messages[-1], "content": [*messages[-1]["content"], _mark(cache)]}
    body: dict[str, Any] = {"messages": messages}
    system: list[dict[str, Any]] = [{"text": text} for text in _systems(request)]
    if system:
        body["system"] = [*system, _mark(cache)] if cache is not None and cache.system else system
    inference = {
        "maxTokens": request.max_tokens,
        "temperature": request.temperature,
        "stopSequences": list(request.stop) or None,
    }
    if any(value is not None for value in inference.values()):
        body["inferenceConfig"] = kept(inference)
    if request.tools:
        body["toolConfig"] = _tools(request, cache)
    if request.thinking_level is not None:
        _thinking(request, request.thinking_level, body)
    schema = schema_of(request, "Converse")
    if schema is not None and request.response_format is not None:
        wanted = {"schema": as_json(schema), "name": request.response_format.name}
        body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": wanted}}}
    method = "converse-stream" if stream else "converse"
    return RequestParts(path=f"/model/{quote(request.model, safe='')}/{method}", body=body)


def _thinking(request: TurnRequest, level: ThinkingLevel, body: dict[str, Any]) -> None:
    """Converse has no word for it: it is told in the model vendor's words."""
    extra: dict[str, Any]
    room = 0
    if "anthropic." in request.model:
        extra = {}
        extra["thinking"], effort, room = claude_thinking(request.model, level)
        if effort is not None:
            extra["output_config"] = {"effort": effort}
    elif "amazon.nova" in request.model:
        on = {"type": "enabled", "maxReasoningEffort": _NOVA_EFFORTS.get(level, level.value)}
        extra = {"reasoningConfig": {"type": "disabled"} if level is ThinkingLevel.OFF else on}
    else:
        extra = {"reasoning_effort": {ThinkingLevel.OFF: "none", ThinkingLevel.MAX: "high"}.get(level, level.value)}
    body["additionalModelRequestFields"] = extra
    if room and request.max_tokens is None:
        body["inferenceConfig"] = {"maxTokens": room + 4096, **body.get("inferenceConfig", {})}


def _systems(request: TurnRequest) -> Iterator[str]:
    if request.system:
        yield request.system
    yield from (text for turn in turns(request) if turn.role is Role.SYSTEM and (text := words(turn)))


def _mark(cache: CacheSettings) -> dict[str, Any]:
    return {"cachePoint": kept({"type": "default", "ttl": cache.ttl})}


def _tools(request: TurnRequest, cache: CacheSettings | None) -> dict[str, Any]:
    tools: list[dict[str, Any]] = []
    for tool in request.tools:
        spec: dict[str, Any] = {"name": tool.name, "inputSchema": {"json": dict(tool.parameters)}}
        tools.append({"toolSpec": {**spec, "description": tool.description} if tool.description else spec})
    if cache is not None and cache.tools:
        tools.append(_mark(cache))
    choice = request.tool_choice
    if choice is None:
        return {"tools": tools}
    if choice == "none":
        raise unsupported("Converse", "an answer without calls while there are tools", "leave `tools` out")
    return {"tools": tools, "toolChoice": _CHOICES.get(choice, {"tool": {"name": choice}})}


def _messages(request: TurnRequest) -> Iterator[dict[str, Any]]:
    for turn in turns(request):
        if turn.role is Role.ASSISTANT:
            yield {"role": "assistant", "content": list(_assistant(turn))}
        elif turn.role is not Role.SYSTEM:
            parts = sorted(turn.parts, key=lambda part: not isinstance(part, ToolResult))  # results come first
            yield {"role": "user", "content": [block for part in parts for block in _content(part)]}


def _content(part: TurnPart) -> Iterator[dict[str, Any]]:
    if isinstance(part, Text) and part.text:
        yield {"text": part.text}
    elif isinstance(part, Image):
        kind = part.media_type.rpartition("/")[2]
        yield {"image": {"format": "jpeg" if kind == "jpg" else kind, "source": {"bytes": part.data}}}
    elif isinstance(part, ToolResult):
        status = "error" if part.is_error else "success"
        yield {"toolResult": {"toolUseId": part.call_id, "content": [{"text": part.content}], "status": status}}


def _assistant(turn: Turn) -> Iterator[dict[str, Any]]:
    """The blocks as they came, thoughts with their signatures; an empty text, which may not be sent, is left out."""
    body = native(turn, read)
    if body is None:
        yield from _told(turn, signed=not is_foreign(turn, body))
        return
    made = iter([part for part in turn.parts if isinstance(part, ToolCall)])
    for block in elements(as_object(as_object(body.get("output")).get("message")).get("content")):
        tool = block.get("toolUse")
        if isinstance(tool, dict):
            mine = tool.get("type") != "server_tool_use"
            named = {"toolUseId": next(made).id} if mine else {}
            yield {**block, "toolUse": {**tool, **named, "input": as_arguments(tool.get("input"))}}
        elif block.get("text") != "":
            yield block


def _told(turn: Turn, signed: bool) -> Iterator[dict[str, Any]]:
    """A turn of which there are no blocks of this API."""
    for part in turn.parts:
        if isinstance(part, Text | Refusal) and part.text:
            yield {"text": part.text}
        elif isinstance(part, Reasoning) and signed and part.signature is not None:
            yield {"reasoningContent": {"reasoningText": {"text": part.text or "", "signature": part.signature}}}
        elif isinstance(part, Reasoning) and signed and isinstance(part.encrypted, str):
            yield {"reasoningContent": {"redactedContent": part.encrypted}}
        elif isinstance(part, ToolCall):
            yield {"toolUse": {"toolUseId": part.id, "name": part.name, "input": as_arguments(part.arguments)}}
