"""Rows C03–C13, C39–C49, C60 and C63 of semantics.md 5.1: Chat Completions."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from harness import StreamCollector, dialects
from harness.collector import Collected
from harness.findings import DIAGNOSTICS
from harness.response import FinishReason, Reasoning, Usage
from tests.chat import calls, choice, chunk, collect, frames, head, kinds, message, more, says, stops, text

ENDS = stops("tool_calls")


def told(out: Collected) -> list[tuple[str, str, str]]:
    """The calls as the neutral response has them."""
    return [(call.id, call.name, call.arguments) for call in out.response.tool_calls]


def native(identity: str, name: str, arguments: str) -> dict[str, Any]:
    """A call as a body that was not streamed has it: no index, one type."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}, "id": identity}


# tool calls


@pytest.mark.parametrize("dialect", ["openai-chat", "open_ai"])
def test_C03_arguments_in_fragments_are_one_call(dialect: str) -> None:
    out = collect(
        says({"role": "assistant", "content": None, "tool_calls": [head(0, "call_a", "get_tide")]}),
        calls(more(0, '{"port":')),
        calls(more(0, '"Brest"}')),
        ENDS,
        dialect=dialect,
    )
    assert message(out) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [native("call_a", "get_tide", '{"port":"Brest"}')],
    }
    assert out.response.tool_calls[0].parsed_arguments() == {"port": "Brest"}
    assert (out.complete, out.notes, out.response.finish_reason) == (True, (), FinishReason.TOOL_CALLS)


def test_C04_two_calls_in_one_chunk_stand_in_the_order_of_their_indexes() -> None:
    out = collect(calls(head(0, "a", "f", "{}"), head(1, "b", "g", "[1]")), ENDS)
    assert told(out) == [("a", "f", "{}"), ("b", "g", "[1]")]
    reversed_order = collect(calls(head(1, "b", "g", "[1]"), head(0, "a", "f", "{}")), ENDS)
    assert told(reversed_order) == told(out)
    assert out.notes == reversed_order.notes == ()


def test_C04_two_fragments_of_one_call_in_one_chunk() -> None:
    out = collect(calls(head(0, "a", "f", "{"), more(0, "}"), head(1, "b", "g", "["), more(1, "]")), ENDS)
    assert told(out) == [("a", "f", "{}"), ("b", "g", "[]")]


@pytest.mark.parametrize("order", sorted(set(permutations([0, 0, 1, 1]))))
def test_C05_interleaved_fragments_keep_to_their_calls(order: tuple[int, ...]) -> None:
    """Every order in which two calls of two fragments can come; none of them draws a remark."""
    pieces = {0: iter(['{"a":', "1}"]), 1: iter(['{"b":', "2}"])}
    opened = [calls(head(0, "x", "f"), head(1, "y", "g"))]
    out = collect(*opened, *(calls(more(index, next(pieces[index]))) for index in order), ENDS)
    assert told(out) == [("x", "f", '{"a":1}'), ("y", "g", '{"b":2}')]
    assert out.notes == ()


def test_C06_index_1_may_come_before_index_0() -> None:
    out = collect(calls(head(1, "b", "g")), calls(more(1, "[2]")), calls(head(0, "a", "f")), calls(more(0, "[1]")), ENDS)
    assert told(out) == [("a", "f", "[1]"), ("b", "g", "[2]")]
    assert [call["id"] for call in message(out)["tool_calls"]] == ["a", "b"]


def test_C06_the_first_index_need_not_be_0() -> None:
    out = collect(calls(head(1, "a", "f", "{}")), calls(head(3, "b", "g", "{}")), ENDS)
    assert told(out) == [("a", "f", "{}"), ("b", "g", "{}")]


