"""The dialect `bedrock-converse`: translation, reading, and what it makes of events that are not as they should be."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import StreamCollector, dialect
from harness.api_error import ErrorKind
from harness.collector import Collected
from harness.dialects.bedrock_converse.translator import ConverseTranslator
from harness.edits import Op
from harness.framing import Frame
from harness.response import FinishReason, Other, Reasoning, Text, ToolCall, Usage

CONVERSE = dialect("bedrock-converse")
Event = tuple[str, Any]
START: Event = ("messageStart", {"role": "assistant", "p": "abc"})
STOP: Event = ("messageStop", {"stopReason": "end_turn", "p": "ab"})
METADATA: Event = ("metadata", {"usage": {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13}, "metrics": {"latencyMs": 7}})


def delta(index: Any, **member: Any) -> Event:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": member, "p": "abcd"}


def head(index: Any, **member: Any) -> Event:
    return "contentBlockStart", {"contentBlockIndex": index, "start": member, "p": "abc"}


def tool(index: Any, identity: str, **fields: Any) -> Event:
    return head(index, toolUse={"toolUseId": identity, "name": "tide", **fields})


def piece(index: Any, part: Any) -> Event:
    return delta(index, toolUse={"input": part})


def end(index: Any) -> Event:
    return "contentBlockStop", {"contentBlockIndex": index, "p": "a"}


def frame(number: int, event: Event) -> Frame:
    name, fields = event
    return Frame(number, name, json.dumps(fields).encode(), headers={":message-type": "event", ":event-type": name})


def collected(*events: Event) -> Collected:
    collector = StreamCollector("bedrock-converse")
    collector.extend(frame(number, event) for number, event in enumerate(events))
    return collector.close()


def turn(*events: Event) -> Collected:
    return collected(START, *events, STOP, METADATA)


def content(out: Collected) -> list[Any]:
    blocks = out.body["output"]["message"]["content"]
    assert isinstance(blocks, list)
    return blocks


def kinds(out: Collected) -> list[str]:
    return [note.kind for note in out.notes]


def strangers(out: Collected) -> list[tuple[str | None, Any]]:
    return [(unknown.where.path, unknown.value) for unknown in out.unknown]


# translating


def test_the_body_is_a_reply() -> None:
    fields = {"delta": {"stop_sequence": None}}
    stop = ("messageStop", {"stopReason": "end_turn", "additionalModelResponseFields": fields})
    trailer = METADATA[1] | {
        "trace": {"promptRouter": {"invokedModelId": "m"}},
        "performanceConfig": {"latency": "standard"},
        "p": "z",
    }
    out = collected(START, delta(0, text="Low "), delta(0, text="water"), end(0), stop, ("metadata", trailer))
    assert out.body == {
        "output": {"message": {"role": "assistant", "content": [{"text": "Low water"}]}},
        "stopReason": "end_turn",
        "additionalModelResponseFields": fields,
        "usage": METADATA[1]["usage"],
        "metrics": {"latencyMs": 7},
        "trace": {"promptRouter": {"invokedModelId": "m"}},
        "performanceConfig": {"latency": "standard"},
    }
    assert (out.complete, out.unknown, out.notes, out.disagreements) == (True, (), (), ())


def test_metadata_may_come_before_the_stop_and_a_null_erases_nothing() -> None:
    again = ("metadata", {"usage": {"outputTokens": 5, "inputTokens": None}, "metrics": None})
    out = collected(START, METADATA, again, STOP)
    assert out.body["usage"] == {"inputTokens": 9, "outputTokens": 5, "totalTokens": 13}
    assert (out.body["metrics"], out.complete, kinds(out)) == ({"latencyMs": 7}, True, [])


def test_a_missing_trailer_is_reported() -> None:
    out = collected(START, delta(0, text="a"), STOP)
    assert (out.complete, kinds(out), out.response.usage) == (True, ["stream/trailer-missing"], None)


def test_hosted_tools_and_their_results() -> None:
    result = {"toolUseId": "t1", "type": "nova_code_interpreter_result", "status": "success"}
    parts = [delta(1, toolResult=[{"text": "a"}]), delta(1, toolResult=[{"text": "b"}, {"json": {"code": 0}}, {"text": "c"}])]
    out = turn(tool(0, "t1", type="server_tool_use"), piece(0, '{"s":1}'), end(0), head(1, toolResult=result), *parts, end(1))
    use = {"toolUse": {"toolUseId": "t1", "name": "tide", "type": "server_tool_use", "input": {"s": 1}}}
    done = {"toolResult": result | {"content": [{"text": "ab"}, {"json": {"code": 0}}, {"text": "c"}]}}
    assert content(out) == [use, done]
    assert out.response.parts == (Other(kind="toolUse", raw=use), Other(kind="toolResult", raw=done))
    assert out.response.tool_calls == []


def test_redacted_reasoning_is_joined_by_its_bytes() -> None:
    halves = [base64.b64encode(half).decode() for half in (b"abcd", b"efg")]
    out = turn(*(delta(0, reasoningContent={"redactedContent": half}) for half in halves), end(0), delta(1, text="Hi"))
    whole = base64.b64encode(b"abcdefg").decode()
    assert content(out) == [{"reasoningContent": {"redactedContent": whole}}, {"text": "Hi"}]
    assert out.response.parts == (Reasoning(text=None, encrypted=whole), Text(text="Hi"))


def test_images_are_joined_by_their_bytes_even_without_a_stop() -> None:
    halves = [base64.b64encode(half).decode() for half in (b"abcd", b"e")]
    out = turn(head(0, image={"format": "png"}), *(delta(0, image={"source": {"bytes": half}}) for half in halves))
    assert content(out) == [{"image": {"format": "png", "source": {"bytes": base64.b64encode(b"abcde").decode()}}}]
    failed = turn(head(0, image={"format": "png"}), delta(0, image={"error": {"message": "no"}}))
    assert content(failed) == [{"image": {"format": "png", "error": {"message": "no"}}}]


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0)])
def test_a_citation_makes_a_block_of_cited_text(order: tuple[int, ...]) -> None:
    """Recorded streams have the citation first, but nothing says that it must be."""
    cited = {
        "title": "t",
        "location": {"documentChar": {"documentIndex": 0, "start": 0, "end": 4}},
        "sourceContent": [{"text": "s"}],
    }
    deltas = [delta(0, citation=cited), delta(0, text="20 "), delta(0, text="days")]
    out = turn(*(deltas[n] for n in order), end(0), delta(1, text=" off."))
    assert content(out) == [{"citationsContent": {"content": [{"text": "20 days"}], "citations": [cited]}}, {"text": " off."}]
    assert out.response.parts == (Text(text="20 days", annotations=(cited,)), Text(text=" off."))


def test_citations_without_text() -> None:
    out = turn(delta(0, text="Calm"), end(0), delta(1, citation={"title": "a"}), delta(1, citation={"title": "b"}))
    assert content(out)[1] == {"citationsContent": {"citations": [{"title": "a"}, {"title": "b"}]}}


def test_text_after_a_call_is_a_block_of_its_own() -> None:
    out = turn(delta(0, text="Look. "), end(0), tool(1, "t1"), piece(1, "{}"), end(1), delta(2, text="Asked."))
    assert [next(iter(each)) for each in content(out)] == ["text", "toolUse", "text"]
    assert out.response.text == "Look. Asked."


def test_kinds_that_share_an_index_become_blocks_of_their_own() -> None:
    out = turn(delta(0, text="a"), tool(0, "t1"), piece(0, '{"n":1}'), delta(0, text="b"), delta(1, text="c"))
    use = {"toolUse": {"toolUseId": "t1", "name": "tide", "input": {"n": 1}}}
    assert content(out) == [{"text": "ab"}, use, {"text": "c"}]


def test_an_index_used_for_two_calls() -> None:
    out = turn(tool(0, "t1"), piece(0, '{"a":1}'), tool(0, "t1"), tool(0, "t2"), piece(0, '{"b":2}'))
    assert [(c.id, c.arguments) for c in out.response.tool_calls] == [("t1", '{"a":1}'), ("t2", '{"b":2}')]
    assert kinds(out) == ["tool/index-reused"]


def test_a_piece_of_input_before_its_call_is_claimed_by_it() -> None:
    out = turn(piece(0, '{"a"'), tool(0, "t1"), piece(0, ":1}"))
    assert content(out) == [{"toolUse": {"toolUseId": "t1", "name": "tide", "input": {"a": 1}}}]
    assert kinds(out) == ["tool/fragment-orphan"]


def test_a_fragment_under_an_index_that_drifts() -> None:
    out = turn(tool(0, "t1"), piece(0, '{"a"'), piece(5, ":1}"), end(0))
    assert (out.response.tool_calls[0].arguments, kinds(out)) == ('{"a":1}', ["tool/index-drift"])


def test_input_sent_as_an_object() -> None:
    out = turn(tool(0, "t1"), piece(0, {"port": "Brest"}))
    assert content(out)[0]["toolUse"]["input"] == {"port": "Brest"}
    assert "tool/arguments-not-string" in kinds(out)


def test_input_that_was_cut_stays_text() -> None:
    out = turn(tool(0, "t1"), piece(0, '{"a'))
    assert out.response.tool_calls == [ToolCall(id="t1", name="tide", arguments='{"a')]


@pytest.mark.parametrize("start", [{}, None])
def test_an_empty_start_is_reported(start: Any) -> None:
    opening = ("contentBlockStart", {"contentBlockIndex": 0, "start": start})
    out = turn(opening, delta(0, text="Hi"), end(0))
    assert (out.response.text, kinds(out), content(out)) == ("Hi", ["bedrock/empty-start-union"], [{"text": "Hi"}])


def test_a_block_with_an_empty_text_only_is_left_out() -> None:
    out = turn(delta(0, text=""), end(0), delta(1, reasoningContent={"text": "Hm"}), delta(2, text=""), delta(2, text="Hi"))
    assert [next(iter(each)) for each in content(out)] == ["reasoningContent", "text"]
    assert kinds(out) == ["bedrock/empty-text"]


def test_an_empty_text_stands_where_there_is_nothing_else() -> None:
    out = turn(delta(0, text=""), end(0))
    assert (content(out), out.response.text, kinds(out)) == ([{"text": ""}], "", [])


def test_a_message_without_blocks() -> None:
    out = turn()
    assert (content(out), out.response.text, out.response.parts) == ([], None, ())


def test_a_second_start_and_a_late_one_begin_nothing_anew() -> None:
    out = collected(delta(0, text="a"), START, START, delta(0, text="b"), STOP, METADATA)
    assert out.body["output"]["message"] == {"role": "assistant", "content": [{"text": "ab"}]}


def test_events_after_the_stop_are_reported_and_not_merged() -> None:
    out = collected(START, delta(0, text="a"), STOP, delta(0, text="b"), STOP, METADATA)
    assert (out.response.text, out.complete, kinds(out)) == ("a", True, ["stream/data-after-done"] * 2)
    assert out.response.usage is not None


def test_a_stop_without_a_reason_is_reported() -> None:
    out = collected(START, ("messageStop", {}), METADATA)
    assert (out.complete, kinds(out), out.response.finish_reason) == (True, ["stream/finish-missing"], None)


def test_an_empty_stream() -> None:
    assert (collected().complete, kinds(collected())) == (False, ["stream/empty"])


@pytest.mark.parametrize(
    ("event", "where", "place"),
    [
        (("messageStart", {"role": "assistant", "new": 1}), "/new", ("output", "message", "new")),
        (tool(0, "t", new=1), "/start/toolUse/new", ("output", "message", "content", 0, "toolUse", "new")),
        (head(0, new=1), "/start/new", ("output", "message", "content", 0, "new")),
        (delta(0, new=1), "/delta/new", ("output", "message", "content", 0, "new")),
        (
            delta(0, reasoningContent={"text": "a", "new": 1}),
            "/delta/reasoningContent/new",
            ("output", "message", "content", 0, "reasoningContent", "new"),
        ),
        (
            delta(0, citation={"location": {"web": {"url": "u", "new": 1}}}),
            "/delta/citation/location/web/new",
            ("output", "message", "content", 0, "citationsContent", "citations", 0, "location", "web", "new"),
        ),
        (
            delta(0, toolResult=[{"text": "a"}, {"json": {}, "new": 1}]),
            "/delta/toolResult/1/new",
            ("output", "message", "content", 0, "toolResult", "content", 1, "new"),
        ),
        (("messageStop", {"stopReason": "end_turn", "new": 1}), "/new", ("new",)),
        (("metadata", {"usage": {"inputTokens": 1, "new": 1}}), "/usage/new", ("usage", "new")),
        (
            ("metadata", {"trace": {"guardrail": {"inputAssessment": {"g": {"topicPolicy": {"new": 1}}}}}}),
            "/trace/guardrail/inputAssessment/g/topicPolicy/new",
            ("trace", "guardrail", "inputAssessment", "g", "topicPolicy", "new"),
        ),
    ],
)
def test_unknown_fields_stand_where_they_belong(event: Event, where: str, place: tuple[Any, ...]) -> None:
    out = collected(event)
    assert strangers(out) == [(where, 1)]
    value = out.body
    for step in place:
        value = value[step]
    assert value == 1


def test_unknown_events_are_kept() -> None:
    out = turn(("newEvent", {"x": 1}), delta(0, text="a"))
    assert (strangers(out), out.body["unknown_events"]) == ([("event:newEvent", {"x": 1})], [{"x": 1}])
    assert out.response.text == "a"


def test_values_of_odd_types_are_kept_and_lose_nothing() -> None:
    odd = [delta(0, text=5), delta(0, text=["x"]), delta("0", text="c"), end("zero"), delta(None, text="d")]
    out = turn(delta(0, text="a"), delta(0, text="b"), *odd)
    assert out.response.text == "abcd"
    assert out.body["unknown_events"] == [{"text": 5}, {"text": ["x"]}]


def test_noise_of_any_length_takes_the_fast_way() -> None:
    translator = ConverseTranslator()
    targets = set()
    for number, noise in enumerate(("a", "abc", "abcdef", "ab")):
        data = b'{"contentBlockIndex":0,"delta":{"text":"x"},"p":"%b"}' % noise.encode()
        (edit,) = translator.translate(Frame(number, "contentBlockDelta", data, headers={":message-type": "event"}))
        assert (edit.op, edit.value) == (Op.CONCAT, "x")
        targets.add(edit.target)
    assert len(targets) == 1
    assert translator._repeats.memory is not None
    assert translator._repeats.memory.served == 2


# errors


@pytest.mark.parametrize(
    ("name", "data", "headers", "message", "kind"),
    [
        ("throttlingException", b'{"message":"slow"}', {":message-type": "exception"}, "slow", ErrorKind.RATE_LIMITED),
        ("validationException", b'{"Message":"bad"}', {":message-type": "exception"}, "bad", ErrorKind.INVALID_REQUEST),
        (
            "modelStreamErrorException",
            b'{"originalStatusCode":424,"originalMessage":"gone"}',
            {":message-type": "exception"},
            "gone",
            ErrorKind.SERVER,
        ),
        ("serviceUnavailableException", b"{}", None, "the provider gave no message", ErrorKind.OVERLOADED),
        (
            "throttlingException",
            b"not JSON",
            {":message-type": "exception"},
            "the provider gave no message",
            ErrorKind.RATE_LIMITED,
        ),
        ("throttlingException", b"[]", {":message-type": "exception"}, "the provider gave no message", ErrorKind.RATE_LIMITED),
        ("unheardOf", b"", {":message-type": "error", ":error-message": "no"}, "no", ErrorKind.OTHER),
    ],
)
def test_failures_in_the_stream(
    name: str, data: bytes, headers: dict[str, object] | None, message: str, kind: ErrorKind
) -> None:
    collector = StreamCollector("bedrock-converse")
    collector.add(frame(0, START))
    collector.add(Frame(1, name, data, headers=headers))
    out = collector.close()
    assert out.error is not None
    assert (out.error.type, out.error.message, out.error.kind) == (name, message, kind)
    assert (out.complete, out.notes) == (False, ())


@pytest.mark.parametrize(
    ("headers", "body", "kind", "message"),
    [
        ({"X-Amzn-ErrorType": "ThrottlingException:http://x/"}, {"message": "slow"}, ErrorKind.RATE_LIMITED, "slow"),
        ({}, {"__type": "com.amazon#AccessDeniedException", "Message": "no"}, ErrorKind.AUTH, "no"),
        ({}, "plain", ErrorKind.INVALID_REQUEST, "plain"),
        ({}, None, ErrorKind.CONTEXT_OVERFLOW, "the provider gave no message"),
    ],
)
def test_error_answers(headers: dict[str, str], body: Any, kind: ErrorKind, message: str) -> None:
    error = CONVERSE.read_error(400, headers, body)
    assert (error.kind, error.message) == (kind, message)
    assert error.type in ("ThrottlingException", "AccessDeniedException", None)


# reading


@pytest.mark.parametrize(
    ("path", "matches", "streams"),
    [
        ("/model/us.anthropic.claude%3A0/converse", True, False),
        ("/model/m/converse-stream?x=1", True, True),
        ("/model/m/invoke", False, False),
    ],
)
def test_its_requests(path: str, matches: bool, streams: bool) -> None:
    assert (CONVERSE.matches("POST", path, {}), CONVERSE.streams(path, {})) == (matches, streams)


def test_reading_a_plain_answer() -> None:
    blocks = [
        {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s"}}},
        {"text": "Asked."},
        {"toolUse": {"toolUseId": "t1", "name": "tide", "input": {"port": "Gijón"}}},
        {"guardContent": {"text": {"text": "x"}}},
    ]
    counts = {
        "inputTokens": 9,
        "outputTokens": 4,
        "totalTokens": 113,
        "cacheReadInputTokens": 100,
        "cacheReadInputTokenCount": 100,
    }
    body = {"output": {"message": {"role": "assistant", "content": blocks}}, "stopReason": "tool_use", "usage": counts}
    response = CONVERSE.read(body)
    assert response.parts[0] == Reasoning(text="Hm", signature="s")
    assert response.tool_calls == [ToolCall(id="t1", name="tide", arguments='{"port":"Gijón"}')]
    assert response.parts[3] == Other(kind="guardContent", raw=blocks[3])
    assert (response.id, response.model, response.finish_reason) == (None, None, FinishReason.TOOL_CALLS)
    assert response.usage == Usage(input_tokens=9, output_tokens=4, total_tokens=113, cached_tokens=100)


@pytest.mark.parametrize(
    ("reason", "read_as"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("guardrail_intervened", FinishReason.CONTENT_FILTER),
        ("content_filtered", FinishReason.CONTENT_FILTER),
        ("malformed_model_output", FinishReason.ERROR),
        ("new", FinishReason.OTHER),
        ("", None),
        ([], None),
    ],
)
def test_reasons(reason: Any, read_as: FinishReason | None) -> None:
    assert CONVERSE.read({"stopReason": reason}).finish_reason is read_as


_NAMES = (
    "role contentBlockIndex start delta toolUse toolResult image text input toolUseId name type status reasoningContent "
    "signature redactedContent citation source bytes stopReason usage metrics message json new"
)
_EVENTS = (
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
    "throttlingException",
    "newEvent",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.floats() | st.sampled_from(["", "a", "{", "YWI=", "server_tool_use"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES.split()), inner, max_size=5),
    max_leaves=12,
)
FIELDS = st.dictionaries(st.sampled_from(_NAMES.split()), JSON, max_size=5) | JSON
EVENTS = st.lists(st.tuples(st.sampled_from(_EVENTS), FIELDS), max_size=8)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(body=JSON)
def test_reading_anything_raises_nothing(body: Any) -> None:
    for each in (body, {"output": body, "usage": body}, {"output": {"message": {"content": body}}}):
        CONVERSE.read(each).as_dict()
    CONVERSE.read_error(500, {}, body)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(events=EVENTS)
def test_any_events_give_a_result(events: list[Event]) -> None:
    out = collected(*events)
    json.dumps(out.body)
    stopped = any(name == "messageStop" for name, _ in events)
    assert out.complete <= stopped
