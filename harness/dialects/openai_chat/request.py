"""A `TurnRequest` as a request of Chat Completions (wire/openai-chat.md section 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.asking import elements, kept, native, results, turns, words
from harness.dialects.openai_chat.reader import read
from harness.dialects.translating import as_object, as_objects
from harness.request import Image, RequestParts, ResponseFormat, Role, ThinkingLevel, ToolResult, Turn, TurnRequest
from harness.response import Reasoning, Refusal, Text, ToolCall

_EFFORTS = {ThinkingLevel.OFF: "none", ThinkingLevel.MAX: "xhigh"}
_THOUGHTS = ("reasoning_content", "reasoning")
_CHOICES = ("auto", "none", "required")


def build(request: TurnRequest, stream: bool) -> RequestParts:
    body: dict[str, Any] = {"model": request.model, "messages": list(_messages(request))}
    if request.tools:
        body["tools"] = [_tool(tool.name, tool.description, dict(tool.parameters)) for tool in request.tools]
    choice = request.tool_choice
    if choice is not None:
        body["tool_choice"] = choice if choice in _CHOICES else {"type": "function", "function": {"name": choice}}
    if request.thinking_level is not None:
        body["reasoning_effort"] = _EFFORTS.get(request.thinking_level, request.thinking_level.value)
    if request.max_tokens is not None:
        body["max_completion_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.stop:
        body["stop"] = list(request.stop)
    if request.response_format is not None:
        body["response_format"] = _format(request.response_format)
    cache = request.cache
    if cache is not None:  # prompts are cached without being asked to
        body |= kept({"prompt_cache_key": cache.key, "prompt_cache_retention": cache.ttl})
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return RequestParts(path="/chat/completions", body=body)


def _tool(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _format(wanted: ResponseFormat) -> dict[str, Any]:
    if wanted.schema is None:
        return {"type": "json_object"}
    schema: dict[str, Any] = {"name": wanted.name, "schema": dict(wanted.schema), "strict": wanted.strict}
    if wanted.description:
        schema["description"] = wanted.description
    return {"type": "json_schema", "json_schema": schema}


def _messages(request: TurnRequest) -> Iterator[dict[str, Any]]:
    if request.system is not None:
        yield {"role": "system", "content": request.system}
    for turn in turns(request):
        if turn.role is Role.SYSTEM:
            yield {"role": "system", "content": words(turn)}
        elif turn.role is Role.ASSISTANT:
            yield _assistant(turn)
        else:
            yield from map(_result, results(turn))
            content = list(_content(turn))
            if content:
                plain = len(content) == 1 and content[0]["type"] == "text"
                yield {"role": "user", "content": content[0]["text"] if plain else content}


def _result(result: ToolResult) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": result.call_id, "content": result.content}


def _content(turn: Turn) -> Iterator[dict[str, Any]]:
    for part in turn.parts:
        if isinstance(part, Text):
            yield {"type": "text", "text": part.text}
        elif isinstance(part, Image):
            yield {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{part.data}"}}


def _assistant(turn: Turn) -> dict[str, Any]:
    body = native(turn, read)
    if body is None:
        return _told(turn)
    first = min(as_objects(body.get("choices")), key=_index, default={})
    return _sent_back(as_object(first.get("message")), [part for part in turn.parts if isinstance(part, ToolCall)])


def _index(choice: dict[str, Any]) -> int:
    index = choice.get("index")
    return index if type(index) is int else 0


def _sent_back(message: dict[str, Any], calls: list[ToolCall]) -> dict[str, Any]:
    """A message as it came, but for what a request must not have. Thoughts as text go back beside calls only: in other turns
    those who send them forbid it, in a turn with calls they ask for it (section 8). What is signed or encrypted goes always."""
    out: dict[str, Any] = {"role": "assistant", "content": message.get("content")}
    for name in ("refusal", "reasoning_details", *(_THOUGHTS if calls else ())):
        if message.get(name):
            out[name] = message[name]
    audio = as_object(message.get("audio")).get("id")
    if audio:
        out["audio"] = {"id": audio}
    if calls:
        own = elements(message.get("tool_calls")) or [{} for _ in calls]
        out["tool_calls"] = [_call(call, extra.get("extra_content")) for call, extra in zip(calls, own, strict=True)]
    elif out["content"] is None:
        out["content"] = ""
    return out


def _told(turn: Turn) -> dict[str, Any]:
    """A turn of which there is no message of this API."""
    calls = [part for part in turn.parts if isinstance(part, ToolCall)]
    texts = [part.text for part in turn.parts if isinstance(part, Text)]
    refusals = [part.text for part in turn.parts if isinstance(part, Refusal)]
    thoughts = [part.text for part in turn.parts if isinstance(part, Reasoning) and part.text]
    out: dict[str, Any] = {"role": "assistant", "content": "".join(texts) if texts or not calls else None}
    if refusals:
        out["refusal"] = "".join(refusals)
    if thoughts and calls and turn.response is None:
        out["reasoning_content"] = "".join(thoughts)
    if calls:
        out["tool_calls"] = [_call(call) for call in calls]
    return out


def _call(call: ToolCall, extra: Any = None) -> dict[str, Any]:
    if call.kind == "custom":
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    out: dict[str, Any] = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments or "{}"},
    }
    if extra is None and call.signature is not None:  # Gemini, by way of its Chat endpoint
        extra = {"google": {"thought_signature": call.signature}}
    return out if extra is None else {**out, "extra_content": extra}
