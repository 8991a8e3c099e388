"""Rows of semantics.md 5.1 on Bedrock's Invoke, one test each."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from harness.api_error import ErrorKind
from harness.collector import Collected, StreamCollector
from harness.framing import Frame
from tests.collector.test_rows_anthropic_messages import WHOLE

METRICS = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 5, "outputTokenCount": 2}}
STREAMS: dict[str, list[dict[str, Any]]] = {
    "anthropic": [*WHOLE[:-1], WHOLE[-1] | METRICS],
    "nova": [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "Low"}, "contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "end_turn"}},
    ],
    "llama": [
        {"generation": "Low", "prompt_token_count": 5, "generation_token_count": 1, "stop_reason": None},
        {"generation": "", "prompt_token_count": None, "generation_token_count": 2, "stop_reason": "stop", **METRICS},
    ],
    "mistral": [
        {"outputs": [{"text": "Low", "stop_reason": None}]},
        {"outputs": [{"text": "", "stop_reason": "stop"}], **METRICS},
    ],
    "titan": [
        {
            "outputText": "Low",
            "index": 0,
            "totalOutputTextTokenCount": None,
            "completionReason": None,
            "inputTextTokenCount": 5,
        },
        {"outputText": "", "index": 0, "totalOutputTextTokenCount": 2, "completionReason": "FINISH", **METRICS},
    ],
    "cohere": [
        {"index": 0, "is_finished": False, "text": "Low"},
        {"finish_reason": "COMPLETE", "is_finished": True, **METRICS},
    ],
    "chat": [
        {"id": "c1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Low"}, "finish_reason": None}]},
        {"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], **METRICS},
    ],
}


def chunk(number: int, event: Any) -> Frame:
    inner = base64.b64encode(json.dumps(event).encode()).decode()
    headers: dict[str, object] = {":message-type": "event", ":event-type": "chunk"}
    return Frame(number, "chunk", json.dumps({"bytes": inner, "p": "abc"}).encode(), headers=headers)


def collected(*events: Any) -> Collected:
    collector = StreamCollector("bedrock-invoke")
    for number, event in enumerate(events):
        collector.add(event if isinstance(event, Frame) else chunk(number, event))
    return collector.close()


@pytest.mark.parametrize("vendor", STREAMS)
def test_C57_exception_frame(vendor: str) -> None:
    """The frames are Bedrock's, so that its failures come among any vendor's events."""
    data = b'{"message":"the model took too long"}'
    name = "modelTimeoutException"
    failure = Frame(1, name, data, headers={":message-type": "exception", ":exception-type": name})
    out = collected(*STREAMS[vendor][:-1], failure)
    assert out.error is not None
    assert (out.complete, out.error.type, out.error.kind) == (False, name, ErrorKind.TIMEOUT)
    assert (out.error.message, out.notes) == ("the model took too long", ())


@pytest.mark.parametrize("vendor", STREAMS)
def test_C58_cut_before_the_vendors_end(vendor: str) -> None:
    events = STREAMS[vendor]
    for length in range(1, len(events)):
        out = collected(*events[:length])
        assert (out.complete, [note.kind for note in out.notes]) == (False, ["stream/truncated"])
    assert collected(*events).complete
    assert collected().missing == "no chunk of a known vendor was sent"
