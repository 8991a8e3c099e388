"""Rules of Chat Completions: the boundaries of the trickier ones, and payloads in which anything may stand anywhere."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.conformance.inspection import inspect, united
from harness.conformance.rules import RULES, Judged, Outcome
from harness.conformance.rules.openai_chat import TABLES
from harness.conformance.rules.openai_chat.json_text import is_unfinished
from harness.findings import Level
from tests.chat import DONE, calls, choice, chunk, head, more, says, stops, text
from tests.exchanges import exchange, sse

PASS, FAIL, NOT = Outcome.PASS, Outcome.FAIL, Outcome.NOT_APPLICABLE
ROLE = says({"role": "assistant", "content": ""})
COUNTS = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
ERROR = {"error": {"message": "out of memory"}}
TOOLS = [{"type": "function", "function": {"name": "tide"}}]


def judged(*payloads: Any, end: bool = True, provider: str = "here", ending: Any = "eof", **asked: Any) -> Judged:
    request = {"stream": True, "messages": [], "tools": TOOLS, **asked}
    _, out = inspect(exchange(sse(*payloads, end=end), request=request, ending=ending), "openai-chat", provider)
    assert not out.errors
    return out


def outcome(rule: int, *payloads: Any, **how: Any) -> Outcome:
    return judged(*payloads, **how).outcomes[f"OAI-C-{rule:03}"]


def kinds(*payloads: Any, **how: Any) -> set[str]:
    return {finding.kind for finding in judged(*payloads, **how).findings if str(finding.rule).startswith("OAI-C")}


def test_a_good_stream_breaks_nothing() -> None:
    assert kinds(ROLE, text("Hi"), stops()) == set()


# the end


def test_what_a_cut_stream_lacks() -> None:
    assert kinds(ROLE, text("Hi"), end=False) == {"stream/truncated"}
    assert kinds(ROLE, text("Hi")) == {"stream/finish-missing"}
    assert kinds(ROLE, stops(), end=False) == {"stream/done-missing"}
    assert kinds(ROLE, stops(), stops()) == {"finish/repeated"}


def test_a_recording_that_was_cut_off_blames_no_server() -> None:
    (finding,) = [f for f in judged(ROLE, text("Hi"), end=False, ending="reset").findings if f.rule == "OAI-C-014"]
    assert finding.level is Level.INFO


def test_the_end_is_one_finding_and_not_two() -> None:
    seen, out = inspect(exchange(sse(ROLE, text("Hi"), end=False)), "openai-chat", "here")
    assert [f.kind for f in united(seen.findings, out) if f.rule == "OAI-C-014"] == ["stream/truncated"]


def test_an_error_ends_a_stream_and_excuses_what_it_lacks() -> None:
    out = judged(ROLE, text("Hi"), ERROR, end=False).outcomes
    assert (out["OAI-C-001"], out["OAI-C-014"], out["OAI-C-045"]) == (NOT, NOT, PASS)
    assert outcome(45, ROLE, ERROR, text("Hi")) is FAIL
    assert outcome(45, ROLE, ERROR, ERROR) is FAIL


def test_choices_end_one_by_one() -> None:
    both = [chunk(choice({"role": "assistant"}, index=0)), chunk(choice({"role": "assistant"}, index=1))]
    ends = [chunk(choice({}, "stop", index=0)), chunk(choice({}, "stop", index=1))]
    assert kinds(both[0], ends[0], both[1], ends[1], n=2) == set()
    assert kinds(*both, ends[1], n=2) == {"stream/finish-missing"}
    assert kinds(both[0], ends[0], n=2) == {"stream/finish-missing"}
    assert outcome(47, both[0], ends[0], n=2) is FAIL


# chunks


def test_filter_chunks_of_azure_are_no_choices() -> None:
    prompt = chunk(id="", object="", model="", prompt_filter_results=[{"prompt_index": 0}])
    late = {**chunk({"index": 0, "finish_reason": None, "content_filter_offsets": {}}, object="", id=""), "created": 0}
    assert kinds(prompt, ROLE, text("Hi"), late, stops()) == {"chunk/id-empty", "field/azure-filter"}


@pytest.mark.parametrize("reason", [{"usage": COUNTS}, {"moderation": {}, "usage": COUNTS}, {"prompt_filter_results": []}])
def test_reasons_for_empty_choices(reason: dict[str, Any]) -> None:
    assert outcome(8, ROLE, stops(), chunk(**reason)) is PASS
    assert outcome(8, ROLE, stops(), chunk(usage=None)) is FAIL


# calls


def test_a_second_call_at_an_index_has_a_head_of_its_own() -> None:
    first, second = head(0, "a", "tide", "{}"), head(0, "b", "tide", "{}")
    assert kinds(ROLE, calls(first), calls(second), stops("tool_calls")) >= {"tool/index-reused"}
    nameless = {"index": 0, "id": "b", "function": {"arguments": "{}"}}
    assert kinds(ROLE, calls(first), calls(nameless), stops("tool_calls")) >= {"tool/name-late", "tool/type-missing"}


def test_calls_without_an_index_have_heads_and_later_fragments_too() -> None:
    out = judged(ROLE, calls(head(None, "a", "tide", "{")), calls(more(None, "}")), stops("tool_calls"))
    assert {rule for rule, said in out.outcomes.items() if said is FAIL} == {"OAI-C-022"}


def test_a_call_may_open_beside_another() -> None:
    both = calls(head(0, "a", "tide", ""), head(1, "b", "tide", ""))
    assert kinds(ROLE, both, calls(more(0, "{}"), more(1, "{}")), stops("tool_calls")) == set()
    assert kinds(ROLE, calls(head(0, "a", "tide", ""), more(0, "{}")), stops("tool_calls")) == {
        "tool/index-duplicated-in-delta"
    }


def test_choices_may_share_an_id_and_calls_of_one_may_not() -> None:
    def one(index: int) -> dict[str, Any]:
        return chunk(choice({"role": "assistant", "tool_calls": [head(0, "a", "tide", "{}")]}, "tool_calls", index=index))

    assert outcome(30, one(0), one(1), n=2) is NOT
    assert outcome(30, ROLE, calls(head(0, "a", "tide", "{}"), head(1, "a", "tide", "{}")), stops("tool_calls")) is FAIL


@pytest.mark.parametrize(
    ("tool_choice", "said"),
    [("auto", FAIL), ({"type": "function", "function": {"name": "tide"}}, NOT), ({"type": "allowed_tools"}, FAIL)],
)
def test_stop_after_a_call_is_right_where_the_request_names_it(tool_choice: Any, said: Outcome) -> None:
    assert outcome(19, ROLE, calls(head(0, "a", "tide", "{}")), stops(), tool_choice=tool_choice) is said


@pytest.mark.parametrize(
    ("arguments", "finish", "invalid", "lost"),
    [
        ('{"a":1}', "tool_calls", PASS, PASS),
        ('{"a":1', "tool_calls", FAIL, FAIL),
        ('{"a":1', "length", NOT, PASS),
        ('{"a":1}}', "tool_calls", FAIL, PASS),
        ("", "tool_calls", PASS, PASS),
    ],
)
def test_cut_arguments(arguments: str, finish: str, invalid: Outcome, lost: Outcome) -> None:
    stream = [ROLE, calls(head(0, "a", "tide", "")), calls(more(0, arguments)), stops(finish)]
    assert (outcome(27, *stream), outcome(21, *stream)) == (invalid, lost)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), st.lists, max_leaves=5
    )
)
@settings(max_examples=60, deadline=None)
def test_every_beginning_of_an_object_is_unfinished(value: Any) -> None:
    whole = json.dumps({"é\\": value, "b": [1.5, True]})
    assert not is_unfinished(whole)
    assert [whole[:end] for end in range(1, len(whole)) if not is_unfinished(whole[:end])] == []


@pytest.mark.parametrize(
    "broken", ["", " ", "{}}", '{"a":1}{"b":2}', "{'a'", '{"a" "b"', '"\\q"', "uptime", '{"a":trap', "[01"]
)
def test_what_is_broken_is_not_unfinished(broken: str) -> None:
    assert not is_unfinished(broken)


# usage


def test_usage_has_its_place() -> None:
    asked = {"stream_options": {"include_usage": True}}
    null = {"usage": None}
    good = [{**ROLE, **null}, stops(**null), chunk(usage=COUNTS)]
    assert kinds(*good, **asked) == set()
    assert kinds({**ROLE, **null}, stops(usage=COUNTS), **asked) == {
        "usage/missing",
        "usage/key-missing",
        "usage/beside-choices",
    }
    assert kinds(ROLE, stops(usage=COUNTS)) == {"usage/unasked", "usage/beside-choices"}
    assert outcome(58, ROLE, stops(usage=COUNTS)) is NOT
    dummy = chunk(choice({}), usage=COUNTS)
    assert kinds(ROLE, stops(), dummy) == {"usage/unasked", "usage/on-chunk-with-choices", "usage/beside-choices"}
    assert kinds(ROLE, stops(x_groq={"usage": COUNTS})) == {"usage/beside-choices"}


def test_a_request_of_which_nothing_is_left_is_not_known() -> None:
    stream = exchange(sse(ROLE, stops(usage=COUNTS)), request={"stream": True})
    assert inspect(stream, "openai-chat", "here")[1].outcomes["OAI-C-033"] is NOT


# log probabilities


def test_tokens_may_be_parts_of_characters() -> None:
    halves = [{"token": "\\xc3", "bytes": [0xC3]}, {"token": "\\xa9", "bytes": [0xA9]}, {"token": "!", "bytes": None}]
    good = chunk(choice({"content": "é!"}, logprobs={"content": halves}))
    assert outcome(40, ROLE, good, stops(), logprobs=True) is PASS
    lacks = chunk(choice({"content": "é!"}, logprobs={"content": halves[:2]}))
    assert outcome(40, ROLE, lacks, stops(), logprobs=True) is FAIL


# anything anywhere

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "assistant", "stop"]),
    lambda values: (
        st.lists(values, max_size=3) | st.dictionaries(st.sampled_from(["index", "id", "name", "content", "a"]), values)
    ),
    max_leaves=6,
)
FULL: list[Any] = [
    chunk(
        choice(
            {"role": "assistant", "content": "Hi", "reasoning": "so", "tool_calls": [head(0, "a", "tide", "{")]}, logprobs={}
        ),
        usage=None,
        system_fingerprint="fp",
    ),
    chunk(choice({"function_call": {"name": "f", "arguments": "{}"}}), choice({"content": "Ho"}, index=1), obfuscation="a"),
    chunk(choice({"tool_calls": [more(0, "}")]}, logprobs={"content": [{"token": "Hi", "bytes": [72, 105]}]})),
    stops("tool_calls"),
    chunk(usage={**COUNTS, "completion_tokens_details": {"reasoning_tokens": 1}}, x_groq={"usage": COUNTS}),
    chunk(prompt_filter_results=[{}], moderation={}),
    {"error": {"message": "no"}},
]
ASKED = {
    "messages": [],
    "n": 2,
    "tools": TOOLS,
    "functions": [],
    "tool_choice": "auto",
    "logprobs": False,
    "stream_options": {"include_usage": True, "include_obfuscation": False},
}


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
@settings(max_examples=250, deadline=None)
def test_nothing_that_comes_makes_a_rule_fail_to_be_evaluated(data: st.DataObject) -> None:
    stream, asked = list(FULL), dict(ASKED)
    for _ in range(data.draw(st.integers(1, 3))):
        number = data.draw(st.integers(0, len(stream) - 1))
        place = data.draw(st.sampled_from(places(stream[number])))
        stream[number] = replaced(stream[number], place, data.draw(JSON))
    if data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(ASKED)))
        asked[name] = data.draw(JSON)
    stream = data.draw(st.permutations(stream))
    assert not judged(*stream, DONE, **asked).errors


# the tables


def test_the_tables_name_rules_of_the_catalogue() -> None:
    assert {rule for table in TABLES for rule in table.rules} == {"OAI-C-001", "OAI-C-014", "OAI-C-017", "OAI-C-045"}
    assert {rule for table in TABLES for rule in table.rules} <= set(RULES)
    assert all("stateDiagram-v2" in list(table.diagram()) for table in TABLES)


@pytest.mark.parametrize("name", COUNTS)
def test_usage_has_all_of_its_counts(name: str) -> None:
    for lacking in ({key: value for key, value in COUNTS.items() if key != name}, {**COUNTS, name: None}):
        report = {**chunk(), "choices": [], "usage": lacking}
        assert kinds(ROLE, text("Hi"), stops(), report, stream_options={"include_usage": True}) >= {"usage/count-missing"}
