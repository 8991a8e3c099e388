"""Rules of generateContent: the boundaries of the trickier ones, and payloads in which anything may stand anywhere."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.conformance.inspection import inspect, united
from harness.conformance.rules import RULES, Judged, Outcome
from harness.conformance.rules.gemini import TABLES
from harness.findings import Level
from tests.exchanges import exchange, sse

PASS, FAIL, NOT = Outcome.PASS, Outcome.FAIL, Outcome.NOT_APPLICABLE
PATH = "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"
ASKED: dict[str, Any] = {
    "contents": [],
    "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    "toolConfig": {"functionCallingConfig": {"streamFunctionCallArguments": True}},
}
COUNTS = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
SIGNED = {"thoughtSignature": "CpQB"}


def chunk(*parts: Any, finish: Any = None, **candidate: Any) -> dict[str, Any]:
    ends = {} if finish is None else {"finishReason": finish}
    return {"candidates": [{"content": {"parts": list(parts), "role": "model"}, "index": 0, **ends, **candidate}]}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"text": words, **more}


def thought(words: str) -> dict[str, Any]:
    return {"text": words, "thought": True}


def call(**fields: Any) -> dict[str, Any]:
    return {"functionCall": fields}


def piece(path: str, value: str = "a", more: bool = False, **fields: Any) -> dict[str, Any]:
    entry = {"jsonPath": path, "stringValue": value, **({"willContinue": True} if more else {})}
    return call(partialArgs=[entry], **fields)


STOP = chunk(text("."), finish="STOP")
OPEN = chunk({**call(name="tide", willContinue=True), **SIGNED})
MORE = {"willContinue": True}
CLOSED = chunk(call(), finish="STOP")


def judged(*payloads: Any, path: str = PATH, asked: Any = None, provider: str = "here", ending: Any = "eof") -> Judged:
    request = ASKED if asked is None else asked
    stream = exchange(sse(*payloads, end=False), path=path, request=request, ending=ending)
    _, out = inspect(stream, "gemini", provider)
    assert not out.errors
    return out


def outcome(rule: int, *payloads: Any, **how: Any) -> Outcome:
    return judged(*payloads, **how).outcomes[f"GGL-{rule:03}"]


def kinds(*payloads: Any, **how: Any) -> set[str]:
    return {finding.kind for finding in judged(*payloads, **how).findings if str(finding.rule).startswith("GGL")}


def test_a_good_stream_breaks_nothing() -> None:
    assert kinds(chunk(thought("Well")), chunk(text("Hi")), {**STOP, "usageMetadata": COUNTS}) == set()
    assert kinds(OPEN, chunk(piece("$.port", **MORE)), CLOSED) == set()


# chunks


def test_an_empty_chunk_is_a_response() -> None:
    assert outcome(1, {}, STOP) is PASS
    assert outcome(1, {"usageMetadata": COUNTS}, STOP) is PASS
    assert outcome(1, {"candidates": None}, STOP) is PASS


@pytest.mark.parametrize("odd", [{"response": STOP}, {"candidates": {}}, {"candidates": [1]}, {"usageMetadata": [1]}])
def test_what_is_no_response(odd: Any) -> None:
    assert outcome(1, odd, STOP) is FAIL


def test_constants_may_come_late_but_not_change() -> None:
    assert outcome(6, STOP) is NOT
    assert outcome(6, chunk(text("a")), {**STOP, "responseId": "a"}) is NOT
    assert outcome(6, {**chunk(text("a")), "responseId": "a"}, {**STOP, "responseId": "a"}) is PASS
    assert outcome(6, {**chunk(text("a")), "modelVersion": "a"}, {**STOP, "modelVersion": "b"}) is FAIL


@pytest.mark.parametrize("count", [7, "7", 7.0, "-7", None])
def test_forms_of_whole_numbers(count: Any) -> None:
    assert outcome(36, {**STOP, "usageMetadata": {**COUNTS, "totalTokenCount": count}}) is PASS


@pytest.mark.parametrize("count", [7.5, "7.0", "", True, {}, [], "seven"])
def test_what_is_no_whole_number(count: Any) -> None:
    assert outcome(36, {**STOP, "usageMetadata": {**COUNTS, "totalTokenCount": count}}) is FAIL


def test_a_number_in_another_form_is_seen_among_payloads_that_repeat_each_other() -> None:
    steady = [{**chunk(text("a")), "usageMetadata": COUNTS} for _ in range(9)]
    odd = {**chunk(text("a")), "usageMetadata": {**COUNTS, "totalTokenCount": "7.0"}}
    assert outcome(36, *steady, STOP) is PASS
    assert outcome(36, *steady, odd, *steady, STOP) is FAIL


def test_candidates_after_a_block_reason() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    assert outcome(29, blocked) is PASS
    assert outcome(29, {**blocked, "candidates": []}) is PASS
    assert outcome(29, blocked, STOP) is FAIL
    assert outcome(29, STOP, blocked) is FAIL
    assert outcome(29, {"promptFeedback": {"safetyRatings": []}}, STOP) is NOT


# the end of a candidate


def test_the_end_is_one_finding_and_not_two() -> None:
    stream = exchange(sse(chunk(text("Mind the")), end=False), path=PATH, request=ASKED)
    seen, out = inspect(stream, "gemini", "here")
    assert [f.rule for f in united(seen.findings, out) if f.kind == "stream/truncated"] == ["GGL-002"]


def test_a_recording_that_was_cut_off_blames_no_server() -> None:
    (finding,) = [f for f in judged(chunk(text("a")), ending="reset").findings if f.rule == "GGL-002"]
    assert finding.level is Level.INFO


def test_every_candidate_has_its_own_end() -> None:
    second = chunk(text("b"), index=1)
    assert outcome(2, second, STOP) is FAIL
    assert outcome(2, second, STOP, chunk(index=1, finish="STOP")) is PASS
    assert outcome(4, chunk(text("b"), index=1, finish="STOP"), STOP) is PASS
    assert outcome(4, STOP, STOP) is FAIL


def test_numbers_of_the_enumeration_have_to_be_asked_for() -> None:
    numbered = PATH.replace("alt=sse", "%24alt=sse%3Benum-encoding%3Dint")
    ends = chunk(text("a"), finish=1)
    assert outcome(5, ends, path=numbered) is PASS
    assert outcome(5, ends) is FAIL
    assert outcome(5, ends, path="") is NOT
    assert outcome(5, chunk(text("a"), finish=""), STOP) is FAIL


# parts and calls


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"text": ""}, PASS),
        (SIGNED, PASS),
        ({"text": "a", "functionCall": None}, PASS),
        ({"text": "a", "inlineData": {}}, FAIL),
        ({}, FAIL),
        ({"thought": True}, FAIL),
        ({"somethingNew": {}}, NOT),
    ],
)
def test_what_a_part_is_made_of(part: Any, said: Outcome) -> None:
    assert outcome(9, chunk(part, finish="STOP")) is said


def test_a_call_without_a_name() -> None:
    assert outcome(11, chunk(call(args={}), finish="STOP")) is FAIL
    assert outcome(11, chunk(call(name=""), finish="STOP")) is FAIL
    assert outcome(11, chunk(call(name=7), finish="STOP")) is FAIL
    assert outcome(11, chunk(call(), finish="STOP")) is NOT
    assert outcome(11, OPEN, chunk(call(args={"port": "Ribe"}), finish="STOP")) is PASS


def test_code_and_results_are_pairs() -> None:
    def code(identity: Any = None) -> dict[str, Any]:
        return {"executableCode": {"code": "1", "id": identity}}

    def result(identity: Any = None) -> dict[str, Any]:
        return {"codeExecutionResult": {"outcome": "OUTCOME_OK", "id": identity}}

    assert outcome(35, chunk(code("a")), chunk(result("a")), chunk(code()), chunk(text(""), result()), STOP) is PASS
    assert outcome(35, chunk(code("a"), result()), STOP) is PASS
    assert outcome(35, chunk(code()), STOP) is PASS  # a search in files is code as well, and has no result
    assert outcome(35, chunk(code("a"), result("b")), STOP) is FAIL
    assert outcome(35, chunk(code(), result(), result()), STOP) is FAIL
    assert outcome(35, chunk(code(["a"]), result({})), STOP) is PASS


# calls in pieces


def test_how_a_streamed_call_may_end() -> None:
    begun = (OPEN, chunk(piece("$.port", **MORE)))
    assert outcome(18, *begun, CLOSED) is PASS
    assert outcome(18, *begun, chunk(piece("$.day"), finish="STOP")) is FAIL
    assert outcome(18, *begun, STOP) is FAIL
    assert outcome(18, *begun, chunk(call(name="wind", args={}), finish="STOP")) is FAIL
    assert outcome(18, *begun, OPEN, CLOSED) is FAIL
    assert outcome(18, *begun, chunk(finish="STOP")) is FAIL


def test_how_a_streamed_call_begins() -> None:
    assert outcome(14, chunk(piece("$.port")), STOP) is FAIL
    assert outcome(14, chunk(piece("$.port", **MORE)), CLOSED) is FAIL
    assert outcome(14, chunk(call(willContinue=True)), STOP) is FAIL
    assert outcome(14, chunk(piece("$.port", name="tide")), STOP) is FAIL
    assert outcome(14, chunk(piece("$.port", name="tide", **MORE)), CLOSED) is PASS
    assert outcome(14, chunk(call(name="tide", args={})), STOP) is NOT
    assert outcome(19, chunk(call()), STOP) is FAIL
    assert outcome(19, OPEN, CLOSED, chunk(call())) is FAIL


def test_a_text_is_ended_before_the_next_path() -> None:
    first = chunk(piece("$.port", more=True, **MORE))
    assert outcome(17, OPEN, first, first, chunk(piece("$.port", "", **MORE)), chunk(piece("$.day", **MORE)), CLOSED) is PASS
    assert outcome(17, OPEN, first, chunk(piece("$.day", **MORE)), CLOSED) is FAIL
    assert outcome(17, OPEN, first, chunk(call()), OPEN, chunk(piece("$.day", **MORE)), CLOSED) is NOT


def test_paths_and_values() -> None:
    assert outcome(15, OPEN, chunk(piece("$['a b'][0].c", **MORE)), CLOSED) is PASS
    assert outcome(15, OPEN, chunk(piece("$.a[*]", **MORE)), CLOSED) is FAIL
    null = chunk(call(partialArgs=[{"jsonPath": "$.a", "nullValue": None}], **MORE))
    assert outcome(16, OPEN, null, CLOSED) is PASS
    both = chunk(call(partialArgs=[{"jsonPath": "$.a", "stringValue": "a", "boolValue": False}], **MORE))
    assert outcome(16, OPEN, both, CLOSED) is FAIL


def test_pieces_and_thoughts_may_only_be_judged_where_the_request_is_known() -> None:
    stream = (OPEN, chunk(piece("$.port", **MORE)), CLOSED)
    snake = {"contents": [], "tool_config": {"function_calling_config": {"stream_function_call_arguments": True}}}
    assert outcome(13, *stream, asked=snake) is PASS
    assert outcome(13, *stream, asked={"contents": []}) is FAIL
    assert outcome(13, *stream, asked={"stream": True}) is NOT
    assert outcome(27, chunk(thought("a")), STOP, asked={"contents": []}) is FAIL
    assert outcome(27, chunk(thought("a")), STOP, asked={"stream": True}) is NOT
    assert outcome(27, STOP, asked={"contents": []}) is NOT


# thoughts and signatures


@pytest.mark.parametrize("signature", ["CpQB", "CpQ=", "CpQ", "C-_B", "C+/B"])
def test_forms_of_base64(signature: str) -> None:
    assert outcome(24, chunk(text("a", thoughtSignature=signature), finish="STOP")) is PASS


@pytest.mark.parametrize("signature", ["C", "C+_B", "CpQB\n", "Cp QB", "====", 7, {}])
def test_what_is_no_base64(signature: Any) -> None:
    assert outcome(24, chunk(text("a", thoughtSignature=signature), finish="STOP")) is FAIL


def test_who_has_to_sign() -> None:
    made = call(name="tide", args={})
    assert outcome(25, chunk({**made, **SIGNED}, made), STOP) is PASS
    assert outcome(25, chunk(made, {**made, **SIGNED}), STOP) is FAIL
    assert outcome(25, chunk(made), STOP, path=PATH.replace("gemini-3", "gemini-2.5")) is NOT
    assert outcome(25, {**chunk(made), "modelVersion": "gemini-2.5-flash"}, STOP) is NOT
    assert outcome(25, {**chunk(made), "modelVersion": "gemini-3.1-pro"}, STOP, path="") is FAIL


def test_when_thoughts_may_come() -> None:
    stream = (chunk(thought("a")), chunk(text("b")))
    assert outcome(28, *stream, STOP) is PASS
    assert outcome(28, *stream, chunk(thought("c")), STOP) is FAIL
    assert outcome(28, *stream, chunk(call(name="tide", args={})), chunk(thought("c")), STOP) is PASS
    assert outcome(28, chunk(text("")), chunk(thought("a")), STOP) is PASS


# usage and grounding


def test_sums_of_tokens() -> None:
    def last(**counts: Any) -> dict[str, Any]:
        return {**STOP, "usageMetadata": counts}

    assert outcome(21, last(**COUNTS)) is PASS
    assert outcome(21, last(**{**COUNTS, "thoughtsTokenCount": 3, "totalTokenCount": "10"})) is PASS
    assert outcome(21, last(**{**COUNTS, "thoughtsTokenCount": 3})) is FAIL
    assert outcome(21, last(promptTokenCount=5, totalTokenCount=5)) is PASS
    assert outcome(21, last(totalTokenCount=5)) is NOT
    assert outcome(21, last(**COUNTS), {"usageMetadata": {"trafficType": "ON_DEMAND"}}) is PASS


def test_a_total_that_shrinks_is_seen_among_payloads_that_repeat_each_other() -> None:
    steady = [{**chunk(text("a")), "usageMetadata": {**COUNTS, "totalTokenCount": n}} for n in (7, 8, 9, 10, 11, 3, 12)]
    (finding,) = [f for f in judged(*steady, STOP).findings if f.rule == "GGL-020"]
    assert (finding.where.frame, finding.expected, finding.got) == (5, 11, 3)
    assert outcome(20, *steady[:5], STOP) is PASS
    assert outcome(20, steady[0], STOP) is NOT


def test_segments_are_counted_in_bytes() -> None:
    def grounded(**segment: Any) -> dict[str, Any]:
        return chunk(finish="STOP", groundingMetadata={"groundingSupports": [{"segment": segment}]})

    says = (chunk(thought("Hm")), chunk(text("Rømø")), chunk(text(" harbour")))
    assert outcome(30, *says, grounded(endIndex=6, text="Rømø")) is PASS
    assert outcome(30, *says, grounded(endIndex=14)) is PASS
    assert outcome(30, *says, grounded(endIndex=15)) is FAIL
    assert outcome(30, *says, grounded(endIndex=4, text="Rømø")) is FAIL
    assert outcome(30, *says, grounded(partIndex=1, startIndex=7, endIndex=14, text="harbour")) is PASS
    assert outcome(30, *says, STOP) is NOT
    assert outcome(30, grounded(endIndex=1)) is FAIL


# errors


def test_errors_in_the_place_of_a_stream() -> None:
    def refused(status: int, error: Any, wrap: bool = False, provider: str = "google") -> Judged:
        body = sse(error, end=False).removeprefix(b"data: ")
        body = b"[" + body.strip() + b"]" if wrap else body
        stream = exchange(body, media="application/json", status=status, path=PATH, request=ASKED)
        return inspect(stream, "gemini", provider)[1]

    error = {"error": {"code": 429, "message": "too much", "status": "RESOURCE_EXHAUSTED"}}
    hint = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
    assert refused(429, error).outcomes["GGL-032"] is PASS
    assert refused(429, error, wrap=True).outcomes["GGL-032"] is PASS
    assert refused(400, error).outcomes["GGL-032"] is FAIL
    assert refused(429, {"error": "too much"}).outcomes["GGL-032"] is FAIL
    assert refused(429, {"message": "too much"}).outcomes["GGL-032"] is FAIL
    assert refused(429, b"<html>").outcomes["GGL-032"] is NOT
    assert refused(429, {"error": {**error["error"], "details": [hint]}}).outcomes["GGL-033"] is PASS
    levels = {p: f.level for p in ("google", "vertex") for f in refused(429, error, provider=p).findings if f.rule == "GGL-033"}
    assert levels == {"google": Level.SHOULD, "vertex": Level.INFO}


def test_an_error_in_a_stream_comes_first() -> None:
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    assert outcome(34, chunk(text("a")), error) is PASS
    assert outcome(34, chunk(text("a")), [error]) is PASS
    assert outcome(34, chunk(text("a")), {"responseId": "a", **error}) is FAIL
    assert outcome(32, {"error": {"code": 503, "message": "overloaded"}}) is FAIL


# anything anywhere

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["", "a", "model", "$.a", "STOP"]),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(st.sampled_from(["index", "id", "name", "text", "parts", "error", "a"]), values, max_size=3)
    ),
    max_leaves=6,
)
USAGE = {**COUNTS, "thoughtsTokenCount": 0, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}]}
FULL: list[Any] = [
    {**chunk(thought("Hm"), text("Hi", **SIGNED)), "usageMetadata": USAGE, "responseId": "a", "modelVersion": "gemini-3"},
    OPEN,
    chunk(piece("$.a", more=True, willContinue=True)),
    chunk(piece("$.a"), call(), {**call(name="wind", args={"a": 1}), **SIGNED}),
    chunk({"executableCode": {"code": "1", "id": "a"}}, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "id": "a"}}),
    chunk(
        text("Ho"),
        finish="STOP",
        citationMetadata={"citations": [{"startIndex": 0, "endIndex": 2}]},
        groundingMetadata={"groundingSupports": [{"segment": {"partIndex": 0, "startIndex": 0, "endIndex": 2, "text": "Hi"}}]},
    ),
    {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"trafficType": "ON_DEMAND"}},
    {
        "error": {
            "code": 429,
            "message": "no",
            "status": "A",
            "details": [{"@type": "google.rpc.RetryInfo", "retryDelay": "1s"}],
        }
    },
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
@settings(max_examples=300, deadline=None)
def test_nothing_that_comes_makes_a_rule_fail_to_be_evaluated(data: st.DataObject) -> None:
    stream, asked = list(FULL), ASKED
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.integers(0, len(stream) - 1))
        place = data.draw(st.sampled_from(places(stream[number])))
        stream[number] = replaced(stream[number], place, data.draw(JSON))
    if data.draw(st.booleans()):
        asked = replaced(asked, data.draw(st.sampled_from(places(asked)[1:])), data.draw(JSON))
    judged(*data.draw(st.permutations(stream)), asked=asked)


@given(error=JSON, status=st.sampled_from([200, 400, 429, 503]))
@settings(max_examples=100, deadline=None)
def test_any_body_can_be_judged_in_the_place_of_a_stream(error: Any, status: int) -> None:
    stream = exchange(sse(error, end=False)[6:], media="application/json", status=status, path=PATH, request=ASKED)
    assert not inspect(stream, "gemini", "google")[1].errors


# the tables


def test_the_tables_name_rules_of_the_catalogue() -> None:
    named = {rule for table in TABLES for rule in table.rules}
    assert named == {f"GGL-{n:03}" for n in (4, 14, 17, 18, 19, 28, 35)}
    assert named <= set(RULES)
    assert all("stateDiagram-v2" in list(table.diagram()) for table in TABLES)
