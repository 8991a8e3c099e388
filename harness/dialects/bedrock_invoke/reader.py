"""The body of whichever model vendor answered, streamed or not, as a neutral response."""

from __future__ import annotations

from typing import Any

from harness import dialects
from harness.dialects.bedrock_invoke.texts import FORMS, form_of
from harness.dialects.translating import as_count, as_list, as_object, as_objects, as_text
from harness.response import FinishReason, Part, Response, Text, ToolCall, Usage

_REASONS = {
    "stop": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "COMPLETE": FinishReason.STOP,
    "FINISH": FinishReason.STOP,
    "STOP_CRITERIA_MET": FinishReason.STOP,
    "endoftext": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "MAX_TOKENS": FinishReason.LENGTH,
    "LENGTH": FinishReason.LENGTH,
    "CONTENT_FILTERED": FinishReason.CONTENT_FILTER,
    "ERROR_TOXIC": FinishReason.CONTENT_FILTER,
    "ERROR": FinishReason.ERROR,
}
_COUNTS = (  # names of the counts of input and output: Llama's, completions'
    ("prompt_token_count", "generation_token_count"),
    ("prompt_tokens", "completion_tokens"),
)


def read(body: Any) -> Response:
    """Messages, Chat and Converse bodies have readers of their own; of several texts the first counts (semantics.md D17)."""
    body = as_object(body)
    other = _dialect_of(body)
    if other is not None:
        return dialects.dialect(other).read(body)
    text, raw_reason = _answer(body)
    reason = _REASONS.get(raw_reason, FinishReason.OTHER) if raw_reason else None
    if reason is None and body.get("amazon-bedrock-guardrailAction") == "INTERVENED":
        reason = FinishReason.CONTENT_FILTER
    parts: tuple[Part, ...] = () if text is None else (Text(text=text),)
    return Response(
        id=as_text(body.get("id")) or None,
        model=as_text(body.get("model")) or None,
        parts=parts,
        finish_reason=reason,
        raw_finish_reason=raw_reason,
        usage=_usage(body),
        raw=body,
    )


def read_call(element: dict[str, Any]) -> ToolCall:
    """A call in a body of Converse, of Chat or of Messages."""
    chat = "function" in element or "custom" in element
    owner = "bedrock-converse" if "toolUse" in element else "openai-chat" if chat else "anthropic-messages"
    return dialects.dialect(owner).read_call(element)


def _dialect_of(body: dict[str, Any]) -> str | None:
    if isinstance(body.get("output"), dict):
        return "bedrock-converse"
    if body.get("type") == "message" or (isinstance(body.get("content"), list) and "role" in body):
        return "anthropic-messages"
    choices = as_objects(body.get("choices"))
    return "openai-chat" if any("message" in choice for choice in choices) else None


def _answer(body: dict[str, Any]) -> tuple[str | None, str | None]:
    """The first text and the vendor's word for why it ended."""
    if "completions" in body:  # AI21 Jurassic, which does not stream
        first = as_object(next(iter(as_list(body["completions"])), None))
        ending = as_object(first.get("finishReason"))
        return as_text(as_object(first.get("data")).get("text")), as_text(ending.get("reason"))
    form = FORMS["titan"] if "results" in body else form_of(body)
    if form is None:
        return None, None
    first = body if form.answers is None else next(iter(as_objects(body.get(form.answers))), {})
    reason = as_text(first.get(form.reason)) or as_text(first.get("stop_reason"))
    return as_text(first.get(form.text)), reason or None


def _usage(body: dict[str, Any]) -> Usage | None:
    """The vendor's counts. Those that Bedrock adds to a stream stay in `raw`: plain answers have them in headers, so that they
    are no part of the body that both forms share."""
    for source in (body, as_object(body.get("usage"))):
        for given, answered in _COUNTS:
            if given in source or answered in source:
                return _counted(as_count(source.get(given)), as_count(source.get(answered)))
    if "inputTextTokenCount" in body:
        counts = [as_count(result.get("tokenCount")) for result in as_objects(body.get("results"))]
        known = [count for count in counts if count is not None]
        return _counted(as_count(body["inputTextTokenCount"]), sum(known) if known else None)
    return None


def _counted(given: int | None, answered: int | None) -> Usage:
    total = given + answered if given is not None and answered is not None else None
    return Usage(input_tokens=given, output_tokens=answered, total_tokens=total)
