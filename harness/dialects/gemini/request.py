"""A `TurnRequest` as a `generateContent` request (wire/google-generatecontent.md section 1). Its path names the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from harness.dialects.asking import as_arguments, calls, elements, is_foreign, joined, kept, native, turns, words
from harness.dialects.gemini.reader import read
from harness.dialects.translating import as_count, as_object, as_objects
from harness.request import Image, RequestParts, Role, ThinkingLevel, ToolResult, Turn, TurnPart, TurnRequest
from harness.response import Reasoning, Refusal, Text, ToolCall

_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_BUDGETS = {"off": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 16384, "max": 24576}
_LEVELS = {"off": "minimal", "max": "high"}  # Gemini 3 cannot be kept from thinking


def build(request: TurnRequest, stream: bool) -> RequestParts:
    body: dict[str, Any] = {"contents": joined(_contents(request), "parts")}
    system = [{"text": text} for text in _systems(request)]
    if system:
        body["systemInstruction"] = {"parts": system}
    if request.tools:
        body["tools"] = [{"functionDeclarations": list(_declarations(request))}]
    choice = request.tool_choice
    if choice is not None:
        named = {"mode": "ANY", "allowedFunctionNames": [choice]}
        body["toolConfig"] = {"functionCallingConfig": {"mode": _MODES[choice]} if choice in _MODES else named}
    config = _config(request)
    if config:
        body["generationConfig"] = config
    if request.cache is not None and request.cache.key:  # what is cached without being asked to needs no word
        body["cachedContent"] = request.cache.key
    model = request.model if "/" in request.model else f"models/{request.model}"
    method = ":streamGenerateContent?alt=sse" if stream else ":generateContent"
    return RequestParts(path=f"/{quote(model)}{method}", body=body)


def _declarations(request: TurnRequest) -> Iterator[dict[str, Any]]:
    for tool in request.tools:
        yield {"name": tool.name, "description": tool.description, "parametersJsonSchema": dict(tool.parameters)}


def _config(request: TurnRequest) -> dict[str, Any]:
    wanted, level = request.response_format, request.thinking_level
    return kept(
        {
            "temperature": request.temperature,
            "maxOutputTokens": request.max_tokens,
            "stopSequences": list(request.stop) or None,
            "responseMimeType": None if wanted is None else "application/json",
            "responseJsonSchema": None if wanted is None or wanted.schema is None else dict(wanted.schema),
            "thinkingConfig": None if level is None else _thinking(request.model, level),
        }
    )


def _thinking(model: str, level: ThinkingLevel) -> dict[str, Any]:
    """Models before Gemini 3 take a number of tokens, later ones a level; thoughts are shown on request."""
    shown = level is not ThinkingLevel.OFF
    if any(f"gemini-{old}" in model for old in ("2", "1")):
        return {"thinkingBudget": _BUDGETS[level.value], "includeThoughts": shown}
    return {"thinkingLevel": _LEVELS.get(level.value, level.value), "includeThoughts": shown}


def _systems(request: TurnRequest) -> Iterator[str]:
    if request.system:
        yield request.system
    yield from (text for turn in turns(request) if turn.role is Role.SYSTEM and (text := words(turn)))


def _contents(request: TurnRequest) -> Iterator[dict[str, Any]]:
    """Results of parallel calls stand in one content: neighbours of one role are joined (`joined`)."""
    known = calls(request)
    for turn in turns(request):
        if turn.role is Role.ASSISTANT:
            yield {"role": "model", "parts": list(_model(turn))}
        elif turn.role is not Role.SYSTEM:
            parts = sorted(turn.parts, key=lambda part: not isinstance(part, ToolResult))  # results come first
            yield {"role": "user", "parts": [piece for part in parts for piece in _content(part, known)]}


def _content(part: TurnPart, known: dict[str, ToolCall]) -> Iterator[dict[str, Any]]:
    if isinstance(part, Text):
        yield {"text": part.text}
    elif isinstance(part, Image):
        yield {"inlineData": {"mimeType": part.media_type, "data": part.data}}
    elif isinstance(part, ToolResult):
        call = known.get(part.call_id)
        named = {} if call is None or call.synthetic_id else {"id": part.call_id}  # an id of ours means nothing to the API
        told = {"error" if part.is_error else "result": part.content}
        yield {"functionResponse": {**named, "name": part.name, "response": told}}


def _model(turn: Turn) -> Iterator[dict[str, Any]]:
    """The parts as they came: a signature goes back on the very part that it came with (section 6)."""
    body = native(turn, read)
    if body is None:
        yield from _told(turn, signed=not is_foreign(turn, body))
        return
    first = min(as_objects(body.get("candidates")), key=_index, default={})
    for part in elements(as_object(first.get("content")).get("parts")):
        call = part.get("functionCall")
        if isinstance(call, dict) and not isinstance(call.get("args"), dict):
            yield {**part, "functionCall": {**kept(call), "args": as_arguments(call.get("args"))}}
        else:
            yield part


def _index(candidate: dict[str, Any]) -> int:
    return as_count(candidate.get("index")) or 0


def _told(turn: Turn, signed: bool) -> Iterator[dict[str, Any]]:
    """A turn of which there are no parts of this API."""
    for part in turn.parts:
        signature = getattr(part, "signature", None) if signed else None
        mark = {} if signature is None else {"thoughtSignature": signature}
        if isinstance(part, Text | Refusal) and (part.text or mark):
            yield {"text": part.text, **mark}
        elif isinstance(part, Reasoning) and signed and part.text:
            yield {"text": part.text, "thought": True, **mark}
        elif isinstance(part, ToolCall):
            named = {} if part.synthetic_id else {"id": part.id}
            yield {"functionCall": {**named, "name": part.name, "args": as_arguments(part.arguments)}, **mark}
