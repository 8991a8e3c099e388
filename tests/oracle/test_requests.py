"""Requests of ours are requests by the vendors' own types: every field is known there, every value of the right type."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ConfigDict, TypeAdapter, with_config

from harness import dialects
from harness.request import CacheSettings, ResponseFormat, Role, ThinkingLevel, ToolResult, Turn, TurnRequest
from harness.response import Text
from tests.dialects.test_requests import MODELS, SCHEMA, TALK, TOOL
from tests.laws.cases import CORPUS, SHIPPED, Stream

pytestmark = pytest.mark.oracle


def full(dialect: str, **fields: Any) -> dict[str, Any]:
    """A request that asks for everything the dialect can be asked."""
    everything: dict[str, Any] = {
        "system": "Answer briefly.",
        "turns": TALK,
        "tools": (TOOL,),
        "tool_choice": "auto",
        "thinking_level": ThinkingLevel.MEDIUM,
        "max_tokens": 20000,
        "temperature": 1.0,
        "cache": CacheSettings(key="k", ttl="24h" if dialect.startswith("openai") else "1h"),
        "response_format": ResponseFormat(schema=SCHEMA),
        "stop": () if dialect == "openai-responses" else ("END",),
    }
    if dialect in ("anthropic-messages", "bedrock-invoke"):
        del everything["temperature"]  # the newest types have none, since the newest models take none
    everything["model"] = MODELS.get(dialect, "claude-opus-4-5")
    return dialects.dialect(dialect).build_request(TurnRequest(**{**everything, **fields})).body


def _typed(kind: Any, value: Any) -> None:
    """Validate against a TypedDict, with no unknown field at the top."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adapter = TypeAdapter(with_config(ConfigDict(extra="forbid"))(kind) if hasattr(kind, "__total__") else kind)
    _drained(adapter.validate_python(value))


def _drained(value: Any) -> None:
    """Walk through lazily validated iterables, so that all of them are validated."""
    if isinstance(value, dict):
        for inner in value.values():
            _drained(inner)
    elif hasattr(value, "__iter__") and not isinstance(value, str | bytes):
        for inner in value:
            _drained(inner)


def chat(body: dict[str, Any]) -> None:
    from openai.types.chat import completion_create_params as params

    _typed(params.CompletionCreateParamsStreaming, body)


def responses(body: dict[str, Any]) -> None:
    from openai.types.responses import response_create_params as params

    _typed(params.ResponseCreateParamsStreaming, body)


def messages(body: dict[str, Any]) -> None:
    from anthropic.types.beta import message_create_params as params

    _typed(params.MessageCreateParamsStreaming, body)


def converse(body: dict[str, Any]) -> None:
    import botocore.session
    from botocore.validate import ParamValidator

    shape = botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("ConverseStream").input_shape
    report = ParamValidator().validate({"modelId": "m", **_blobs(body)}, shape)
    assert not report.has_errors(), report.generate_report()


def _blobs(value: Any, name: str = "") -> Any:
    """botocore has bytes where JSON has base64."""
    if isinstance(value, dict):
        return {inner_name: _blobs(inner, inner_name) for inner_name, inner in value.items()}
    if isinstance(value, list):
        return [_blobs(inner, name) for inner in value]
    return base64.b64decode(value) if name in ("bytes", "redactedContent") else value


def gemini(body: dict[str, Any]) -> None:
    from google.genai import types

    known = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "cachedContent"}
    assert body.keys() <= known
    for content in [*body["contents"], *([body["systemInstruction"]] if "systemInstruction" in body else [])]:
        types.Content.model_validate(content)
    for tool in body.get("tools", ()):
        types.Tool.model_validate(tool)
    if "toolConfig" in body:
        types.ToolConfig.model_validate(body["toolConfig"])
    types.GenerationConfig.model_validate(body.get("generationConfig", {}))


def ollama(body: dict[str, Any]) -> None:
    from ollama import _types as types

    assert body.keys() <= types.ChatRequest.model_fields.keys()
    types.ChatRequest.model_validate(body)
    assert body.get("options", {}).keys() <= types.Options.model_fields.keys()


CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic-messages": messages,
    "bedrock-converse": converse,
    "gemini": gemini,
    "ollama-chat": ollama,
}


@pytest.mark.parametrize("dialect", CHECKS)
def test_a_request_for_everything_is_one(dialect: str) -> None:
    CHECKS[dialect](full(dialect))


@pytest.mark.parametrize("dialect", CHECKS)
@pytest.mark.parametrize("level", list(ThinkingLevel))
def test_thinking_is_asked_for_in_words_of_the_api(dialect: str, level: ThinkingLevel) -> None:
    for model in (MODELS.get(dialect, "claude-opus-4-5"), "claude-sonnet-5", "gemini-2.5-pro", "gemini-3-pro", "gpt-oss:20b"):
        CHECKS[dialect](full(dialect, model=model, thinking_level=level))


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic-messages", "gemini"])
@pytest.mark.parametrize("choice", ["none", "required", "get_tide"])
def test_tool_choices_are_in_words_of_the_api(dialect: str, choice: str) -> None:
    CHECKS[dialect](full(dialect, tool_choice=choice))


def test_messages_inside_invoke_are_messages() -> None:
    body = full("bedrock-invoke")
    assert body.pop("anthropic_version") == "bedrock-2023-05-31"
    messages({**body, "model": "m", "stream": True})


BEYOND = ("openai-responses/pydantic-ai__models-test-openai-responses-test-openai-responses-model-web-se-459224",)
"""Answers with something that the vendor's own types lack: a source of the type `api`."""
ANSWERS = [
    s
    for s in (*SHIPPED, *CORPUS)
    if s.case.dialect in CHECKS and s.case.provider in s.dialect.vendors and not s.case.id.startswith(BEYOND)
]


@pytest.mark.parametrize("stream", ANSWERS, ids=repr)
def test_an_answer_of_the_vendor_may_be_sent_back(stream: Stream) -> None:
    collected = stream.collected()
    response = collected.response
    if not collected.complete or not response.parts:
        return
    done = tuple(ToolResult(call_id=c.id, name=c.name, content="done") for c in response.tool_calls)
    turns = (
        TALK[0],
        Turn(role=Role.ASSISTANT, parts=response.parts, response=response),
        Turn(role=Role.TOOL if done else Role.USER, parts=done or (Text(text="And then?"),)),
    )
    CHECKS[stream.case.dialect](full(stream.case.dialect, turns=turns))
