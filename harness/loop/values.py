"""What events hold, as plain JSON values and back: parts, fragments, counts, errors.

A value of ours becomes an object with its `type`; fields that have their usual value are left out. Reading goes by what the
field of an event is known to hold, never by looks: a model's own data may well have a `type`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any

from harness.api_error import ApiError, ErrorKind
from harness.loop.artifacts import Finish, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta
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
from harness.response import CostInfo, FinishReason, Other, Reasoning, Refusal, Text, ToolCall, Usage

_TYPES: dict[str, type] = {
    "text": Text,
    "reasoning": Reasoning,
    "refusal": Refusal,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "image": Image,
    "other": Other,
    "usage": Usage,
    "cost": CostInfo,
    "finish": Finish,
    "text_delta": TextDelta,
    "reasoning_delta": ReasoningDelta,
    "refusal_delta": RefusalDelta,
    "tool_call_delta": ToolCallDelta,
    "turn": Turn,
    "turn_request": TurnRequest,
    "tool_definition": ToolDefinition,
    "cache": CacheSettings,
    "response_format": ResponseFormat,
}
_NAMES = {cls: name for name, cls in _TYPES.items()}


class RecordedError(Exception):
    """An exception that was read from a record: its class by name, and what it said."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordedError) and (self.name, str(self)) == (other.name, str(other))

    def __hash__(self) -> int:
        return hash((self.name, str(self)))


def plain(value: Any) -> Any:
    """Any value that an event holds, as plain values."""
    if value is None or isinstance(value, (str, int, float)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, ApiError):
        return value.as_dict()
    if isinstance(value, BaseException):
        name = value.name if isinstance(value, RecordedError) else type(value).__name__
        return {"exception": name, "message": str(value)}
    if dataclasses.is_dataclass(value):
        return _tagged(value)
    return value.as_plain() if hasattr(value, "as_plain") else str(value)


def _tagged(value: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": _NAMES.get(type(value), type(value).__name__)}
    for field in dataclasses.fields(value):
        if not field.compare:  # what a value came from is no part of it
            continue
        inner = getattr(value, field.name)
        if field.default is dataclasses.MISSING or inner != field.default:
            shown[field.name] = plain(inner)
    return shown


def read(shown: Any) -> Any:
    """A value of ours from its JSON; None stays None, and so does whatever has no type of ours."""
    cls = _TYPES.get(shown.get("type", "")) if isinstance(shown, dict) else None
    if cls is None:
        return shown
    return cls(**{name: _READERS.get((cls, name), _same)(inner) for name, inner in shown.items() if name != "type"})


def read_all(shown: Any) -> tuple[Any, ...]:
    return tuple(read(inner) for inner in shown)


def read_error(shown: Any) -> ApiError | RecordedError:
    if "exception" in shown:
        return RecordedError(shown["exception"], shown["message"])
    return ApiError(**{**shown, "kind": ErrorKind(shown["kind"])})


def _same(value: Any) -> Any:
    return value


def _tuples(value: Any) -> Any:
    """Keys are made of tuples, which JSON has as lists."""
    return tuple(_tuples(inner) for inner in value) if isinstance(value, list) else value


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


_AMOUNTS = tuple(f.name for f in dataclasses.fields(CostInfo) if f.name.endswith(("_cost", "_price")))

_READERS: dict[tuple[type, str], Callable[[Any], Any]] = {
    (Text, "annotations"): tuple,
    (TextDelta, "key"): _tuples,
    (ReasoningDelta, "key"): _tuples,
    (RefusalDelta, "key"): _tuples,
    (ToolCallDelta, "slot"): _tuples,
    (Finish, "reason"): _or_none(FinishReason),
    **{(CostInfo, name): _or_none(Decimal) for name in _AMOUNTS},
    (Turn, "role"): Role,
    (Turn, "parts"): read_all,
    (TurnRequest, "turns"): read_all,
    (TurnRequest, "tools"): read_all,
    (TurnRequest, "thinking_level"): _or_none(ThinkingLevel),
    (TurnRequest, "cache"): read,
    (TurnRequest, "response_format"): read,
    (TurnRequest, "stop"): tuple,
}
