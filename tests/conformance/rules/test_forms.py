"""Types of fields: what has another JSON type than the API's, or is not there at all, is a fault wherever clients read it; and
nothing is that a client takes."""

from __future__ import annotations

from typing import Any

import pytest

from harness import checking, dialects
from harness.cassette.model import Exchange
from harness.conformance.rules.forms.scalars import COUNT, ENUM, FLAG, INT64, NUMBER, TEXT, Scalar
from harness.conformance.rules.forms.tables import TABLES
from harness.findings import Finding, Level
from harness.inputs import Input
from tests.chat import calls, choice, chunk, encoded, head, says, stops, text
from tests.exchanges import exchange, sse
from tests.framing.feeding import event

ASKED = {"model": "tide-1", "messages": [], "stream": True}
BEGIN = says({"role": "assistant", "content": ""})
CONVERSE = "/model/anthropic.claude-x/converse-stream"


def checked(given: Exchange, dialect: str) -> checking.Checked:
    return checking.check(Input(name="given", dialect=dialects.dialect(dialect), detected=False, exchanges=(given,)))


def faults(given: Exchange, dialect: str = "openai-chat") -> list[Finding]:
    return [f for f in checked(given, dialect).findings if f.kind in ("field/type", "field/absent")]


def places(given: Exchange, dialect: str = "openai-chat") -> list[tuple[str, str | None]]:
    return [(f.kind, f.where.path) for f in faults(given, dialect)]


def messages(*events: dict[str, Any]) -> Exchange:
    body = b"".join(b"event: content_block_delta\ndata: " + encoded(event) + b"\n\n" for event in events)
    return exchange(body, path="/v1/messages")


@pytest.mark.parametrize(
    ("payload", "path", "bytes_"),
    [
        ({"created": "1700000000"}, "/created", b'"1700000000"'),
        ({"created": 1.5}, "/created", b"1.5"),
        ({"system_fingerprint": 7}, "/system_fingerprint", b"7"),
        ({"usage": "none"}, "/usage", b'"none"'),
        ({"usage": {"prompt_tokens": "3", "completion_tokens": 1, "total_tokens": 4}}, "/usage/prompt_tokens", b'"3"'),
        ({"usage": {"prompt_tokens": -3, "completion_tokens": 1, "total_tokens": -2}}, "/usage/prompt_tokens", b"-3"),
        ({"choices": [choice({"tool_calls": "none"})]}, "/choices/0/delta/tool_calls", b'"none"'),
        ({"choices": [choice({"tool_calls": [None]})]}, "/choices/0/delta/tool_calls/0", b"null"),
        (
            {"choices": [choice({"content": "K"}, logprobs={"content": [{"token": "K", "logprob": "low", "bytes": None}]})]},
            "/choices/0/logprobs/content/0/logprob",
            b'"low"',
        ),
    ],
)
def test_a_field_of_another_type(payload: dict[str, Any], path: str, bytes_: bytes) -> None:
    body = sse(BEGIN, {**text("Kelp"), **payload}, stops())
    (fault,) = [fault for fault in faults(exchange(body, request=ASKED)) if fault.where.path == path]
    assert (fault.kind, fault.level, fault.blame) == ("field/type", Level.MUST, "server or gateway")
    assert fault.where.span is not None
    assert body[slice(*fault.where.span)] == bytes_


def test_a_known_field_is_not_called_unknown() -> None:
    given = checked(exchange(sse(BEGIN, says({"tool_calls": "none"}), stops()), request=ASKED), "openai-chat")
    assert "field/unknown" not in {finding.kind for finding in given.findings}


def test_each_place_is_told_once() -> None:
    wrong = [{**text("Kelp"), "created": "soon"}] * 9
    assert places(exchange(sse(BEGIN, *wrong, stops()))) == [("field/type", "/created")]


def test_a_rule_that_says_more_stands_alone() -> None:
    given = checked(exchange(sse(BEGIN, {**text("Kelp"), "choices": [choice({"content": 5})]}, stops())), "openai-chat")
    assert [f.rule for f in given.findings if f.where.path == "/choices/0/delta/content"] == ["OAI-C-013"]


@pytest.mark.parametrize(
    ("happening", "expected"),
    [
        ({"index": 0, "delta": {"type": "text_delta", "text": "K"}}, ("field/absent", "")),
        ({"type": "content_block_delta", "index": 0}, ("field/absent", "")),
        ({"type": "content_block_delta", "index": 0, "delta": None}, ("field/absent", "")),
        ({"type": "content_block_delta", "index": 0, "delta": {"text": "K"}}, ("field/absent", "/delta")),
        ({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}}, ("field/absent", "/delta")),
        (
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 5}},
            ("field/type", "/delta/text"),
        ),
        ({"type": "content_block_delta", "index": 0, "delta": "K"}, ("field/type", "/delta")),
    ],
)
def test_messages(happening: dict[str, Any], expected: tuple[str, str]) -> None:
    assert places(messages(happening), "anthropic-messages") == [expected]


