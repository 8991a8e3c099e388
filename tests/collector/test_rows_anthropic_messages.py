"""Rows of semantics.md 5.1 on Anthropic's Messages, one test each."""

from __future__ import annotations

import json
from typing import Any

from harness.api_error import ErrorKind
from harness.collector import Collected, StreamCollector
from harness.framing import Frame
from harness.response import FinishReason

MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
WHOLE: list[dict[str, Any]] = [
    {"type": "message_start", "message": MESSAGE | {"usage": {"input_tokens": 25, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Low "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "water"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 15}},
    {"type": "message_stop"},
]


def collected(*events: dict[str, Any]) -> Collected:
    collector = StreamCollector("anthropic-messages")
    collector.extend(Frame(n, event["type"], json.dumps(event).encode()) for n, event in enumerate(events))
    return collector.close()


def test_C48_usage_is_overwritten_field_by_field() -> None:
    """Totals, not increments; what the end does not repeat stays, and a null erases nothing."""
    last = {**WHOLE[5], "usage": {"output_tokens": 40, "input_tokens": None}}
    usage = collected(*WHOLE[:6], last, WHOLE[6]).response.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (25, 40, 65)


def test_C57_an_error_event_is_never_a_success() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"}
    for events in ([error], [*WHOLE[:4], error], [*WHOLE[:4], error, *WHOLE[4:]]):
        out = collected(*events)
        assert out.error is not None
        assert (out.complete, out.error.type, out.error.message) == (False, "overloaded_error", "Overloaded")
        assert (out.error.kind, out.error.retryable) == (ErrorKind.OVERLOADED, True)
    assert out.response.text == "Low water"


def test_C58_cut_before_message_stop() -> None:
    for length in range(1, len(WHOLE)):
        out = collected(*WHOLE[:length])
        assert (out.complete, out.missing) == (False, "message_stop was not sent")
        assert [note.kind for note in out.notes] == ["stream/truncated"]
    whole = collected(*WHOLE)
    assert (whole.complete, whole.notes, whole.response.finish_reason) == (True, (), FinishReason.STOP)
