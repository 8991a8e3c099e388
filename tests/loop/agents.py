"""For tests of the agent loop: turns that call tools, a clock on which waiting costs nothing, a run with all that was told."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from harness.loop.agent import AgentLoop
from harness.loop.artifacts import ArtifactKind, Settled, Side
from harness.loop.events import Event
from harness.loop.run_events import AgentResult
from harness.loop.state import Role, ToolResult
from harness.loop.tools import Tool
from harness.response import CostInfo, FinishReason, Reasoning, Response, Text, ToolCall, Usage

from .running import run
from .scripted import Scripted

_IDLE = 30  # rounds of the event loop in which nothing else has happened


class Clock:
    """Time that passes only while everybody waits."""

    def __init__(self) -> None:
        self.now = 100.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = self._quiet = 0
        self._ticking = False

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._count += 1
        self._quiet = 0
        woken: asyncio.Future[None] = loop.create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, self._count, woken))
        if not self._ticking:
            self._ticking = True
            loop.call_soon(self._tick)
        await woken

    def _tick(self) -> None:
        """After some quiet rounds the first of those that sleep wakes up."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        self._ticking = bool(self._sleepers)
        if not self._ticking:
            return
        self._quiet += 1
        if self._quiet >= _IDLE:
            at, _, woken = heapq.heappop(self._sleepers)
            self.now = max(self.now, at)
            self._quiet = 0
            woken.set_result(None)
        asyncio.get_running_loop().call_soon(self._tick)


def call(name: str = "tide", arguments: str = '{"port":"Brest"}', *, id: str = "c1", **more: Any) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments, **more)


def calls(*names: str) -> tuple[ToolCall, ...]:
    """Calls without arguments, in this order, with the ids c1, c2 …"""
    return tuple(call(name, "{}", id=f"c{number}") for number, name in enumerate(names, start=1))


def turn(
    *parts: Any,
    text: str | None = None,
    usage: Usage | None = None,
    cost: CostInfo | None = None,
    finish: FinishReason = FinishReason.STOP,
) -> list[Any]:
    """What a provider says in one turn: these parts, after a text if there is one."""
    whole = (Text(text=text), *parts) if text is not None else parts
    response = Response(parts=whole, finish_reason=finish, usage=usage, cost=cost, model="m-1")
    said: list[Any] = [Settled(whole, response)]
    return [*said, *([Side(ArtifactKind.USAGE, usage)] if usage else []), Side(ArtifactKind.FINISH, finish)]


def usage(given: int, answered: int) -> Usage:
    return Usage(input_tokens=given, output_tokens=answered, total_tokens=given + answered)


def tool(name: str, value: Any = "ok", *, ran: list[Any] | None = None, **more: Any) -> Tool:
    """A tool that returns `value`, or raises it; `ran` remembers its arguments."""

    async def execute(arguments: Any, run: Any) -> Any:
        if ran is not None:
            ran.append(arguments)
        if isinstance(value, BaseException):
            raise value
        return value

    return Tool(name=name, execute=execute, **more)


def slow(name: str, seconds: float, clock: Clock, log: list[str] | None = None, **more: Any) -> Tool:
    """A tool that takes some time of the clock."""

    async def execute(arguments: Any, run: Any) -> str:
        if log is not None:
            log.append(f"{name} begins")
        await clock.sleep(seconds)
        if log is not None:
            log.append(f"{name} ends")
        return f"{name} took {seconds:g} s"

    return Tool(name=name, execute=execute, **more)


class Never:
    """A tool that never returns. A stubborn one takes no notice of being cancelled, until the test lets go of it."""

    def __init__(self, name: str = "tide", *, stubborn: bool) -> None:
        self.cancels: list[Any] = []
        self.tool = Tool(name=name, execute=self._execute)
        self._stubborn = stubborn
        self._released = asyncio.Event()

    def release(self) -> None:
        self._released.set()

    async def _execute(self, arguments: Any, run: Any) -> None:
        self.cancels.append(run.cancel)
        while not self._released.is_set():
            try:
                await self._released.wait()
            except asyncio.CancelledError:
                if not self._stubborn:
                    raise


@dataclass
class Ran:
    """A run: its result, its events, what the provider was asked."""

    result: AgentResult
    events: list[Event]
    provider: Any
    agent: AgentLoop
    clock: Clock = field(default_factory=Clock)

    def of(self, *kinds: str) -> list[Any]:
        return [event for event in self.events if event.kind in kinds]

    @property
    def results(self) -> list[ToolResult]:
        """The results of all calls, in the order of the log."""
        return results_of(self.agent)


def results_of(agent: AgentLoop) -> list[ToolResult]:
    return [part for t in agent.state.turns if t.role is Role.TOOL for part in t.parts if isinstance(part, ToolResult)]


def agent_of(provider: Any, clock: Clock, events: list[Event], **options: Any) -> AgentLoop:
    on_emit = [events.append, *options.pop("on_emit", ())]
    return AgentLoop(provider, clock=clock, sleep=clock.sleep, random=lambda: 0.5, on_emit=on_emit, **options)


def ran(*turns: Iterable[Any], prompt: Any = "Hello", clock: Clock | None = None, provider: Any = None, **options: Any) -> Ran:
    """A run to its end: the provider says these turns one after the other."""
    provider = provider or Scripted(*turns)
    clock = clock or Clock()
    events: list[Event] = []

    async def going() -> tuple[AgentLoop, AgentResult]:
        async with agent_of(provider, clock, events, **options) as agent:
            return agent, await agent.run(prompt)

    agent, result = run(going())
    return Ran(result, events, provider, agent, clock)


def reasoning(text: str) -> Reasoning:
    return Reasoning(text=text, signature="sig")
