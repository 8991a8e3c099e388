"""Rules of Bedrock: the boundaries of the trickier ones, and payloads in which anything may stand anywhere."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.conformance.inspection import inspect, united
from harness.conformance.rules import RULES, Judged, Outcome
from harness.conformance.rules.bedrock import TABLES
from harness.findings import Finding
from harness.replay.reel import message
from tests.conformance.mutants.envelope import header
from tests.exchanges import exchange

PASS, FAIL, NOT = Outcome.PASS, Outcome.FAIL, Outcome.NOT_APPLICABLE
EVENT_STREAM = "application/vnd.amazon.eventstream"
Event = tuple[str, Any]

BEGIN: Event = ("messageStart", {"role": "assistant"})
END: Event = ("messageStop", {"stopReason": "end_turn"})
CALLED: Event = ("messageStop", {"stopReason": "tool_use"})
USAGE: Event = ("metadata", {"usage": {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13}, "metrics": {"latencyMs": 7}})
METRICS = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 5, "outputTokenCount": 2}}


def start(index: Any, **member: Any) -> Event:
    return "contentBlockStart", {"contentBlockIndex": index, "start": member}


def delta(index: Any, **member: Any) -> Event:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": member}


def stop(index: Any) -> Event:
    return "contentBlockStop", {"contentBlockIndex": index}


def thought(index: Any, **member: Any) -> Event:
    return delta(index, reasoningContent=member)


def text(index: Any, words: str = "Hi") -> list[Event]:
    return [delta(index, text=words), stop(index)]


def call(index: Any, identity: Any = "t1", arguments: Any = "{}", **head: Any) -> list[Event]:
    head = {"toolUseId": identity, "name": "tide", **head}
    return [start(index, toolUse=head), delta(index, toolUse={"input": arguments}), stop(index)]


def turn(*blocks: list[Event], ends: Event = END) -> list[Event]:
    return [BEGIN, *(event for block in blocks for event in block), ends, USAGE]


def framed(name: str, data: bytes, kind: str = "event") -> bytes:
    headers = {
        f":{'event' if kind == 'event' else kind}-type": name,
        ":content-type": "application/json",
        ":message-type": kind,
    }
    return message(b"".join(header(key.encode(), value.encode()) for key, value in headers.items()), data)


def frame(event: Event, kind: str = "event") -> bytes:
    name, fields = event
    return framed(name, fields if isinstance(fields, bytes) else json.dumps(fields).encode(), kind)


def chunk(value: Any) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return framed("chunk", json.dumps({"bytes": base64.b64encode(data).decode()}).encode())


def of_body(body: bytes, dialect: str = "bedrock-converse") -> tuple[Judged, list[Finding]]:
    method = "converse-stream" if dialect == "bedrock-converse" else "invoke-with-response-stream"
    stream = exchange(body, media=EVENT_STREAM, path=f"/model/m/{method}", request={})
    seen, out = inspect(stream, dialect, "here")
    assert not out.errors
    return out, united(seen.findings, out)


def judged(*events: Event | bytes) -> Judged:
    return of_body(b"".join(event if isinstance(event, bytes) else frame(event) for event in events))[0]


def outcome(rule: int, *events: Event | bytes) -> Outcome:
    return judged(*events).outcomes[f"BDR-{rule:03}"]


def invoked(rule: int, *chunks: Any) -> Outcome:
    body = b"".join(one if isinstance(one, bytes) else chunk(one) for one in chunks)
    return of_body(body, "bedrock-invoke")[0].outcomes[f"BDR-{rule:03}"]


def nova(*events: Event) -> list[dict[str, Any]]:
    """Events as Nova sends them inside Invoke."""
    *before, (name, fields) = events
    return [*({name: fields} for name, fields in before), {name: fields, **METRICS}]


def broken(*events: Event) -> set[str]:
    return {rule for rule, said in judged(*events).outcomes.items() if rule.startswith("BDR") and said is FAIL}


def kinds(*events: Event) -> set[str]:
    return {finding.kind for finding in judged(*events).findings if str(finding.rule).startswith("BDR")}


# the order of events


def test_a_good_stream_breaks_nothing() -> None:
    assert broken(*turn([thought(0, text="Hm"), thought(0, signature="c2ln"), stop(0)], text(1))) == set()
    assert broken(*turn(text(0), call(1), call(2, "t2"), ends=CALLED)) == set()


def test_each_way_to_break_the_order() -> None:
    assert kinds(BEGIN, *turn(text(0))) == {"bedrock/message-start"}
    assert kinds(*turn(text(0))[:-2]) == {"stream/truncated"}
    assert kinds(*turn(text(0))[:-1]) == {"stream/trailer-missing"}
    assert kinds(*turn(text(0)), USAGE) == {"usage/repeated"}
    assert kinds(*turn(text(0)), END) == {"stream/data-after-done"}
    assert kinds(*turn(text(0)), *text(1)) == {"stream/data-after-done"}
    assert kinds(BEGIN, *text(0), USAGE, END) == {"bedrock/metadata-early"}


def test_an_exception_ends_everything() -> None:
    failed = frame(("throttlingException", {"message": "slow down"}), "exception")
    for rule in (3, 4, 10):
        assert outcome(rule, BEGIN, delta(0, text="a"), failed) is NOT
    assert outcome(27, BEGIN, failed) is PASS
    assert outcome(28, BEGIN, failed) is PASS


def test_events_of_unknown_names_are_no_matter() -> None:
    assert broken(BEGIN, ("contentBlockHint", {"a": 1}), *turn(text(0))[1:]) == set()


def test_nothing_is_reported_twice() -> None:
    for events, kind in (
        (turn(text(0))[:-2], "stream/truncated"),
        ([*turn(text(0)), END], "stream/data-after-done"),
        (turn([start(0), *text(0)]), "bedrock/empty-start-union"),
        (turn(call(0, arguments={"a": 1}), ends=CALLED), "tool/arguments-not-string"),
        (turn(text(0), ends=("messageStop", {})), "stream/finish-missing"),
    ):
        _, findings = of_body(b"".join(map(frame, events)))
        assert [finding.kind for finding in findings].count(kind) == 1


# blocks


def test_each_way_to_break_blocks() -> None:
    assert broken(*turn([delta(0, text="a")], text(1))) == {"BDR-010"}
    assert broken(*turn([delta(0, text="a"), delta(1, text="b"), stop(0), stop(1)])) == {"BDR-009"}
    assert broken(*turn(text(0), [delta(0, text="b")])) == {"BDR-032"}
    assert broken(*turn(text(1))) == {"BDR-008"}
    assert broken(*turn(call(0), [start(0, toolUse={"toolUseId": "t2", "name": "wind"})], ends=CALLED)) == {"BDR-008"}
    assert broken(*turn([start(0), *text(0)])) == {"BDR-012", "BDR-013"}


def test_a_delta_after_its_stop_is_one_fault() -> None:
    """What is not remembered of a block that has stopped is not held against it."""
    assert broken(*turn(call(0), [delta(0, toolUse={"input": ""})], ends=CALLED)) == {"BDR-032"}


@pytest.mark.parametrize("index", [None, -1, "0", 0.0, True, [], {}])
def test_what_is_no_index(index: Any) -> None:
    """An event without one belongs to the block that was last spoken of, and nothing else is said of it."""
    assert broken(*turn([delta(0, text="a"), delta(index, text="b"), stop(0)])) == {"BDR-007"}


def test_blocks_that_stop_in_another_order_are_remembered() -> None:
    begun = [delta(0, text="a"), delta(1, text="b"), stop(1), stop(0)]
    assert outcome(32, *turn(begun)) is PASS
    assert outcome(32, *turn([*begun, delta(1, text="c")])) is FAIL


def test_a_text_and_its_citations_are_one_kind() -> None:
    assert outcome(14, *turn([delta(0, text="a"), delta(0, citation={"title": "t"}), stop(0)])) is PASS
    assert outcome(14, *turn([delta(0, text="a"), thought(0, text="b"), stop(0)])) is FAIL
    assert outcome(14, *turn(text(0))) is NOT


def test_a_member_that_is_null_is_none() -> None:
    assert outcome(13, *turn([delta(0, text="a", citation=None), stop(0)])) is PASS
    assert outcome(13, *turn([delta(0, text=None), stop(0)])) is FAIL


# what stands in blocks


@pytest.mark.parametrize("arguments", ["", "{}", '{"port":"Ribe"}'])
def test_input_that_is_an_object_or_empty(arguments: str) -> None:
    assert outcome(16, *turn(call(0, arguments=arguments), ends=CALLED)) is PASS


@pytest.mark.parametrize("arguments", ["[1]", '"a"', "null", "1", '{"port":', "port"])
def test_input_that_is_neither(arguments: str) -> None:
    (finding,) = [f for f in judged(*turn(call(0, arguments=arguments), ends=CALLED)).findings if f.rule == "BDR-016"]
    assert (finding.where.frame, finding.where.path) == (1, "/start/toolUse")


def test_the_token_limit_cuts_input_off() -> None:
    for reason in ("max_tokens", "model_context_window_exceeded"):
        assert outcome(16, *turn(call(0, arguments='{"port":'), ends=("messageStop", {"stopReason": reason}))) is NOT
    assert outcome(16, *turn(call(0, arguments='{"port":'), ends=CALLED)[:-2]) is NOT


def test_identities_of_calls() -> None:
    assert kinds(*turn(call(0), call(1), ends=CALLED)) == {"tool/id-repeated"}
    assert kinds(*turn(call(0, ""), ends=CALLED)) == {"tool/id-missing"}
    assert kinds(*turn(call(0, name=None), ends=CALLED)) == {"tool/name-missing"}


def test_a_signature_needs_no_text() -> None:
    """Reasoning that is not shown has a signature alone."""
    assert outcome(24, *turn([thought(0, signature="c2ln"), stop(0)])) is PASS
    assert outcome(24, *turn([thought(0, text="a"), *[thought(0, signature="c2ln")] * 2, stop(0)])) is FAIL
    assert outcome(24, *turn([thought(0, text="a"), stop(0)])) is NOT


def test_redacted_reasoning_shares_its_block_with_none_that_can_be_read() -> None:
    redacted = thought(0, redactedContent="R2Vk")
    assert outcome(25, *turn([redacted, stop(0)])) is PASS
    assert outcome(25, *turn([redacted, redacted, stop(0)])) is PASS
    assert outcome(25, *turn([thought(0, text="a"), redacted, stop(0)])) is FAIL
    assert outcome(25, *turn([redacted, thought(0, text="a"), stop(0)])) is FAIL
    assert outcome(25, *turn([thought(0, text="a", redactedContent="R2Vk"), stop(0)])) is FAIL


# the message


def test_the_stop_reason_and_the_calls() -> None:
    hosted = call(0, type="server_tool_use")
    assert outcome(19, *turn(call(0), ends=CALLED)) is PASS
    assert outcome(19, *turn(hosted)) is NOT
    assert outcome(19, *turn(hosted, ends=CALLED)) is FAIL
    assert outcome(19, *turn(text(0), ends=CALLED)) is FAIL
    assert outcome(19, *turn(call(0))) is FAIL
    assert outcome(19, *turn(call(0), ends=("messageStop", {"stopReason": "max_tokens"}))) is NOT


def test_counts() -> None:
    def counted(rule: int, **usage: Any) -> Outcome:
        return outcome(rule, *turn(text(0))[:-1], ("metadata", {"usage": usage}))

    cached = {"inputTokens": 9, "outputTokens": 4, "totalTokens": 99}
    assert (counted(20, **cached), counted(21, **cached)) == (PASS, PASS)
    assert (counted(20), counted(21)) == (FAIL, NOT)
    assert (counted(20, **{**cached, "totalTokens": "13"}), counted(20, **{**cached, "totalTokens": True})) == (FAIL, FAIL)
    assert outcome(20, *turn(text(0))[:-1], ("metadata", {})) is FAIL


def test_padding_is_said_once() -> None:
    padded = [(name, {**fields, "p": "abc"}) for name, fields in turn(text(0))]
    assert len([f for f in judged(*padded).findings if f.rule == "BDR-022"]) == 1
    assert outcome(22, *turn(text(0))) is PASS


def test_a_wrapped_payload_is_one_fault() -> None:
    wrapped = [(name, {name: fields, "p": "a"}) for name, fields in turn(text(0))]
    assert outcome(6, *wrapped) is FAIL
    assert all(outcome(rule, *wrapped) is PASS for rule in (1, 2, 3, 4, 5, 7, 8, 10, 13, 20))


# failures


def test_failures_outside_the_service_model_have_their_message_in_a_header() -> None:
    fields = {b":message-type": b"error", b":error-code": b"Oops", b":error-message": b"no"}
    told = message(b"".join(header(*field) for field in fields.items()), b"")
    untold = message(b"".join(header(*field) for field in list(fields.items())[:2]), b"")
    assert (outcome(27, BEGIN, told), outcome(28, BEGIN, told), outcome(28, BEGIN, untold)) == (NOT, PASS, FAIL)


@pytest.mark.parametrize("data", [b"", b"oops", b"[]", b"null", b'{"Message":"no"}', b'{"message":""}'])
def test_an_exception_without_a_message(data: bytes) -> None:
    failed = framed("validationException", data, "exception")
    assert (outcome(27, BEGIN, failed), outcome(28, BEGIN, failed)) == (PASS, FAIL)


# Invoke


def test_novas_events_are_judged_as_those_of_converse() -> None:
    good = nova(*turn(text(0), text(1), call(2), ends=CALLED))
    for rule in (1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18, 19, 20, 29, 30, 32):
        assert invoked(rule, *good) is PASS, rule
    assert invoked(6, *good) is NOT
    assert invoked(10, *good[:2], *good[3:]) is FAIL
    assert invoked(16, *nova(*turn(call(0, arguments="["), ends=CALLED))) is FAIL
    assert invoked(3, *good[:-2]) is FAIL
    assert invoked(3, *good[:3], {"throttlingException": {"message": "no"}}) is NOT


def test_nova_sends_no_total_and_leaves_indexes_out() -> None:
    counted: Event = ("metadata", {"usage": {"inputTokens": 9, "outputTokens": 4}})
    assert invoked(20, *nova(*turn(text(0))[:-1], counted)) is PASS
    assert invoked(8, *nova(*turn(call(0), call(2, "t2"), ends=CALLED))) is PASS
    assert invoked(8, *nova(*turn(call(2), call(1, "t2"), ends=CALLED))) is FAIL


LLAMA = [{"generation": "a", "stop_reason": None}, {"generation": "b", "stop_reason": "stop", **METRICS}]


def test_other_vendors_events_are_none_of_converse() -> None:
    assert all(invoked(rule, *LLAMA) is NOT for rule in (1, 3, 4, 8, 10, 18, 26))


@pytest.mark.parametrize(
    "odd",
    [
        framed("chunks", b'{"bytes":"e30="}'),
        framed("chunk", b'{"bytes":"e30"}'),
        framed("chunk", b'{"bytes":1}'),
        framed("chunk", b'["e30="]'),
        framed("chunk", b"oops"),
        framed("chunk", b"{}"),
        chunk(b""),
        chunk(b'{"a'),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_cannot_be_unpacked(odd: bytes, place: int) -> None:
    assert invoked(29, *LLAMA[:place], odd, *LLAMA[place:]) is FAIL


def test_chunks_of_any_json_can_be_unpacked() -> None:
    assert invoked(29, *LLAMA) is PASS
    assert invoked(29, LLAMA[0], [1], chunk(b'{"generation":"\\ud83d"}'), LLAMA[1]) is PASS


def test_metrics_come_last() -> None:
    assert invoked(30, *LLAMA) is PASS
    assert invoked(30, *LLAMA, {"generation": "c"}) is FAIL
    assert invoked(30, LLAMA[0], {"generation": "b", "stop_reason": "stop"}) is FAIL
    assert invoked(30, LLAMA[0]) is NOT


# anything may come

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.floats() | st.sampled_from(["", "a", "e30=", "text", "assistant"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["text", "toolUse", "input", "messageStop", "usage", "type", "bytes"]), inner, max_size=3
        )
    ),
    max_leaves=5,
)
FULL = [
    *turn(
        [thought(0, text="a"), thought(0, signature="c2ln"), stop(0)],
        [thought(1, redactedContent="R2Vk"), stop(1)],
        [delta(2, text="a"), delta(2, citation={"title": "t", "location": {"web": {"url": "u"}}}), stop(2)],
        call(3, type="server_tool_use"),
        [start(4, toolResult={"toolUseId": "t1"}), delta(4, toolResult=[{"text": "a"}]), stop(4)],
        call(5, "t2", '{"a":1}'),
        [start(6, image={"format": "png"}), delta(6, image={"source": {"bytes": "iVBO"}}), stop(6)],
        ends=CALLED,
    ),
    ("throttlingException", {"message": "no"}),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, field in inner for place in places(field, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value = copy.deepcopy(value)
    node = value
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = new
    return value


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_nothing_that_comes_makes_a_rule_fail_to_be_evaluated(data: st.DataObject) -> None:
    stream = list(FULL)
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.integers(0, len(stream) - 1))
        name, fields = stream[number]
        place = data.draw(st.sampled_from(places(fields)))
        stream[number] = name, replaced(fields, place, data.draw(JSON))
    mixed = data.draw(st.permutations(stream)) if data.draw(st.booleans()) else stream
    of_body(b"".join(frame(event, "exception" if event[0].endswith("Exception") else "event") for event in mixed))
    of_body(b"".join(chunk({name: fields}) for name, fields in mixed), "bedrock-invoke")


@given(values=st.lists(JSON, max_size=4))
@settings(max_examples=100, deadline=None)
def test_any_chunk_can_be_judged(values: list[Any]) -> None:
    of_body(b"".join(map(chunk, values)), "bedrock-invoke")
    of_body(b"".join(framed("chunk", json.dumps(value).encode()) for value in values), "bedrock-invoke")


# the tables


def test_the_tables_name_rules_of_the_catalogue() -> None:
    named = {rule for table in TABLES for rule in table.rules}
    assert named == {f"BDR-{n:03}" for n in (1, 3, 4, 5, 10, 32)}
    assert named <= set(RULES)
    assert all("stateDiagram-v2" in list(table.diagram()) for table in TABLES)


def test_a_thought_is_a_union_too() -> None:
    assert outcome(13, *turn([thought(0), stop(0)], text(1))) is FAIL
    assert outcome(13, *turn([thought(0, text="Hm", signature="c2ln"), stop(0)], text(1))) is FAIL
    assert outcome(13, *turn([thought(0, text="Hm"), stop(0)], text(1))) is PASS
