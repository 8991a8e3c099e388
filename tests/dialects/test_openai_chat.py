"""Chat Completions: what the rows of semantics.md do not name: odd payloads, unknown fields, lists of parts, errors, ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import StreamCollector, dialects
from harness.api_error import ErrorKind
from harness.framing import Frame
from harness.response import FinishReason, Other, Reasoning, Refusal, Text
from tests.chat import DONE, calls, choice, chunk, collect, frames, head, kinds, message, more, says, stops, text

CHAT = dialects.dialect("openai-chat")


def strangers(out: Any) -> list[tuple[str, Any]]:
    return [(u.where.path, u.value) for u in out.unknown]


# any values in any place

ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    2.5,
    1e400,
    10**30,
    "",
    "x",
    "\ud800",
    [],
    [[]],
    [{}],
    [1, "a", None],
    {},
    {"a": 1},
    {"index": {}},
    {"type": "text"},
]
RICH: list[Any] = [
    chunk(
        choice(
            {"role": "assistant", "content": "", "refusal": None},
            logprobs={"content": [{"token": "a", "logprob": -1, "bytes": [97], "top_logprobs": []}], "refusal": None},
        ),
        usage=None,
        obfuscation="ab",
    ),
    says(
        {"reasoning": "x", "reasoning_details": [{"type": "reasoning.text", "text": "x", "index": 0, "format": "f"}]},
        provider="p",
    ),
    says({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "x"}]}, {"type": "text", "text": "a"}]}),
    says({"content": "b", "annotations": [{"type": "url_citation", "url_citation": {"url": "u"}}]}),
    calls(head(0, "a", "f"), head(1, "b", "g")),
    calls(more(0, "{}")),
    calls({"index": 2, "id": "c", "type": "custom", "custom": {"name": "h", "input": "i"}}),
    says({"function_call": {"name": "f", "arguments": "{"}, "audio": {"id": "x", "data": "YQ==", "transcript": "t"}}),
    chunk(
        choice({}, "stop", content_filter_results={"hate": {"filtered": False}}),
        x_groq={"id": "r", "usage": {"prompt_tokens": 1}},
    ),
    chunk(usage={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "prompt_tokens_details": {"cached_tokens": 0}}),
    {"error": {"message": "m", "type": "t", "code": 400, "param": "p"}},
]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    here = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    return [(value, key) for key, _ in here] + [place for _, inner in here for place in places(inner)]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_value_in_any_place_raises_nothing(data: st.DataObject) -> None:
    stream = json.loads(json.dumps(data.draw(st.lists(st.sampled_from(RICH), min_size=1, max_size=8))))
    for _ in range(data.draw(st.integers(1, 4))):
        container, key = data.draw(st.sampled_from(places(stream)))
        container[key] = data.draw(st.sampled_from(ODD))
        stream = json.loads(json.dumps(stream))  # values that are drawn twice are not one object
    collector = StreamCollector("openai-chat", data.draw(st.sampled_from([None, {"n": 2}, {"n": "x"}, []])))
    for frame in frames(*(json.dumps(payload).encode() for payload in stream), DONE):
        collector.add(frame)
    out = collector.close()
    json.dumps(out.body)
    out.response.as_dict()
    CHAT.read(stream[0])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(places(RICH)), st.sampled_from(ODD))
def test_a_reader_takes_any_body(place: tuple[Any, Any], odd: Any) -> None:
    body = collect(*RICH[:-1]).body
    for container, key in places(body):
        if key == place[1]:
            container[key] = odd
    CHAT.read(body).as_dict()


@pytest.mark.parametrize("body", ODD, ids=repr)
def test_whatever_the_body_is(body: Any) -> None:
    assert CHAT.read(body).as_dict()["tool_calls"] == []


@pytest.mark.parametrize("odd", [5, True, {"x": 1}])
def test_an_odd_value_does_not_cost_the_text(odd: Any) -> None:
    out = collect(text("a"), text("b"), says({"content": odd}), text("c"), stops())
    assert (out.response.text, message(out)["content"]) == ("abc", "abc")
    assert strangers(out) == [("/choices/0/delta/content", odd)]
    assert out.body["unknown_events"] == [{"content": odd}]


@pytest.mark.parametrize("odd", [["x"], {"a": 1}, 5])
def test_odd_calls_do_not_cost_the_calls(odd: Any) -> None:
    out = collect(calls(head(0, "a", "f", "{")), says({"tool_calls": odd}), calls(more(0, "}")), stops("tool_calls"))
    assert [(c.id, c.arguments) for c in out.response.tool_calls] == [("a", "{}")]
    assert [value for _, value in strangers(out)] == (odd if isinstance(odd, list) else [odd])


@pytest.mark.parametrize("reason", [{"a": 1}, 5, True, ["stop"]])
def test_an_odd_finish_reason_finishes_nothing(reason: Any) -> None:
    out = collect(text("a"), chunk({"index": 0, "delta": {}, "finish_reason": reason}))
    assert (out.complete, out.response.finish_reason) == (False, None)
    assert out.body["choices"][0]["finish_reason"] == reason


@pytest.mark.parametrize("index", [None, "0", 1.0, True, {}, []])
def test_an_odd_index_means_the_first_choice(index: Any) -> None:
    out = collect(chunk(choice({"content": "a"}, index=index)), chunk(choice({"content": "b"}, "stop")))
    assert out.response.text == "ab"
    assert len(out.body["choices"]) == 1


def test_arguments_that_are_objects_are_encoded_in_both_forms() -> None:
    arguments = {"b": [1], "a": "é"}
    streamed = collect(calls(head(0, "a", "f", arguments)), stops("tool_calls"))
    plain = CHAT.read(
        {
            "choices": [
                {
                    "message": {
                        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}]
                    }
                }
            ]
        }
    )
    assert streamed.response.tool_calls == plain.tool_calls
    assert plain.tool_calls[0].arguments == '{"b":[1],"a":"é"}'
    assert kinds(streamed) == ["tool/arguments-not-string"]


# fields that are not known

UNKNOWN: dict[str, tuple[dict[str, Any], str, list[Any]]] = {
    "at_the_top": (says({"content": "a"}, new=1), "/new", ["new"]),
    "in_a_choice": (chunk(choice({"content": "a"}, new=1)), "/choices/0/new", ["choices", 0, "new"]),
    "in_the_delta": (says({"content": "a", "new": 1}), "/choices/0/delta/new", ["choices", 0, "message", "new"]),
    "in_a_call": (
        calls({**head(2, "a", "f"), "new": 1}),
        "/choices/0/delta/tool_calls/0/new",
        ["choices", 0, "message", "tool_calls", 0, "new"],
    ),
    "in_a_function": (
        calls({"index": 0, "id": "a", "function": {"name": "f", "new": 1}}),
        "/choices/0/delta/tool_calls/0/function/new",
        ["choices", 0, "message", "tool_calls", 0, "function", "new"],
    ),
    "in_usage": (stops(usage={"prompt_tokens": 1, "new": 1}), "/usage/new", ["usage", "new"]),
    "in_usage_details": (
        stops(usage={"prompt_tokens_details": {"new": 1}}),
        "/usage/prompt_tokens_details/new",
        ["usage", "prompt_tokens_details", "new"],
    ),
    "in_logprobs": (
        chunk(choice({}, logprobs={"content": [], "new": 1})),
        "/choices/0/logprobs/new",
        ["choices", 0, "logprobs", "new"],
    ),
    "in_the_other_form_of_a_call": (
        says({"function_call": {"name": "f", "new": 1}}),
        "/choices/0/delta/function_call/new",
        ["choices", 0, "message", "function_call", "new"],
    ),
    "in_audio": (
        says({"audio": {"id": "x", "new": 1}}),
        "/choices/0/delta/audio/new",
        ["choices", 0, "message", "audio", "new"],
    ),
    "that_is_a_known_scalar": (says({"content": "a"}, id={"new": 1}), "/id", ["id"]),
}


@pytest.mark.parametrize(("payload", "at", "path"), UNKNOWN.values(), ids=UNKNOWN)
def test_an_unknown_field_stands_where_it_belongs(payload: dict[str, Any], at: str, path: list[Any]) -> None:
    out = collect(payload)
    assert [where for where, _ in strangers(out)] == [at]
    value = out.body
    for step in path:
        value = value[step]
    assert value in (1, {"new": 1})
    assert collect({**payload, "choices": payload["choices"]}, payload).complete == out.complete


def test_unknown_fields_in_elements_that_are_appended_stand_in_their_own_element() -> None:
    """The second delta's first element is not the first of the message."""

    def cites(url: str, **new: Any) -> dict[str, Any]:
        return says({"annotations": [{"type": "url_citation", "url_citation": {"url": url}, **new}]})

    def likely(token: str, **new: Any) -> dict[str, Any]:
        return chunk(choice({}, logprobs={"content": [{"token": token, **new}]}))

    out = collect(cites("u1"), cites("u2", new=2), likely("a"), likely("b"), likely("c", new=3))
    assert [a.get("new") for a in message(out)["annotations"]] == [None, 2]
    assert [t.get("new") for t in out.body["choices"][0]["logprobs"]["content"]] == [None, None, 3]
    assert len(out.unknown) == 2


