"""Where a run asks whoever runs it, before and after its parts (semantics.md 3.7).

All hooks may be plain functions or coroutine functions. One that raises ends the run with an error, except for the two about
tools: there it is the call that fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

from harness.loop.run_events import AgentResult, TurnEndEvent
from harness.loop.stream_response import Reply
from harness.loop.tools import AfterTool, BeforeTool


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """`before_run` and `before_turn` (which is told the number of the turn) stop the run when they return False."""

    before_run: Callable[[], Any] | None = None
    before_turn: Callable[[int], Any] | None = None
    after_turn: Callable[[TurnEndEvent], Any] | None = None
    on_error: Callable[[Reply], Any] | None = None
    """A turn failed: told once, before the turn is over."""
    after_run: Callable[[AgentResult], Any] | None = None
    """The run is over and has been told so."""
    before_tool: BeforeTool | None = None
    after_tool: AfterTool | None = None


async def ask(hook: Callable[..., Any] | None, *arguments: Any) -> Any:
    """What a hook says; None where there is none."""
    if hook is None:
        return None
    said = hook(*arguments)
    return await said if isawaitable(said) else said
