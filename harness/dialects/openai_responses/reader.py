"""A `response`, streamed or not, as a neutral response."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from harness.dialects.openai_responses.growth import CALLS, carried_out
from harness.dialects.translating import as_count, as_json, as_list, as_object, as_objects, as_text
from harness.response import CostInfo, FinishReason, Other, Part, Reasoning, Refusal, Response, Text, ToolCall, Usage

_UNFINISHED = {"in_progress", "queued"}
_INCOMPLETE = {"max_output_tokens": FinishReason.LENGTH, "content_filter": FinishReason.CONTENT_FILTER}
_REASONS = {"completed": FinishReason.STOP, "failed": FinishReason.ERROR, "cancelled": FinishReason.ERROR}


def read(body: Any) -> Response:
    """The response: a part for each item, and for each part of a message. The finish reason is the status, once it is one."""
    body = as_object(body)
    parts = tuple(_parts(body))
    status = as_text(body.get("status"))
    raw_reason = status if status and status not in _UNFINISHED else None
    usage = body.get("usage")
    return Response(
        id=as_text(body.get("id")) or None,
        model=as_text(body.get("model")) or None,
        parts=parts,
        finish_reason=_reason(raw_reason, body, parts) if raw_reason else None,
        raw_finish_reason=raw_reason,
        usage=_usage(usage) if isinstance(usage, dict) else None,
        cost=_cost(body),
        raw=body,
    )


def _reason(raw: str, body: dict[str, Any], parts: tuple[Part, ...]) -> FinishReason:
    """Tool turns and refusals are `completed` on the wire (semantics.md 4.5)."""
    if raw == "incomplete":
        why = as_text(as_object(body.get("incomplete_details")).get("reason"))
        return _INCOMPLETE.get(why or "", FinishReason.OTHER)
    reason = _REASONS.get(raw, FinishReason.OTHER)
    if reason is not FinishReason.STOP:
        return reason
    if any(isinstance(part, Refusal) for part in parts):
        return FinishReason.CONTENT_FILTER
    return FinishReason.TOOL_CALLS if any(isinstance(part, ToolCall) for part in parts) else reason


def _parts(body: dict[str, Any]) -> Iterator[Part]:
    calls = 0
    for item in as_objects(body.get("output")):
        kind = as_text(item.get("type"))
        if kind == "message":
            yield from map(_content, as_objects(item.get("content")))
        elif kind == "reasoning":
            yield _reasoning(item)
        elif kind in CALLS and not carried_out(item, body.get("tools")):
            yield read_call(item, calls)
            calls += 1
        else:
            yield Other(kind=str(kind), raw=item)
    if isinstance(body.get("audio"), dict):
        yield Other(kind="audio", raw=body["audio"])


def _content(part: dict[str, Any]) -> Part:
    kind = part.get("type")
    if kind == "output_text":
        return Text(text=as_text(part.get("text")) or "", annotations=tuple(as_list(part.get("annotations"))))
    if kind == "refusal":
        return Refusal(text=as_text(part.get("refusal")) or "")
    return Other(kind=str(kind), raw=part)


def _reasoning(item: dict[str, Any]) -> Reasoning:
    """The reasoning itself where it is sent, else its summary: never the two of them."""
    texts = [as_text(part.get("text")) for part in as_objects(item.get("content"))]
    if not any(texts):
        texts = [as_text(part.get("text")) for part in as_objects(item.get("summary"))]
    return Reasoning(text="".join(text for text in texts if text) or None, encrypted=item.get("encrypted_content") or None)


def read_call(item: dict[str, Any], position: int = 0) -> ToolCall:
    """A call; its result refers to `call_id`, the item's own id is of no use to the client."""
    custom = item.get("type") == "custom_tool_call"
    arguments = item.get("input" if custom else "arguments")
    identity = as_text(item.get("call_id"))
    return ToolCall(
        id=identity or f"call_{position}",
        name=as_text(item.get("name")) or "",
        arguments=as_json(arguments) if isinstance(arguments, (dict, list)) else as_text(arguments) or "",
        kind="custom" if custom else "function",
        synthetic_id=not identity,
    )


def _usage(usage: dict[str, Any]) -> Usage:
    inputs, outputs = as_object(usage.get("input_tokens_details")), as_object(usage.get("output_tokens_details"))
    return Usage(
        input_tokens=as_count(usage.get("input_tokens")),
        output_tokens=as_count(usage.get("output_tokens")),
        total_tokens=as_count(usage.get("total_tokens")),
        cached_tokens=as_count(inputs.get("cached_tokens")),
        cache_write_tokens=as_count(inputs.get("cache_write_tokens")),
        reasoning_tokens=as_count(outputs.get("reasoning_tokens")),
    ).totalled()


def _cost(body: dict[str, Any]) -> CostInfo | None:
    """The cost that OpenRouter sends itself, in credits, which are US dollars (wire/openrouter.md)."""
    usage = as_object(body.get("usage"))
    cost = usage.get("cost")
    if isinstance(cost, bool) or not isinstance(cost, (int, float)):
        return None
    return CostInfo(
        model=as_text(body.get("model")),
        input_tokens=as_count(usage.get("input_tokens")),
        output_tokens=as_count(usage.get("output_tokens")),
        cached_tokens=as_count(as_object(usage.get("input_tokens_details")).get("cached_tokens")),
        total_cost=Decimal(str(cost)),
    )
