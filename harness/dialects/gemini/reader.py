"""A `GenerateContentResponse`, streamed or not, as a neutral response."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.gemini.errors import blocked
from harness.dialects.gemini.vocabulary import MEDIA
from harness.dialects.translating import as_count, as_json, as_object, as_objects, as_text
from harness.response import FinishReason, Other, Part, Reasoning, Response, Text, ToolCall, Usage

ABNORMAL = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
    }
)
"""Finish reasons that say that the model broke off (semantics.md 4.5)."""

_FILTERED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR", "LANGUAGE")
_REASONS = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    **dict.fromkeys(_FILTERED, FinishReason.CONTENT_FILTER),
    **dict.fromkeys(ABNORMAL, FinishReason.ERROR),
    # With enum-encoding=int the wire has numbers; from 6 on the two APIs count differently, so that those say nothing.
    "1": FinishReason.STOP,
    "2": FinishReason.LENGTH,
    "3": FinishReason.CONTENT_FILTER,
    "4": FinishReason.CONTENT_FILTER,
}
_MODIFIERS = frozenset({"thought", "thoughtSignature", "partMetadata", "speechMetadata", *MEDIA})
"""Fields that say something of a part; every other field is what the part consists of."""


def read(body: Any) -> Response:
    """The response of the first candidate; others stay in `raw` (semantics.md D17).

    A blocked prompt has no candidate: its reason is `content_filter`, though no finish reason was sent (row C64).
    """
    body = as_object(body)
    first = min(as_objects(body.get("candidates")), key=_index, default={})
    parts = tuple(_parts(first))
    reason, raw_reason = _finish(first)
    if reason is FinishReason.STOP and any(isinstance(p, ToolCall) for p in parts):
        reason = FinishReason.TOOL_CALLS
    if reason is None and blocked(as_object(body.get("promptFeedback"))):
        reason = FinishReason.CONTENT_FILTER
    usage = body.get("usageMetadata")
    return Response(
        id=as_text(body.get("responseId")) or None,
        model=as_text(body.get("modelVersion")) or None,
        parts=parts,
        finish_reason=reason,
        raw_finish_reason=raw_reason,
        usage=_usage(usage) if isinstance(usage, dict) else None,
        raw=body,
    )


def kind_of_part(part: dict[str, Any]) -> str:
    """What a part consists of, in the API's words: `text`, `thought`, `functionCall` and so on."""
    members = [name for name in part if name not in _MODIFIERS]
    kind = members[0] if members else "text"
    return "thought" if kind == "text" and part.get("thought") else kind


def _index(candidate: dict[str, Any]) -> int:
    return as_count(candidate.get("index")) or 0


def _finish(candidate: dict[str, Any]) -> tuple[FinishReason | None, str | None]:
    reason = candidate.get("finishReason") or candidate.get("finish_reason")
    if not reason or not isinstance(reason, (str, int)):
        return None, None
    return _REASONS.get(str(reason), FinishReason.OTHER), str(reason)


def _parts(candidate: dict[str, Any]) -> Iterator[Part]:
    citations = _Citations(candidate)
    calls = 0
    for position, part in enumerate(as_objects(as_object(candidate.get("content")).get("parts"))):
        signature = as_text(part.get("thoughtSignature"))
        members = [name for name in part if name not in _MODIFIERS]
        if not members and signature:
            members = ["text"]  # a part with only a signature counts as empty text (rule GGL-009)
        for name in members:
            if name == "text":
                yield _text(as_text(part.get(name)) or "", part, signature, citations, position)
            elif name == "functionCall" and isinstance(part[name], dict):
                yield _call(part[name], signature, calls)
                calls += 1
            else:
                yield Other(kind=name, raw=part)


class _Citations:
    """Citations and grounding supports of a candidate, which point into its text, by the part that they belong to."""

    def __init__(self, candidate: dict[str, Any]) -> None:
        parts = as_objects(as_object(candidate.get("content")).get("parts"))
        texts = [n for n, part in enumerate(parts) if kind_of_part(part) == "text"]
        metadata = as_object(candidate.get("citationMetadata"))
        self._first = texts[0] if texts else None  # what names no text part belongs to the first one
        self._of: dict[int | None, list[Any]] = {n: [] for n in texts}
        for name in ("citations", "citationSources"):
            self._of.setdefault(self._first, []).extend(as_objects(metadata.get(name)))
        for support in as_objects(as_object(candidate.get("groundingMetadata")).get("groundingSupports")):
            position = as_count(as_object(support.get("segment")).get("partIndex")) or 0
            self._of[position if position in self._of else self._first].append(support)

    def of(self, position: int) -> tuple[Any, ...]:
        """Those of the text part at `position`."""
        return tuple(self._of.get(position, ()))


def _text(text: str, part: dict[str, Any], signature: str | None, citations: _Citations, position: int) -> Part:
    if part.get("thought"):
        return Reasoning(text=text or None, signature=signature)
    return Text(text=text, annotations=citations.of(position), signature=signature)


def read_call(part: dict[str, Any]) -> ToolCall:
    return _call(as_object(part.get("functionCall")), as_text(part.get("thoughtSignature")), 0)


def _call(call: dict[str, Any], signature: str | None, position: int) -> ToolCall:
    identity, arguments = as_text(call.get("id")), call.get("args")
    return ToolCall(
        id=identity or f"call_{position}",
        name=as_text(call.get("name")) or "",
        arguments=arguments if isinstance(arguments, str) else _encoded({} if arguments is None else arguments),
        signature=signature,
        synthetic_id=not identity,
    )


def _encoded(arguments: Any) -> str:
    try:
        return as_json(arguments)
    except RecursionError:
        return str(arguments)


def _usage(usage: dict[str, Any]) -> Usage:
    """`candidatesTokenCount` leaves the thoughts out (section 5); a total that was not sent is summed up if it can be."""
    prompt, answer = as_count(usage.get("promptTokenCount")), as_count(usage.get("candidatesTokenCount"))
    thoughts, tools = as_count(usage.get("thoughtsTokenCount")), as_count(usage.get("toolUsePromptTokenCount"))
    total = as_count(usage.get("totalTokenCount"))
    if total is None and prompt is not None and answer is not None:
        total = prompt + answer + (thoughts or 0) + (tools or 0)
    return Usage(
        input_tokens=prompt,
        output_tokens=answer,
        total_tokens=total,
        cached_tokens=as_count(usage.get("cachedContentTokenCount")),
        reasoning_tokens=thoughts,
        input_apart=tools,
        output_apart=thoughts,
    )