def test_unknown_fields_in_fragments_of_one_element_stand_in_it() -> None:
    def thinks(index: int, **new: Any) -> dict[str, Any]:
        return {"type": "reasoning.text", "index": index, "text": "x", **new}

    out = collect(
        says({"reasoning_details": [thinks(0)]}),
        says({"reasoning_details": [thinks(1)]}),
        says({"reasoning_details": [thinks(1, new=1)]}),
        calls(head(3, "a", "f")),
        calls(head(5, "b", "g"), {**more(3, "{}"), "new": 2}),
        says({"content": [{"type": "text", "text": "a"}]}),
        says({"content": [{"type": "text", "text": "b", "new": 3}]}),
    )
    assert [d.get("new") for d in message(out)["reasoning_details"]] == [None, 1]
    assert [c.get("new") for c in message(out)["tool_calls"]] == [2, None]
    assert message(out)["content"] == [{"type": "text", "text": "ab", "new": 3}]


def test_an_envelope_whose_names_change_is_read_again() -> None:
    """Its values alone do not tell."""
    out = collect(
        {"id": "x", "choices": []},
        {"model": "x", "choices": []},
        {"system_fingerprint": None, "choices": []},
        {"service_tier": None, "choices": []},
    )
    assert out.body == {"object": "chat.completion", "id": "x", "model": "x", "system_fingerprint": None, "service_tier": None}


