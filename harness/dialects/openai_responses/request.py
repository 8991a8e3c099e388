"""A `TurnRequest` as a request of the Responses API (wire/openai-responses.md section 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.asking import calls, elements, is_foreign, kept, native, results, turns, unsupported, words
from harness.dialects.openai_responses.growth import CALLS, carried_out
from harness.dialects.openai_responses.reader import read
from harness.request import Image, RequestParts, ResponseFormat, Role, ThinkingLevel, ToolResult, Turn, TurnPart, TurnRequest
from harness.response import Reasoning, Refusal, Text, ToolCall

_EFFORTS = {ThinkingLevel.OFF: "none", ThinkingLevel.MAX: "xhigh"}
_CHOICES = ("auto", "none", "required")


def build(request: TurnRequest, stream: bool) -> RequestParts:
    if request.stop:
        raise unsupported("the Responses API", "stop sequences", "leave `stop` out")
    body: dict[str, Any] = {"model": request.model, "input": list(_input(request))}
    if request.system is not None:
        body["instructions"] = request.system
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": t.name,
                "description": t.description,
                "parameters": dict(t.parameters),
                "strict": False,
            }
            for t in request.tools
        ]
    choice = request.tool_choice
    if choice is not None:
        body["tool_choice"] = choice if choice in _CHOICES else {"type": "function", "name": choice}
    level = request.thinking_level
    if level is not None:
        body["reasoning"] = {"effort": _EFFORTS.get(level, level.value)}
        if level is not ThinkingLevel.OFF:  # models that do not think refuse to be asked for what they thought
            body["reasoning"]["summary"] = "auto"
            body["include"] = ["reasoning.encrypted_content"]
    if request.max_tokens is not None:
        body["max_output_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.response_format is not None:
        body["text"] = {"format": _format(request.response_format)}
    cache = request.cache
    if cache is not None:  # prompts are cached without being asked to
        body |= kept({"prompt_cache_key": cache.key, "prompt_cache_retention": cache.ttl})
    if stream:
        body["stream"] = True
    return RequestParts(path="/responses", body=body)


def _format(wanted: ResponseFormat) -> dict[str, Any]:
    if wanted.schema is None:
        return {"type": "json_object"}
    out = {"type": "json_schema", "name": wanted.name, "schema": dict(wanted.schema), "strict": wanted.strict}
    return {**out, "description": wanted.description} if wanted.description else out


def _input(request: TurnRequest) -> Iterator[dict[str, Any]]:
    known = calls(request)
    for turn in turns(request):
        if turn.role is Role.SYSTEM:
            yield {"type": "message", "role": "system", "content": words(turn)}
        elif turn.role is Role.ASSISTANT:
            yield from _assistant(turn)
        else:
            for result in results(turn):
                yield _result(result, known.get(result.call_id))
            content = [piece for part in turn.parts for piece in _content(part)]
            if content:
                yield {"type": "message", "role": "user", "content": content}


def _result(result: ToolResult, call: ToolCall | None) -> dict[str, Any]:
    custom = call is not None and call.kind == "custom"
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return {"type": kind, "call_id": result.call_id, "output": result.content}


def _content(part: TurnPart) -> Iterator[dict[str, Any]]:
    if isinstance(part, Text):
        yield {"type": "input_text", "text": part.text}
    elif isinstance(part, Image):
        yield {"type": "input_image", "detail": "auto", "image_url": f"data:{part.media_type};base64,{part.data}"}


def _assistant(turn: Turn) -> Iterator[dict[str, Any]]:
    """The items as they came: reasoning goes back with its encrypted content, beside the calls that came of it."""
    body = native(turn, read)
    if body is None:
        yield from _told(turn, signed=not is_foreign(turn, body))
        return
    made = iter([part for part in turn.parts if isinstance(part, ToolCall)])
    for item in elements(body.get("output")):
        if item.get("type") in CALLS and not carried_out(item, body.get("tools")):
            yield {**item, "call_id": next(made).id}
        else:
            yield item


def _told(turn: Turn, signed: bool) -> Iterator[dict[str, Any]]:
    """A turn of which there are no items of this API."""
    for part in turn.parts:
        if isinstance(part, Text | Refusal) and part.text:
            yield {"type": "message", "role": "assistant", "content": part.text}
        elif isinstance(part, Reasoning) and part.encrypted is not None and signed:
            summary = [{"type": "summary_text", "text": part.text}] if part.text else []
            yield {"type": "reasoning", "summary": summary, "encrypted_content": part.encrypted}
        elif isinstance(part, ToolCall) and part.kind == "custom":
            yield {"type": "custom_tool_call", "call_id": part.id, "name": part.name, "input": part.arguments}
        elif isinstance(part, ToolCall):
            yield {"type": "function_call", "call_id": part.id, "name": part.name, "arguments": part.arguments or "{}"}
