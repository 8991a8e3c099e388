"""Rows of semantics.md 5.1 on Bedrock's Converse, one test each."""

from __future__ import annotations

import json
from typing import Any

from harness.api_error import ErrorKind
from harness.collector import Collected, StreamCollector
from harness.framing import Frame
from harness.response import FinishReason, Reasoning, Text, ToolCall

Event = tuple[str, dict[str, Any]]
START: Event = ("messageStart", {"role": "assistant", "p": "abc"})
METADATA: Event = (
    "metadata",
    {"usage": {"inputTokens": 17, "outputTokens": 3, "totalTokens": 20}, "metrics": {"latencyMs": 9}},
)


def stop(reason: str = "end_turn") -> Event:
    return "messageStop", {"stopReason": reason, "p": "a"}


def delta(index: int, **member: Any) -> Event:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": member, "p": "ab"}


def tool(index: int, identity: str, name: str) -> Event:
    head = {"toolUseId": identity, "name": name}
    return "contentBlockStart", {"contentBlockIndex": index, "start": {"toolUse": head}, "p": "a"}


def piece(index: int, text: str) -> Event:
    return delta(index, toolUse={"input": text})


def end(index: int) -> Event:
    return "contentBlockStop", {"contentBlockIndex": index, "p": "abcd"}


def collected(*events: Event | Frame) -> Collected:
    collector = StreamCollector("bedrock-converse")
    for number, event in enumerate(events):
        collector.add(event if isinstance(event, Frame) else _frame(number, event))
    return collector.close()


def _frame(number: int, event: Event) -> Frame:
    name, fields = event
    return Frame(number, name, json.dumps(fields).encode(), headers={":message-type": "event", ":event-type": name})


def exception(number: int, name: str, message: str) -> Frame:
    data = json.dumps({"message": message}).encode()
    return Frame(number, name, data, headers={":message-type": "exception", ":exception-type": name})


def test_C27_start_and_two_pieces_of_input() -> None:
    out = collected(
        START, tool(0, "t1", "tide"), piece(0, '{"port":'), piece(0, '"Brest"}'), end(0), stop("tool_use"), METADATA
    )
    assert out.response.tool_calls == [ToolCall(id="t1", name="tide", arguments='{"port":"Brest"}')]
    assert out.response.finish_reason is FinishReason.TOOL_CALLS
    block = {"toolUse": {"toolUseId": "t1", "name": "tide", "input": {"port": "Brest"}}}
    assert out.body["output"] == {"message": {"role": "assistant", "content": [block]}}


def test_C28_two_tools_in_sequence_keep_their_order() -> None:
    first = (tool(0, "t2", "tide"), piece(0, '{"n":1}'), end(0))
    second = (tool(1, "t1", "wind"), piece(1, '{"n":2}'), end(1))
    out = collected(START, *first, *second, stop("tool_use"), METADATA)
    assert [(c.id, c.name, c.arguments) for c in out.response.tool_calls] == [
        ("t2", "tide", '{"n":1}'),
        ("t1", "wind", '{"n":2}'),
    ]


def test_C29_pieces_of_two_blocks_interleaved() -> None:
    heads = (tool(0, "t1", "tide"), tool(1, "t2", "wind"))
    pieces = (piece(0, '{"a"'), piece(1, '{"b"'), piece(0, ":1}"), piece(1, ":2}"))
    out = collected(START, *heads, *pieces, end(0), end(1), stop("tool_use"), METADATA)
    assert [c.arguments for c in out.response.tool_calls] == ['{"a":1}', '{"b":2}']


def test_C30_tool_without_any_input() -> None:
    """With a stop of its block, with an empty piece, and with neither: an object each time, never an empty text."""
    first = (tool(0, "t1", "now"), end(0))
    second = (tool(1, "t2", "now"), piece(1, ""), end(1))
    out = collected(START, *first, *second, tool(2, "t3", "now"), stop("tool_use"), METADATA)
    assert [c.arguments for c in out.response.tool_calls] == ["{}", "{}", "{}"]
    assert [block["toolUse"]["input"] for block in out.body["output"]["message"]["content"]] == [{}, {}, {}]


def test_C31_reasoning_and_its_signature() -> None:
    thoughts = [delta(0, reasoningContent={"text": text}) for text in ("Two ", "thoughts")]
    out = collected(
        START,
        *thoughts,
        delta(0, reasoningContent={"signature": "early"}),
        delta(0, reasoningContent={"signature": "c2ln"}),
        end(0),
        delta(1, text="Go."),
        end(1),
        stop(),
        METADATA,
    )
    assert out.response.parts == (Reasoning(text="Two thoughts", signature="c2ln"), Text(text="Go."))
    thought = {"reasoningContent": {"reasoningText": {"text": "Two thoughts", "signature": "c2ln"}}}
    assert out.body["output"]["message"]["content"] == [thought, {"text": "Go."}]


def test_C32_usage_after_the_stop() -> None:
    out = collected(START, delta(0, text="Counted"), end(0), stop(), METADATA)
    usage = out.response.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.cached_tokens) == (17, 3, 20, None)
    assert out.complete
    assert out.notes == ()


def test_C33_exception_frame_in_the_middle() -> None:
    out = collected(START, delta(0, text="Some"), exception(2, "throttlingException", "Too many tokens, wait"))
    assert not out.complete
    assert out.error is not None
    assert (out.error.type, out.error.message) == ("throttlingException", "Too many tokens, wait")
    assert (out.error.kind, out.error.retryable) == (ErrorKind.RATE_LIMITED, True)
    assert (out.response.text, out.response.finish_reason) == ("Some", None)


def test_C57_an_error_is_never_a_success() -> None:
    """An exception after the stop, an error outside the service model, and stop reasons that say that the model failed."""
    whole = (START, delta(0, text="Some"), end(0), stop(), METADATA)
    late = collected(*whole, exception(5, "internalServerException", "broken"))
    assert (late.complete, late.error and late.error.kind) == (False, ErrorKind.SERVER)
    headers = {":message-type": "error", ":error-code": "InternalFailure", ":error-message": "no more"}
    foreign = collected(START, Frame(1, "InternalFailure", b"", headers=headers))
    assert foreign.error is not None
    assert (foreign.complete, foreign.error.type, foreign.error.message) == (False, "InternalFailure", "no more")
    abnormal = collected(START, delta(0, text="Some"), stop("malformed_tool_use"), METADATA)
    assert (abnormal.complete, abnormal.response.finish_reason) == (False, FinishReason.ERROR)
    assert "finish/abnormal" in [note.kind for note in abnormal.notes]


def test_C58_cut_before_the_stop() -> None:
    """Usage is no proof of an end."""
    whole = (START, delta(0, text="Almost"), end(0), METADATA)
    for length in range(1, len(whole) + 1):
        out = collected(*whole[:length])
        assert (out.complete, [note.kind for note in out.notes]) == (False, ["stream/truncated"])
    assert out.response.text == "Almost"
    assert out.response.finish_reason is None
