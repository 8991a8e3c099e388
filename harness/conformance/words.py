"""Words for the end of a turn, of every API and of the clients under test, and what they mean."""

from __future__ import annotations

from harness.response import FinishReason

_WORDS = {
    FinishReason.STOP: "stop end_turn stop_sequence completed complete done finished finish_reason_stop endturn end eos",
    FinishReason.LENGTH: "length max_tokens max_output_tokens incomplete limit model_length finish_reason_max_tokens"
    " model_context_window_exceeded",
    FinishReason.TOOL_CALLS: "tool_calls tool_call tool_use tool function_call function_calls",
    FinishReason.CONTENT_FILTER: "content_filter content_filtered safety recitation refusal guardrail_intervened blocklist"
    " prohibited_content spii image_safety language filtered",
    FinishReason.ERROR: "error failed malformed_function_call unexpected_tool_call malformed_model_output malformed_tool_use"
    " interrupted",
    FinishReason.CANCELLED: "cancelled canceled aborted",
    FinishReason.OTHER: "other unknown pause_turn load unload finish_reason_unspecified in_progress queued",
}
_NONE = ("interrupted", "unknown", "other", "finish_reason_unspecified")
_MEANINGS = {word: meant for meant, words in _WORDS.items() for word in words.split()}


def meaning(word: str | None) -> FinishReason | None:
    """What a word for the end of a turn means; None for one that nobody uses.

    `tool-calls`, `ToolCalls` and `TOOL_CALLS` are one.
    """
    if word is None:
        return None
    return _MEANINGS.get(_snake(word))


def says_none(word: str | None) -> bool:
    """Whether a word says that no reason for the end was sent: `interrupted` is the AI SDK's for a stream without one."""
    return word is not None and _snake(word) in _NONE


def _snake(word: str) -> str:
    plain = word.rpartition(".")[2].strip()
    snake = "".join(f"_{c}" if c.isupper() and n and plain[n - 1].islower() else c for n, c in enumerate(plain))
    return snake.lower().replace("-", "_").replace(" ", "_")