@pytest.mark.parametrize("alias", ["open_router", "openrouter"])
def test_C07_openrouter_makes_the_same_of_it(alias: str) -> None:
    """With what OpenRouter adds: the role and the provider on every chunk, usage on a chunk with a choice."""

    def dressed(payload: dict[str, Any]) -> dict[str, Any]:
        for one in payload["choices"]:
            one["delta"] = {"role": "assistant", **one["delta"]}
            one["native_finish_reason"] = one["finish_reason"]
        return {**payload, "provider": "Harbour"}

    stream = [calls(head(0, "call_a", "get_tide")), calls(more(0, '{"port":')), calls(more(0, '"Brest"}')), ENDS]
    plain = collect(*stream)
    dressed_stream = [dressed(json.loads(json.dumps(payload))) for payload in stream]
    last = dressed(
        chunk(choice({"content": ""}), usage={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "cost": 0.5})
    )
    out = collect(*dressed_stream, last, dialect=alias)
    assert told(out) == told(plain) == [("call_a", "get_tide", '{"port":"Brest"}')]
    assert (out.body["provider"], out.unknown, out.complete) == ("Harbour", (), True)
    assert out.response.usage == Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    assert message(out)["role"] == "assistant"


@pytest.mark.parametrize("index", [None, 5])
def test_C08_a_continuation_without_its_index_belongs_to_the_open_call(index: int | None) -> None:
    out = collect(
        calls(head(0, "a", "f")), calls(head(1, "b", "g", "[")), calls(more(index, "1")), calls(more(index, "]")), ENDS
    )
    assert told(out) == [("a", "f", ""), ("b", "g", "[1]")]
    assert kinds(out) == ([] if index is None else [DIAGNOSTICS["tool_index_drift"]] * 2)


def test_C08_the_open_call_is_the_last_one_spoken_of() -> None:
    out = collect(
        calls(head(0, "a", "f", "[")),
        calls(head(1, "b", "g", "{")),
        calls(more(0, "1")),
        calls(more(None, "]")),
        calls(more(1, "}")),
        ENDS,
    )
    assert told(out) == [("a", "f", "[1]"), ("b", "g", "{}")]


def test_C09_calls_without_indexes_are_told_apart_by_their_ids() -> None:
    out = collect(calls(head(None, "a", "f", "{}")), calls(head(None, "b", "f", "[1")), calls(more(None, "]")), ENDS)
    assert told(out) == [("a", "f", "{}"), ("b", "f", "[1]")]
    together = collect(calls(head(None, "a", "f", "{}"), head(None, "b", "f", "[1]")), ENDS)
    assert told(together) == told(out)
    assert kinds(together) == ["tool/index-missing"] * 2


def test_C09_an_id_that_is_repeated_opens_nothing() -> None:
    out = collect(calls(head(None, "a", "f", "[")), calls(head(None, "a", "f", "]")), ENDS)
    assert told(out) == [("a", "f", "[]")]


def test_C10_one_index_with_a_second_id_is_two_calls() -> None:
    out = collect(calls(head(0, "a", "f", '{"n":1}')), calls(head(0, "b", "g", '{"n"')), calls(more(0, ":2}")), ENDS)
    assert told(out) == [("a", "f", '{"n":1}'), ("b", "g", '{"n":2}')]
    assert kinds(out) == [DIAGNOSTICS["tool_index_reused"]]
    assert (out.notes[0].expected, out.notes[0].got, out.notes[0].where.frame) == ("a", "b", 1)


def test_C10_calls_behind_a_reused_index_keep_their_order() -> None:
    out = collect(
        calls(head(0, "a", "f", "1")),
        calls(head(0, "b", "f", "2")),
        calls(head(1, "c", "f", "3")),
        calls(head(0, "d", "f", "4")),
        ENDS,
    )
    assert [arguments for _, _, arguments in told(out)] == ["1", "2", "3", "4"]
    assert kinds(out) == [DIAGNOSTICS["tool_index_reused"]] * 2


def test_C11_an_empty_id_does_not_keep_out_the_real_one() -> None:
    out = collect(calls(head(0, "", "f", "[")), calls({"index": 0, "id": "a", "function": {"arguments": "]"}}), ENDS)
    assert told(out) == [("a", "f", "[]")]
    assert message(out)["tool_calls"] == [native("a", "f", "[]")]
    assert not out.response.tool_calls[0].synthetic_id


def test_C11_an_empty_id_does_not_replace_the_real_one() -> None:
    out = collect(calls(head(0, "a", "f", "[")), calls(head(0, "", "", "]")), ENDS)
    assert (told(out), out.notes) == ([("a", "f", "[]")], ())


def test_C12_a_name_that_is_repeated_is_not_doubled() -> None:
    out = collect(*[calls(head(0, "call_a", "get_tide", piece)) for piece in ("{", '"n":', "1}")], ENDS)
    assert message(out)["tool_calls"] == [native("call_a", "get_tide", '{"n":1}')]
    assert out.notes == ()


