"""An answer of Ollama, streamed or not, as a neutral response; and its errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from harness.api_error import ApiError, api_error
from harness.dialects.translating import (
    as_count,
    as_object,
    as_objects,
    as_text,
)
from harness.response import FinishReason, Other, Part, Reasoning, Response, Text, ToolCall, Usage

_REASONS = {"stop": FinishReason.STOP, "length": FinishReason.LENGTH}


def read(body: Any) -> Response:
    """The response of either endpoint; one with neither a message nor a `response` has no parts."""
    body = as_object(body)
    chat = isinstance(body.get("message"), dict)
    parts = tuple(_parts(body["message"], "content") if chat else _parts(body, "response"))
    raw_reason = as_text(body.get("done_reason")) or None
    reason = _REASONS.get(raw_reason, FinishReason.OTHER) if raw_reason else None
    if reason is FinishReason.STOP and any(isinstance(part, ToolCall) for part in parts):
        reason = FinishReason.TOOL_CALLS
    return Response(
        model=as_text(body.get("model")) or None,
        parts=parts,
        finish_reason=reason,
        raw_finish_reason=raw_reason,
        usage=_usage(body),
        raw=body,
    )


def _parts(holder: dict[str, Any], text: str) -> Iterator[Part]:
    """The order of the wire: thinking, text, calls (section 3); images beside them."""
    if thinking := as_text(holder.get("thinking")):
        yield Reasoning(text=thinking)
    if isinstance(holder.get(text), str):
        yield Text(text=holder[text])
    for position, call in enumerate(as_objects(holder.get("tool_calls"))):
        yield read_call(call, position)
    for name in ("images", "image"):
        if holder.get(name):
            yield Other(kind=name, raw=holder[name])


def read_call(call: dict[str, Any], position: int = 0) -> ToolCall:
    function, identity = as_object(call.get("function")), as_text(call.get("id"))
    arguments = function.get("arguments")
    return ToolCall(
        id=identity or f"call_{position}",
        name=as_text(function.get("name")) or "",
        arguments=arguments if isinstance(arguments, str) else _encoded({} if arguments is None else arguments),
        synthetic_id=not identity,
    )


def _encoded(arguments: Any) -> str:
    """Compact, with the order of the keys kept (semantics.md D4)."""
    try:
        return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:  # deeper than any text of it can be read; the value stands in the native body
        return ""


def _usage(body: dict[str, Any]) -> Usage | None:
    """No total is on the wire; a prompt that was cached whole has no count, which is not a count of 0 (section 4)."""
    prompt, generated = as_count(body.get("prompt_eval_count")), as_count(body.get("eval_count"))
    if prompt is None and generated is None:
        return None
    total = prompt + generated if prompt is not None and generated is not None else None
    return Usage(input_tokens=prompt, output_tokens=generated, total_tokens=total)


def read_error(body: Any, status: int | None = None) -> ApiError:
    """An error line, or the body of an error answer: `error` is a text, or behind proxies an object."""
    error = body.get("error", body.get("detail")) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return api_error(error, status=status, raw=body)
    code = error.get("code")
    return api_error(error.get("message"), status=status, type=error.get("type"), code=code, raw=body)
