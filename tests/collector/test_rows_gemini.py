"""Rows of semantics.md 5.1 on Google's API, one test each."""

from __future__ import annotations

import json
from typing import Any

from harness import StreamCollector, framer
from harness.api_error import ErrorKind
from harness.collector import Collected
from harness.response import FinishReason, Reasoning, Text, Usage


def chunk(*parts: Any, finish: str | None = None, usage: Any = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    counts = {"usageMetadata": usage} if usage else {}
    return {"candidates": [candidate], **counts, "modelVersion": "g", "responseId": "r"}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": arguments}}


def collected(*chunks: Any, request: Any = None) -> Collected:
    frames = framer("sse")
    collector = StreamCollector("gemini", request)
    collector.extend(frames.feed("".join(f"data: {json.dumps(each)}\r\n\r\n" for each in chunks).encode()))
    collector.extend(frames.close())
    return collector.close()


def test_C20_complete_call_in_one_chunk() -> None:
    part = {"functionCall": {"id": "f1", "name": "tide", "args": {"port": "Brest", "days": [1, 2]}}, "thoughtSignature": "c2ln"}
    out = collected(chunk(part, finish="STOP"))
    assert out.body["candidates"][0]["content"]["parts"] == [part]
    (got,) = out.response.tool_calls
    assert (got.id, got.name, got.arguments) == ("f1", "tide", '{"port":"Brest","days":[1,2]}')
    assert (got.signature, got.synthetic_id) == ("c2ln", False)


def test_C21_two_calls_to_one_function_have_distinct_ids() -> None:
    out = collected(chunk(call("tide", port="Brest")), chunk(call("tide", port="Ghent"), finish="STOP"))
    calls = out.response.tool_calls
    assert [(c.id, c.name, c.arguments) for c in calls] == [
        ("call_0", "tide", '{"port":"Brest"}'),
        ("call_1", "tide", '{"port":"Ghent"}'),
    ]
    assert all(c.synthetic_id for c in calls)
    assert [note.kind for note in out.notes] == ["tool/id-synthetic"] * 2


def test_C22_call_and_stop_in_one_chunk() -> None:
    out = collected(chunk(call("tide"), finish="STOP"))
    assert [c.name for c in out.response.tool_calls] == ["tide"]
    assert (out.response.finish_reason, out.response.raw_finish_reason) == (FinishReason.TOOL_CALLS, "STOP")
    assert out.complete


def test_C23_call_then_a_stop_chunk_without_content() -> None:
    """The last chunk has an empty text, no parts, or no content: the call stays, and nothing is added to it."""
    stop = {"finishReason": "STOP", "index": 0}
    for last in (chunk({"text": ""}, finish="STOP"), {"candidates": [stop | {"content": {}}]}, {"candidates": [stop]}):
        out = collected(chunk(call("tide", port="Brest")), last)
        assert out.body["candidates"][0]["content"]["parts"] == [call("tide", port="Brest")]
        assert (out.response.finish_reason, out.response.text, out.complete) == (FinishReason.TOOL_CALLS, None, True)


def test_C24_thought_and_text_in_one_chunk() -> None:
    out = collected(
        chunk({"text": "Look first. ", "thought": True}, {"text": "It is "}), chunk({"text": "low."}, finish="STOP")
    )
    assert out.response.parts == (Reasoning(text="Look first. "), Text(text="It is low."))
    assert (out.response.reasoning, out.response.text) == ("Look first. ", "It is low.")


def test_C25_counts_that_were_not_sent_are_unknown() -> None:
    out = collected(chunk({"text": "a"}, finish="STOP", usage={"promptTokenCount": 6, "totalTokenCount": 9}))
    assert out.response.usage == Usage(input_tokens=6, output_tokens=None, total_tokens=9)


def test_C26_cached_and_thought_tokens() -> None:
    counts = {"promptTokenCount": 90, "candidatesTokenCount": 4, "totalTokenCount": 101}
    details = {"cachedContentTokenCount": 80, "thoughtsTokenCount": 7}
    out = collected(chunk({"text": "a"}, finish="STOP", usage=counts | details))
    assert out.response.usage == Usage(input_tokens=90, output_tokens=4, total_tokens=101, cached_tokens=80, reasoning_tokens=7)


def test_C57_error_chunk() -> None:
    """As a chunk, in a list of one, and as bare JSON without `data:`: never a success, and the text stays."""
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    bare = StreamCollector("gemini")
    frames = framer("sse")
    body = f"data: {json.dumps(chunk({'text': 'Half'}))}\n\n{json.dumps(error, indent=2)}\n"
    bare.extend(frames.feed(body.encode()) + frames.close())
    for out in (collected(chunk({"text": "Half"}), error), collected(chunk({"text": "Half"}), [error]), bare.close()):
        assert out.error is not None
        assert (out.error.kind, out.error.retryable, out.error.code) == (ErrorKind.OVERLOADED, True, 503)
        assert (out.complete, out.response.text) == (False, "Half")


def test_C58_cut_before_the_finish_reason() -> None:
    out = collected(chunk({"text": "Mind the"}, usage={"promptTokenCount": 5, "totalTokenCount": 7}))
    assert (out.complete, out.missing) == (False, "candidate 0 has no finish reason")
    assert [note.kind for note in out.notes] == ["stream/truncated"]
    assert (out.response.text, out.response.finish_reason) == ("Mind the", None)


def test_C64_blocked_prompt() -> None:
    feedback = {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "Not here."}
    out = collected({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 6, "totalTokenCount": 6}})
    assert out.error is not None
    assert (out.error.kind, out.error.retryable) == (ErrorKind.CONTENT_FILTER, False)
    assert "PROHIBITED_CONTENT" in out.error.message
    assert (out.response.finish_reason, out.response.raw_finish_reason) == (FinishReason.CONTENT_FILTER, None)
    assert (out.complete, out.response.text, out.response.tool_calls) == (False, None, [])
    assert [note.kind for note in out.notes] == ["gemini/prompt-blocked"]
    assert out.body["promptFeedback"] == feedback