def test_C12_a_name_that_changes_is_reported_and_the_first_one_counts() -> None:
    out = collect(calls(head(0, "a", "f", "[")), calls(head(0, None, "g", "]")), ENDS)
    assert told(out) == [("a", "f", "[]")]
    assert kinds(out) == [DIAGNOSTICS["tool_identity_changed"]]


def test_C13_arguments_that_are_always_null_are_an_empty_object() -> None:
    out = collect(calls(head(0, "a", "f", None)), calls(more(0, None)), ENDS)
    assert message(out)["tool_calls"] == [native("a", "f", "")]
    (call,) = out.response.tool_calls
    assert (call.arguments, call.parsed_arguments()) == ("", {})


# text, reasoning, usage


def test_C39_text_and_usage() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    out = collect(text("Hello "), text("world"), stops(), chunk(usage=usage))
    response = out.response
    assert (response.text, response.reasoning, response.tool_calls) == ("Hello world", None, [])
    assert response.usage == Usage(input_tokens=9, output_tokens=2, total_tokens=11)
    assert (response.finish_reason, response.raw_finish_reason, response.model, response.id) == (
        FinishReason.STOP,
        "stop",
        "tide-1",
        "chatcmpl-1",
    )
    assert "tool_calls" not in message(out)
    assert (out.complete, out.notes) == (True, ())


@pytest.mark.parametrize("delta", [{"role": "assistant", "content": None}, {"role": "assistant"}, {}])
def test_C40_without_text_there_is_no_text(delta: dict[str, Any]) -> None:
    out = collect(says(delta), stops())
    assert (message(out)["content"], out.response.text, out.response.reasoning) == (None, None, None)


def test_C40_an_empty_text_is_an_empty_text() -> None:
    out = collect(says({"role": "assistant", "content": ""}), stops())
    assert (message(out)["content"], out.response.text) == ("", "")
    nothing_follows = collect(text(""), text(None), text(""), stops())
    assert message(nothing_follows)["content"] == ""


def test_C41_content_beside_the_finish_reason_is_kept() -> None:
    out = collect(text("Hello "), chunk(choice({"content": "world"}, "stop")))
    assert (out.response.text, out.response.finish_reason, out.notes) == ("Hello world", FinishReason.STOP, ())
    call = collect(chunk(choice({"tool_calls": [head(0, "a", "f", "{}")]}, "tool_calls")))
    assert (told(call), call.complete) == ([("a", "f", "{}")], True)


def test_C42_content_after_the_finish_reason_is_kept_and_reported() -> None:
    out = collect(text("Hello "), stops(), text("world"))
    assert (out.response.text, kinds(out), out.complete) == ("Hello world", ["delta/after-finish"], True)
    assert out.notes[0].where.frame == 2
    late_call = collect(stops(), calls(head(0, "a", "f", "{}")))
    assert (told(late_call), kinds(late_call)) == ([("a", "f", "{}")], ["delta/after-finish"])
    empty = collect(text("Hello"), stops(), text("", role="assistant"))
    assert (empty.response.text, empty.notes) == ("Hello", ())


def test_C43_usage_on_chunks_with_choices_is_taken_with_them() -> None:
    def used(n: int) -> dict[str, int]:
        return {"prompt_tokens": 5, "completion_tokens": n, "total_tokens": 5 + n}

    out = collect(
        says({"content": "a"}, usage=used(1)),
        says({"content": "b"}, usage=used(2)),
        chunk(choice({"content": "c"}, "stop"), usage=used(3)),
    )
    assert out.response.text == "abc"
    assert out.body["usage"] == used(3)


def test_C44_a_usage_chunk_without_choices() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 16},
    }
    out = collect(text("a", role="assistant"), stops(usage=None), chunk(usage=usage))
    assert out.body["usage"] == usage
    assert out.response.usage == Usage(
        input_tokens=100, output_tokens=20, total_tokens=120, cached_tokens=64, reasoning_tokens=16
    )
    assert len(out.body["choices"]) == 1


