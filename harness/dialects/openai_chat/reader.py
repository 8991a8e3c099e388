"""A `chat.completion`, streamed or not, as a neutral response."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from harness.dialects.translating import as_count, as_json, as_list, as_object, as_objects, as_text
from harness.response import CostInfo, FinishReason, Other, Part, Reasoning, Refusal, Response, Text, ToolCall, Usage

_REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
    "error": FinishReason.ERROR,
    "insufficient_system_resource": FinishReason.ERROR,
}


def read(body: Any) -> Response:
    """The response of the first choice; others stay in `raw` (semantics.md D17)."""
    body = as_object(body)
    choices = as_objects(body.get("choices"))
    first = min(choices, key=_index, default={})
    parts = tuple(_parts(as_object(first.get("message"))))
    raw_reason = as_text(first.get("finish_reason")) or None
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
        cost=_cost(body),
        raw=body,
    )


def _index(choice: dict[str, Any]) -> int:
    index = choice.get("index")
    return index if type(index) is int else 0


def _parts(message: dict[str, Any]) -> Iterator[Part]:
    reasoning = _reasoning(message)
    if reasoning is not None:
        yield reasoning
    content = message.get("content")
    annotations = tuple(as_list(message.get("annotations")))
    if isinstance(content, str):
        yield Text(text=content, annotations=annotations)
    for part in as_objects(content):
        yield _content_part(part)
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        yield Refusal(text=refusal)
    calls = as_objects(message.get("tool_calls"))
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [{"function": message["function_call"]}]
    for position, call in enumerate(calls):
        yield read_call(call, position)
    if message.get("audio"):
        yield Other(kind="audio", raw=message["audio"])
    if message.get("executed_tools"):
        yield Other(kind="executed_tools", raw=message["executed_tools"])


def _reasoning(message: dict[str, Any]) -> Reasoning | None:
    """One view of the reasoning, though a server may send it in two forms at once: it is not counted twice."""
    details = as_objects(message.get("reasoning_details"))
    text = next((t for n in ("reasoning_content", "reasoning") if isinstance(t := message.get(n), str) and t), None)
    if text is None:
        pieces = [d.get("text") or d.get("summary") for d in details]
        text = "".join(p for p in pieces if isinstance(p, str)) or None
    if text is None and not details:
        return None
    signature = next((s for d in details if isinstance(s := d.get("signature"), str) and s), None)
    encrypted = [d["data"] for d in details if isinstance(d.get("data"), str)]
    return Reasoning(text=text, signature=signature, encrypted=encrypted or None)


def _content_part(part: dict[str, Any]) -> Part:
    kind = part.get("type")
    if kind == "text" and isinstance(part.get("text"), str):
        return Text(text=part["text"])
    if kind == "thinking":
        thinking = part.get("thinking")
        texts = [thinking] if isinstance(thinking, str) else [as_text(t.get("text")) for t in as_objects(thinking)]
        return Reasoning(text="".join(t for t in texts if t) or None)
    return Other(kind=str(kind), raw=part)


def read_call(call: dict[str, Any], position: int = 0) -> ToolCall:
    """A call of a message, or the deprecated `function_call` as it stands in one."""
    if call.keys() & {"name", "arguments"}:
        call = {"function": call}
    custom = call.get("custom")
    head = as_object(custom if isinstance(custom, dict) else call.get("function"))
    arguments = head.get("input" if isinstance(custom, dict) else "arguments")
    identity = as_text(call.get("id"))
    google = as_object(as_object(call.get("extra_content")).get("google"))
    return ToolCall(
        id=identity or f"call_{position}",
        name=as_text(head.get("name")) or "",
        arguments=arguments if isinstance(arguments, str) else "" if arguments is None else as_json(arguments),
        kind="custom" if isinstance(custom, dict) else "function",
        signature=as_text(google.get("thought_signature")),
        synthetic_id=not identity,
    )


def _usage(usage: dict[str, Any]) -> Usage:
    prompt, completion = as_object(usage.get("prompt_tokens_details")), as_object(usage.get("completion_tokens_details"))
    cached = prompt.get("cached_tokens")
    return Usage(
        input_tokens=as_count(usage.get("prompt_tokens")),
        output_tokens=as_count(usage.get("completion_tokens")),
        total_tokens=as_count(usage.get("total_tokens")),
        cached_tokens=as_count(usage.get("prompt_cache_hit_tokens") if cached is None else cached),
        cache_write_tokens=as_count(prompt.get("cache_write_tokens")),
        reasoning_tokens=as_count(completion.get("reasoning_tokens")),
    ).totalled()


def _cost(body: dict[str, Any]) -> CostInfo | None:
    """The cost that OpenRouter sends itself, in credits, which are US dollars (wire/openrouter.md)."""
    usage = as_object(body.get("usage"))
    cost = usage.get("cost")
    if isinstance(cost, bool) or not isinstance(cost, (int, float)):
        return None
    return CostInfo(
        provider=as_text(body.get("provider")),
        model=as_text(body.get("model")),
        input_tokens=as_count(usage.get("prompt_tokens")),
        output_tokens=as_count(usage.get("completion_tokens")),
        cached_tokens=as_count(as_object(usage.get("prompt_tokens_details")).get("cached_tokens")),
        total_cost=Decimal(str(cost)),
    )
