"""Rules of OpenAI Responses: the boundaries of the trickier ones, and payloads in which anything may stand anywhere."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.conformance.inspection import inspect, united
from harness.conformance.rules import RULES, Judged, Outcome
from harness.conformance.rules.openai_responses import TABLES
from harness.conformance.rules.openai_responses.values import Unlike, shown, unlike
from harness.findings import Level
from tests.exchanges import exchange
from tests.responses_events import added, arguments, call, created, delta, done, ended, event, message, part, said, text

PASS, FAIL, NOT = Outcome.PASS, Outcome.FAIL, Outcome.NOT_APPLICABLE
MESSAGE = message(text("Low tide"))
GOOD = [created(), *said("Low tide"), ended(MESSAGE)]
DONE = b"[DONE]"
CALL = call('{"port":"Kiel"}')
CALLED = [
    added(0, **call()),
    arguments('{"port":"Kiel"}'),
    event("function_call_arguments.done", output_index=0, item_id="fc_1", arguments='{"port":"Kiel"}'),
    done(0, **CALL),
]
ERROR = event("error", code="server_error", message="out of memory", param=None)


def body(payloads: Any, numbered: bool = True) -> bytes:
    """Payloads as named events with sequence numbers, unless they have their own; bytes are sent as they are."""
    out = []
    for number, payload in enumerate(payloads):
        if isinstance(payload, bytes):
            out.append(b"data: " + payload + b"\n\n")
            continue
        numbers = {}
        if isinstance(payload, dict) and isinstance(payload.get("type"), str):
            out.append(f"event: {payload['type']}\n".encode())
            numbers = {"sequence_number": number} if numbered else {}
        out.append(b"data: " + json.dumps({**numbers, **payload} if numbers else payload).encode() + b"\n\n")
    return b"".join(out)


def judged(
    *payloads: Any, numbered: bool = True, ending: Any = "eof", path: str = "/v1/responses", pieces: Any = None
) -> Judged:
    stream = exchange(body(payloads, numbered), path=path, request={"stream": True}, ending=ending, pieces=pieces)
    _, out = inspect(stream, "openai-responses", "here")
    assert not out.errors
    return out


def outcome(rule: int, *payloads: Any, **how: Any) -> Outcome:
    return judged(*payloads, **how).outcomes[f"RSP-{rule:03}"]


def broken(*payloads: Any, least: Level = Level.SHOULD, **how: Any) -> set[int]:
    """The numbers of the rules that are broken, but for lists that these events lack and mere information."""
    levels = {Level.MUST, least}
    rules = {f.rule for f in judged(*payloads, **how).findings if f.level in levels and str(f.rule).startswith("RSP")}
    return {int(str(rule)[4:]) for rule in rules} - {41}


def replaced(payloads: list[Any], place: int, *others: Any) -> list[Any]:
    return [*payloads[:place], *others, *payloads[place + 1 :]]


def test_good_streams_break_nothing() -> None:
    assert broken(*GOOD) == set()
    assert broken(created(), *CALLED, ended(CALL)) == set()


# the response


def test_a_stream_may_begin_in_the_queue_or_with_an_error() -> None:
    assert outcome(1, event("queued", response=created()["response"]), *GOOD[1:]) is PASS
    assert outcome(1, ERROR) is PASS
    assert outcome(1, *GOOD[1:]) is FAIL
    assert outcome(1, ended()) is FAIL


def test_a_resumed_stream_begins_anywhere() -> None:
    rest = [{**payload, "sequence_number": 40 + n} for n, payload in enumerate(GOOD[4:])]
    assert broken(*rest, path="/v1/responses/resp_1?stream=true&starting_after=39") == set()
    assert {1, 8, 13} <= broken(*rest)


def test_what_a_cut_stream_lacks() -> None:
    assert broken(*GOOD[:-1]) == {2}
    (finding,) = [f for f in judged(*GOOD[:-1], ending="reset").findings if f.rule == "RSP-002"]
    assert finding.level is Level.INFO


def test_what_was_noted_is_said_once() -> None:
    seen, out = inspect(exchange(body(GOOD[:-1]), path="/v1/responses"), "openai-responses", "here")
    assert [f.rule for f in united(seen.findings, out) if f.kind == "stream/truncated"] == ["RSP-002"]


def test_only_the_sentinel_may_follow_the_end() -> None:
    assert (outcome(3, *GOOD), outcome(3, *GOOD, DONE)) == (PASS, PASS)
    assert (outcome(4, *GOOD), outcome(4, *GOOD, DONE)) == (FAIL, PASS)
    assert outcome(3, *GOOD, ended(MESSAGE)) is FAIL
    assert outcome(3, *GOOD, DONE, delta("more")) is FAIL


def test_an_error_is_followed_by_a_failure() -> None:
    failure = ended(word="failed", error={"code": "server_error", "message": "out of memory"})
    assert outcome(37, created(), ERROR, failure) is PASS
    assert outcome(37, created(), ERROR) is FAIL
    assert outcome(37, created(), ERROR, ended()) is FAIL
    assert outcome(37, created(), ERROR, ending="reset") is NOT
    assert outcome(37, *GOOD) is NOT


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ERROR, PASS),
        (event("error", error={"type": "x", "code": None, "message": "m"}), PASS),
        ({"error": {"code": "404", "message": "model not served"}}, PASS),
        (event("error", error="overloaded"), FAIL),
        (event("error", error={"message": "m"}), FAIL),
        (event("error", code="c", message=""), FAIL),
        (event("error"), FAIL),
    ],
)
def test_forms_of_errors(error: dict[str, Any], expected: Outcome) -> None:
    assert outcome(38, created(), error) is expected


def test_fields_that_last() -> None:
    assert outcome(10, created(model="a"), ended(model="b")) is FAIL
    assert outcome(10, created(model=None), ended(model="b")) is PASS
    assert outcome(10, created(instructions="brief"), ended(instructions=None)) is FAIL
    tool = {"type": "function", "name": "tide"}
    assert outcome(10, created(tools=[tool]), ended(tools=[{**tool, "strict": True}])) is PASS
    assert outcome(10, created(tools=[tool]), ended(tools=[{**tool, "name": "wind"}])) is FAIL
    assert outcome(10, created(tools=[tool]), ended(tools=[])) is FAIL


def test_one_id() -> None:
    assert outcome(9, *GOOD) is PASS
    assert outcome(9, created(), ended(id=None)) is FAIL
    assert outcome(9, ended()) is NOT


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": 1, "output_tokens": 2}, {"total_tokens": True}, [], "9"])
def test_usage_of_a_completed_response(usage: Any) -> None:
    assert outcome(34, created(), ended(usage=usage)) is FAIL
    assert outcome(34, created(), ended(word="failed", usage=usage)) is NOT


# sequence numbers


def numbers(*given: Any) -> list[dict[str, Any]]:
    events = [created(), *said("a b")[:2], *(delta("x") for _ in given[3:])]
    return [{**each, "sequence_number": number} for each, number in zip(events, given, strict=True)]


@pytest.mark.parametrize("pieces", [None, 700, 61])
def test_gaps_are_seen_among_repetitions(pieces: int | None) -> None:
    good = [*range(40)]
    assert outcome(7, *numbers(*good), pieces=pieces) is PASS
    for place in (3, 5, 20, 38):
        gap = [n if n < place else n + 1 for n in good]
        (finding,) = [f for f in judged(*numbers(*gap), pieces=pieces).findings if f.rule == "RSP-007"]
        assert (finding.where.frame, finding.expected, finding.got) == (place, place, place + 1)


def test_many_gaps_are_counted() -> None:
    found = [f.message for f in judged(*numbers(*range(0, 80, 2))).findings if f.rule == "RSP-007"]
    assert len(found) == 3
    assert "the first of 39" in found[0]


def test_a_number_in_a_text_is_no_sequence_number() -> None:
    texts = [delta(f'"sequence_number":{n}') for n in range(20)]
    assert outcome(7, created(), *said("a b")[:2], *texts) is PASS
    assert outcome(7, created(), *said("a b")[:2], *texts, numbered=False) is NOT


def test_all_events_or_none_have_numbers() -> None:
    assert (outcome(6, *GOOD), outcome(6, *GOOD, numbered=False), outcome(48, *GOOD, numbered=False)) == (PASS, PASS, FAIL)
    assert outcome(6, *replaced(GOOD, 0, {**GOOD[0], "type": "response.created"}), event("keepalive")) is PASS
    bare = [{**GOOD[0], "sequence_number": 0}, *GOOD[1:]]
    assert outcome(6, *bare, numbered=False) is FAIL
    assert outcome(8, *bare, numbered=False) is PASS


# items


def test_items_at_one_index_are_told_apart_by_id() -> None:
    both = [created(), *said("Low tide"), *CALLED, ended(MESSAGE, CALL)]
    assert broken(*both) == {14}
    twice = [created(), GOOD[1], *said("Low tide"), ended(MESSAGE)]
    assert broken(*twice) == {14}


def test_an_item_that_is_announced_late() -> None:
    late = [created(), GOOD[2], GOOD[1], *GOOD[3:]]
    assert broken(*late) == {13}
    assert broken(created(), event("output_item.added", output_index=0, item=None), *GOOD[1:]) == {51}


def test_indexes_open_in_order() -> None:
    other = message(text("Low tide"), id="msg_2")
    second = [{**each, "output_index": 2} | ({"item_id": "msg_2"} if "item_id" in each else {}) for each in said("Low tide")]
    for each in second:
        if "item" in each:
            each["item"] = {**each["item"], "id": "msg_2"}
    assert broken(created(), *said("Low tide"), *second, ended(MESSAGE, other)) == {15}


def test_unfinished_items() -> None:
    open_ = [each for each in GOOD if each["type"] != "response.output_item.done"]
    assert broken(*open_) == {16}
    assert outcome(16, *open_[:-1], ended(MESSAGE, word="failed", error={"code": "c", "message": "m"})) is NOT
    tools = {"type": "mcp_list_tools", "id": "mcpl_1", "tools": []}
    assert outcome(16, created(), added(0, **tools), ended(tools)) is NOT


def test_ids_that_change() -> None:
    renamed = replaced(GOOD, 3, delta("Low", item="msg_2"))
    assert broken(*renamed) == {18}
    assert broken(*GOOD[:-1], ended({**MESSAGE, "id": "msg_9"})) == {19}
    assert outcome(18, *[{k: v for k, v in each.items() if k != "item_id"} for each in GOOD]) is PASS


def test_the_final_output() -> None:
    assert outcome(32, *GOOD) is PASS
    assert outcome(32, *GOOD[:-1], ended()) is FAIL
    assert outcome(32, *GOOD[:-1], ended({**MESSAGE, "encrypted_content": "x"})) is PASS
    assert outcome(32, *GOOD[:-1], ended(message(text("Low tides")))) is FAIL
    assert outcome(32, *GOOD[:-1], ended(word="failed")) is NOT
    assert outcome(32, created(), ended()) is NOT


def test_arguments_are_json() -> None:
    assert outcome(31, created(), *CALLED, ended(CALL)) is PASS
    assert outcome(31, created(), *CALLED[:1], done(0, **call("")), ended(call(""))) is NOT
    cut = [created(), added(0, **call()), arguments('{"port":"Kie'), ended()]
    (finding,) = [f for f in judged(*cut).findings if f.rule == "RSP-031"]
    assert (finding.kind, finding.where.frame) == ("tool/arguments-invalid-json", 3)
    assert outcome(31, *cut[:-1], ended(word="incomplete")) is NOT


def test_a_call_that_is_cut_off_has_no_arguments_done() -> None:
    cut = call('{"port"', status="incomplete")
    assert (
        outcome(50, created(), added(0, **call()), arguments('{"port"'), done(0, **cut), ended(cut, word="incomplete")) is NOT
    )
    assert outcome(50, created(), added(0, **call()), done(0, **CALL), ended(CALL)) is FAIL


# parts and texts


def test_a_part_that_was_never_added_is_one_defect() -> None:
    assert broken(*replaced(GOOD, 2)) == {21}


def test_parts_that_stand_in_the_item_when_it_is_added() -> None:
    there = added(0, **message(text(), status="in_progress"))
    assert outcome(21, created(), there, *GOOD[3:]) is PASS


def test_closing_from_the_inside_out() -> None:
    *first, text_done, part_done, item_done, end = GOOD
    assert outcome(28, *GOOD) is PASS
    for closing in (
        [part_done, text_done, item_done],
        [text_done, item_done, part_done],
        [text_done, delta(" more"), part_done, item_done],
        [text_done, item_done],
        [text_done, part_done, item_done, delta(" more")],
        [text_done, part_done, item_done, item_done],
    ):
        assert outcome(28, *first, *closing, end) is FAIL


def test_texts_and_their_sums() -> None:
    assert outcome(23, *replaced(GOOD, 4, delta(" tid"))) is FAIL
    without = [each for each in GOOD if "delta" not in each]
    assert outcome(23, *without) is NOT
    (finding,) = [f for f in judged(*replaced(GOOD, 4, delta(" tid"))).findings if f.rule == "RSP-023"]
    assert (finding.expected, finding.got, finding.where.path) == ("Low tid", "Low tide", "/text")
    assert outcome(25, created(), *CALLED[:1], *CALLED[2:], ended(CALL)) is FAIL


def test_a_text_that_came_with_its_part() -> None:
    filled = part("added", 0, text("Low tide"))
    assert outcome(52, *replaced(GOOD, 2, filled)) is FAIL
    assert outcome(52, *GOOD[:2], filled, *GOOD[5:]) is NOT
    assert outcome(28, *GOOD[:2], filled, *GOOD[6:]) is PASS


def test_steps_of_a_tool() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}

    def steps(*words: str) -> Outcome:
        events = [event(f"web_search_call.{word}", output_index=0, item_id="ws_1") for word in words]
        return outcome(44, created(), added(0, **item), *events, done(0, **item), ended(item))

    assert steps("in_progress", "searching", "completed") is PASS
    assert steps("in_progress", "in_progress", "searching", "completed") is PASS
    assert steps("in_progress") is NOT
    for wrong in (("completed", "searching"), ("searching", "in_progress"), ("completed", "completed")):
        assert steps(*wrong) is FAIL


def test_annotations() -> None:
    cited = {"type": "url_citation", "url": "https://harbour.example", "title": "t", "start_index": 0, "end_index": 3}
    at = {"output_index": 0, "item_id": "msg_1", "content_index": 0, "annotation": cited}

    def cites(*indexes: Any, final: Any) -> Outcome:
        events = [event("output_text.annotation.added", annotation_index=index, **at) for index in indexes]
        whole = text("Low tide", annotations=final)
        return outcome(30, *GOOD[:5], *events, GOOD[5], part("done", 0, whole), done(0, **message(whole)))

    assert cites(0, 1, final=[cited, cited]) is PASS
    assert cites(0, final=[cited, cited]) is PASS
    assert cites(0, 2, final=[cited, cited]) is FAIL
    assert cites(0, 1, final=[cited]) is FAIL
    assert cites(0, final=[{**cited, "title": "u"}]) is FAIL
    assert cites(True, final=[cited]) is FAIL


# helpers and tables


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ({"a": 1, "b": [1, {"c": 2}]}, {"b": [1, {"c": 2}], "a": 1.0}, None),
        ({"a": 1}, {"a": True}, Unlike("/a", 1, True)),
        ({"a/b": [1, 2]}, {"a/b": [1, 3]}, Unlike("/a~1b/1", 2, 3)),
        ({"a": None}, {}, Unlike("/a", None, None)),
        ({"id": 1}, {"id": 2}, None),
        ([1], {"0": 1}, Unlike("", [1], {"0": 1})),
        ([1], [1, 2], Unlike("", "1 elements", "2 elements")),
    ],
)
def test_values_that_differ(one: Any, other: Any, found: Unlike | None) -> None:
    assert unlike(one, other, {"id"}) == found


def test_values_in_messages_are_short() -> None:
    assert [shown(value) for value in (None, {}, [1], 7, "a")] == ["nothing", "an object", "a list of 1", "7", "'a'"]
    assert len(shown("long" * 99)) == 60


def test_tables_name_rules_of_the_catalogue() -> None:
    named = {rule for table in TABLES for rule in table.rules}
    assert named <= set(RULES)
    ordered = {rule.id for rule in RULES.values() if rule.id.startswith("RSP") and rule.check is None}
    assert ordered <= named


# anything may stand anywhere

_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 99),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "a", "msg_1", "response.created", "function_call"]),
    st.sampled_from([[], {}, [None], [{}], {"a": [1]}, [[]], {"type": "output_text", "text": 3}]),
)
_STREAM = [
    created(tools=[{"type": "function", "name": "tide"}], instructions="brief"),
    *said("Low tide"),
    *({**each, "output_index": 1} for each in CALLED),
    event(
        "reasoning_summary_part.added",
        output_index=2,
        item_id="rs_1",
        summary_index=0,
        part={"type": "summary_text", "text": ""},
    ),
    event("reasoning_summary_text.delta", output_index=2, item_id="rs_1", summary_index=0, delta="so"),
    event("output_text.annotation.added", output_index=0, item_id="msg_1", content_index=0, annotation_index=0, annotation={}),
    event("web_search_call.searching", output_index=3, item_id="ws_1"),
    ERROR,
    ended(MESSAGE, CALL),
]


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for step, inner in inside for place in _places(inner, (*at, step)))]


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_no_payload_makes_a_rule_fail_itself(data: st.DataObject) -> None:
    payloads = copy.deepcopy(_STREAM)
    for _ in range(data.draw(st.integers(1, 4))):
        number = data.draw(st.integers(0, len(payloads) - 1))
        place = data.draw(st.sampled_from(_places(payloads[number])))
        odd = copy.deepcopy(data.draw(_ODD))  # it is changed in place as well
        if not place:
            payloads[number] = odd
            continue
        holder: Any = payloads[number]
        for step in place[:-1]:
            holder = holder[step]
        if data.draw(st.booleans()):
            holder[place[-1]] = odd
        else:
            del holder[place[-1]]
    if data.draw(st.booleans()):
        payloads = data.draw(st.permutations(payloads))
    judged(*payloads, pieces=data.draw(st.sampled_from([None, 97])))


def test_a_response_has_an_id() -> None:
    nameless = created()
    nameless["response"]["id"] = None
    assert 9 in broken(nameless, *GOOD[1:])
    del nameless["response"]["id"]
    assert 9 in broken(nameless, *GOOD[1:])
