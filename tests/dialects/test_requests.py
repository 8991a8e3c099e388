"""Requests in each API's words: what the neutral request says is in them, and what must go back goes back unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from harness import dialects
from harness.errors import UnsupportedRequestError
from harness.request import (
    CacheSettings,
    Image,
    ResponseFormat,
    Role,
    ThinkingLevel,
    ToolDefinition,
    ToolResult,
    Turn,
    TurnRequest,
)
from harness.response import FinishReason, Reasoning, Response, Text, ToolCall
from tests.laws.cases import each_dialect, each_stream

MODELS = {"bedrock-converse": "eu.anthropic.claude-sonnet-4-5-v1:0", "bedrock-invoke": "anthropic.claude-sonnet-4-5-v1:0"}
SCHEMA = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}
TOOL = ToolDefinition(name="get_tide", description="The next tide.", parameters=SCHEMA)
CALL = ToolCall(id="call_a1", name="get_tide", arguments='{"port":"Ribe"}')
TALK = (
    Turn(role=Role.USER, parts=(Text(text="When is high water?"), Image(data="aGk=", media_type="image/png"))),
    Turn(role=Role.ASSISTANT, parts=(Text(text="One moment."), CALL)),
    Turn(role=Role.TOOL, parts=(ToolResult(call_id="call_a1", name="get_tide", content="at noon"),)),
)


def asked(dialect: str, **fields: Any) -> dict[str, Any]:
    request = TurnRequest(model=fields.pop("model", MODELS.get(dialect, "some-model")), **{"turns": TALK, **fields})
    return dialects.dialect(dialect).build_request(request).body


def texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, those inside of JSON texts too."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(inner)


@each_dialect
def test_a_conversation_is_told_in_full_and_in_order(dialect: str) -> None:
    body = json.dumps(asked(dialect, system="Answer briefly.", tools=(TOOL,), turns=TALK), ensure_ascii=False)
    # an API that has the system prompt beside the messages may have it anywhere
    places = [body.index(words) for words in ("When is high water?", "One moment.", "Ribe", "at noon")]
    assert places == sorted(places)
    for words in ("Answer briefly.", "The next tide.", "aGk=", "get_tide", '"required": ["port"]'):
        assert words in body


@each_dialect
@pytest.mark.parametrize("stream", [True, False])
def test_the_request_is_one_of_the_api_and_says_whether_it_is_to_be_streamed(dialect: str, stream: bool) -> None:
    api = dialects.dialect(dialect)
    parts = api.build_request(TurnRequest(model=MODELS.get(dialect, "m"), turns=TALK), stream=stream)
    assert api.matches(parts.method, parts.path, parts.body)
    assert api.streams(parts.path, parts.body) is stream


@each_dialect
@pytest.mark.parametrize("level", list(ThinkingLevel))
def test_every_thinking_level_reaches_the_body(dialect: str, level: ThinkingLevel) -> None:
    assert asked(dialect, thinking_level=level) != asked(dialect)


THINKING = [
    ("openai-chat", "m", ThinkingLevel.HIGH, ("reasoning_effort",), "high"),
    ("openai-chat", "m", ThinkingLevel.OFF, ("reasoning_effort",), "none"),
    ("openai-responses", "m", ThinkingLevel.LOW, ("reasoning",), {"effort": "low", "summary": "auto"}),
    ("anthropic-messages", "claude-opus-4-5", ThinkingLevel.LOW, ("thinking",), {"type": "enabled", "budget_tokens": 2048}),
    ("anthropic-messages", "claude-sonnet-4-20250514", ThinkingLevel.LOW, ("thinking", "type"), "enabled"),
    ("anthropic-messages", "claude-sonnet-4-6", ThinkingLevel.MAX, ("thinking",), {"type": "adaptive"}),
    ("anthropic-messages", "claude-sonnet-4-6", ThinkingLevel.MAX, ("output_config",), {"effort": "max"}),
    ("anthropic-messages", "claude-sonnet-5", ThinkingLevel.OFF, ("thinking",), {"type": "disabled"}),
    ("gemini", "gemini-2.5-flash", ThinkingLevel.OFF, ("generationConfig", "thinkingConfig", "thinkingBudget"), 0),
    ("gemini", "gemini-3-pro", ThinkingLevel.MAX, ("generationConfig", "thinkingConfig", "thinkingLevel"), "high"),
    ("ollama-chat", "qwen3:4b", ThinkingLevel.HIGH, ("think",), True),
    ("ollama-chat", "gpt-oss:20b", ThinkingLevel.HIGH, ("think",), "high"),
    ("bedrock-converse", "us.amazon.nova-2-lite-v1:0", ThinkingLevel.MAX, ("additionalModelRequestFields", "reasoningConfig"),
     {"type": "enabled", "maxReasoningEffort": "high"}),
    ("bedrock-converse", "openai.gpt-oss-120b-1:0", ThinkingLevel.LOW, ("additionalModelRequestFields",),
     {"reasoning_effort": "low"}),
    ("bedrock-converse", "anthropic.claude-haiku-4-5-20251001-v1:0", ThinkingLevel.LOW,
     ("additionalModelRequestFields", "thinking", "budget_tokens"), 2048),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "model", "level", "place", "value"), THINKING)
def test_thinking_is_asked_for_as_the_model_wants_it(
    dialect: str, model: str, level: ThinkingLevel, place: tuple[str, ...], value: Any
) -> None:
    found: Any = asked(dialect, model=model, thinking_level=level)
    for step in place:
        found = found[step]
    assert found == value


OLD = [
    "claude-2.1",
    "claude-3-7-sonnet-20250219",
    "claude-opus-4-20250514",
    "claude-sonnet-4-0",
    "us.anthropic.claude-opus-4-5-v1:0",
]
NEW = [
    "claude-opus-4-6",
    "anthropic.claude-sonnet-4-6-v1:0",
    "claude-opus-4-10",
    "claude-sonnet-5",
    "claude-haiku-5-1-20270101",
]


@pytest.mark.parametrize("model", [*OLD, *NEW])
def test_what_claude_takes_is_told_by_its_name(model: str) -> None:
    thinking = asked("anthropic-messages", model=model, thinking_level=ThinkingLevel.MEDIUM)["thinking"]
    assert thinking["type"] == ("enabled" if model in OLD else "adaptive")


def test_an_answer_has_room_beside_its_thoughts() -> None:
    thinking = asked("anthropic-messages", model="claude-opus-4-5", thinking_level=ThinkingLevel.HIGH)
    assert thinking["max_tokens"] > thinking["thinking"]["budget_tokens"] + 1000
    assert asked("anthropic-messages", max_tokens=99)["max_tokens"] == 99


def test_cache_marks_stand_at_the_end_of_what_is_cached() -> None:
    marked = asked("anthropic-messages", system="S", tools=(TOOL,), cache=CacheSettings(ttl="1h"))
    mark = {"type": "ephemeral", "ttl": "1h"}
    assert marked["system"][-1]["cache_control"] == marked["tools"][-1]["cache_control"] == mark
    assert marked["messages"][-1]["content"][-1]["cache_control"] == mark
    assert "cache_control" not in json.dumps(asked("anthropic-messages", system="S", tools=(TOOL,)))


def test_cache_flags_are_heeded_one_by_one() -> None:
    only = asked("bedrock-converse", system="S", tools=(TOOL,), cache=CacheSettings(tools=False, turns=False))
    assert only["system"][-1] == {"cachePoint": {"type": "default"}}
    assert "cachePoint" not in json.dumps([only["messages"], only["toolConfig"]])


@pytest.mark.parametrize(
    ("dialect", "field"),
    [("openai-chat", "prompt_cache_key"), ("openai-responses", "prompt_cache_key"), ("gemini", "cachedContent")],
)
def test_a_named_cache_is_named(dialect: str, field: str) -> None:
    assert asked(dialect, cache=CacheSettings(key="harbour"))[field] == "harbour"


@each_dialect
def test_limits_and_the_form_of_the_answer_reach_the_body(dialect: str) -> None:
    wanted = ResponseFormat(schema={"type": "object", "title": "Tide"})
    body = json.dumps(asked(dialect, max_tokens=321, temperature=0.25, response_format=wanted))
    assert "321" in body
    assert "0.25" in body
    assert "Tide" in body


CHOICES = {
    "openai-chat": {"type": "function", "function": {"name": "get_tide"}},
    "openai-responses": {"type": "function", "name": "get_tide"},
    "anthropic-messages": {"type": "tool", "name": "get_tide"},
}


@pytest.mark.parametrize("dialect", CHOICES)
def test_a_tool_can_be_demanded(dialect: str) -> None:
    assert asked(dialect, tools=(TOOL,), tool_choice="get_tide")["tool_choice"] == CHOICES[dialect]


UNASKABLE = [
    ("openai-responses", {"stop": ("x",)}),
    ("ollama-chat", {"tool_choice": "required"}),
    ("anthropic-messages", {"response_format": ResponseFormat()}),
    ("bedrock-converse", {"tools": (TOOL,), "tool_choice": "none"}),
    ("bedrock-invoke", {"model": "meta.llama3-8b-instruct-v1:0"}),
]


@pytest.mark.parametrize(("dialect", "fields"), UNASKABLE)
def test_what_an_api_cannot_be_asked_is_refused(dialect: str, fields: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedRequestError):
        asked(dialect, **fields)


def test_results_of_parallel_calls_stand_in_one_message_where_roles_take_turns() -> None:
    calls = tuple(ToolCall(id=f"c{n}", name="get_tide", arguments="{}") for n in range(3))
    done = [Turn(role=Role.TOOL, parts=(ToolResult(call_id=c.id, name=c.name, content="noon"),)) for c in calls]
    talk = (TALK[0], Turn(role=Role.ASSISTANT, parts=calls), *done, Turn(role=Role.USER, parts=(Text(text="And then?"),)))
    for dialect, field in (("anthropic-messages", "messages"), ("bedrock-converse", "messages"), ("gemini", "contents")):
        assert len(asked(dialect, turns=talk)[field]) == 3
    assert [m["role"] for m in asked("openai-chat", turns=talk)["messages"]] == ["user", "assistant", *["tool"] * 3, "user"]


def test_a_failed_tool_is_told_as_failed() -> None:
    failed = (*TALK[:2], Turn(role=Role.TOOL, parts=(ToolResult(call_id="call_a1", name="t", content="no", is_error=True),)))
    assert asked("anthropic-messages", turns=failed)["messages"][-1]["content"][0]["is_error"] is True
    assert asked("bedrock-converse", turns=failed)["messages"][-1]["content"][0]["toolResult"]["status"] == "error"
    assert asked("gemini", turns=failed)["contents"][-1]["parts"][0]["functionResponse"]["response"] == {"error": "no"}


def test_turns_that_are_not_for_the_model_are_left_out() -> None:
    memo = Turn(role=Role.USER, parts=(Text(text="private"),), extension={"kind": "memo"})
    assert "private" not in json.dumps(asked("openai-chat", turns=(*TALK, memo)))


def test_arguments_that_are_no_object_are_kept_in_one() -> None:
    cut = Turn(role=Role.ASSISTANT, parts=(replace(CALL, arguments='{"port":"Ri'),))
    for dialect in ("anthropic-messages", "gemini", "bedrock-converse", "ollama-chat"):
        assert '{"INVALID_JSON": "{\\"port\\":\\"Ri"}' in json.dumps(asked(dialect, turns=(TALK[0], cut, TALK[2])))


@each_dialect
@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_go_back_as_the_text_that_they_were(dialect: str, number: str) -> None:
    odd = replace(TALK[1], parts=(replace(CALL, arguments=f'{{"port": {number}}}'),))
    body = json.dumps(asked(dialect, turns=(TALK[0], odd, TALK[2])), allow_nan=False)
    assert number in body


# what must go back

SECRETS = {"signature", "encrypted_content", "thoughtSignature", "thought_signature", "redactedContent", "data"}


def secrets(value: Any, name: str = "") -> Iterator[str]:
    """The texts of a native body that only the API can read."""
    if isinstance(value, dict):
        if name not in ("audio", "inlineData", "logprobs"):
            for inner_name, inner in value.items():
                yield from secrets(inner, inner_name)
    elif isinstance(value, list):
        for inner in value:
            yield from secrets(inner, name)
    elif name in SECRETS and isinstance(value, str) and value:
        yield value


@each_stream
def test_what_only_the_api_can_read_goes_back_unchanged(stream: Any) -> None:
    collected = stream.collected()
    response = collected.response
    if not collected.complete or not response.parts:
        return
    model = "anthropic.claude" if stream.case.dialect == "bedrock-invoke" else "m"
    results = tuple(ToolResult(call_id=c.id, name=c.name, content="done") for c in response.tool_calls)
    talk = (
        Turn(role=Role.USER, parts=(Text(text="?"),)),
        Turn(role=Role.ASSISTANT, parts=response.parts, response=response),
        Turn(role=Role.TOOL if results else Role.USER, parts=results or (Text(text="and?"),)),
    )
    body = stream.dialect.build_request(TurnRequest(model=model, turns=talk)).body
    sent = set(texts(body))
    own = [response.raw] if not stream.dialect.choices else _first_choice(response.raw, stream.dialect.choices)
    for secret in secrets(own):
        assert secret in sent
    for call in response.tool_calls:
        assert call.name in sent
        assert call.synthetic_id or call.id in sent


def _first_choice(raw: dict[str, Any], choices: frozenset[str]) -> list[Any]:
    if "content" in raw:  # Messages inside Invoke
        return [raw]
    return [next(iter(raw[name]), None) for name in choices if isinstance(raw.get(name), list)]


SIGNED = {
    "anthropic-messages": ("signature", "sig=="),
    "bedrock-converse": ("signature", "sig=="),
    "gemini": ("thoughtSignature", "sig=="),
}


@pytest.mark.parametrize("dialect", SIGNED)
def test_a_signature_outlives_the_loss_of_the_native_body_but_not_a_change_of_api(dialect: str) -> None:
    thought = Turn(role=Role.ASSISTANT, parts=(Reasoning(text="Hm.", signature="sig=="), Text(text="Noon.")))
    assert "sig==" in set(texts(asked(dialect, turns=(TALK[0], thought, TALK[0]))))
    elsewhere = Response(parts=thought.parts, finish_reason=FinishReason.STOP, raw={"of": "another API"})
    foreign = replace(thought, response=elsewhere)
    sent = set(texts(asked(dialect, turns=(TALK[0], foreign, TALK[0]))))
    assert "sig==" not in sent
    assert "Noon." in sent


def test_encrypted_reasoning_is_asked_for_and_sent_back_beside_its_call() -> None:
    assert asked("openai-responses", thinking_level=ThinkingLevel.LOW)["include"] == ["reasoning.encrypted_content"]
    raw = {
        "status": "completed",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA", "status": None},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_tide", "arguments": "{}"},
        ],
    }
    response = dialects.dialect("openai-responses").read(raw)
    turn = Turn(role=Role.ASSISTANT, parts=response.parts, response=response)
    sent = asked("openai-responses", turns=(TALK[0], turn))["input"]
    assert sent[1] == {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    assert sent[2] == raw["output"][1]


def test_a_turn_that_a_hook_changed_is_told_as_it_was_changed() -> None:
    raw = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "secret"}], "stop_reason": "end_turn"}
    response = dialects.dialect("anthropic-messages").read(raw)
    turn = Turn(role=Role.ASSISTANT, parts=(Text(text="[removed]"),), response=response)
    assert asked("anthropic-messages", turns=(TALK[0], turn))["messages"][1]["content"] == [
        {"type": "text", "text": "[removed]"}
    ]


def test_thoughts_as_text_go_back_beside_calls_only() -> None:
    message = {"role": "assistant", "content": "Noon.", "reasoning_content": "Hm."}
    calls = [{"id": "c", "type": "function", "function": {"name": "get_tide", "arguments": "{}"}}]
    for own, kept in ((message, False), ({**message, "tool_calls": calls}, True)):
        response = dialects.dialect("openai-chat").read({"choices": [{"index": 0, "message": own, "finish_reason": "stop"}]})
        turn = Turn(role=Role.ASSISTANT, parts=response.parts, response=response)
        assert ("reasoning_content" in asked("openai-chat", turns=(TALK[0], turn))["messages"][1]) is kept


def test_an_id_of_ours_is_not_sent_where_the_api_has_none() -> None:
    raw = {"candidates": [{"content": {"parts": [{"functionCall": {"name": "get_tide", "args": {}}}]}, "finishReason": "STOP"}]}
    response = dialects.dialect("gemini").read(raw)
    call = response.tool_calls[0]
    turn = Turn(role=Role.ASSISTANT, parts=response.parts, response=response)
    done = Turn(role=Role.TOOL, parts=(ToolResult(call_id=call.id, name=call.name, content="noon"),))
    sent = asked("gemini", turns=(TALK[0], turn, done))["contents"]
    assert "id" not in sent[1]["parts"][0]["functionCall"]
    assert "id" not in sent[2]["parts"][0]["functionResponse"]
