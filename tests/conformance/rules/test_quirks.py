"""Quirks: each is noted where it is, once, at the level of information; and an ordinary turn has none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cassette.model import Exchange
from harness.conformance.inspection import inspect
from harness.conformance.rules import RULES, Judged
from harness.findings import Level
from tests.chat import calls, choice, chunk, encoded, head, says, stops, text
from tests.exchanges import completion, document, exchange, sse
from tests.framing.feeding import event

ASKED = {"model": "tide-1", "messages": [{"role": "user", "content": "Which weeds?"}], "stream": True}
BEGIN = says({"role": "assistant", "content": ""})
TURN = (BEGIN, text("Kelp"), stops())
CALLS = (says({"role": "assistant", "content": None}), calls(head(0, "c1", "dive", "{}")), stops("tool_calls"))
GEMINI = "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"
GEMINI_PLAIN = "/v1beta/models/gemini-3-flash:generateContent"
MESSAGES, RESPONSES, OLLAMA = "/v1/messages", "/v1/responses", "/api/chat"
CONVERSE = "/model/anthropic.claude-x/converse-stream"
DEMAND = {"type": "function", "function": {"name": "dive"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "dive", "arguments": "{}"}}


def notes(given: Exchange, dialect: str = "openai-chat", provider: str = "here") -> list[tuple[str, str | None]]:
    """What is noted and where, none of which a rule says."""
    return [(finding.kind, finding.where.path) for finding in noted(inspect(given, dialect, provider)[1])]


def noted(judged: Judged) -> list[Any]:
    found = [finding for finding in judged.findings if finding.rule is None]
    assert all(finding.level is Level.INFO and finding.blame == "nobody" for finding in found)
    return found


def streamed(*payloads: Any, asked: Any = ASKED, end: bool = True) -> list[tuple[str, str | None]]:
    return notes(exchange(sse(*payloads, end=end), request=asked))


def answered(body: Any, asked: Any = None, **more: Any) -> list[tuple[str, str | None]]:
    given = document(body, **more) if asked is None else exchange(encoded(body), media="application/json", request=asked)
    return notes(given)


def message(**fields: Any) -> dict[str, Any]:
    return completion({"content": "Kelp"} | fields)


@pytest.mark.parametrize("turn", [TURN, CALLS])
def test_an_ordinary_stream_has_none(turn: Any) -> None:
    assert streamed(*turn) == []


def test_an_ordinary_answer_has_none() -> None:
    assert answered(message()) == []


CHAT: list[tuple[str, tuple[Any, ...], tuple[str, str | None]]] = [
    ("object", (BEGIN | {"object": ""}, *TURN[1:]), ("chunk/object-empty", "/object")),
    ("created", (BEGIN | {"created": 0}, *TURN[1:]), ("chunk/created-zero", "/created")),
    ("verdict", (chunk(prompt_filter_results=[]), *TURN), ("choices/verdict-only", "/choices")),
    ("chunk", (*TURN[:2], stops() | {"timings": {"predicted_n": 1}}), ("field/foreign", "/timings")),
    (
        "choice",
        (BEGIN, chunk(choice({"content": "a"}, matched_stop=None)), stops()),
        ("field/foreign", "/choices/0/matched_stop"),
    ),
    ("delta", (BEGIN, text("a", channel="final"), stops()), ("field/foreign", "/choices/0/delta/channel")),
    (
        "token",
        (BEGIN, chunk(choice({"content": "a"}, logprobs={"content": [{"token": "a", "logprob": -1, "id": 7}]})), stops()),
        ("field/foreign", "/choices/0/logprobs/content/0/id"),
    ),
    ("null", (CALLS[0], text("a"), stops()), ("delta/content-null", "/choices/0/message/content")),
    ("marker", (BEGIN, {"error": {"message": "no", "code": None, "param": None}}), ("error/without-marker", None)),
    ("code", (BEGIN, {"error": {"message": "no", "code": 7, "param": None}}, b"[DONE]"), ("error/code-number", "/error/code")),
    ("param", (BEGIN, {"error": {"message": "no"}}, b"[DONE]"), ("error/param-missing", "/error")),
    ("beside", (BEGIN, text("a"), *CALLS[1:]), ("text/beside-calls", "/choices/0/message/content")),
    (
        "arguments",
        (CALLS[0], calls(head(0, "c1", "dive", "")), stops("length")),
        ("tool/arguments-empty", "/choices/0/message/tool_calls/0/function/arguments"),
    ),
    ("empty", (BEGIN, stops()), ("answer/empty", "/choices/0")),
]


@pytest.mark.parametrize(("turn", "expected"), [row[1:] for row in CHAT], ids=[row[0] for row in CHAT])
def test_chat_streams(turn: tuple[Any, ...], expected: tuple[str, str | None]) -> None:
    done = any(payload == b"[DONE]" or "error" in payload for payload in turn)
    assert streamed(*turn, end=not done) == [expected]


def test_what_is_told_by_a_rule_or_as_unknown_is_not_told_again() -> None:
    assert streamed(BEGIN, text("a", reasoning_content="b", invented=1), stops()) == []


def test_a_note_is_made_once() -> None:
    assert streamed(BEGIN, *(text("a", channel=name) for name in "abc"), stops()) == [
        ("field/foreign", "/choices/0/delta/channel")
    ]


@pytest.mark.parametrize(
    ("asked", "turn", "expected"),
    [
        ({"messages": [{"role": "nobody", "content": ""}]}, TURN, "request/role-unknown"),
        ({"model": "reef-7b"}, TURN, "request/model-other"),
        ({"tool_choice": "required"}, TURN, "request/choice-ignored"),
        ({"tool_choice": DEMAND}, TURN, "request/choice-ignored"),
        ({"tool_choice": DEMAND}, (*CALLS[:2], stops()), "finish/stop-of-forced-call"),
        (
            {"parallel_tool_calls": False},
            (*CALLS[:2], calls(head(1, "c2", "dive", "{}")), CALLS[2]),
            "request/parallel-ignored",
        ),
        (
            {"max_tokens": 2},
            (*TURN[:2], stops(usage={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3})),
            "finish/length-lost",
        ),
    ],
)
def test_chat_beside_its_request(asked: dict[str, Any], turn: tuple[Any, ...], expected: str) -> None:
    assert expected in [kind for kind, _ in streamed(*turn, asked=ASKED | asked)]
    assert expected not in [kind for kind, _ in streamed(*turn, asked={"stream": True})]


@pytest.mark.parametrize("model", ["tide-1-2026-11-30", "sea/tide-1", "Tide-1"])
def test_another_name_of_a_model_is_no_other_model(model: str) -> None:
    assert streamed(*TURN, asked=ASKED | {"model": model}) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"hello": 1}, [("answer/field-missing", "/id"), ("answer/field-missing", "/choices")]),
        (message() | {"id": ""}, [("answer/id-empty", "/id")]),
        (message(mood="calm"), [("field/foreign", "/choices/0/message/mood")]),
        (message(content=[{"type": "text"}]), [("answer/content-not-text", "/choices/0/message/content")]),
        (message(tool_calls=[CALL]), [("text/beside-calls", "/choices/0/message/content")]),
        (completion({"content": "Kelp"}, ""), [("answer/finish-empty", "/choices/0/finish_reason")]),
        (completion({"content": ""}), [("answer/empty", "/choices/0")]),
        (b"\n  \n" + encoded(message()), [("http/leading-blanks", None)]),
    ],
)
def test_chat_answers(body: Any, expected: list[tuple[str, str | None]]) -> None:
    assert answered(body) == expected


def test_a_fault_of_the_request_that_the_server_takes_for_its_own() -> None:
    refused = exchange(
        b'{"error":{"message":"no","code":null,"param":null}}', media="application/json", status=500, request=b"{no"
    )
    assert notes(refused) == [("http/blames-server", None)]


def test_other_bodies() -> None:
    assert notes(exchange(sse(*TURN), media=None, request=ASKED)) == [("http/content-type-unknown", None)]
    assert notes(exchange(sse(BEGIN, end=False), request=ASKED)) == [("stream/single-frame", None)]
    zero = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    assert ("usage/zero", None) in streamed(*TURN, chunk(usage=zero))


def candidate(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", "index": 0, **more}]}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (candidate({"text": "Kelp"}), []),
        (candidate({"text": ""}), [("text/empty", "/candidates/0/content/parts/0/text")]),
        (candidate({"text": "Kelp"}, content={"parts": [{"text": "Kelp"}]}), [("gemini/role-absent", "/candidates/0/content")]),
        (candidate({"text": "Kelp"}, {"text": "."}), [("gemini/several-parts", "/candidates/0/content/parts")]),
        (
            candidate({"functionCall": {"name": "dive", "willContinue": True}}),
            [("gemini/call-in-pieces", "/candidates/0/content/parts/0/functionCall")],
        ),
    ],
)
def test_gemini_streams(body: Any, expected: list[tuple[str, str | None]]) -> None:
    first = candidate({"text": "Weeds: "})
    del first["candidates"][0]["finishReason"]
    assert notes(exchange(sse(first, body, end=False), path=GEMINI), "gemini") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (candidate({"text": "Kelp"}, {"text": "."}), []),
        (candidate(), [("gemini/content-absent", "/candidates/0")]),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, [("gemini/without-candidates", "/candidates")]),
        (candidate({"text": "Kelp"}) | {"mood": 1}, [("field/foreign", "/mood")]),
    ],
)
def test_gemini_answers(body: Any, expected: list[tuple[str, str | None]]) -> None:
    assert notes(document(body, path=GEMINI_PLAIN), "gemini") == expected


@pytest.mark.parametrize(
    ("delta", "expected"),
    [
        ({"text": "Kelp"}, []),
        ({"text": ""}, [("text/empty", "/delta/text")]),
        ({"toolUse": {"input": ""}}, [("text/empty", "/delta/toolUse/input")]),
        ({"toolUse": {"input": '{"depth":'}}, []),
        ({"toolUse": {"input": '{"depth":3}'}}, [("tool/arguments-not-incremental", "/delta/toolUse/input")]),
    ],
)
def test_converse(delta: Any, expected: list[tuple[str, str | None]]) -> None:
    body = event("messageStart", b'{"role":"assistant"}') + event(
        "contentBlockDelta", encoded({"contentBlockIndex": 0, "delta": delta})
    )
    assert notes(exchange(body, media="application/vnd.amazon.eventstream", path=CONVERSE), "bedrock-converse") == expected


@pytest.mark.parametrize(
    ("identity", "delta", "expected"),
    [
        ("msg_1", {"type": "text_delta", "text": "Kelp"}, []),
        ("msg_1", {"type": "text_delta", "text": ""}, [("text/empty", "/delta/text")]),
        ("msg_1", {"type": "input_json_delta", "partial_json": ""}, [("text/empty", "/delta/partial_json")]),
        ("chatcmpl-1", {"type": "text_delta", "text": "Kelp"}, [("anthropic/id-form", "/message/id")]),
    ],
)
def test_messages(identity: str, delta: Any, expected: list[tuple[str, str | None]]) -> None:
    message = {"id": identity, "type": "message", "role": "assistant", "model": "tide-1", "content": [], "usage": {}}
    start = {"type": "message_start", "message": message}
    body = sse(start, {"type": "content_block_delta", "index": 0, "delta": delta}, end=False)
    assert [n for n in notes(exchange(body, path=MESSAGES), "anthropic-messages") if "/" in n[0] and n[1]] == expected


def test_errors_of_messages() -> None:
    error = {"type": "invalid_request_error", "message": "no"}
    for body, expected in (({"type": "error", "error": error}, []), ({"error": error}, [("error/other-form", None)])):
        assert notes(document(body, status=400, path=MESSAGES), "anthropic-messages") == expected


def test_responses() -> None:
    delta = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "Kelp", "sequence_number": 0}
    ends = {"id": "r", "status": "completed", "output": [], "usage": {"input_tokens": 1, "output_tokens": 5, "total_tokens": 6}}
    asked = {"model": "tide-1", "input": "Which weeds?", "max_output_tokens": 5, "stream": True}
    body = sse(delta, {"type": "response.completed", "response": ends, "sequence_number": 1})
    kinds = [kind for kind, _ in notes(exchange(body, path=RESPONSES, request=asked), "openai-responses")]
    assert kinds == ["responses/content-index-missing", "responses/marker", "finish/length-lost"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"prompt_eval_count": 3, "total_duration": 123_456_789, "eval_duration": 100_000_000}, []),
        ({"total_duration": 123_456_789}, [("usage/input-missing", None)]),
        ({"prompt_eval_count": 3, "total_duration": 10**9, "eval_duration": 5 * 10**8}, [("ollama/duration-made-up", None)]),
        (
            {
                "prompt_eval_count": 3,
                "message": {"content": "", "tool_calls": [{"function": {"name": "dive", "arguments": "{}"}}]},
            },
            [("answer/arguments-text", "/message/tool_calls/0/function/arguments")],
        ),
    ],
)
def test_ollama_answers(fields: Any, expected: list[tuple[str, str | None]]) -> None:
    body = {"model": "tide", "message": {"role": "assistant", "content": "Kelp"}, "done": True, "eval_count": 2, **fields}
    assert notes(document(body, path=OLLAMA), "ollama-chat") == expected


def test_who_asks_for_rules_gets_no_notes() -> None:
    given = exchange(sse(BEGIN | {"object": ""}, *TURN[1:]), request=ASKED)
    _, judged = inspect(given, "openai-chat", "here", [RULES["OAI-C-001"]])
    assert judged.findings == ()


NAMES = [
    "id",
    "object",
    "created",
    "choices",
    "index",
    "delta",
    "message",
    "content",
    "role",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "finish_reason",
    "usage",
    "logprobs",
    "error",
    "code",
    "candidates",
    "parts",
    "text",
    "functionCall",
    "partialArgs",
    "type",
    "toolUse",
    "input",
    "response",
    "status",
    "prompt_eval_count",
    "total_duration",
    "eval_duration",
    "eval_count",
    "completion_tokens",
]
json = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "stop", "assistant", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)
WAYS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": RESPONSES,
    "gemini": GEMINI,
    "anthropic-messages": MESSAGES,
    "ollama-chat": OLLAMA,
}


@settings(max_examples=150, deadline=None)
@given(st.lists(json, max_size=4), json, st.sampled_from(sorted(WAYS)))
def test_anything_may_stand_anywhere(payloads: list[Any], asked: Any, dialect: str) -> None:
    """No walk of quirks ever raises."""
    path = WAYS[dialect]
    lines = b"".join(encoded(payload) + b"\n" for payload in payloads)
    body = lines if dialect == "ollama-chat" else sse(*payloads, end=False)
    inspect(exchange(body, path=path, request={"stream": True, "messages": [], "model": asked, "tool_choice": asked}), dialect)
    for payload in payloads:
        inspect(document(payload, path=path.replace(":streamGenerateContent?alt=sse", ":generateContent")), dialect)