def test_C45_text_and_reasoning_in_one_delta() -> None:
    out = collect(says({"content": "a", "reasoning_content": "x"}), says({"reasoning_content": "y", "content": "b"}), stops())
    assert (out.response.text, out.response.reasoning) == ("ab", "xy")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_C46_reasoning_by_either_name(field: str) -> None:
    out = collect(says({field: "x", "content": None}), says({field: "y"}), says({field: None, "content": "a"}), stops())
    assert (out.response.reasoning, out.response.text) == ("xy", "a")
    assert message(out)[field] == "xy"


def test_C46_reasoning_in_two_forms_is_counted_once_and_its_details_are_kept() -> None:
    def thinks(piece: str, **detail: Any) -> dict[str, Any]:
        return says(
            {
                "content": "",
                "reasoning": piece,
                "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": piece, **detail}],
            }
        )

    out = collect(
        thinks("x", format="f-1"),
        thinks("y"),
        thinks("z"),
        says({"reasoning": None, "reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "s=="}]}),
        says(
            {"reasoning": None, "reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "AAA", "id": "r1"}]}
        ),
        text("a"),
        stops(),
    )
    assert message(out)["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "xyz", "format": "f-1", "signature": "s=="},
        {"type": "reasoning.encrypted", "index": 1, "data": "AAA", "id": "r1"},
    ]
    assert out.response.parts[0] == Reasoning(text="xyz", signature="s==", encrypted=["AAA"])
    assert (out.response.reasoning, out.response.text) == ("xyz", "a")


def test_C46_details_alone_are_reasoning() -> None:
    out = collect(says({"reasoning_details": [{"type": "reasoning.summary", "index": 0, "summary": "x"}]}), stops())
    assert out.response.reasoning == "x"


def test_C46_details_without_an_index_are_blocks_of_their_own() -> None:
    out = collect(
        says({"reasoning_details": [{"type": "reasoning.text", "text": "x"}, {"type": "reasoning.text", "text": "y"}]}), stops()
    )
    assert [detail["text"] for detail in message(out)["reasoning_details"]] == ["x", "y"]


@pytest.mark.parametrize("field", ["content", "refusal", "reasoning", "reasoning_content"])
def test_C47_empty_fragments_change_nothing(field: str) -> None:
    pieces = ["", "a", "", "", "b", ""]
    out = collect(*(says({field: piece}) for piece in pieces), stops())
    assert message(out)[field] == "ab"
    assert (out.notes, out.disagreements) == ((), ())
    whole = collect(says({field: "ab"}), stops())
    assert out.response == whole.response


def test_C47_empty_arguments_change_nothing() -> None:
    out = collect(calls(head(0, "a", "f", "")), calls(more(0, "")), calls(more(0, "{}")), calls(more(0, "")), ENDS)
    assert (told(out), out.notes) == ([("a", "f", "{}")], ())


def test_C48_of_two_reports_each_field_is_the_last_that_is_known() -> None:
    first = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}}
    second = {
        "prompt_tokens": None,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": None, "audio_tokens": 0},
    }
    out = collect(says({"content": "a"}, usage=first), stops(usage=second), chunk(usage=None))
    assert out.body["usage"] == {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "total_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0},
    }
    assert out.response.usage == Usage(input_tokens=9, output_tokens=3, total_tokens=10, cached_tokens=4)


def test_C48_null_details_erase_nothing() -> None:
    first = {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}
    out = collect(stops(usage=first), chunk(usage={"prompt_tokens": 9, "prompt_tokens_details": None}))
    assert out.response.usage == Usage(input_tokens=9, cached_tokens=4)


def test_C48_the_report_that_groq_repeats_elsewhere_is_not_counted_again() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    only_there = collect(stops(x_groq={"id": "r", "usage": usage}))
    twice = collect(stops(x_groq={"id": "r", "usage": usage}, usage={**usage, "total_tokens": 11}))
    assert only_there.body["usage"] == usage
    assert twice.body["usage"]["total_tokens"] == 11


def test_C49_a_tool_fragment_makes_a_tool_turn() -> None:
    collector = StreamCollector("openai-chat")
    turns = []
    for frame in frames(text("a"), text("b"), calls(head(0, "a", "f")), calls(more(0, "{}")), ENDS):
        collector.add(frame)
        turns.append(collector.is_tool_turn)
    assert turns == [False, False, True, True, True]


@pytest.mark.parametrize("delta", [{"tool_calls": []}, {"tool_calls": None}, {"content": "tool_calls"}])
def test_C49_nothing_else_does(delta: dict[str, Any]) -> None:
    collector = StreamCollector("openai-chat")
    collector.extend(frames(says(delta), stops()))
    assert not collector.is_tool_turn


def test_C49_a_call_in_the_old_form_does() -> None:
    collector = StreamCollector("openai-chat")
    collector.extend(
        frames(
            says({"function_call": {"name": "f", "arguments": "{"}}),
            says({"function_call": {"arguments": "}"}}),
            stops("function_call"),
        )
    )
    out = collector.close()
    assert collector.is_tool_turn
    assert told(out) == [("call_0", "f", "{}")]
    assert out.response.finish_reason is FinishReason.TOOL_CALLS


def test_a_stop_with_calls_is_a_tool_turn_and_other_reasons_are_not_masked() -> None:
    """D6: some servers say `stop` though calls were streamed."""
    for raw, expected in [
        ("stop", FinishReason.TOOL_CALLS),
        ("length", FinishReason.LENGTH),
        ("content_filter", FinishReason.CONTENT_FILTER),
    ]:
        out = collect(calls(head(0, "a", "f", "{}")), stops(raw))
        assert (out.response.finish_reason, out.response.raw_finish_reason) == (expected, raw)


# several choices, and what cannot be read


def test_C60_of_several_choices_the_first_is_shown_and_all_are_kept() -> None:
    out = collect(
        chunk(choice({"content": "a"}, index=0), choice({"content": "x"}, index=1)),
        chunk(choice({"content": "y"}, index=1)),
        chunk(choice({"content": "b"}, index=0)),
        chunk(choice({}, "length", index=1), choice({}, "stop", index=0)),
        request={"n": 2},
    )
    assert (out.response.text, out.response.finish_reason) == ("ab", FinishReason.STOP)
    assert [(c["index"], c["message"]["content"], c["finish_reason"]) for c in out.body["choices"]] == [
        (0, "ab", "stop"),
        (1, "xy", "length"),
    ]
    assert (kinds(out), out.complete) == ([DIAGNOSTICS["extra_choices"]], True)


def test_C60_the_first_choice_is_the_one_with_the_lowest_index() -> None:
    out = collect(chunk(choice({"content": "x"}, "stop", index=1)), chunk(choice({"content": "a"}, "stop", index=0)))
    assert out.response.text == "a"


def test_C60_a_choice_that_was_asked_for_and_never_came_is_missed() -> None:
    out = collect(text("a"), stops(), request={"n": 2})
    assert (out.complete, out.missing) == (False, "2 choices were asked for and 1 sent")
    assert kinds(out) == ["stream/finish-missing"]


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (b'{"choices":[{"delta":{"content":"x"', "framing/invalid-json"),
        (b"<html>", "framing/non-json-data"),
        (b"", "framing/non-json-data"),
        (b"[" * 5000, "framing/invalid-json"),
        (b"12", "framing/not-an-object"),
        (b"null", "framing/not-an-object"),
        (b'["a"]', "framing/not-an-object"),
    ],
)
def test_C63_a_payload_that_cannot_be_read_is_reported_and_the_rest_is_used(bad: bytes, kind: str) -> None:
    out = collect(text("a"), text("b"), bad, text("c"), stops())
    assert (out.response.text, kinds(out), out.complete) == ("abc", [kind], True)
    assert out.notes[0].where.frame == 2


def test_C63_in_a_stream_of_nothing_but_such_payloads_nothing_is_complete() -> None:
    out = collect(b"{", b"<", end=False)
    assert (out.body, out.complete) == ({}, False)
    assert kinds(out) == ["framing/invalid-json", "framing/non-json-data", "stream/empty"]


def test_one_reader_serves_both_forms() -> None:
    """The body that was not streamed, of the turn in C03 and C39, reads the same."""
    streamed = collect(
        says({"role": "assistant", "content": "Hel", "refusal": None}),
        text("lo"),
        calls(head(0, "call_a", "get_tide")),
        calls(more(0, "{}")),
        ENDS,
        chunk(usage={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}),
    )
    plain = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_764_547_200,
        "model": "tide-1",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Hello",
                    "refusal": None,
                    "tool_calls": [native("call_a", "get_tide", "{}")],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }
    assert streamed.body == plain
    assert dialects.dialect("openai-chat").read(plain) == streamed.response
