"""Rules of Messages: the boundaries of the trickier ones, Claude inside Bedrock, and payloads in which anything may stand
anywhere."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cassette import loading
from harness.conformance.inspection import inspect, united
from harness.conformance.rules import RULES, Judged, Outcome
from harness.conformance.rules.anthropic import TABLES
from harness.findings import Level
from harness.replay.faults import Fault, Lose, Set, faulty, first
from tests.chat import encoded
from tests.conformance.rules.anything import damaged
from tests.exchanges import exchange

PASS, FAIL, NOT = Outcome.PASS, Outcome.FAIL, Outcome.NOT_APPLICABLE
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "tide-1", "content": [], "stop_reason": None}
START = {"type": "message_start", "message": {**MESSAGE, "usage": {"input_tokens": 9, "output_tokens": 1}}}
FINAL = {"type": "message_stop"}
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
PING = {"type": "ping"}


def begins(kind: str = "text", index: Any = 0, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def grows(kind: str = "text", index: Any = 0, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", **fields}}


def stops(index: Any = 0) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def ends(reason: Any = "end_turn", **usage: Any) -> dict[str, Any]:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 4, **usage},
    }


def tool(index: int = 0, **fields: Any) -> dict[str, Any]:
    return begins("tool_use", index, **{"id": "toolu_1", "name": "tide", "input": {}, **fields})


def piece(text: str, index: int = 0) -> dict[str, Any]:
    return grows("input_json", index, partial_json=text)


TEXT = [begins(text=""), grows(text="Hi"), stops()]
THINKS = [begins("thinking", thinking="", signature=""), grows("thinking", thinking="Hm"), grows("signature", signature="c2Vh")]


def judged(*events: Any, provider: str = "here", ending: Any = "eof", named: bool = True) -> Judged:
    body = b"".join(
        (f"event: {event.get('type')}\n".encode() if named and isinstance(event, dict) else b"")
        + b"data: "
        + encoded(event)
        + b"\n\n"
        for event in events
    )
    _, out = inspect(exchange(body, path="/v1/messages", ending=ending), "anthropic-messages", provider)
    assert not out.errors
    return out


def outcome(rule: int, *events: Any, **how: Any) -> Outcome:
    return judged(*events, **how).outcomes[f"ANT-{rule:03}"]


def kinds(*events: Any, **how: Any) -> set[str]:
    """What was found, but for what is only worth a note."""
    found = judged(*events, **how).findings
    return {f.kind for f in found if str(f.rule).startswith("ANT") and f.level is not Level.INFO}


def test_good_streams_break_nothing() -> None:
    assert kinds(START, PING, *TEXT, PING, ends(), FINAL) == set()
    assert (
        kinds(START, *THINKS, stops(), tool(1), piece('{"a":', 1), piece("1}", 1), stops(1), ends("tool_use"), FINAL) == set()
    )
    assert kinds(START, ends("end_turn"), FINAL) == set()
    assert kinds(PING, START, *TEXT, {"type": "heartbeat"}, ends(None), ends(), FINAL) == set()


# the order of events


def test_what_a_cut_stream_lacks() -> None:
    assert kinds(START, *TEXT[:2]) == {"stream/truncated"}
    assert kinds(START, *TEXT, ends()) == {"stream/truncated"}
    assert kinds(PING) == {"stream/truncated"}
    assert kinds() == set()
    assert kinds(START, *TEXT, FINAL) == {"stream/finish-missing"}


def test_a_recording_that_was_cut_off_blames_no_server() -> None:
    assert kinds(START, *TEXT, ending="reset") == set()
    assert outcome(2, START, *TEXT, ending="reset") is FAIL


def test_the_end_is_one_finding_and_not_two() -> None:
    for events, kind in (([START, *TEXT], "stream/truncated"), ([START, *TEXT, FINAL], "stream/finish-missing")):
        body = b"".join(f"event: {event['type']}\n".encode() + b"data: " + encoded(event) + b"\n\n" for event in events)
        seen, out = inspect(exchange(body, path="/v1/messages"), "anthropic-messages", "here")
        assert [f.kind for f in united(seen.findings, out) if f.kind.startswith("stream")] == [kind]


def test_the_message_starts_once_and_first() -> None:
    assert kinds(*TEXT, ends(), FINAL) == {"anthropic/message-start"}
    assert kinds(START, START, *TEXT, ends(), FINAL) == {"anthropic/message-start"}
    assert (outcome(1, ERROR), outcome(2, ERROR)) == (PASS, NOT)


def test_nothing_follows_the_end() -> None:
    assert kinds(START, *TEXT, ends(), FINAL, PING) == {"stream/data-after-done"}
    assert kinds(START, *TEXT, ERROR, FINAL) == {"error/not-last"}
    assert kinds(START, *TEXT, ends(), FINAL, START) == {"stream/data-after-done"}


def test_one_block_is_open() -> None:
    assert kinds(START, TEXT[0], begins(index=1, text=""), stops(1), ends(), FINAL) == {"anthropic/block-not-stopped"}
    assert kinds(START, *TEXT[:2], ends(), FINAL) == {"anthropic/block-not-stopped"}
    assert kinds(START, *TEXT, grows(text="!"), ends(), FINAL) == {"anthropic/block-not-open"}
    assert kinds(START, *TEXT, stops(), ends(), FINAL) == {"anthropic/block-not-open"}
    assert kinds(START, TEXT[0], stops(1), stops(), ends(), FINAL) == {"anthropic/block-not-open"}
    assert kinds(START, ends(), *TEXT, FINAL) == {"anthropic/block-not-stopped"}
    assert kinds(START, grows(text="Hi"), ends(), FINAL) == {"anthropic/block-not-open"}


@pytest.mark.parametrize("index", [1, None, "0", True, -1, 0.0])
def test_an_index_is_the_next_number(index: Any) -> None:
    assert outcome(5, START, begins(index=index, text=""), ends(), FINAL) is FAIL


def test_names_of_events() -> None:
    assert outcome(3, START, named=False) is FAIL
    assert outcome(3, {"type": 5}) is NOT


# blocks and their deltas


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use", "tool_use"])
def test_pieces_of_an_input_fit_every_call(kind: str) -> None:
    assert outcome(8, START, begins(kind, id="a", name="b", input={}), piece("{}")) is PASS
    assert outcome(8, START, begins(kind, id="a", name="b", input={}), grows(text="{}")) is FAIL


def test_deltas_that_nobody_knows_are_not_judged() -> None:
    assert outcome(8, START, TEXT[0], grows("sound", data="c2Vh")) is NOT
    assert outcome(8, START, begins("hologram"), grows(text="Hi")) is NOT


@pytest.mark.parametrize("kind", ["redacted_thinking", "web_search_tool_result", "mcp_tool_result"])
def test_whole_blocks(kind: str) -> None:
    assert outcome(21, START, begins(kind), stops()) is PASS
    assert outcome(21, START, begins(kind), grows(text="Hi"), stops()) is FAIL
    assert outcome(8, START, begins(kind), grows(text="Hi"), stops()) is NOT


def test_inputs_are_json_if_the_message_is_whole() -> None:
    def ending(reason: str, *pieces: str) -> Outcome:
        return outcome(9, START, tool(), *map(piece, pieces), stops(), ends(reason), FINAL)

    assert ending("tool_use", '{"a":', "1}") is PASS
    assert ending("tool_use", "") is PASS
    assert ending("tool_use") is NOT
    assert ending("tool_use", '{"a":') is FAIL
    assert ending("tool_use", '{"a":1}', '{"a":2}') is FAIL
    assert ending("max_tokens", '{"a":') is NOT
    assert outcome(9, START, tool(), piece('{"a":')) is NOT


def test_a_broken_input_is_found_at_the_start_of_its_call() -> None:
    events = [START, *TEXT, tool(1), piece('{"a":', 1), stops(1), ends("tool_use"), FINAL]
    (finding,) = [f for f in judged(*events).findings if f.rule == "ANT-009"]
    assert (finding.where.frame, finding.got) == (4, '{"a":')


def test_signatures() -> None:
    begun, thought, signed = THINKS
    end = [stops(), ends(), FINAL]
    assert outcome(12, START, *THINKS, *end) is PASS
    assert outcome(12, START, begun, signed, *end) is PASS
    assert outcome(12, START, begun, thought, *end) is FAIL
    assert outcome(12, START, *THINKS, signed, *end) is FAIL
    assert outcome(12, START, begun, signed, thought, *end) is FAIL
    assert outcome(12, START, begun, thought, stops(), ends("max_tokens"), FINAL) is NOT
    assert outcome(12, START, begun, thought) is NOT


@pytest.mark.parametrize("field", ["id", "name", "input"])
@pytest.mark.parametrize("value", ["", None, 5])
def test_what_a_call_starts_with(field: str, value: Any) -> None:
    assert outcome(10, START, tool(**{field: value})) is FAIL
    assert outcome(10, START, tool()) is PASS


def test_citations_need_a_list() -> None:
    cites = grows("citations", citation={"type": "char_location"})
    assert outcome(23, START, begins(text="", citations=[]), cites) is PASS
    assert outcome(23, START, begins(text="", citations=None), cites) is FAIL


# the end of a message


def test_reasons_and_calls() -> None:
    call = [tool(), stops()]
    assert outcome(15, START, *call, ends("tool_use"), FINAL) is PASS
    assert outcome(15, START, *call, ends("end_turn"), FINAL) is FAIL
    assert outcome(15, START, *call, ends("max_tokens"), FINAL) is PASS
    assert outcome(15, START, *TEXT, ends("tool_use"), FINAL) is FAIL
    assert outcome(15, START, begins("server_tool_use", input={}), stops(), ends("end_turn"), FINAL) is NOT
    assert kinds(START, *TEXT, ends("tool_use"), FINAL) == {"finish/calls-missing"}


def test_a_stop_sequence_has_its_reason() -> None:
    met = {"type": "message_delta", "delta": {"stop_reason": "stop_sequence", "stop_sequence": "END"}}
    assert outcome(16, START, met) is PASS
    assert outcome(16, START, ends("stop_sequence")) is FAIL
    assert outcome(16, START, ends(None)) is NOT


def test_counts_are_totals() -> None:
    assert outcome(17, START, ends(output_tokens=1)) is PASS
    assert outcome(17, START, ends(output_tokens=0)) is FAIL
    assert outcome(17, START, ends(output_tokens="0")) is NOT
    assert (outcome(18, START, ends(input_tokens=9)), outcome(18, START, ends(input_tokens=10))) == (PASS, FAIL)


@pytest.mark.parametrize(
    "bare", [{"error": "busy"}, {"type": "error"}, {"type": "error", "error": {"type": "a"}}, [{"error": {}}]]
)
def test_forms_of_errors(bare: Any) -> None:
    assert outcome(19, START, ERROR) is PASS
    assert outcome(19, START, bare) is (NOT if bare == [{"error": {}}] else FAIL)


# Claude inside Bedrock


def inside(scenario: str, *faults: Fault) -> dict[str, Outcome]:
    (case,) = [c for c in loading.load(loading.shipped()) if c.id == f"bedrock-invoke/bedrock/{scenario}"]
    assert case.stream is not None
    _, out = inspect(faulty(case.stream, case.dialect, *faults), case.dialect, case.provider)
    assert not out.errors
    return {rule: said for rule, said in out.outcomes.items() if rule.startswith("ANT")}


def test_claudes_events_are_judged_inside_bedrocks_frames() -> None:
    good = inside("anthropic-text")
    assert good["ANT-001"] is good["ANT-002"] is good["ANT-006"] is PASS
    assert "ANT-003" not in good
    assert "ANT-022" not in good
    broken = inside("anthropic-text", Lose(first("/type", "content_block_stop")))
    assert {rule for rule, said in broken.items() if said is FAIL} == {"ANT-007"}
    assert inside("anthropic-tool-call", Set(first("/type", "message_delta"), "/delta/stop_reason", "stop"))["ANT-014"] is FAIL


def test_an_exception_of_bedrocks_excuses_what_is_missing() -> None:
    assert inside("error-in-stream")["ANT-002"] is NOT


@pytest.mark.parametrize("scenario", ["nova-text", "llama-text", "titan-text"])
def test_other_vendors_are_not_judged_as_claude(scenario: str) -> None:
    assert set(inside(scenario).values()) == {NOT}


# anything anywhere

FULL = [
    START,
    *THINKS,
    stops(),
    begins(index=1, text="", citations=[]),
    grows(index=1, text="Hi"),
    grows("citations", 1, citation={"type": "char_location"}),
    stops(1),
    tool(2),
    piece('{"a":1}', 2),
    stops(2),
    begins("web_search_tool_result", 3, content=[]),
    stops(3),
    ends("tool_use", input_tokens=9, output_tokens=4),
    FINAL,
    ERROR,
]


@given(damaged(FULL), st.booleans())
@settings(max_examples=300, deadline=None)
def test_nothing_that_comes_makes_a_rule_fail_to_be_evaluated(stream: list[Any], named: bool) -> None:
    judged(*stream, named=named)


# the tables


def test_the_tables_name_rules_of_the_catalogue() -> None:
    assert {rule for table in TABLES for rule in table.rules} == {f"ANT-{n:03}" for n in (1, 2, 6, 7, 20)}
    assert {rule for table in TABLES for rule in table.rules} <= set(RULES)


def test_clients_read_the_count_of_the_output_without_looking() -> None:
    def ending(**fields: Any) -> dict[str, Any]:
        return {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, **fields}

    for lacking in (ending(), ending(usage=None), ending(usage={}), ending(usage={"input_tokens": 9})):
        assert kinds(START, *TEXT, lacking, FINAL) == {"usage/count-missing"}


def test_the_message_is_the_assistants() -> None:
    users = {"type": "message_start", "message": {**START["message"], "role": "user"}}
    assert kinds(users, *TEXT, ends(), FINAL) == {"delta/role-invalid"}
