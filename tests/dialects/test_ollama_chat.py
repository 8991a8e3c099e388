"""The dialect `ollama-chat`: translation, reading, and what it makes of lines that are not as they should be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import StreamCollector, dialect, framer
from harness.api_error import ErrorKind
from harness.collector import Collected
from harness.dialects.ollama_chat import OllamaTranslator, read
from harness.framing import Frame
from harness.response import FinishReason, Other, Reasoning, Text, ToolCall, Usage

OLLAMA = dialect("ollama-chat")
DONE = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}


def line(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": False} | fields


def said(content: Any, **fields: Any) -> dict[str, Any]:
    return line(message={"role": "assistant", "content": content}, **fields)


def collected(*lines: Any) -> Collected:
    frames = framer("ndjson")
    collector = StreamCollector("ollama-chat")
    collector.extend(frames.feed("".join(json.dumps(each) + "\n" for each in lines).encode()))
    collector.extend(frames.close())
    return collector.close()


def kinds(out: Collected) -> list[str]:
    return [note.kind for note in out.notes]


def strangers(out: Collected) -> list[tuple[str | None, Any]]:
    return [(unknown.where.path, unknown.value) for unknown in out.unknown]


# translating


def test_the_body_is_that_of_the_last_line_with_everything_gathered() -> None:
    metrics = {"total_duration": 1, "load_duration": 2, "prompt_eval_count": 3, "prompt_eval_duration": 4, "eval_count": 5}
    end = DONE | metrics | {"created_at": "2026-01-01T00:00:03Z", "remote_model": "big", "remote_host": "https://r"}
    out = collected(said("a", created_at="2026-01-01T00:00:01Z"), said("b", created_at="2026-01-01T00:00:02Z"), end)
    assert out.body == end | {"message": {"role": "assistant", "content": "ab"}}
    assert (out.complete, out.unknown, out.disagreements) == (True, (), ())


def test_generate() -> None:
    lines = [line(response="", thinking="hm "), line(response="", thinking="so"), line(response="Yes"), line(response=".")]
    end = line(response="", done=True, done_reason="stop", context=[1, 2], eval_count=4)
    out = collected(*lines, end)
    assert out.body == end | {"response": "Yes.", "thinking": "hm so"}
    assert (out.response.text, out.response.reasoning) == ("Yes.", "hm so")
    assert out.response.usage == Usage(output_tokens=4)


def test_generate_with_calls_and_an_image() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": {}}}
    out = collected(line(response="", tool_calls=[call]), line(response="", image="aWk=", done=True, done_reason="stop"))
    assert out.response.parts == (
        Text(text=""),
        ToolCall(id="c", name="f", arguments="{}"),
        Other(kind="image", raw="aWk="),
    )


def test_logprobs_are_appended() -> None:
    def token(text: str) -> dict[str, Any]:
        return {"token": text, "logprob": -0.5, "bytes": [97], "top_logprobs": [{"token": "b", "logprob": -2}]}

    out = collected(said("ab", logprobs=[token("a"), token("b")]), said("", logprobs=[token("c")]), DONE)
    assert [t["token"] for t in out.body["logprobs"]] == ["a", "b", "c"]
    assert out.unknown == ()


def test_empty_thinking_is_left_out_and_empty_content_is_not() -> None:
    out = collected(line(message={"role": "assistant", "content": "", "thinking": ""}), DONE)
    assert out.body["message"] == {"role": "assistant", "content": ""}
    assert (out.response.text, out.response.reasoning) == ("", None)


def test_a_null_never_erases() -> None:
    out = collected(said(None), said("a"), said(None), line(message=None, model=None), DONE)
    assert (out.body["message"]["content"], out.body["model"]) == ("a", "m")
    assert collected(line(response=None), line(response="a"), line(response=None)).body["response"] == "a"


@pytest.mark.parametrize("reason", ["load", "unload"])
def test_nothing_was_generated(reason: str) -> None:
    out = collected(said("", done=True, done_reason=reason))
    assert (out.complete, out.response.finish_reason, out.response.raw_finish_reason) == (True, FinishReason.OTHER, reason)
    assert (out.response.text, out.response.usage, kinds(out)) == ("", None, [])


def test_done_without_a_reason_is_complete_and_reported() -> None:
    out = collected(said("a"), said("", done=True))
    assert (out.complete, out.response.finish_reason, kinds(out)) == (True, None, ["stream/finish-missing"])


def test_lines_after_done_are_reported_and_not_merged() -> None:
    out = collected(said("a"), DONE, said("b"), {"error": "late"})
    assert (out.response.text, out.complete) == ("a", True)
    assert kinds(out) == ["stream/data-after-done"] * 2


def test_done_must_be_true() -> None:
    out = collected(said("a", done="true"), said("b", done=1))
    assert (out.complete, out.missing) == (False, "no line says `done`")


def test_an_empty_stream() -> None:
    out = collected()
    assert (out.complete, kinds(out), out.response.parts) == (False, ["stream/empty"], ())


def test_a_call_without_an_id_is_told_of() -> None:
    call = {"function": {"name": "f", "arguments": {"b": 1, "a": "é"}}}
    out = collected(line(message={"content": "", "tool_calls": [call]}), DONE)
    assert kinds(out) == ["tool/id-synthetic"]
    assert out.response.tool_calls == [ToolCall(id="call_0", name="f", arguments='{"b":1,"a":"é"}', synthetic_id=True)]


def test_arguments_as_text_are_kept_as_they_are() -> None:
    calls = [{"id": str(n), "function": {"name": "f", "arguments": text}} for n, text in enumerate(('{"a": 1}', "{a"))]
    out = collected(line(message={"content": "", "tool_calls": calls}), DONE)
    assert [call.arguments for call in out.response.tool_calls] == ['{"a": 1}', "{a"]
    assert kinds(out) == ["tool/arguments-invalid-json"]


def test_values_of_odd_types_are_kept_and_lose_nothing() -> None:
    out = collected(said("a"), said(5), said(["b"]), said("c"), DONE)
    assert (out.response.text, out.body["unknown_events"]) == ("ac", [5, ["b"]])
    assert strangers(out) == [("/message/content", 5), ("/message/content", ["b"])]


def test_a_message_that_is_no_object_erases_no_message() -> None:
    out = collected(said("a"), line(message="b"), DONE)
    assert (out.response.text, out.body["unknown_events"], strangers(out)) == ("a", ["b"], [("/message", "b")])
    assert collected(line(message="b")).body["message"] == "b"


def test_unknown_fields_stand_where_they_belong() -> None:
    def call(name: str, **more: Any) -> dict[str, Any]:
        return {"id": name, "function": {"name": name, "arguments": {"free": 1}, **more}}

    token = {"token": "a", "logprob": 0, "top_logprobs": [{"token": "b", "new": 1}]}
    first = line(message={"content": "", "tool_calls": [call("f")]}, logprobs=[{"token": "0"}])
    calls = ["none", call("g"), call("h", new=2)]
    second = line(message={"content": "", "new": 3, "tool_calls": calls}, logprobs=[token], new={"x": 4})
    out = collected(first, second, DONE)
    assert sorted(strangers(out), key=str) == [
        ("/logprobs/0/top_logprobs/0/new", 1),
        ("/message/new", 3),
        ("/message/tool_calls/0", "none"),
        ("/message/tool_calls/2/function/new", 2),
        ("/new", {"x": 4}),
    ]
    assert out.body["message"]["tool_calls"] == [call("f"), call("g"), call("h", new=2), "none"]
    assert out.body["message"]["new"] == 3
    assert out.body["logprobs"] == [{"token": "0"}, token]
    assert out.body["new"] == {"x": 4}


def test_lists_that_are_none_lose_no_element() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": {}}}
    out = collected(line(message={"content": "", "tool_calls": [call]}), line(message={"tool_calls": "x"}), DONE)
    assert (out.body["message"]["tool_calls"], out.body["unknown_events"]) == ([call], ["x"])


# lines that look alike take the fast way, and it changes nothing


def _edits(lines: list[dict[str, Any]], *, fast: bool) -> list[Any]:
    translator = OllamaTranslator()
    out = []
    for number, each in enumerate(lines):
        frame = Frame(number, None, json.dumps(each).encode())
        if not fast:
            translator._repeats.memory = None
        out.append(translator.translate(frame))
    return out


def test_the_time_of_a_line_takes_the_fast_way() -> None:
    lines = [said(f"word{n}", created_at=f"2026-01-01T00:00:{n:02}Z") for n in range(20)]
    assert _edits(lines, fast=True) == _edits(lines, fast=False)
    translator = OllamaTranslator()
    for number, each in enumerate(lines):
        translator.translate(Frame(number, None, json.dumps(each).encode()))
    assert translator._repeats.memory is not None
    assert translator._repeats.memory.served > 10


def test_a_time_that_goes_back_is_not_missed() -> None:
    """The fast way does not tell the translator what it set."""
    times = ["1", "2", "1", "2", "3", "4", "5", "1"]
    lines = [said(f"w{n}", created_at=time) for n, time in enumerate(times)]
    lines[-1]["message"]["extra"] = True  # the careful way
    assert collected(*lines).body["created_at"] == "1"


# errors


@pytest.mark.parametrize(
    ("error", "message", "kind"),
    [
        ("out of memory", "out of memory", ErrorKind.OTHER),
        ("prompt is too long for this model", "prompt is too long for this model", ErrorKind.CONTEXT_OVERFLOW),
        ({"message": "slow down", "type": "rate_limit_error"}, "slow down", ErrorKind.RATE_LIMITED),
        (["odd"], "the provider gave no message", ErrorKind.OTHER),
    ],
)
def test_an_error_line_ends_the_turn(error: Any, message: str, kind: ErrorKind) -> None:
    out = collected(said("a"), {"error": error})
    assert out.error is not None
    assert (out.error.message, out.error.kind) == (message, kind)
    assert (out.complete, kinds(out)) == (False, [])


@pytest.mark.parametrize("error", [None, "", {}])
def test_an_error_that_says_nothing_is_none(error: Any) -> None:
    assert collected(said("a", error=error), DONE).complete


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (404, {"error": "model 'x' not found"}, ErrorKind.NOT_FOUND, "model 'x' not found"),
        (401, {"error": "unauthorized", "signin_url": "https://s"}, ErrorKind.AUTH, "unauthorized"),
        (400, {"detail": "Invalid JSON"}, ErrorKind.INVALID_REQUEST, "Invalid JSON"),
        (503, "busy", ErrorKind.OVERLOADED, "busy"),
        (500, None, ErrorKind.SERVER, "the provider gave no message"),
    ],
)
def test_error_answers(status: int, body: Any, kind: ErrorKind, message: str) -> None:
    error = OLLAMA.read_error(status, {}, body)
    assert (error.kind, error.message, error.status) == (kind, message, status)


# requests


@pytest.mark.parametrize(
    ("path", "matches"),
    [("/api/chat", True), ("/api/generate?x=1", True), ("/proxy/api/chat", True), ("/api/tags", False), ("/v1/chat", False)],
)
def test_its_requests(path: str, matches: bool) -> None:
    assert OLLAMA.matches("POST", path, {}) is matches


@pytest.mark.parametrize(("body", "streams"), [({}, True), ({"stream": True}, True), ({"stream": False}, False), (None, True)])
def test_streaming_is_the_default(body: Any, streams: bool) -> None:
    assert OLLAMA.streams("/api/chat", body) is streams


# reading


def test_reading_a_plain_answer() -> None:
    message = {
        "role": "assistant",
        "content": "Here.",
        "thinking": "hm",
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": None}}],
        "images": ["aWk="],
    }
    response = read({"model": "m", "message": message, "done": True, "done_reason": "length", "prompt_eval_count": 2})
    assert response.parts == (
        Reasoning(text="hm"),
        Text(text="Here."),
        ToolCall(id="c", name="f", arguments="{}"),
        Other(kind="images", raw=["aWk="]),
    )
    assert (response.model, response.id, response.finish_reason) == ("m", None, FinishReason.LENGTH)
    assert response.usage == Usage(input_tokens=2)


@pytest.mark.parametrize(
    ("reason", "read_as"),
    [
        ("stop", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("tool_calls", FinishReason.OTHER),
        ("", None),
        (7, None),
        (None, None),
    ],
)
def test_reasons(reason: Any, read_as: FinishReason | None) -> None:
    assert read({"done_reason": reason}).finish_reason is read_as


def _names() -> st.SearchStrategy[str]:
    own = "message content thinking tool_calls function arguments name id logprobs top_logprobs response images error done"
    return st.sampled_from([*own.split(), "done_reason", "created_at", "model", "eval_count", "context", "new"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names(), inner, max_size=4),
    max_leaves=12,
)
LINES = st.lists(st.dictionaries(_names(), JSON, max_size=6), max_size=6)


@settings(max_examples=150, deadline=None)
@given(body=JSON | LINES.map(lambda lines: lines[0] if lines else {}))
def test_reading_anything_raises_nothing(body: Any) -> None:
    response = read(body)
    assert all(isinstance(call.arguments, str) and isinstance(call.name, str) for call in response.tool_calls)
    response.as_dict()


@settings(max_examples=150, deadline=None)
@given(lines=LINES)
def test_any_lines_give_a_result(lines: list[dict[str, Any]]) -> None:
    out = collected(*lines)
    assert out.complete == (out.error is None and any(each.get("done") is True for each in lines))


def test_arguments_nested_too_deeply_to_encode() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    call = {"function": {"name": "f", "arguments": deep}}
    try:
        arguments = read({"message": {"tool_calls": [call]}}).tool_calls[0].arguments
        assert isinstance(arguments, str)
    finally:
        while deep:
            deep = deep.pop()
