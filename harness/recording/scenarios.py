"""The library of scenarios: what a provider is asked so that its recordings show every feature of a stream.

Each is told in neutral words, and each is asked twice, with and without streaming. What has no neutral word (several choices,
probabilities, a request that nobody can answer) is told in the words of each API that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.request import ResponseFormat, Role, ThinkingLevel, ToolDefinition, ToolResult, Turn, TurnRequest
from harness.response import Response, Text

_Words = Mapping[str, Mapping[str, Any]]
Said = Callable[[Response], TurnRequest | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A scenario: its name, `what` it shows, what is asked. `words` are what is merged into the body, by API; an API that has
    none there cannot be asked, unless `words` is empty. `then` makes the request that is recorded of the answer to the first
    one; None if that answer does not lead there."""

    name: str
    what: str
    request: TurnRequest
    words: _Words = field(default_factory=dict)
    then: Said | None = None


def _asked(question: str, **more: Any) -> TurnRequest:
    return TurnRequest(turns=(Turn(role=Role.USER, parts=(Text(text=question),)),), max_tokens=1024, **more)


_TIDE = ToolDefinition(
    name="get_tide",
    description="When the tide is high in a port.",
    parameters={
        "type": "object",
        "properties": {"port": {"type": "string"}, "day": {"type": "string", "enum": ["today", "tomorrow"]}},
        "required": ["port"],
    },
)
_HARBOUR = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "berths": {"type": "integer"}, "lit": {"type": "boolean"}},
    "required": ["name", "berths", "lit"],
    "additionalProperties": False,
}
_CALL = _asked("When is the tide high in Brest today? Use the tool.", tools=(_TIDE,))
_SEVERAL: _Words = {"openai-chat": {"n": 2}, "gemini": {"generationConfig": {"candidateCount": 2}}}
_LIKELY: _Words = {
    "openai-chat": {"logprobs": True, "top_logprobs": 2},
    "openai-responses": {"include": ["message.output_text.logprobs"], "top_logprobs": 2},
    "gemini": {"generationConfig": {"responseLogprobs": True, "logprobs": 2}},
    "ollama-chat": {"logprobs": True, "top_logprobs": 2},
}
_NO_QUESTION: _Words = {
    "openai-chat": {"messages": "none"},
    "openai-responses": {"input": {"none": True}},
    "gemini": {"contents": "none"},
    "bedrock-converse": {"messages": "none"},
    "bedrock-invoke": {"messages": "none"},
    "ollama-chat": {"messages": "none"},
    "anthropic-messages": {"messages": "none"},
}


def _with_result(answer: Response) -> TurnRequest | None:
    """The conversation with the results of the calls that the model made."""
    if not answer.tool_calls:
        return None
    results = tuple(ToolResult(call_id=call.id, name=call.name, content='{"high": "06:12"}') for call in answer.tool_calls)
    turns = (
        Turn(role=Role.ASSISTANT, parts=tuple(answer.parts), response=answer),
        Turn(role=Role.TOOL, parts=results),
    )
    return replace(_CALL, turns=(*_CALL.turns, *turns))


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(name="text", what="a short text", request=_asked("Say in one sentence what a tide is.")),
        Scenario(
            name="length",
            what="a text that the limit of tokens cuts off",
            request=replace(_asked("Tell the history of lighthouses."), max_tokens=16),
        ),
        Scenario(name="tool-call", what="one call of a tool", request=_CALL),
        Scenario(
            name="parallel-tool-calls",
            what="two calls in one turn",
            request=_asked("When is the tide high in Brest, and when in Cuxhaven? Ask for both at once.", tools=(_TIDE,)),
        ),
        Scenario(name="tool-result", what="the turn after the result of a call is known", request=_CALL, then=_with_result),
        Scenario(
            name="reasoning",
            what="a turn with reasoning",
            request=replace(
                _asked("A boat drifts 3 knots for 40 minutes. How far?", thinking_level=ThinkingLevel.LOW), max_tokens=4096
            ),
        ),
        Scenario(
            name="json-schema",
            what="an answer in JSON, by a schema",
            request=_asked(
                "Invent a harbour.", response_format=ResponseFormat(schema=_HARBOUR, name="harbour", description="A harbour.")
            ),
        ),
        Scenario(name="several-choices", what="two answers to one request", request=_asked("Name a sea."), words=_SEVERAL),
        Scenario(name="logprobs", what="tokens with their probabilities", request=_asked("Name a sea."), words=_LIKELY),
        Scenario(
            name="unicode",
            what="letters of several scripts, and characters of four bytes",
            request=_asked("Write exactly this and nothing else: Ærø, größer, 潮汐, прилив, مد, 🌊👩‍🚒🇳🇴"),
        ),
        Scenario(
            name="stop-sequence",
            what="a text that a stop sequence ends",
            request=_asked("Count from one to nine in digits, with commas.", stop=("5",)),
        ),
        Scenario(name="error-before-stream", what="a request that is refused", request=_asked("none"), words=_NO_QUESTION),
        Scenario(
            name="unknown-model",
            what="a model that does not exist",
            request=replace(_asked("Is anybody there?"), model="no-such-model"),
        ),
    )
}
"""By name, in the order in which they are recorded."""
