"""Carries out the calls of a turn: at once, with hooks around them and a limit to their time (semantics.md U2–U4)."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from harness.errors import HarnessError
from harness.loop.bounded import Bounds, OutOfTimeError, called
from harness.loop.cancel import Cancel
from harness.loop.events import Event
from harness.loop.hooks import Hooks, ask
from harness.loop.run_events import ToolEndEvent, ToolStartEvent, ToolUpdateEvent
from harness.loop.state import Role, ToolResult, Turn
from harness.loop.tools import BadArgumentsError, Strategy, Tool, ToolRun, arguments_of, failure, success
from harness.response import ToolCall

Tell = Callable[[Event], Awaitable[None]]


class Caller:
    """Calls `tools`. `timeout` is in seconds and for tools that have none of their own.

    Raises `HarnessError` for two tools of one name.
    """

    def __init__(
        self, tools: Iterable[Tool], *, strategy: Strategy, timeout: float | None, hooks: Hooks, bounds: Bounds, tell: Tell
    ) -> None:
        self.tools = tuple(tools)
        self._named = {tool.name: tool for tool in self.tools}
        if len(self._named) < len(self.tools):
            raise HarnessError("two tools have one name", hint="a model calls tools by their names: rename one")
        self._strategy = strategy
        self._timeout = timeout
        self._hooks = hooks
        self._bounds = bounds
        self._tell = tell

    def batches(self, calls: Sequence[ToolCall]) -> Iterator[Sequence[ToolCall]]:
        """The calls as they are carried out: in their order, so many at once as the strategy says."""
        size = self._strategy.at_once or len(calls) or 1
        for start in range(0, len(calls), size):
            yield calls[start : start + size]

    async def carry_out(self, calls: Sequence[ToolCall], index: int, left: Callable[[], float | None]) -> list[ToolResult]:
        """One result for each call, in their order. `index` is the turn that they are of, `left` says how many seconds the
        run has left. If this is cancelled, so are the tools."""
        outcomes = await asyncio.gather(*(self._one(call, index, left) for call in calls), return_exceptions=True)
        results: list[ToolResult] = []
        for outcome in outcomes:
            if isinstance(outcome, BaseException):  # of a watcher: whatever tools and their hooks raise is a result
                raise outcome
            results.append(outcome)
        return results

    async def _one(self, call: ToolCall, index: int, left: Callable[[], float | None]) -> ToolResult:
        tool = self._named.get(call.name)
        if tool is None:
            return failure(call, f"Tool {call.name} not found")
        try:
            arguments = arguments_of(call)
            refusal = _refusal(call, await ask(self._hooks.before_tool, call, arguments))
        except BadArgumentsError as error:
            return failure(call, str(error))
        except Exception as error:
            return _raised(call, error)
        if refusal is not None:
            return failure(call, refusal)
        return await self._watched(tool, call, arguments, index, left)

    async def _watched(
        self, tool: Tool, call: ToolCall, arguments: Any, index: int, left: Callable[[], float | None]
    ) -> ToolResult:
        """The tool runs, between two events that say so. A watcher that raises meanwhile ends the run, not the tool."""
        run = _Run(self._tell, call, index)
        try:
            await self._tell(ToolStartEvent(index=index, call=call))
            result = await self._ran(tool, call, arguments, run, left)
            run.check()
        except BaseException:
            with suppress(Exception):
                self._tell(ToolEndEvent(index=index, result=cancelled(call)))
            raise
        finally:
            run.over = True
        await self._tell(ToolEndEvent(index=index, result=result))
        return await self._revised(call, result)

    async def _ran(self, tool: Tool, call: ToolCall, arguments: Any, run: _Run, left: Callable[[], float | None]) -> ToolResult:
        seconds = _shorter(self._timeout if tool.timeout is None else tool.timeout, left())
        try:
            work = called(tool.execute, arguments, run.seen)
            return success(call, await self._bounds.run(work, run.seen.cancel, seconds))
        except OutOfTimeError:
            return failure(call, f"Tool {call.name} timed out after {seconds:g} s")
        except Exception as error:
            return _raised(call, error)

    async def _revised(self, call: ToolCall, result: ToolResult) -> ToolResult:
        try:
            revised = await ask(self._hooks.after_tool, call, result)
        except Exception as error:
            return _raised(call, error)
        return revised if isinstance(revised, ToolResult) else result


class _Run:
    """One call while its tool runs."""

    def __init__(self, tell: Tell, call: ToolCall, index: int) -> None:
        self.over = False
        self._failed: BaseException | None = None
        self._tell = tell
        self._index = index
        self._loop = asyncio.get_running_loop()
        self._home = threading.get_ident()
        self.seen = ToolRun(call=call, cancel=Cancel(), progress=self._progress)

    def _progress(self, value: Any) -> None:
        if threading.get_ident() == self._home:
            self._report(value)
        elif not self.over:
            self._loop.call_soon_threadsafe(self._report, value)

    def _report(self, value: Any) -> None:
        """Nothing that a tool says after its end is told."""
        if self.over:
            return
        call = self.seen.call
        try:
            self._tell(ToolUpdateEvent(index=self._index, call_id=call.id, name=call.name, value=value))
        except BaseException as error:  # no matter of the tool's
            self._failed = self._failed or error

    def check(self) -> None:
        """Raises what a watcher of the progress raised."""
        if self._failed is not None:
            raise self._failed


def cancelled(call: ToolCall) -> ToolResult:
    """The result of a call that the end of the run came before."""
    return failure(call, "Cancelled")


def unanswered(turns: Iterable[Turn]) -> list[ToolCall]:
    """The calls of the last turn of the model that have no result behind them."""
    answered: Counter[str] = Counter()
    for turn in reversed(tuple(turns)):
        if turn.role is Role.ASSISTANT:
            return [p for p in turn.parts if isinstance(p, ToolCall) and not _took(answered, p.id)]
        answered.update(part.call_id for part in turn.parts if isinstance(part, ToolResult))
    return []


def _took(answered: Counter[str], call_id: str) -> bool:
    """Whether there is a result left for the call: ids may repeat."""
    answered[call_id] -= 1
    return answered[call_id] >= 0


def _refusal(call: ToolCall, said: Any) -> str | None:
    if said is False:
        return f"Tool {call.name} was refused"
    return said if isinstance(said, str) else None


def _raised(call: ToolCall, error: Exception) -> ToolResult:
    return failure(call, f"{type(error).__name__}: {error}")


def _shorter(one: float | None, other: float | None) -> float | None:
    return one if other is None else other if one is None else min(one, other)
