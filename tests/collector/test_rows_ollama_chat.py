"""Rows of semantics.md 5.1 on Ollama's own API, one test each."""

from __future__ import annotations

import json
from typing import Any

from harness import StreamCollector, framer
from harness.collector import Collected
from harness.response import FinishReason, Usage


def line(done: bool = False, **message: Any) -> dict[str, Any]:
    head = {"model": "m", "created_at": f"2026-01-01T00:00:0{len(message)}Z"}
    return {**head, "message": {"role": "assistant", "content": "", **message}, "done": done}


def last(reason: str = "stop", **message: Any) -> dict[str, Any]:
    counts = {"done_reason": reason, "total_duration": 9, "prompt_eval_count": 7, "eval_count": 3, "eval_duration": 5}
    return line(done=True, **message) | counts


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}}


def collected(*lines: Any, request: Any = None) -> Collected:
    frames = framer("ndjson")
    collector = StreamCollector("ollama-chat", request)
    collector.extend(frames.feed("".join(json.dumps(each) + "\n" for each in lines).encode()))
    collector.extend(frames.close())
    return collector.close()


def test_C34_text_lines_then_done() -> None:
    out = collected(line(content="The lock "), line(content="is "), line(content="shut."), last())
    assert (out.response.text, out.response.tool_calls, out.response.reasoning) == ("The lock is shut.", [], None)
    assert (out.complete, out.notes, out.unknown) == (True, (), ())


def test_C35_thinking_only_lines() -> None:
    out = collected(line(thinking="one "), line(thinking="two"), line(content="Go."), last())
    assert (out.response.reasoning, out.response.text) == ("one two", "Go.")
    assert out.body["message"] == {"role": "assistant", "content": "Go.", "thinking": "one two"}


def test_C36_done_line_with_text() -> None:
    out = collected(line(content="Half "), last(content="and half"))
    assert out.response.text == "Half and half"


def test_C37_tool_calls() -> None:
    """Over several lines, on the last one too, and all with the index 0: appended, never merged."""
    first, second, third = call("tide", port="Brest"), call("tide", port="Ghent"), call("wind", port="Ghent", unit="kn")
    for each in (first, second, third):
        each["function"]["index"] = 0
    first["id"] = "call_1"
    out = collected(line(tool_calls=[first, second]), last(tool_calls=[third]))
    calls = out.response.tool_calls
    assert [(c.id, c.name, c.arguments, c.synthetic_id) for c in calls] == [
        ("call_1", "tide", '{"port":"Brest"}', False),
        ("call_1", "tide", '{"port":"Ghent"}', True),
        ("call_2", "wind", '{"port":"Ghent","unit":"kn"}', True),
    ]
    assert out.body["message"]["tool_calls"] == [first, second, third]
    assert out.response.finish_reason is FinishReason.TOOL_CALLS
    assert out.response.raw_finish_reason == "stop"


def test_C38_counts_and_reason() -> None:
    out = collected(line(content="Long sto"), last("length"))
    assert out.response.usage == Usage(input_tokens=7, output_tokens=3, total_tokens=10)
    assert (out.response.finish_reason, out.response.raw_finish_reason) == (FinishReason.LENGTH, "length")
    assert {name: out.body[name] for name in ("total_duration", "eval_duration")} == {"total_duration": 9, "eval_duration": 5}


def test_C57_error_line() -> None:
    out = collected(line(content="Yes"), {"error": "the model runner has stopped"})
    assert out.error is not None
    assert (out.error.message, out.complete, out.response.text) == ("the model runner has stopped", False, "Yes")
    assert out.response.usage is None


def test_C58_cut_before_done() -> None:
    out = collected(line(content="The lock gate"))
    assert (out.complete, out.response.text, out.response.finish_reason) == (False, "The lock gate", None)
    assert [note.kind for note in out.notes] == ["stream/truncated"]