def test_the_first_identity_and_the_last_of_other_fields_count() -> None:
    out = collect(
        {"id": "", "created": 0, "model": "", "system_fingerprint": None, "choices": []},
        {"id": "a", "created": 5, "model": "m", "system_fingerprint": "f1", "choices": []},
        {"id": "b", "created": 6, "model": "n", "system_fingerprint": "f2", "choices": []},
        {"id": "c", "created": 7, "model": "o", "system_fingerprint": None, "choices": []},
    )
    assert out.body == {"object": "chat.completion", "id": "a", "created": 5, "model": "m", "system_fingerprint": "f2"}


def test_what_is_repeated_changes_nothing_again() -> None:
    """Servers repeat the role and the identity of a call on every chunk: no edit comes of it, and the first ones count."""
    collector = StreamCollector("openai-chat")
    stream = [
        says(
            {
                "role": "assistant",
                "content": "a",
                "tool_calls": [head(0, "x", "f", "1")],
                "reasoning_details": [thought(0, "p", id="d")],
            }
        ),
        says(
            {
                "role": "assistant",
                "content": "b",
                "tool_calls": [head(0, "x", "f", "2")],
                "reasoning_details": [thought(0, "q", id="d")],
            }
        ),
        says({"role": "tool", "content": "c", "tool_calls": [{**head(0, "x", "f", "3"), "type": "custom"}]}),
    ]
    counts = [len(collector.add(frame)) for frame in frames(*stream)]
    assert counts[1:] == [3, 2]
    body = collector.body["choices"][0]["message"]
    assert (body["role"], body["content"], body["tool_calls"][0]["type"]) == ("assistant", "abc", "function")
    assert body["tool_calls"][0]["function"]["arguments"] == "123"
    assert body["reasoning_details"] == [thought(0, "pq", id="d")]


def thought(index: int, piece: str, kind: str = "reasoning.text", **more_fields: Any) -> dict[str, Any]:
    return {"type": kind, "index": index, "text": piece, **more_fields}


def test_details_are_told_apart_by_index_and_type() -> None:
    out = collect(
        says({"reasoning_details": [thought(0, "a", signature="s"), thought(0, "b", "reasoning.other"), thought(1, "c")]}),
        says(
            {
                "reasoning_details": [
                    thought(1, "d"),
                    thought(0, "e", signature="", format=None),
                    thought(0, "f", "reasoning.other"),
                ]
            }
        ),
    )
    assert message(out)["reasoning_details"] == [
        {**thought(0, "ae"), "signature": "s", "format": None},
        thought(0, "bf", "reasoning.other"),
        thought(1, "cd"),
    ]