def test_an_event_of_an_unknown_type_has_what_it_likes() -> None:
    assert places(messages({"type": "weather", "delta": 5, "message": []}), "anthropic-messages") == []


@pytest.mark.parametrize(("delta", "expected"), [({"delta": 5}, "field/type"), ({}, "field/absent"), ({"delta": "K"}, None)])
def test_responses(delta: dict[str, Any], expected: str | None) -> None:
    at = {"item_id": "m", "output_index": 0, "content_index": 0}
    item = {"id": "m", "type": "message", "role": "assistant", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    body = sse(
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", "part": part, **at},
        {"type": "response.output_text.delta", **at, **delta},
    )
    found = [kind for kind, _ in places(exchange(body, path="/v1/responses"), "openai-responses")]
    assert found == ([expected] if expected else [])


def test_arguments_of_a_tool_search_are_an_object() -> None:
    item = {"type": "tool_search_call", "id": "s", "call_id": None, "arguments": {"goal": "tides"}}
    body = sse({"type": "response.output_item.done", "output_index": 0, "item": item})
    assert places(exchange(body, path="/v1/responses"), "openai-responses") == []


def candidate(**fields: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": "Kelp"}]}, **fields}]}


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (candidate(finishReason=1), []),  # `enum-encoding=int`
        (candidate() | {"usageMetadata": {"promptTokenCount": "12"}}, []),  # an int64 of protocol buffers
        (candidate() | {"usageMetadata": {"promptTokenCount": -12}}, ["/usageMetadata/promptTokenCount"]),
        (candidate(content={"parts": [{"text": 5}]}), ["/candidates/0/content/parts/0/text"]),
        (candidate(content={"parts": ["Kelp"]}), ["/candidates/0/content/parts/0"]),
        (candidate(content={"parts": [{"functionCall": "dive"}]}), ["/candidates/0/content/parts/0/functionCall"]),
    ],
)
def test_gemini(payload: dict[str, Any], expected: list[str]) -> None:
    given = exchange(sse(payload, end=False), path="/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse")
    assert [path for _, path in places(given, "gemini")] == expected


@pytest.mark.parametrize(
    ("name", "payload", "expected"),
    [
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": 5}}, ["/delta/text"]),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": "hm"}}, ["/delta/reasoningContent"]),
        ("metadata", {"usage": {"inputTokens": -1, "outputTokens": 1, "totalTokens": 0}}, ["/usage/inputTokens"]),
        ("metadata", {"usage": {}, "metrics": {"latencyMs": 5}}, []),
    ],
)
def test_converse(name: str, payload: dict[str, Any], expected: list[str]) -> None:
    given = exchange(event(name, encoded(payload)), media="application/vnd.amazon.eventstream", path=CONVERSE)
    assert [path for _, path in places(given, "bedrock-converse")] == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"done": "true"}, [("field/type", "/done")]),
        ({"message": {"role": "assistant", "content": "", "tool_calls": "dive"}}, [("field/type", "/message/tool_calls")]),
        (
            {"message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"arguments": {}}}]}},
            [("field/absent", "/message/tool_calls/0/function")],
        ),
        ({"message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "d", "arguments": {}}}]}}, []),
    ],
)
def test_ollama(fields: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    line = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": "K"}, "done": False}
    given = exchange(encoded(line | fields) + b"\n", media="application/x-ndjson", path="/api/chat")
    assert places(given, "ollama-chat") == expected


@pytest.mark.parametrize(
    ("scalar", "taken", "refused"),
    [
        (TEXT, ["", "é"], [1, True]),
        (FLAG, [True, False], ["true", 1]),
        (NUMBER, [1, -0.5], ["1", True]),
        (COUNT, [0, 7, 7.0], [-1, 1.5, "7", True, float("inf")]),
        (INT64, [7, "7"], ["-7", "seven", 1.5]),
        (ENUM, ["STOP", 1], [1.5, True]),
    ],
)
def test_scalars(scalar: Scalar, taken: list[Any], refused: list[Any]) -> None:
    assert [value for value in taken if not scalar.takes(value)] == []
    assert [value for value in refused if scalar.takes(value)] == []


def test_an_ordinary_turn_has_no_fault() -> None:
    body = sse(BEGIN, chunk(choices=[choice({"content": None})]), calls(head(0, "c1", "dive", "{}")), stops("tool_calls"))
    assert places(exchange(body)) == []


def test_all_but_invoke_have_a_table() -> None:
    assert set(TABLES) == set(dialects.names()) - {"bedrock-invoke"}
