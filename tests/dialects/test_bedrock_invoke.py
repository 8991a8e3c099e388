"""The dialect `bedrock-invoke`: whose events they are, what Bedrock adds to them, and the texts that have no other dialect."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import StreamCollector, dialect
from harness.collector import Collected
from harness.dialects.translating import UNREADABLE
from harness.framing import Frame
from harness.response import FinishReason, ToolCall, Usage

INVOKE = dialect("bedrock-invoke")
METRICS = {
    "amazon-bedrock-invocationMetrics": {
        "inputTokenCount": 5,
        "outputTokenCount": 2,
        "invocationLatency": 9,
        "firstByteLatency": 1,
    }
}
ACTION = {"amazon-bedrock-guardrailAction": "INTERVENED"}
COUNTED = Usage(input_tokens=5, output_tokens=2, total_tokens=7)


def chunk(number: int, event: Any, name: str | None = "chunk") -> Frame:
    inner = event if isinstance(event, bytes) else json.dumps(event).encode()
    body = {"bytes": base64.b64encode(inner).decode(), "p": "abc"[: number % 4]}
    return Frame(number, name, json.dumps(body).encode(), headers={":message-type": "event", ":event-type": "chunk"})


def collected(*events: Any) -> Collected:
    collector = StreamCollector("bedrock-invoke")
    collector.extend(event if isinstance(event, Frame) else chunk(number, event) for number, event in enumerate(events))
    return collector.close()


def kinds(out: Collected) -> list[str]:
    return [note.kind for note in out.notes]


def strangers(out: Collected) -> list[tuple[str | None, Any]]:
    return [(unknown.where.path, unknown.value) for unknown in out.unknown]


# whose events they are


def test_anthropic() -> None:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 5}}
    tool = {"type": "tool_use", "id": "t1", "name": "tide", "input": {}}
    out = collected(
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": tool},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a":1}'}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop", **METRICS},
    )
    ends = {"stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 2}}
    assert out.body == message | {"content": [tool | {"input": {"a": 1}}]} | ends | METRICS
    assert out.response.tool_calls == [ToolCall(id="t1", name="tide", arguments='{"a":1}')]
    assert (out.complete, out.unknown, out.notes) == (True, (), ())


def test_chat_ends_without_a_done_marker() -> None:
    chunks = [
        {"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Low"}, "finish_reason": None}]},
        {"id": "c", "choices": [{"index": 0, "delta": {"content": " water"}, "finish_reason": "stop"}]},
        METRICS,
    ]
    out = collected(*chunks)
    assert (out.response.text, out.response.finish_reason) == ("Low water", FinishReason.STOP)
    assert (out.complete, out.unknown, out.notes) == (True, (), ())
    cut = collected(chunks[0])
    assert (cut.complete, kinds(cut)) == (False, ["stream/truncated"])


def test_nova_numbers_every_piece_of_a_text() -> None:
    def piece(index: int, text: str) -> dict[str, Any]:
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"text": text}}}

    def stop(index: int) -> dict[str, Any]:
        return {"contentBlockStop": {"contentBlockIndex": index}}

    start = {"contentBlockStart": {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "t1", "name": "tide"}}}}
    use = {"contentBlockDelta": {"contentBlockIndex": 2, "delta": {"toolUse": {"input": '{"a":1}'}}}}
    end = {"messageStop": {"stopReason": "tool_use"}}
    trailer = {"metadata": {"usage": {"inputTokens": 5, "outputTokens": 2}, "metrics": {}, "trace": {}}, **METRICS}
    texts = [piece(0, "Low"), stop(0), piece(1, " water"), stop(1)]
    out = collected(
        {"messageStart": {"role": "assistant"}}, *texts, start, use, stop(2), piece(3, "Asked."), stop(3), end, trailer
    )
    tool = {"toolUse": {"toolUseId": "t1", "name": "tide", "input": {"a": 1}}}
    assert out.body["output"]["message"]["content"] == [{"text": "Low water"}, tool, {"text": "Asked."}]
    assert out.response.usage == COUNTED
    assert (out.complete, out.unknown, out.notes) == (True, (), ())


def test_llama() -> None:
    out = collected(
        {"generation": "Low", "prompt_token_count": 5, "generation_token_count": 1, "stop_reason": None},
        {"generation": " water", "prompt_token_count": None, "generation_token_count": 2, "stop_reason": "length", **METRICS},
    )
    body = {"generation": "Low water", "prompt_token_count": 5, "generation_token_count": 2, "stop_reason": "length"}
    assert out.body == body | METRICS
    assert (out.response.finish_reason, out.response.usage) == (FinishReason.LENGTH, COUNTED)


def test_values_of_odd_types_are_kept_and_lose_nothing() -> None:
    out = collected(
        *({"generation": value} for value in ("Low", None, 5, " water")), {"generation": None, "stop_reason": "stop"}
    )
    assert (out.response.text, out.body["unknown_events"], out.complete) == ("Low water", [{"generation": 5}], True)


def test_anthropic_text_completions() -> None:
    piece = {"type": "completion", "completion": "Low", "stop_reason": None, "stop": None}
    out = collected(piece, piece | {"completion": "", "stop_reason": "stop_sequence", "stop": "\n\nHuman:"} | METRICS)
    assert (
        out.body == {"type": "completion", "completion": "Low", "stop_reason": "stop_sequence", "stop": "\n\nHuman:"} | METRICS
    )
    assert (out.response.text, out.response.finish_reason, out.response.usage) == ("Low", FinishReason.STOP, None)


def test_mistral() -> None:
    out = collected(
        {"outputs": [{"text": "Low", "stop_reason": None}]}, {"outputs": [{"text": "!", "stop_reason": "stop"}], **METRICS}
    )
    assert out.body == {"outputs": [{"text": "Low!", "stop_reason": "stop"}], **METRICS}
    assert (out.response.text, out.response.usage, out.complete) == ("Low!", None, True)


def test_titan_counts_in_floats_under_guardrails() -> None:
    out = collected(
        {"outputText": "Low", "index": 0.0, "inputTextTokenCount": 5.0, "completionReason": None, **ACTION},
        {
            "outputText": " water",
            "index": 0.0,
            "totalOutputTextTokenCount": 2.0,
            "completionReason": "FINISH",
            **ACTION,
            **METRICS,
        },
    )
    result = {"outputText": "Low water", "completionReason": "FINISH", "tokenCount": 2.0}
    assert out.body == {"inputTextTokenCount": 5.0, "results": [result], **ACTION, **METRICS}
    assert (out.response.finish_reason, out.response.usage) == (FinishReason.STOP, COUNTED)


def test_titan_blocked_by_a_guardrail_has_no_reason_of_its_own() -> None:
    trace = {"amazon-bedrock-trace": {"guardrail": {"input": {"g1": {"topicPolicy": {"topics": [{"name": "t"}]}}}}}}
    out = collected(
        {"outputText": "Blocked", "index": 0.0, "totalOutputTextTokenCount": 3.0, "inputTextTokenCount": 6.0, **ACTION, **trace}
    )
    assert (out.complete, out.unknown) == (True, ())
    assert (out.response.text, out.response.raw_finish_reason) == ("Blocked", None)
    assert out.response.finish_reason is FinishReason.CONTENT_FILTER


def test_cohere_in_pieces_with_one_reason_for_all() -> None:
    pieces = [{"index": number, "is_finished": False, "text": text} for number, text in ((0, "Low"), (0, "!"), (1, "High"))]
    out = collected(*pieces, {"finish_reason": "MAX_TOKENS", "is_finished": True, **METRICS})
    answers = [{"text": "Low!", "finish_reason": "MAX_TOKENS"}, {"text": "High", "finish_reason": "MAX_TOKENS"}]
    assert out.body == {"generations": answers, **METRICS}
    assert (out.response.text, out.response.finish_reason, kinds(out)) == ("Low!", FinishReason.LENGTH, ["choices/extra"])


def test_cohere_all_at_once() -> None:
    whole = {"id": "c", "generations": [{"id": "g", "text": "Low", "finish_reason": "COMPLETE"}], "prompt": "?"}
    out = collected(whole | METRICS)
    assert out.body == whole | METRICS
    assert (out.complete, out.response.id, out.response.usage) == (True, "c", None)


def test_cohere_breaks_off() -> None:
    out = collected(
        {"index": 0, "text": "Low", "is_finished": False}, {"finish_reason": "ERROR", "is_finished": True, **METRICS}
    )
    assert (out.complete, kinds(out), out.response.finish_reason) == (False, ["finish/abnormal"], FinishReason.ERROR)


def test_text_completions() -> None:
    first = {"id": "c", "choices": [{"index": 0, "text": "Low", "stop_reason": None}]}
    out = collected(first, {"id": "c", "choices": [{"index": 0, "text": "!", "stop_reason": "stop"}], **METRICS})
    assert out.body == {"id": "c", "choices": [{"index": 0, "text": "Low!", "stop_reason": "stop"}], **METRICS}
    assert (out.complete, out.response.text, out.response.finish_reason) == (True, "Low!", FinishReason.STOP)


# frames and what is in them


@pytest.mark.parametrize(
    ("events", "where"),
    [
        ([{"type": "message_stop", "new": 1}], "/new"),
        ([{"type": "message_delta", "usage": {"new": 1}}], "/usage/new"),
        ([{"messageStart": {"role": "assistant", "new": 1}}], "/messageStart/new"),
        ([{"messageStart": {"role": "assistant"}, "new": 1}], "/new"),
        ([{"generation": "a", "new": 1}], "/new"),
        ([{"outputs": [{"text": "a", "new": 1}]}], "/outputs/0/new"),
        ([{"outputText": "a", "index": 0, "new": 1}], "/new"),
        ([{"outputText": "a", "amazon-bedrock-invocationMetrics": {"new": 1}}], "/amazon-bedrock-invocationMetrics/new"),
        ([{"outputText": "a", "amazon-bedrock-trace": {"guardrail": {"new": 1}}}], "/amazon-bedrock-trace/guardrail/new"),
    ],
)
def test_unknown_fields_are_told_by_their_place_in_the_vendors_payload(events: list[Any], where: str) -> None:
    out = collected(*events)
    assert strangers(out) == [(where, 1)]
    assert '"new": 1' in json.dumps(out.body)


def test_unknown_fields_of_a_text_stand_with_it() -> None:
    out = collected({"outputText": "a", "index": 1, "new": 1}, {"outputText": "b", "index": 0})
    assert out.body["results"] == [{"outputText": "b"}, {"outputText": "a", "new": 1}]


def test_unknown_vendors_are_kept() -> None:
    out = collected({"sonnet": "a"}, {"sonnet": "b"})
    assert [value for _, value in strangers(out)] == [{"sonnet": "a"}, {"sonnet": "b"}]
    assert (out.complete, out.missing) == (False, "no chunk of a known vendor was sent")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"bytes":"!"}', "framing/non-json-data"),
        (b'{"bytes":5}', "framing/non-json-data"),
        (b'{"p":"a"}', "framing/non-json-data"),
        (json.dumps({"bytes": base64.b64encode(b"x").decode()}).encode(), "framing/non-json-data"),
        (json.dumps({"bytes": base64.b64encode(b"[1]").decode()}).encode(), "framing/not-an-object"),
        (b"[]", "framing/not-an-object"),
    ],
)
def test_chunks_that_cannot_be_read(data: bytes, kind: str) -> None:
    out = collected(Frame(0, "chunk", data), {"generation": "a", "stop_reason": "stop"})
    assert kinds(out) == [kind]
    assert out.response.text == "a"


def test_nova_chunks_that_cannot_be_read() -> None:
    lone = b'{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"\\ud800"}}}'
    out = collected(
        {"messageStart": {"role": "assistant"}}, b"nothing", b'{"new":1}', lone, {"messageStop": {"stopReason": "end_turn"}}
    )
    assert kinds(out) == ["framing/non-json-data", "stream/trailer-missing"]
    assert (out.response.text, out.complete) == ("\ud800", True)
    assert [value for _, value in strangers(out)] == [{"new": 1}]


def test_places_in_notes_of_nova_are_told_from_outside() -> None:
    out = collected({"contentBlockStart": {"contentBlockIndex": 0, "start": {}}})
    assert out.notes[0].where.path == "/contentBlockStart/start"


def test_frames_of_other_names_are_unknown_events() -> None:
    out = collected(Frame(0, "initial-response", b"{}"), {"generation": "a", "stop_reason": "stop"})
    assert (strangers(out), out.response.text) == ([("event:initial-response", {})], "a")


def test_chunks_after_the_metrics_are_reported_and_not_used() -> None:
    out = collected({"generation": "a", "stop_reason": "stop", **METRICS}, {"generation": "b"})
    assert (out.response.text, kinds(out), out.complete) == ("a", ["stream/data-after-done"], True)


def test_an_empty_stream() -> None:
    assert kinds(collected()) == ["stream/empty"]


# reading


@pytest.mark.parametrize(
    ("path", "matches", "streams"),
    [
        ("/model/m%3A0/invoke", True, False),
        ("/model/m/invoke-with-response-stream", True, True),
        ("/model/m/converse", False, False),
    ],
)
def test_its_requests(path: str, matches: bool, streams: bool) -> None:
    assert (INVOKE.matches("POST", path, {}), INVOKE.streams(path, {})) == (matches, streams)


@pytest.mark.parametrize(
    ("body", "text", "reason", "usage"),
    [
        (
            {"type": "message", "content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn"},
            "a",
            FinishReason.STOP,
            None,
        ),
        ({"output": {"message": {"content": [{"text": "a"}]}}, "stopReason": "end_turn"}, "a", FinishReason.STOP, None),
        ({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}, "a", FinishReason.STOP, None),
        (
            {"results": [{"outputText": "a", "tokenCount": 2, "completionReason": "LENGTH"}], "inputTextTokenCount": 5},
            "a",
            FinishReason.LENGTH,
            COUNTED,
        ),
        ({"completions": [{"data": {"text": "a"}, "finishReason": {"reason": "endoftext"}}]}, "a", FinishReason.STOP, None),
        (
            {"choices": [{"text": "a", "finish_reason": "length"}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
            "a",
            FinishReason.LENGTH,
            COUNTED,
        ),
        ({"outputs": [{"text": "a", "stop_reason": "new"}]}, "a", FinishReason.OTHER, None),
        ({"generations": []}, None, None, None),
        ({"embedding": [1.0]}, None, None, None),
    ],
)
def test_reading_plain_answers(
    body: dict[str, Any], text: str | None, reason: FinishReason | None, usage: Usage | None
) -> None:
    response = INVOKE.read(body)
    assert (response.text, response.finish_reason, response.usage) == (text, reason, usage)


# who watches


def watched(*frames: Frame) -> list[tuple[str | None, Any, bool]]:
    """What is told of each payload: the name of its frame, its value, and whether the strict reader took it."""
    told: list[tuple[str | None, Any, bool]] = []
    collector = StreamCollector("bedrock-invoke", watch=lambda frame, value, strict: told.append((frame.name, value, strict)))
    collector.extend(frames)
    collector.close()
    return told


def test_who_watches_sees_what_chunks_carry_with_bedrocks_own_fields() -> None:
    events: list[dict[str, Any]] = [{"generation": "a"}, {"generation": "b", "stop_reason": "stop", **METRICS}]
    assert watched(*(chunk(n, event) for n, event in enumerate(events))) == [(None, event, True) for event in events]


def test_who_watches_sees_of_a_steady_stream_its_first_payloads_only() -> None:
    head = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    deltas = [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}} for word in "abcdefgh"]
    ends: dict[str, Any] = {"type": "message_stop", **METRICS}
    told = [value for _, value, _ in watched(*(chunk(n, event) for n, event in enumerate([head, *deltas, ends])))]
    assert told == [head, *deltas[:2], ends]


def test_who_watches_sees_every_payload_of_nova() -> None:
    events: list[dict[str, Any]] = [{"messageStart": {"role": "assistant"}}]
    for index in range(5):
        events += [{"contentBlockDelta": {"contentBlockIndex": index, "delta": {"text": "a"}}}]
        events += [{"contentBlockStop": {"contentBlockIndex": index}}]
    assert [value for _, value, _ in watched(*(chunk(n, event) for n, event in enumerate(events)))] == events


def test_who_watches_sees_what_is_not_used() -> None:
    late = {"generation": "c"}
    told = watched(chunk(0, {"generation": "a", **METRICS}), chunk(1, late), chunk(2, b"no"))
    assert told[1:] == [(None, late, True), (None, UNREADABLE, False)]


def test_who_watches_sees_frames_that_carry_nothing_as_they_are() -> None:
    event, exception = {":message-type": "event"}, {":message-type": "exception"}
    told = watched(
        Frame(0, "chunk", b'{"bytes":"?"}', headers=event),
        Frame(1, "chunk", b"[1]", headers=event),
        Frame(2, "chunk", b"no", headers=event),
        Frame(3, "hint", b"{}", headers=event),
        Frame(4, "throttlingException", b'{"message":"no"}', headers=exception),
        Frame(5, "throttlingException", b"no", headers=exception),
    )
    assert told == [
        ("chunk", {"bytes": "?"}, True),
        ("chunk", [1], True),
        ("chunk", UNREADABLE, False),
        ("hint", {}, True),
        ("throttlingException", {"message": "no"}, True),
        ("throttlingException", {}, True),
    ]


def test_the_marker_that_bedrock_does_not_send_is_not_told() -> None:
    event = {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}
    assert watched(chunk(0, event)) == [(None, event, True)]


_NAMES = (
    "type completion generation outputs outputText index generations text is_finished finish_reason stop_reason choices delta "
    "message messageStart contentBlockDelta contentBlockStop messageStop contentBlockIndex results output content "
    "amazon-bedrock-trace amazon-bedrock-invocationMetrics guardrail usage"
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 3)
    | st.floats()
    | st.sampled_from(["", "a", "message_start", "completion", "stop"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES.split()), inner, max_size=5),
    max_leaves=12,
)
EVENTS = st.lists(st.dictionaries(st.sampled_from(_NAMES.split()), JSON, max_size=5) | JSON, max_size=6)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(body=JSON)
def test_reading_anything_raises_nothing(body: Any) -> None:
    INVOKE.read(body).as_dict()
    INVOKE.read_error(500, {}, body)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(events=EVENTS)
def test_any_events_give_a_result(events: list[Any]) -> None:
    out = collected(*events)
    json.dumps(out.body)
    assert out.complete is False or out.response is not None


@pytest.mark.parametrize("reason", [0, False, 1.5, 938, "", [], {}])
@pytest.mark.parametrize("form", ["llama", "mistral"])
def test_a_reason_that_is_no_text_is_no_end(form: str, reason: Any) -> None:
    def piece(text: str, reason: Any) -> Any:
        mistral = {"outputs": [{"text": text, "stop_reason": reason}]}
        return mistral if form == "mistral" else {"generation": text, "prompt_token_count": 4, "stop_reason": reason}

    assert not collected(piece("High", None), piece(" tide", reason)).complete
    assert collected(piece("High", None), piece(" tide", "stop")).complete