def test_the_usage_that_groq_adds_does_not_replace_the_other() -> None:
    out = collect(chunk(usage={"total_tokens": 1}), chunk(x_groq={"id": "r", "usage": {"total_tokens": 2}}))
    assert out.body["usage"] == {"total_tokens": 1}


def test_the_first_choice_of_a_plain_body_is_the_one_with_the_lowest_index() -> None:
    plain = {"choices": [{"index": 1, "message": {"content": "x"}}, {"index": 0, "message": {"content": "a"}}]}
    assert CHAT.read(plain).text == "a"


# content as a list of parts


def part(kind: str, piece: Any) -> dict[str, Any]:
    return {"type": kind, "text" if kind == "text" else "thinking": piece}


def test_parts_of_one_kind_are_joined() -> None:
    def thought(piece: str) -> dict[str, Any]:
        return part("thinking", [{"type": "text", "text": piece}])

    out = collect(
        says({"role": "assistant", "content": ""}),
        says({"content": [thought("x")]}),
        says({"content": [thought("y"), part("text", "a")]}),
        says({"content": "b"}),
        says({"content": [thought("z")]}),
        stops(),
    )
    assert message(out)["content"] == [
        part("thinking", [{"type": "text", "text": "xy"}]),
        part("text", "ab"),
        part("thinking", [{"type": "text", "text": "z"}]),
    ]
    assert out.response.parts == (Reasoning(text="xy"), Text(text="ab"), Reasoning(text="z"))
    assert out.disagreements == ()


def test_thinking_may_be_a_text() -> None:
    out = collect(says({"content": [part("thinking", "x")]}), says({"content": [part("thinking", "y")]}), stops())
    assert message(out)["content"] == [part("thinking", "xy")]
    assert (out.response.reasoning, out.disagreements) == ("xy", ())


def test_a_text_that_becomes_a_list_is_its_first_part() -> None:
    out = collect(text("Hel"), text("lo"), says({"content": [part("text", " wor")]}), text("ld"), stops())
    assert message(out)["content"] == [{"text": "Hello world", "type": "text"}]
    assert (out.response.text, out.disagreements) == ("Hello world", ())


def test_parts_of_other_kinds_stay_as_they_are() -> None:
    image = {"type": "image_url", "image_url": {"url": "u"}}
    out = collect(says({"content": [image, part("text", 5)]}), says({"content": [image]}), stops())
    assert message(out)["content"] == [image, part("text", 5), image]
    assert out.response.parts == (
        Other(kind="image_url", raw=image),
        Other(kind="text", raw=part("text", 5)),
        Other(kind="image_url", raw=image),
    )


# other fields


def test_refusals_custom_calls_and_audio() -> None:
    out = collect(
        says({"refusal": "I "}),
        says({"refusal": "won't"}),
        calls({"index": 0, "id": "a", "type": "custom", "custom": {"name": "sh", "input": "l"}}),
        calls({"index": 0, "custom": {"input": "s"}}),
        says({"audio": {"id": "x", "data": "YQ==", "transcript": "t"}}),
        says({"audio": {"data": "Yg==", "transcript": "u"}}),
        says({"audio": {"expires_at": 5}}),
        stops("tool_calls"),
    )
    assert Refusal(text="I won't") in out.response.parts
    assert [(c.kind, c.name, c.arguments) for c in out.response.tool_calls] == [("custom", "sh", "ls")]
    assert message(out)["audio"] == {"id": "x", "data": "YWI=", "transcript": "tu", "expires_at": 5}


def test_logprobs_are_extended_in_the_order_of_arrival() -> None:
    def likely(**lists: Any) -> dict[str, Any]:
        return chunk(choice({}, logprobs=lists))

    out = collect(
        likely(content=None, refusal=None),
        likely(content=[{"token": "a"}]),
        likely(content=[{"token": "b"}], refusal=None),
        stops(),
    )
    assert out.body["choices"][0]["logprobs"] == {"content": [{"token": "a"}, {"token": "b"}], "refusal": None}
    assert collect(chunk(choice({}, "stop", logprobs=None))).body["choices"][0]["logprobs"] is None


