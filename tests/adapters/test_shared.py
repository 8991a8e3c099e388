"""What several subjects share: a turn is told as it ended, and a client is not said to hide what its events tell."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from harness.adapters import subjects
from harness.adapters.protocol import TEMPLATES

CREATED = {"type": "response.created", "response": {"status": "in_progress", "output": []}}
CALL = {"type": "function_call", "call_id": "call_1", "name": "tide", "arguments": "{}"}
THOUGHT = {"type": "reasoning", "summary": [{"text": "Ports "}], "content": [{"text": "have tides."}]}
MESSAGE = {"type": "message", "content": [{"text": "High "}, {"refusal": "No."}]}
BODY = {"status": "completed", "output": [THOUGHT, MESSAGE, CALL], "usage": {"input_tokens": 3, "output_tokens": 5}}


@pytest.fixture
def openai_counts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(TEMPLATES))
    monkeypatch.syspath_prepend(str(subjects.folder() / "shared"))
    return __import__("openai_counts")


@pytest.mark.parametrize("end", ["response.completed", "response.incomplete", "response.failed"])
def test_the_event_that_ends_a_response_bears_it(openai_counts: ModuleType, end: str) -> None:
    told: dict[str, Any] = openai_counts.respond([CREATED, {"type": end, "response": BODY}])["response"]
    assert (told["text"], told["reasoning"], told["finish_reason"]) == ("High No.", "have tides.Ports ", "completed")
    assert told["tool_calls"] == [{"id": "call_1", "name": "tide", "arguments": "{}"}]
    assert (told["usage"]["input_tokens"], told["usage"]["reasoning_tokens"]) == (3, None)


def test_a_response_that_was_only_begun_has_no_end(openai_counts: ModuleType) -> None:
    """`in_progress` is no finish reason, and whoever sees no last event knows that there was none."""
    told = openai_counts.respond([CREATED, {"type": "response.output_text.delta", "delta": "Hi"}])
    assert told["response"]["finish_reason"] is None
    assert told["raw"][1][1]["delta"] == "Hi"


@pytest.mark.parametrize(
    "last",
    [
        {"type": "error", "message": "The server had an error"},
        {"type": "response.failed", "response": {"error": {"message": "The server had an error"}, "output": []}},
    ],
)
def test_an_event_that_says_that_the_turn_failed_is_a_failure(openai_counts: ModuleType, last: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="The server had an error"):
        openai_counts.respond([CREATED, last])
