"""What is graded how: each fact of a turn, right, dug for, lost and false; and who may fail when."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.adapters import Observation
from harness.adapters.process import Answer, Ending
from harness.adapters.protocol import Failure, Said
from harness.api_error import ApiError, ErrorKind
from harness.conformance.grading import Graded, grade
from harness.conformance.verdict import Grade
from harness.conformance.words import meaning
from harness.findings import Finding
from harness.response import FinishReason, Reasoning, Refusal, Response, Text, ToolCall, Usage

REPLIED = Answer(ending=Ending.REPLY, reply={})
USAGE = Usage(input_tokens=20, output_tokens=7, reasoning_tokens=3)
CALL = ToolCall(id="call_1", name="tide", arguments='{"port": "Brest", "days": 2}')


def turn(*parts: Any, finish: str | None = "stop", usage: Usage | None = None) -> Observation:
    reason = meaning(finish)
    response = Response(parts=parts, finish_reason=reason, raw_finish_reason=finish, usage=usage)
    return Observation(adapter="ours", response=response, complete=True)


def said(**fields: Any) -> Said:
    raw, error = fields.pop("raw", None), fields.pop("error", None)
    fields.setdefault("finish_reason", "stop")
    return Said.model_validate({"id": "1", "response": fields, "raw": raw, "error": error})


def of(right: Observation, reply: Said) -> Graded:
    return grade(right, reply, REPLIED)


def kinds(graded: Graded) -> list[str]:
    return [finding.kind for finding in graded.findings]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"text": "Tide is high."}, Grade.PASS),
        ({"text": "Tide is hig"}, Grade.WRONG),
        ({"text": None}, Grade.WRONG),
        ({"text": None, "raw": {"parts": [{"text": "Tide is high."}]}}, Grade.LOSSY),
        ({"text": None, "raw": ["Tide ", {"and": "is high."}]}, Grade.LOSSY),
        ({"text": "Tide is hig", "raw": "Tide is high."}, Grade.WRONG),
    ],
)
def test_text(told: dict[str, Any], expected: Grade) -> None:
    assert of(turn(Text(text="Tide is high.")), said(**told)).grade is expected


@pytest.mark.parametrize("told", ["", "No.", None])
def test_a_refusal_is_told_as_text_or_not_at_all(told: str | None) -> None:
    assert of(turn(Refusal(text="No.")), said(text=told)).grade is Grade.PASS


def test_a_refusal_may_end_by_a_filter() -> None:
    assert of(turn(Refusal(text="No.")), said(text="No.", finish_reason="content-filter")).grade is Grade.PASS
    assert of(turn(Text(text="No.")), said(text="No.", finish_reason="content-filter")).grade is Grade.WRONG


def test_reasoning_in_raw_data_only_is_lossy() -> None:
    right = turn(Reasoning(text="hm"), Text(text="Yes."))
    assert of(right, said(text="Yes.", reasoning="hm")).grade is Grade.PASS
    assert of(right, said(text="Yes.", raw={"reasoning_content": "hm"})).grade is Grade.LOSSY
    assert of(right, said(text="Yes.")).grade is Grade.WRONG


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"port": "Brest", "days": 2}', Grade.PASS),
        ({"days": 2, "port": "Brest"}, Grade.PASS),
        ({"port": "Brest", "days": 2.0}, Grade.PASS),
        ({"port": "Brest", "days": True}, Grade.WRONG),
        ({"port": "Brest", "days": "2"}, Grade.WRONG),
        ({"port": "Brest"}, Grade.WRONG),
        ('{"port": "Brest", "days": 2', Grade.WRONG),
        (None, Grade.WRONG),
    ],
)
def test_arguments(arguments: Any, expected: Grade) -> None:
    reply = said(tool_calls=[{"id": "call_1", "name": "tide", "arguments": arguments}], finish_reason="tool_calls")
    assert of(turn(CALL, finish="tool_calls"), reply).grade is expected


def test_arguments_that_are_no_json_must_be_told_as_they_are() -> None:
    broken = ToolCall(id="call_1", name="tide", arguments='{"port": "Bre')
    right = turn(broken, finish="tool_calls")

    def told(arguments: Any) -> Grade:
        return of(right, said(tool_calls=[{"id": "call_1", "name": "tide", "arguments": arguments}])).grade

    assert told('{"port": "Bre') is Grade.PASS
    assert told({"port": "Bre"}) is Grade.WRONG  # a repair is an invention


def test_an_id_that_nobody_sent_may_be_anything() -> None:
    right = turn(ToolCall(id="call_0", name="tide", arguments="{}", synthetic_id=True), finish="tool_calls")
    assert of(right, said(tool_calls=[{"id": "made-up", "name": "tide", "arguments": {}}])).grade is Grade.PASS


def test_calls_in_another_order_are_told_as_that() -> None:
    other = ToolCall(id="call_2", name="wind", arguments="{}")
    told = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in (other, CALL)]
    graded = of(turn(CALL, other, finish="tool_calls"), said(tool_calls=told))
    assert (graded.grade, kinds(graded)) == (Grade.WRONG, ["subject/calls"])
    assert graded.findings[0].got == ["call_2", "call_1"]


def test_a_call_that_was_welded_is_false_though_raw_data_has_both() -> None:
    other = ToolCall(id="call_2", name="tide", arguments='{"port": "Ribe"}')
    welded = {"id": "call_1", "name": "tide", "arguments": CALL.arguments + other.arguments}
    first = {"id": "call_1", "name": "tide", "arguments": CALL.arguments}
    right = turn(CALL, other, finish="tool_calls")
    assert of(right, said(tool_calls=[welded], raw=["tide"])).grade is Grade.WRONG
    assert of(right, said(tool_calls=[first], raw=["tide"])).grade is Grade.LOSSY


def test_a_call_too_many_is_false() -> None:
    reply = said(tool_calls=[{"id": "1", "name": "x", "arguments": {}}])
    graded = of(turn(Text(text="")), reply)
    assert (graded.grade, kinds(graded)) == (Grade.WRONG, ["subject/calls"])


@pytest.mark.parametrize(
    ("sent", "told", "expected"),
    [
        ("stop", "stop", Grade.PASS),
        ("STOP", "FinishReason.STOP", Grade.PASS),
        ("end_turn", "stop", Grade.PASS),
        ("max_tokens", "length", Grade.PASS),
        ("length", "stop", Grade.WRONG),
        ("stop", None, Grade.WRONG),
        (None, "stop", Grade.WRONG),
        (None, None, Grade.PASS),
        (None, "interrupted", Grade.PASS),  # the word of the AI SDK for a stream without a reason
        (None, "other", Grade.PASS),
        (None, "error", Grade.WRONG),
        ("stop", "interrupted", Grade.WRONG),
        ("a_new_word", "a_new_word", Grade.PASS),
        ("a_new_word", "other", Grade.PASS),
        ("a_new_word", "stop", Grade.WRONG),
        ("content_filter", "content-filter", Grade.PASS),
    ],
)
def test_finish(sent: str | None, told: str | None, expected: Grade) -> None:
    right = turn(Text(text="Yes."), finish=sent)
    if sent == "a_new_word":  # as every dialect reads one
        response = Response(parts=(Text(text="Yes."),), finish_reason=FinishReason.OTHER, raw_finish_reason=sent)
        right = Observation(adapter="ours", response=response, complete=True)
    assert of(right, said(text="Yes.", finish_reason=told)).grade is expected


@pytest.mark.parametrize("sent", ["stop", "tool_calls", "tool_use", "STOP"])
@pytest.mark.parametrize("told", ["stop", "tool_calls", "tool-calls"])
def test_a_turn_with_calls_ends_by_stop_or_by_them(sent: str, told: str) -> None:
    call = {"id": "call_1", "name": "tide", "arguments": CALL.arguments}
    assert of(turn(CALL, finish=sent), said(tool_calls=[call], finish_reason=told)).grade is Grade.PASS


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"input_tokens": 20, "output_tokens": 7, "reasoning_tokens": 3}, Grade.PASS),
        ({"input_tokens": 20, "output_tokens": 7}, Grade.LOSSY),
        ({"input_tokens": 20, "output_tokens": 0, "reasoning_tokens": 3}, Grade.WRONG),
        ({"input_tokens": 21, "output_tokens": 7, "reasoning_tokens": 3}, Grade.WRONG),
        (None, Grade.WRONG),
    ],
)
def test_usage(told: dict[str, int] | None, expected: Grade) -> None:
    assert of(turn(Text(text="Yes."), usage=USAGE), said(text="Yes.", usage=told)).grade is expected


def test_counts_that_nobody_sent_are_false_and_zeros_are_not() -> None:
    right = turn(Text(text="Yes."))
    assert of(right, said(text="Yes.", usage={"input_tokens": 0, "output_tokens": 0})).grade is Grade.PASS
    assert of(right, said(text="Yes.", usage={"input_tokens": 5})).grade is Grade.WRONG


def failed(kind: ErrorKind, message: str = "no room", finish: str | None = None) -> Observation:
    response = Response(parts=(Text(text="Ti"),), raw_finish_reason=finish, finish_reason=meaning(finish))
    return Observation(adapter="ours", response=response, error=ApiError(kind=kind, message=message))


@pytest.mark.parametrize(
    ("right", "reply", "expected"),
    [
        (failed(ErrorKind.TRUNCATED), said(error={"type": "http.IncompleteRead"}), Grade.PASS),
        (failed(ErrorKind.TRUNCATED), said(text="Ti", finish_reason=None), Grade.LOSSY),
        (failed(ErrorKind.TRUNCATED), said(text="Ti", finish_reason="unknown"), Grade.LOSSY),
        (failed(ErrorKind.TRUNCATED), said(text="Ti", finish_reason="stop"), Grade.WRONG),
        (failed(ErrorKind.TRUNCATED), said(text="Ti", finish_reason="error"), Grade.PASS),
        (failed(ErrorKind.OVERLOADED), said(text="Ti", finish_reason=None), Grade.WRONG),
        (failed(ErrorKind.OVERLOADED), said(text="Ti", finish_reason=None, raw={"error": "no room"}), Grade.LOSSY),
        (failed(ErrorKind.OTHER, finish="MALFORMED_FUNCTION_CALL"), said(finish_reason="MALFORMED_FUNCTION_CALL"), Grade.PASS),
        (failed(ErrorKind.CONTENT_FILTER, finish="SAFETY"), said(finish_reason="content_filter"), Grade.PASS),
    ],
)
def test_a_failure_must_be_told(right: Observation, reply: Said, expected: Grade) -> None:
    assert of(right, reply).grade is expected


def test_who_fails_on_a_whole_turn_crashes() -> None:
    graded = of(turn(Text(text="Yes.")), said(error={"type": "lib.ParseError", "message": "what?"}))
    assert (graded.grade, kinds(graded)) == (Grade.CRASH, ["subject/failed"])
    assert graded.findings[0].got == {"type": "lib.ParseError", "message": "what?"}


def test_an_end_by_length_may_be_told_as_an_error() -> None:
    right = turn(Text(text="Ti"), finish="length")
    assert of(right, said(error={"type": "lib.LengthError", "message": ""})).grade is Grade.LOSSY
    assert of(right, said(error={"type": "builtins.TypeError", "message": ""})).grade is Grade.CRASH


def test_a_stream_that_breaks_its_contract_may_be_refused_but_not_crash_a_client() -> None:
    broken = Finding(kind="tool/index-missing", message="no index")
    right = Observation(adapter="ours", response=Response(parts=(Text(text="Yes."),)), complete=True, findings=(broken,))
    refused = of(right, said(error={"type": "lib.StreamError", "message": "no index"}))
    assert (refused.grade, kinds(refused)) == (Grade.PASS, ["subject/refused"])
    crashed = of(right, said(error={"type": "builtins.KeyError", "message": "'index'"}))
    assert (crashed.grade, kinds(crashed)) == (Grade.CRASH, ["subject/failed", "subject/broken-stream"])


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("missing role", (Grade.PASS, ["subject/refused"])),
        ("ended by length", (Grade.LOSSY, ["subject/finish", "subject/broken-stream"])),
    ],
)
def test_a_broken_stream_that_also_ends_early_may_be_refused_too(message: str, expected: tuple[Grade, list[str]]) -> None:
    broken = Finding(kind="delta/role-missing", message="no role")
    right = replace(turn(Text(text="Ti"), finish="length"), findings=(broken,))
    graded = of(right, said(error={"type": "lib.StreamError", "message": message}))
    assert (graded.grade, kinds(graded)) == expected


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (Ending.HANG, Grade.HANG),
        (Ending.EXIT, Grade.CRASH),
        (Ending.GARBAGE, Grade.CRASH),
        (Ending.MEMORY, Grade.CRASH),
    ],
)
def test_no_reply(ending: Ending, expected: Grade) -> None:
    graded = grade(turn(Text(text="Yes.")), None, Answer(ending=ending, evidence="its last words"))
    assert graded.grade is expected
    assert graded.findings[0].got == "its last words"


def test_to_reach_for_other_machines_is_false_whatever_else_is_right() -> None:
    reply = Said.model_validate({"id": "1", "response": {"text": "Yes.", "finish_reason": "stop"}, "outside": ["192.0.2.1"]})
    graded = of(turn(Text(text="Yes.")), reply)
    assert (graded.grade, kinds(graded)) == (Grade.WRONG, ["subject/outside"])


def test_what_a_client_cannot_be_asked_is_no_failure() -> None:
    reply = Said.model_validate({"id": "1", "unsupported": "no audio"})
    assert of(turn(Text(text="Yes.")), reply).grade is Grade.UNSUPPORTED


def test_an_error_has_a_type() -> None:
    assert Failure(type="x").message == ""