def test_filter_results_are_merged_by_category() -> None:
    out = collect(
        {
            "choices": [],
            "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}],
            "id": "",
            "model": "",
            "object": "",
        },
        chunk(choice({"content": "a"}, content_filter_results={})),
        chunk(choice({}, "stop", content_filter_results={"hate": {"filtered": False}})),
        chunk(choice({}, None, content_filter_results={"violence": {"filtered": True}})),
        chunk(choice({}, None, content_filter_results={})),
        chunk(choice({}, None, content_filter_results=None)),
    )
    assert out.body["choices"][0]["content_filter_results"] == {"hate": {"filtered": False}, "violence": {"filtered": True}}
    assert len(out.body["prompt_filter_results"]) == 1


def test_a_whole_message_at_the_end_is_compared() -> None:
    whole = {"role": "assistant", "content": "ab"}
    good = collect(text("a"), text("b"), chunk({"index": 0, "delta": {}, "message": whole, "finish_reason": "stop"}))
    bad = collect(text("a"), text("c"), chunk({"index": 0, "delta": {}, "message": whole, "finish_reason": "stop"}))
    assert good.disagreements == ()
    assert [(d.where.path, d.gathered, d.repeated) for d in bad.disagreements] == [("/choices/0/message/content", "ac", "ab")]


@pytest.mark.parametrize(
    "field", ["function_call", "tool_calls", "audio", "reasoning_details", "annotations", "role", "refusal"]
)
def test_null_is_no_part(field: str) -> None:
    out = collect(says({field: None}), text("a"), stops())
    assert out.response.parts == (Text(text="a"),)
    assert message(out)["role"] == "assistant"


# ends and errors


@pytest.mark.parametrize("end", [True, False])
def test_a_turn_is_complete_once_every_choice_has_finished(end: bool) -> None:
    out = collect(text("a"), stops(), end=end)
    assert (out.complete, kinds(out)) == (True, [] if end else ["stream/done-missing"])


@pytest.mark.parametrize(
    ("payloads", "end", "kind"),
    [
        ([], False, "stream/empty"),
        ([], True, "stream/empty"),
        ([text("a")], False, "stream/truncated"),
        ([text("a")], True, "stream/finish-missing"),
        ([chunk(usage={"prompt_tokens": 1})], True, "stream/finish-missing"),
        ([chunk(choice({}, "stop"), choice({"content": "x"}, index=1))], False, "stream/truncated"),
        ([text("a"), stops("")], False, "stream/truncated"),
    ],
)
def test_no_end_is_no_end(payloads: list[Any], end: bool, kind: str) -> None:
    out = collect(*payloads, end=end)
    assert (out.complete, kinds(out)[-1]) == (False, kind)


def test_every_prefix_of_a_stream_is_incomplete_until_its_finish() -> None:
    stream = [text("a"), calls(head(0, "x", "f")), calls(more(0, "{}")), stops("tool_calls"), chunk(usage={"prompt_tokens": 1})]
    assert [collect(*stream[:n], end=False).complete for n in range(6)] == [False, False, False, False, True, True]


def test_what_follows_the_sentinel_is_not_used() -> None:
    out = collect(text("a"), stops(), DONE, text("b"), chunk(usage={"prompt_tokens": 1}))
    assert (out.response.text, out.response.usage, out.complete) == ("a", None, True)
    assert kinds(out) == ["stream/data-after-done"] * 3  # the last is the second sentinel


ERRORS: dict[str, tuple[Any, str | None, ErrorKind, str]] = {
    "openai": ({"error": {"message": "m", "type": "server_error", "code": None}}, None, ErrorKind.SERVER, "m"),
    "groq": ({"error": {"message": "m", "code": "tool_use_failed", "status_code": 400}}, "error", ErrorKind.OTHER, "m"),
    "groq_elsewhere": (says({"content": None}, x_groq={"id": "r", "error": "m"}), None, ErrorKind.OTHER, "m"),
    "vllm_old": (
        {"object": "error", "message": "m", "type": "BadRequestError", "code": 400},
        None,
        ErrorKind.INVALID_REQUEST,
        "m",
    ),
    "openrouter": (says({"content": ""}, error={"code": 429, "message": "m"}), None, ErrorKind.RATE_LIMITED, "m"),
    "llama_old": ({"code": 500, "message": "m", "type": "server_error"}, "error", ErrorKind.SERVER, "m"),
    "a_status_for_a_code": ({"error": {"message": "m", "status_code": 503}}, None, ErrorKind.OVERLOADED, "m"),
    "a_text": ({"error": "m"}, None, ErrorKind.OTHER, "m"),
    "in_a_list": ([{"error": {"message": "m", "code": 503}}], None, ErrorKind.OVERLOADED, "m"),
    "without_a_word": ({"error": {"x": 1}}, None, ErrorKind.OTHER, "the provider gave no message"),
    "of_an_odd_type": ({"error": 5}, None, ErrorKind.OTHER, "the provider gave no message"),
}


