"""A `message`, streamed or not, as a neutral response."""

from __future__ import annotations

from typing import Any

from harness.dialects.translating import as_count, as_json, as_list, as_object, as_objects, as_text
from harness.response import FinishReason, Other, Part, Reasoning, Response, Text, ToolCall, Usage

_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL_CALLS,
    "refusal": FinishReason.CONTENT_FILTER,
}


def read(body: Any) -> Response:
    body = as_object(body)
    parts = tuple(_part(block, n) for n, block in enumerate(as_objects(body.get("content"))))
    raw_reason = as_text(body.get("stop_reason")) or None
    reason = _REASONS.get(raw_reason, FinishReason.OTHER) if raw_reason else None
    if reason is FinishReason.STOP and any(isinstance(p, ToolCall) for p in parts):
        reason = FinishReason.TOOL_CALLS
    usage = body.get("usage")
    return Response(
        id=as_text(body.get("id")) or None,
        model=as_text(body.get("model")) or None,
        parts=parts,
        finish_reason=reason,
        raw_finish_reason=raw_reason,
        usage=_usage(usage) if isinstance(usage, dict) else None,
        raw=body,
    )


def _part(block: dict[str, Any], position: int) -> Part:
    match block.get("type"):
        case "text" if isinstance(block.get("text"), str):
            return Text(text=block["text"], annotations=tuple(as_list(block.get("citations"))))
        case "thinking":
            return Reasoning(text=as_text(block.get("thinking")) or None, signature=as_text(block.get("signature")) or None)
        case "redacted_thinking":
            return Reasoning(text=None, encrypted=block.get("data"))
        case "tool_use":
            return read_call(block, position)
    return Other(kind=str(block.get("type")), raw=block)


def read_call(block: dict[str, Any], position: int = 0) -> ToolCall:
    identity = as_text(block.get("id"))
    return ToolCall(
        id=identity or f"call_{position}",
        name=as_text(block.get("name")) or "",
        arguments=_arguments(block.get("input")),
        synthetic_id=not identity,
    )


def _arguments(value: Any) -> str:
    """Arguments are an object here; a string is what did not parse, and stays as it is."""
    if value is None:
        return "{}"
    return value if isinstance(value, str) else as_json(value)


def _usage(usage: dict[str, Any]) -> Usage:
    """The counts as they are sent: `input_tokens` counts neither cache reads nor cache writes, the total counts them all."""
    given, answered = as_count(usage.get("input_tokens")), as_count(usage.get("output_tokens"))
    read, written = as_count(usage.get("cache_read_input_tokens")), as_count(usage.get("cache_creation_input_tokens"))
    known = given is not None and answered is not None
    return Usage(
        input_tokens=given,
        output_tokens=answered,
        total_tokens=(given or 0) + (answered or 0) + (read or 0) + (written or 0) if known else None,
        cached_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=as_count(as_object(usage.get("output_tokens_details")).get("thinking_tokens")),
        input_apart=(read or 0) + (written or 0),
    )
