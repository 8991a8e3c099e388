"""The neutral request: what a model is asked, before any API has words for it (semantics.md 2.1, 3.3, 4.2 D5 and D13).

A `TurnRequest` holds exactly what the provider receives (row P10). A dialect's `build_request` turns it into `RequestParts`:
where to send it, and the JSON body. `response` is the counterpart, for what comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from harness.response import Part, Response


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What came of one tool call. A failure is a result with `is_error`, never an exception (D13)."""

    call_id: str
    name: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image that a user shows: base64 data and its media type."""

    data: str
    media_type: str


TurnPart = Part | ToolResult | Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One entry of the conversation.

    `at` is the time in seconds that the working context sorts by. `response` is the response that an assistant turn came
    from: its `raw` body holds what must go back to the model unchanged (signatures, encrypted reasoning).
    """

    role: Role
    parts: tuple[TurnPart, ...] = ()
    at: float = 0.0
    response: Response | None = field(default=None, compare=False, repr=False)
    extension: Any = None
    """Set on turns that are not for the model: they are dropped when the request is made, unless a hook converts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """What a model is told of a tool, never how it is carried out (B3). `parameters` is a JSON schema."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


class ThinkingLevel(StrEnum):
    """How much a model is to think, in words that every API has some form of."""

    OFF = "off"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSettings:
    """What of the prompt is to be cached, where the API wants to be told.

    APIs with marks (Messages, Converse) get one after the system prompt, the tools and the last turn, as the three flags say;
    `key` names the cache where the API has names for it, `ttl` says how long it is to live, in the API's own words.
    """

    system: bool = True
    tools: bool = True
    turns: bool = True
    key: str | None = None
    ttl: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFormat:
    """The form of the answer: JSON of this schema, or any JSON where there is none."""

    schema: Mapping[str, Any] | None = None
    name: str = "answer"
    description: str = ""
    strict: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """One question to a model.

    `system` stands before all turns; turns of the role `system` are system prompts as well. `tool_choice` is `auto`, `none`,
    `required` or the name of a tool. `options` are what the fields lack: those set beforehand with those of this call over
    them (row L34). Of them an adapter knows `extra_body` (merged into the body; None takes a field out), `extra_headers` and
    `extra_query`; others are the provider's own, or ignored.
    """

    model: str = ""
    system: str | None = None
    turns: tuple[Turn, ...] = ()
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: str | None = None
    thinking_level: ThinkingLevel | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    cache: CacheSettings | None = None
    response_format: ResponseFormat | None = None
    stop: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, turns: Iterable[Turn], *options: Mapping[str, Any]) -> TurnRequest:
        """A request for these turns; of the options later ones win. Those named as a field are that field (row L34)."""
        merged: dict[str, Any] = {}
        for layer in options:
            merged.update(layer)
        named = {f.name: merged.pop(f.name) for f in fields(cls) if f.name not in ("turns", "options") and f.name in merged}
        level = named.get("thinking_level")
        if level is not None:
            named["thinking_level"] = ThinkingLevel(level)
        for name in ("tools", "stop"):
            if name in named:
                named[name] = tuple(named[name])
        return cls(turns=tuple(turns), options=merged, **named)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestParts:
    """What a dialect makes of a request: the path below the API's base URL with its query, header fields, the JSON body."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"