@pytest.mark.parametrize(("payload", "name", "kind", "said"), ERRORS.values(), ids=ERRORS)
def test_errors_inside_a_stream(payload: Any, name: str | None, kind: ErrorKind, said: str) -> None:
    collector = StreamCollector("openai-chat")
    collector.extend(frames(text("a")))
    collector.add(Frame(1, name, json.dumps(payload).encode()))
    collector.extend(frames(DONE))
    out = collector.close()
    assert out.error is not None
    assert (out.error.kind, out.error.message, out.complete, out.response.text) == (kind, said, False, "a")
    assert kinds(out) == []


def test_an_error_after_the_finish_is_an_error() -> None:
    out = collect(text("a"), stops(), {"error": {"message": "m"}})
    assert (out.complete, out.error is not None) == (False, True)


@pytest.mark.parametrize("error", [None, "", {}, False])
def test_no_error_is_no_error(error: Any) -> None:
    out = collect(text("a", role="assistant"), stops(error=error))
    assert (out.error, out.complete) == (None, True)


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource"])
def test_a_finish_that_says_the_model_broke_off(reason: str) -> None:
    out = collect(text("a"), stops(reason))
    assert (kinds(out), out.complete, out.response.finish_reason) == (["finish/abnormal"], False, FinishReason.ERROR)
    assert out.error is not None
    assert out.error.code == reason


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("tool_calls", FinishReason.TOOL_CALLS),
        ("function_call", FinishReason.TOOL_CALLS),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("model_length", FinishReason.OTHER),
        ("eos", FinishReason.OTHER),
        ("", None),
    ],
)
def test_finish_reasons(raw: str, reason: FinishReason | None) -> None:
    out = collect(text("a"), stops(raw))
    assert (out.response.finish_reason, out.response.raw_finish_reason) == (reason, raw or None)


def test_the_last_finish_reason_counts_and_null_erases_nothing() -> None:
    out = collect(text("a"), stops("length"), stops("stop"), chunk(choice({}, None)))
    assert out.response.raw_finish_reason == "stop"


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (429, {"error": {"message": "m", "type": "tokens", "code": "rate_limit_exceeded"}}, ErrorKind.RATE_LIMITED, "m"),
        (429, {"error": {"message": "m", "type": "insufficient_quota"}}, ErrorKind.QUOTA, "m"),
        (
            400,
            {"error": {"message": "m", "code": "context_length_exceeded", "type": "invalid_request_error"}},
            ErrorKind.CONTEXT_OVERFLOW,
            "m",
        ),
        (400, {"error": {"message": "m", "code": "content_filter"}}, ErrorKind.CONTENT_FILTER, "m"),
        (401, {"error": {"message": "m", "code": "invalid_api_key"}}, ErrorKind.AUTH, "m"),
        (404, {"message": "m"}, ErrorKind.NOT_FOUND, "m"),
        (422, {"detail": "m"}, ErrorKind.INVALID_REQUEST, "m"),
        (502, "<html>", ErrorKind.SERVER, "<html>"),
        (413, "", ErrorKind.CONTEXT_OVERFLOW, "the provider gave no message"),
        (500, None, ErrorKind.SERVER, "the provider gave no message"),
        (400, [], ErrorKind.INVALID_REQUEST, "the provider gave no message"),
    ],
)
def test_errors_before_a_stream(status: int, body: Any, kind: ErrorKind, said: str) -> None:
    error = CHAT.read_error(status, {}, body)
    assert (error.kind, error.message, error.status) == (kind, said, status)


@pytest.mark.parametrize(
    ("path", "matches"),
    [
        ("/v1/chat/completions", True),
        ("/openai/deployments/d/chat/completions?api-version=1", True),
        ("/v1/responses", False),
        ("/v1/chat/completions/x", False),
    ],
)
def test_requests(path: str, matches: bool) -> None:
    assert CHAT.matches("POST", path, {}) is matches
    assert CHAT.streams(path, {"stream": True})
    assert not CHAT.streams(path, {"stream": "yes"})
    assert not CHAT.streams(path, None)
