"""A Converse reply, streamed or not, as a neutral response. It has neither an id nor the name of its model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.translating import as_count, as_json, as_list, as_object, as_objects, as_text
from harness.response import FinishReason, Other, Part, Reasoning, Response, Text, ToolCall, Usage

_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL_CALLS,
    "guardrail_intervened": FinishReason.CONTENT_FILTER,
    "content_filtered": FinishReason.CONTENT_FILTER,
    "malformed_model_output": FinishReason.ERROR,
    "malformed_tool_use": FinishReason.ERROR,
}
_KNOWN = ("text", "reasoningContent", "toolUse", "citationsContent")


def read(body: Any) -> Response:
    body = as_object(body)
    message = as_object(as_object(body.get("output")).get("message"))
    blocks = as_objects(message.get("content"))
    parts = tuple(part for position, block in enumerate(blocks) for part in _parts(block, position))
    raw_reason = as_text(body.get("stopReason")) or None
    reason = _REASONS.get(raw_reason, FinishReason.OTHER) if raw_reason else None
    if reason is FinishReason.STOP and any(isinstance(p, ToolCall) for p in parts):
        reason = FinishReason.TOOL_CALLS
    usage = body.get("usage")
    return Response(
        parts=parts,
        finish_reason=reason,
        raw_finish_reason=raw_reason,
        usage=_usage(usage) if isinstance(usage, dict) else None,
        raw=body,
    )


def _parts(block: dict[str, Any], position: int) -> Iterator[Part]:
    """A block has one member, the kind of part that it is."""
    members = [name for name in _KNOWN if name in block] or list(block)[:1]
    for name in members:
        value = block[name]
        if name == "text" and isinstance(value, str):
            yield Text(text=value)
        elif name == "citationsContent" and isinstance(value, dict):
            texts = [as_text(part.get("text")) for part in as_objects(value.get("content"))]
            yield Text(text="".join(t for t in texts if t), annotations=tuple(as_list(value.get("citations"))))
        elif name == "reasoningContent" and isinstance(value, dict):
            thought = as_object(value.get("reasoningText"))
            text, signature = as_text(thought.get("text")), as_text(thought.get("signature"))
            yield Reasoning(text=text or None, signature=signature or None, encrypted=value.get("redactedContent"))
        elif name == "toolUse" and isinstance(value, dict) and value.get("type") != "server_tool_use":
            yield _call(value, position)
        else:
            yield Other(kind=name, raw=block)


def read_call(block: dict[str, Any]) -> ToolCall:
    return _call(as_object(block.get("toolUse")), 0)


def _call(tool: dict[str, Any], position: int) -> ToolCall:
    """A call of the client's. Its input is a value here; a string is what did not parse, and stays as it is."""
    identity, given = as_text(tool.get("toolUseId")), tool.get("input")
    return ToolCall(
        id=identity or f"call_{position}",
        name=as_text(tool.get("name")) or "",
        arguments=given if isinstance(given, str) else as_json({} if given is None else given),
        synthetic_id=not identity,
    )


def _usage(usage: dict[str, Any]) -> Usage:
    """The counts as they are sent: `inputTokens` counts neither cache reads nor cache writes, the total may.

    The names with Count are those of bodies inside Invoke; in Converse they double the others.
    """
    given, answered = as_count(usage.get("inputTokens")), as_count(usage.get("outputTokens"))
    read, written = (
        as_count(usage.get(f"{name}s") if usage.get(f"{name}s") is not None else usage.get(f"{name}Count"))
        for name in ("cacheReadInputToken", "cacheWriteInputToken")
    )
    total = as_count(usage.get("totalTokens"))
    if total is None and given is not None and answered is not None:
        total = given + answered + (read or 0) + (written or 0)
    return Usage(
        input_tokens=given,
        output_tokens=answered,
        total_tokens=total,
        cached_tokens=read,
        cache_write_tokens=written,
        input_apart=(read or 0) + (written or 0),
    )
