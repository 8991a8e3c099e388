"""The dialect `anthropic-messages`: translation, reading, and what it makes of events that are not as they should be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import StreamCollector, dialect
from harness.api_error import ErrorKind
from harness.collector import Collected
from harness.dialects.anthropic_messages.translator import MessagesTranslator
from harness.edits import Op
from harness.framing import Frame
from harness.response import FinishReason, Other, Reasoning, Text, ToolCall, Usage

ANTHROPIC = dialect("anthropic-messages")
Event = dict[str, Any]
MESSAGE: Event = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m-1",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 25, "output_tokens": 1, "service_tier": "standard"},
}
STOP: Event = {"type": "message_stop"}


def start(**fields: Any) -> Event:
    return {"type": "message_start", "message": MESSAGE | fields}


def block(index: Any, **fields: Any) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": fields}


def delta(index: Any, kind: str, **fields: Any) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def text(index: Any, piece: str) -> Event:
    return delta(index, "text_delta", text=piece)


def piece(index: Any, part: Any) -> Event:
    return delta(index, "input_json_delta", partial_json=part)


def stop(index: int) -> Event:
    return {"type": "content_block_stop", "index": index}


def ending(reason: str | None = "end_turn", **fields: Any) -> Event:
    last = {"stop_reason": reason, "stop_sequence": None}
    return {"type": "message_delta", "delta": last, "usage": {"output_tokens": 9}} | fields


def tool(index: Any, identity: str, **fields: Any) -> Event:
    return block(index, **({"type": "tool_use", "id": identity, "name": "tide", "input": {}} | fields))


def collected(*events: Any) -> Collected:
    collector = StreamCollector("anthropic-messages")
    for number, event in enumerate(events):
        name = event.get("type") if isinstance(event, dict) else None
        collector.add(Frame(number, name if isinstance(name, str) else None, json.dumps(event).encode()))
    return collector.close()


def turn(*events: Event) -> Collected:
    return collected(start(), *events, ending(), STOP)


def content(out: Collected) -> list[Any]:
    blocks = out.body["content"]
    assert isinstance(blocks, list)
    return blocks


def kinds(out: Collected) -> list[str]:
    return [note.kind for note in out.notes]


def strangers(out: Collected) -> list[tuple[str | None, Any]]:
    return [(unknown.where.path, unknown.value) for unknown in out.unknown]


# translating


def test_the_body_is_the_message_with_what_came_at_its_end() -> None:
    events = [start(), block(0, type="text", text=""), {"type": "ping"}, text(0, "Low "), text(0, "water"), stop(0)]
    last = ending(
        usage={"output_tokens": 15, "server_tool_use": {"web_search_requests": 1}}, context_management={"applied_edits": []}
    )
    out = collected(*events, last, STOP)
    usage = MESSAGE["usage"] | {"output_tokens": 15, "server_tool_use": {"web_search_requests": 1}}
    ends = {"stop_reason": "end_turn", "usage": usage, "context_management": {"applied_edits": []}}
    assert out.body == MESSAGE | ends | {"content": [{"type": "text", "text": "Low water"}]}
    assert (out.complete, out.unknown, out.disagreements, out.notes) == (True, (), (), ())


def test_thinking_and_the_last_signature() -> None:
    thought = block(0, type="thinking", thinking="", signature="")
    signatures = [delta(0, "signature_delta", signature=value) for value in ("first", "last")]
    out = turn(
        thought,
        delta(0, "thinking_delta", thinking="a", estimated_tokens=50),
        delta(0, "thinking_delta", thinking="b"),
        *signatures,
    )
    assert content(out) == [{"type": "thinking", "thinking": "ab", "signature": "last"}]
    assert out.response.parts == (Reasoning(text="ab", signature="last"),)


def test_input_is_parsed_from_its_pieces() -> None:
    caller = {"type": "direct"}
    out = turn(tool(0, "t1", caller=caller), piece(0, ""), piece(0, '{"port": '), piece(0, '"Brest"}'), stop(0))
    assert content(out) == [{"type": "tool_use", "id": "t1", "name": "tide", "input": {"port": "Brest"}, "caller": caller}]
    assert out.response.tool_calls == [ToolCall(id="t1", name="tide", arguments='{"port":"Brest"}')]


@pytest.mark.parametrize("pieces", [[], [""], ["", ""]])
def test_input_of_the_start_counts_when_no_piece_says_anything(pieces: list[str]) -> None:
    out = turn(tool(0, "t1", input={"path": "log.txt"}), *(piece(0, part) for part in pieces), stop(0))
    assert content(out)[0]["input"] == {"path": "log.txt"}


def test_input_that_was_cut_stays_text() -> None:
    out = turn(tool(0, "t1"), piece(0, '{"port": "Br'))
    assert content(out)[0]["input"] == '{"port": "Br'
    assert out.response.tool_calls[0].arguments == '{"port": "Br'


def test_citations_are_added_to_the_text() -> None:
    first, second = ({"type": "char_location", "cited_text": name, "document_index": 0} for name in "ab")
    deltas = [delta(0, "citations_delta", citation=first), text(0, "Deep."), delta(0, "citations_delta", citation=second)]
    out = turn(block(0, type="text", text="", citations=[]), *deltas)
    assert content(out) == [{"type": "text", "text": "Deep.", "citations": [first, second]}]
    assert out.response.parts == (Text(text="Deep.", annotations=(first, second)),)


def test_blocks_that_come_whole() -> None:
    blocks: list[Event] = [
        {"type": "redacted_thinking", "data": "c2Vj"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tide"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s1",
            "content": [{"type": "web_search_result", "url": "u", "title": "t"}],
        },
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "s2",
            "content": {"type": "web_fetch_tool_result_error", "error_code": "e"},
        },
        {"type": "mcp_tool_result", "tool_use_id": "s3", "is_error": False, "content": [{"type": "text", "text": "x"}]},
        {"type": "container_upload", "file_id": "f"},
        {"type": "compaction", "content": "so far"},
    ]
    out = turn(*(block(number, **each) for number, each in enumerate(blocks)))
    assert content(out) == blocks
    assert out.unknown == ()
    assert out.response.parts[0] == Reasoning(text=None, encrypted="c2Vj")
    assert out.response.parts[1:] == tuple(Other(kind=each["type"], raw=each) for each in blocks[1:])
    assert out.response.tool_calls == []


def test_compaction_comes_in_a_delta() -> None:
    out = turn(
        block(0, type="compaction", content=None), delta(0, "compaction_delta", content="so far", encrypted_content=None)
    )
    assert content(out) == [{"type": "compaction", "content": "so far"}]


def test_a_fallback_names_the_model_that_answered() -> None:
    fallback = {"type": "fallback", "from": {"model": "m-1"}, "to": {"model": "m-2"}}
    out = turn(block(0, **fallback), block(1, type="text", text="Hi"))
    assert (out.body["model"], out.response.model) == ("m-2", "m-2")
    assert content(out) == [fallback, {"type": "text", "text": "Hi"}]


def test_text_of_the_start_is_kept() -> None:
    assert content(turn(block(0, type="text", text="Low "), text(0, "water"))) == [{"type": "text", "text": "Low water"}]


def test_a_second_start_begins_nothing_anew() -> None:
    again = start(id="msg_2", usage={"input_tokens": 1}, container={"id": "c"})
    out = turn(block(0, type="text", text=""), text(0, "Low"), again, block(0, type="text", text=""), text(0, " water"))
    assert content(out) == [{"type": "text", "text": "Low water"}]
    assert (out.body["id"], out.body["usage"]["input_tokens"], out.body["container"]) == ("msg_1", 25, {"id": "c"})


def test_an_index_used_for_two_calls() -> None:
    out = turn(tool(0, "t1"), piece(0, '{"a":1}'), tool(0, "t2"), piece(0, '{"b":2}'), tool(0, "t2"))
    assert [(c.id, c.arguments) for c in out.response.tool_calls] == [("t1", '{"a":1}'), ("t2", '{"b":2}')]
    assert kinds(out) == ["tool/index-reused"]


def test_blocks_after_one_whose_index_was_taken_keep_their_own() -> None:
    out = turn(tool(0, "t1"), stop(0), tool(0, "t2"), block(1, type="text", text=""), text(1, "x"))
    assert [each.get("id", each.get("text")) for each in content(out)] == ["t1", "t2", "x"]


def test_deltas_without_a_start() -> None:
    out = turn(text(0, "Low "), text(0, "water"), delta(1, "signature_delta", signature="s"), piece(2, '{"a":1}'))
    whole = [
        {"type": "text", "text": "Low water"},
        {"type": "thinking", "signature": "s"},
        {"type": "tool_use", "input": {"a": 1}},
    ]
    assert content(out) == whole
    assert kinds(out) == ["tool/fragment-orphan"]
    assert out.response.tool_calls == [ToolCall(id="call_2", name="", arguments='{"a":1}', synthetic_id=True)]


def test_a_fragment_under_an_index_that_drifts() -> None:
    out = turn(tool(0, "t1"), piece(0, '{"a"'), piece(7, ":1}"), piece(None, " "))
    assert content(out)[0]["input"] == {"a": 1}
    assert kinds(out) == ["tool/index-drift"]


def test_input_sent_as_an_object() -> None:
    out = turn(tool(0, "t1"), piece(0, {"port": "Brest"}))
    assert content(out)[0]["input"] == {"port": "Brest"}
    assert "tool/arguments-not-string" in kinds(out)


def test_events_after_the_end_are_reported_and_not_merged() -> None:
    out = collected(start(), block(0, type="text", text="a"), ending(), STOP, text(0, "b"))
    assert (out.response.text, out.complete, kinds(out)) == ("a", True, ["stream/data-after-done"])


def test_an_end_without_a_reason_is_reported() -> None:
    out = collected(start(), block(0, type="text", text="a"), STOP)
    assert (out.complete, kinds(out)) == (True, ["stream/finish-missing"])


def test_an_empty_stream() -> None:
    out = collected()
    assert (out.complete, kinds(out), out.response.parts) == (False, ["stream/empty"], ())


@pytest.mark.parametrize(
    ("event", "where", "place"),
    [
        (start(new={"a": 1}), "/message/new", ("new",)),
        (start(usage={"input_tokens": 1, "new": {"a": 1}}), "/message/usage/new", ("usage", "new")),
        (block(0, type="text", text="", new={"a": 1}), "/content_block/new", ("content", 0, "new")),
        (
            tool(0, "t", caller={"type": "direct", "new": {"a": 1}}),
            "/content_block/caller/new",
            ("content", 0, "caller", "new"),
        ),
        (delta(0, "text_delta", text="x", new={"a": 1}), "/delta/new", ("content", 0, "new")),
        (
            delta(0, "citations_delta", citation={"type": "char_location", "new": {"a": 1}}),
            "/delta/citation/new",
            ("content", 0, "citations", 0, "new"),
        ),
        (ending(usage={"output_tokens": 2, "new": {"a": 1}}), "/usage/new", ("usage", "new")),
        ({**ending(), "delta": {"stop_reason": "end_turn", "new": {"a": 1}}}, "/delta/new", ("new",)),
        ({**STOP, "new": {"a": 1}}, "/new", ("new",)),
    ],
)
def test_unknown_fields_stand_where_they_belong(event: Event, where: str, place: tuple[Any, ...]) -> None:
    out = collected(*([] if event["type"] == "message_start" else [start()]), event)
    assert strangers(out) == [(where, {"a": 1})]
    value = out.body
    for step in place:
        value = value[step]
    assert value == {"a": 1}


def test_unknown_kinds_of_events_blocks_and_deltas_are_kept() -> None:
    new = block(0, type="new_block", id="n", input={}, text="a")
    out = turn(new, piece(0, '{"b":2}'), delta(0, "new_delta", value=1), {"type": "new_event", "x": 1})
    assert [path for path, _ in strangers(out)] == ["/content_block", "/delta", "event:new_event"]
    assert content(out) == [{"type": "new_block", "id": "n", "input": {"b": 2}, "text": "a"}]
    assert out.body["unknown_events"] == [{"type": "new_delta", "value": 1}, {"type": "new_event", "x": 1}]
    assert out.response.parts == (Other(kind="new_block", raw=content(out)[0]),)


def test_values_of_odd_types_are_kept_and_lose_nothing() -> None:
    out = turn(
        block(0, type="text", text=""),
        text(0, "a"),
        delta(0, "text_delta", text=5),
        delta(0, "text_delta", text={"x": 1}),
        text(0, "b"),
    )
    assert out.response.text == "ab"
    assert [event["text"] for event in out.body["unknown_events"] if "text" in event] == [5, {"x": 1}]


def test_padding_before_a_closing_bracket_takes_the_fast_way() -> None:
    translator = MessagesTranslator()
    for event in (start(), block(0, type="text", text="")):
        translator.translate(Frame(0, event["type"], json.dumps(event).encode()))
    targets = []
    for number, padding in enumerate(("  ", " ", "", "   ")):
        data = b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}%b}' % (b" " * len(padding))
        (edit,) = translator.translate(Frame(number, "content_block_delta", data))
        assert (edit.op, edit.value) == (Op.CONCAT, "x")
        targets.append(edit.target)
    assert len(set(targets)) == 1
    assert translator._repeats.memory is not None
    assert translator._repeats.memory.served == 2


# errors


@pytest.mark.parametrize(
    ("event", "name", "message"),
    [
        ({"type": "error", "error": {"type": "api_error", "message": "no"}}, "error", "no"),
        ({"type": "error", "error": "no"}, "error", "no"),
        ({"error": {"message": "no"}}, None, "no"),
        ({"message": "no"}, "error", "no"),
        ({"type": "error"}, "error", "the provider gave no message"),
    ],
)
def test_errors_in_the_stream(event: Event, name: str | None, message: str) -> None:
    collector = StreamCollector("anthropic-messages")
    collector.add(Frame(0, name, json.dumps(event).encode()))
    out = collector.close()
    assert out.error is not None
    assert (out.error.message, out.complete, out.notes) == (message, False, ())


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, ErrorKind.OVERLOADED, "busy"),
        (
            400,
            {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}},
            ErrorKind.INVALID_REQUEST,
            "bad",
        ),
        (429, [{"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}], ErrorKind.RATE_LIMITED, "slow"),
        (502, "<html>", ErrorKind.SERVER, "<html>"),
        (500, None, ErrorKind.SERVER, "the provider gave no message"),
    ],
)
def test_error_answers(status: int, body: Any, kind: ErrorKind, message: str) -> None:
    error = ANTHROPIC.read_error(status, {}, body)
    assert (error.kind, error.message, error.status) == (kind, message, status)


# reading


@pytest.mark.parametrize(
    ("path", "body", "matches", "streams"),
    [
        ("/v1/messages?beta=true", {"stream": True}, True, True),
        ("/anthropic/v1/messages", {}, True, False),
        ("/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict", {}, True, True),
        ("/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict", {}, True, False),
        ("/v1/projects/p/locations/l/publishers/google/models/m:rawPredict", {}, False, False),
        ("/v1/messages/batches", {}, False, False),
    ],
)
def test_its_requests(path: str, body: Any, matches: bool, streams: bool) -> None:
    assert (ANTHROPIC.matches("POST", path, body), ANTHROPIC.streams(path, body)) == (matches, streams)


def test_reading_a_plain_answer() -> None:
    usage = {
        "input_tokens": 3,
        "output_tokens": 40,
        "cache_read_input_tokens": 200,
        "cache_creation_input_tokens": 10,
        "output_tokens_details": {"thinking_tokens": 30},
    }
    blocks = [
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "text", "text": "Asked."},
        {"type": "tool_use", "id": "t1", "name": "tide", "input": {"port": "Gijón", "day": 1}},
    ]
    response = ANTHROPIC.read(MESSAGE | {"content": blocks, "stop_reason": "tool_use", "usage": usage})
    assert (response.id, response.model, response.text, response.reasoning) == ("msg_1", "m-1", "Asked.", None)
    assert response.parts[0] == Reasoning(text=None, signature="s")
    assert response.tool_calls == [ToolCall(id="t1", name="tide", arguments='{"port":"Gijón","day":1}')]
    assert response.usage == Usage(
        input_tokens=3, output_tokens=40, total_tokens=253, cached_tokens=200, cache_write_tokens=10, reasoning_tokens=30
    )


@pytest.mark.parametrize(
    ("reason", "read_as"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("refusal", FinishReason.CONTENT_FILTER),
        ("pause_turn", FinishReason.OTHER),
        ("new", FinishReason.OTHER),
        (None, None),
        ({}, None),
    ],
)
def test_reasons(reason: Any, read_as: FinishReason | None) -> None:
    response = ANTHROPIC.read({"stop_reason": reason})
    assert response.finish_reason is read_as
    assert response.raw_finish_reason == (reason if isinstance(reason, str) else None)


def test_a_stop_with_calls_is_a_stop_for_calls() -> None:
    call = {"type": "tool_use", "id": "t", "name": "n", "input": {}}
    assert ANTHROPIC.read({"content": [call], "stop_reason": "end_turn"}).finish_reason is FinishReason.TOOL_CALLS
    assert ANTHROPIC.read({"content": [call], "stop_reason": "max_tokens"}).finish_reason is FinishReason.LENGTH


_NAMES = (
    "type index delta content_block message usage content text thinking signature partial_json citation citations input id "
    "name stop_reason error to model data new"
)
_WORDS = (
    "message_start content_block_start content_block_delta content_block_stop message_delta message_stop ping error text "
    "tool_use thinking text_delta input_json_delta citations_delta signature_delta compaction_delta fallback message"
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.floats() | st.sampled_from([*_WORDS.split(), "", "{"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES.split()), inner, max_size=5),
    max_leaves=12,
)
EVENTS = st.lists(
    st.builds(
        lambda kind, fields: fields | {"type": kind},
        st.sampled_from(_WORDS.split()[:8]),
        st.dictionaries(st.sampled_from(_NAMES.split()), JSON, max_size=5),
    ),
    max_size=8,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(body=JSON)
def test_reading_anything_raises_nothing(body: Any) -> None:
    ANTHROPIC.read(body).as_dict()
    ANTHROPIC.read_error(500, {}, body)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(events=EVENTS)
def test_any_events_give_a_result(events: list[Event]) -> None:
    out = collected(*events)
    json.dumps(out.body)
    assert out.complete == (out.error is None and any(event["type"] == "message_stop" for event in events))
