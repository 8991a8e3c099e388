"""Tools: what a model may call, and what becomes of a call (semantics.md U2–U4, decision D13).

Every call has exactly one result. A tool that is unknown, refused, out of time or broken gives a result that says so; none of
this ends a run. Arguments that are no JSON are never repaired: the tool does not run, and the model is told why.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.loop.cancel import Cancel
from harness.loop.state import ToolResult
from harness.response import ToolCall

SKIPPED = "Skipped due to queued user message."
"""The result of a call that steering came before (U2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """What a tool knows of the call that it serves. `cancel` is set when it is to stop: its time is over, or the run's."""

    call: ToolCall
    cancel: Cancel
    progress: Callable[[Any], None]
    """Tells watchers how far it has come; from any thread."""


Execute = Callable[[Any, ToolRun], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool: what the model is told of it, and `execute`, which is given the arguments and the `ToolRun`.

    A coroutine function runs in the loop and is cancelled when it is to stop. Any other function runs in a thread of its own,
    which nobody can stop: it is left behind. What `execute` returns is the result: a text as it is, anything else as JSON.
    `timeout` is in seconds and goes before the loop's own. Tools of kind `custom` get the text that the model wrote.
    """

    name: str
    execute: Execute
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    timeout: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How many calls of a turn run at once; None: all of them. Steering is looked for after every such batch (U3)."""

    at_once: int | None = None


PARALLEL = Strategy()
SEQUENTIAL = Strategy(at_once=1)


def batched(number: int) -> Strategy:
    """So many calls at once, at least one."""
    return Strategy(at_once=max(1, number))


BeforeTool = Callable[[ToolCall, Any], Any | Awaitable[Any]]
"""Sees a call and its arguments before the tool runs: False refuses it, a text refuses it in these words."""
AfterTool = Callable[[ToolCall, ToolResult], ToolResult | Awaitable[ToolResult | None] | None]
"""Sees a result that a tool gave, and may give another in its place."""


def failure(call: ToolCall, says: str) -> ToolResult:
    return ToolResult(call_id=call.id, name=call.name, content=says, is_error=True)


def success(call: ToolCall, value: Any) -> ToolResult:
    return ToolResult(call_id=call.id, name=call.name, content=shown(value))


def shown(value: Any) -> str:
    """A tool's value as the model gets it: a text as it is, else JSON, else what Python shows of it."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


class BadArgumentsError(Exception):
    """The arguments of a call are not what a tool can be called with."""


def arguments_of(call: ToolCall) -> Any:
    """The arguments as a tool gets them. Raises `BadArgumentsError` that names the tool and what is wrong."""
    if call.kind != "function":
        return call.arguments
    try:
        arguments = call.parsed_arguments()
    except ValueError as error:
        raise BadArgumentsError(f"Invalid arguments for {call.name}: they are no JSON ({error}): {call.arguments}") from None
    if not isinstance(arguments, dict):
        raise BadArgumentsError(f"Invalid arguments for {call.name}: an object is needed: {call.arguments}")
    return arguments
