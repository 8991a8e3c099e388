"""Clocks, watchers, hooks and tools that raise what nobody expects, where nobody expects it: what was begun is ended all the
same, there is one end, and whatever means to end the program goes up."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from harness.loop.artifacts import TextDelta
from harness.loop.events import Event
from harness.loop.failures import TurnFailed
from harness.loop.hooks import Hooks
from harness.loop.limits import Limits
from harness.loop.retry import RetryPolicy
from harness.loop.run_events import Ending
from harness.loop.state import State
from harness.loop.step import Step
from harness.loop.tools import Tool

from .agents import Clock, agent_of, call, ran, tool, turn
from .running import run
from .scripted import Scripted
from .stepping import names
from .test_agent import TALK, WHOLE, answered, brackets


class Odd(BaseException):
    """No `Exception`, as those with which test runners and frameworks jump out of everything."""


class Failing(Clock):
    """A clock that fails from its `at`-th reading on, so many times."""

    def __init__(self, at: int, times: int = 1000) -> None:
        super().__init__()
        self.readings = 0
        self.failing = range(at, at + times)

    def __call__(self) -> float:
        self.readings += 1
        if self.readings in self.failing:
            raise OSError("no clock")
        return float(self.readings)


# clocks


@pytest.mark.parametrize("at", range(1, 9))
def test_a_clock_that_fails_keeps_no_turn_from_its_end(at: int) -> None:
    seen: list[Event] = []

    async def going() -> None:
        async with Step(Scripted([TextDelta("a"), TextDelta("b")]), on_emit=[seen.append], clock=Failing(at)) as step:
            await step.run_turn(State())

    if at == 8:
        run(going())
    else:
        with pytest.raises(OSError if at == 7 else TurnFailed, match="no clock"):
            run(going())
    assert [event.terminal for event in seen].index(True) == len(seen) - 1
    assert names(seen)[-1] == ("done" if at > 6 else "error")
    assert [event.seq for event in seen] == sorted(event.seq for event in seen)
    assert max(event.at for event in seen) < max(2, at)  # the last time that is known


@pytest.mark.parametrize("times", [1, 1000])
@pytest.mark.parametrize("at", range(1, 40))
def test_a_clock_that_fails_keeps_no_run_from_its_end(at: int, times: int) -> None:
    seen: list[Event] = []

    async def going() -> Any:
        async with agent_of(Scripted(*TALK), Failing(at, times), seen, tools=[tool("a"), tool("b")]) as agent:
            try:
                return await agent.run("Hello")
            finally:
                assert answered(agent.state.turns)

    if at == 1:  # before anything was begun
        with pytest.raises(OSError, match="no clock"):
            run(going())
        assert not seen
        return
    result = run(going())
    assert brackets(seen)
    assert [event.kind for event in seen].count("run_end") == 1
    assert seen[-1].kind == "run_end"
    assert result.ending in (Ending.ERROR, Ending.DONE)


def test_an_agent_whose_clock_failed_can_be_asked_again_and_closed() -> None:
    async def going() -> Any:
        seen: list[Event] = []
        async with agent_of(Scripted(turn(text="ok")), Failing(1, times=1), seen) as agent:
            with pytest.raises(OSError, match="no clock"):
                await agent.run("Hello")
            return await agent.run("Hello")

    assert run(going()).text == "ok"


# tools


@pytest.mark.parametrize("error", [Odd("x"), SystemExit("x"), BaseExceptionGroup("x", [Odd()])])
@pytest.mark.parametrize("threaded", [False, True])
def test_a_tool_cannot_end_the_program(error: BaseException, threaded: bool) -> None:
    def execute(arguments: Any, run: Any) -> Any:
        raise error

    async def waiting(arguments: Any, run: Any) -> Any:
        await asyncio.sleep(0)
        raise error

    tools = [Tool(name="tide", execute=execute if threaded else waiting)]
    it = ran(turn(call()), turn(text="ok"), tools=tools, limits=Limits(seconds=None))
    assert [(r.content, r.is_error) for r in it.results] == [(f"RuntimeError: {type(error).__name__}: {error}", True)]
    assert it.result.text == "ok"


def test_an_error_of_a_tool_that_nobody_waits_for_any_more_is_nobodys(caplog: pytest.LogCaptureFixture) -> None:
    """A tool fails in the moment in which its run is cancelled."""

    async def going() -> Any:
        async def execute(arguments: Any, run: Any) -> Any:
            agent.cancel()
            raise OSError("no disk")

        seen: list[Event] = []
        async with agent_of(Scripted(turn(call())), Clock(), seen, tools=[Tool(name="tide", execute=execute)]) as agent:
            return await agent.run("Hello")

    assert run(going()).ending is Ending.CANCELLED
    assert not caplog.records


# watchers


@pytest.mark.parametrize("how", [ValueError("watcher"), Odd("watcher")], ids=["error", "odd"])
@pytest.mark.parametrize("again", [False, True], ids=["once", "always"])
@pytest.mark.parametrize("at", range(1, WHOLE + 1))
def test_a_watcher_may_raise_anything_at_any_event(at: int, again: bool, how: BaseException) -> None:
    seen: list[Event] = []
    state: list[Any] = []

    def broken(event: Event) -> None:
        seen.append(event)
        if len(seen) == at or (again and len(seen) > at):
            raise how

    async def going() -> None:
        async with agent_of(Scripted(*TALK), Clock(), [], tools=[tool("a"), tool("b")], on_emit=[broken]) as agent:
            state.append(agent.state)
            await agent.run("Hello")

    try:
        run(going())
    except Odd:
        assert how.__class__ is Odd
    assert brackets(seen)
    assert [event.kind for event in seen].count("run_end") == 1
    assert seen[-1].kind == "run_end"
    assert answered(state[0].turns)


@pytest.mark.parametrize("threaded", [False, True])
def test_who_watches_the_progress_of_a_tool_and_raises_ends_the_run_and_not_the_tool(
    threaded: bool, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []
    told = threading.Event()

    def broken(event: Event) -> None:
        if event.kind == "tool_update":
            told.set()
            raise ValueError("watcher")

    def execute(arguments: Any, run: Any) -> str:
        run.progress("half")
        told.wait(5)
        done.append("whole")
        return "ok"

    async def waiting(arguments: Any, run: Any) -> str:
        return execute(arguments, run)

    tools = [Tool(name="a", execute=execute if threaded else waiting), tool("b")]
    it = ran(TALK[0], tools=tools, on_emit=[broken], limits=Limits(seconds=None))
    assert (it.result.ending, it.result.reason) == (Ending.ERROR, "ValueError: watcher")
    assert done == ["whole"]
    assert brackets(it.events)
    assert not caplog.records


# hooks


@pytest.mark.parametrize("name", ["before_run", "before_turn", "before_tool", "after_tool", "after_turn", "on_error"])
def test_a_hook_that_means_to_end_the_program_does_so_after_the_run_is_ended(name: str) -> None:
    seen: list[Event] = []

    def hook(*told: Any) -> None:
        raise Odd("hook")

    async def going() -> None:
        provider = Scripted(*TALK) if name != "on_error" else Scripted([OSError("no disk")])
        hooks = Hooks(**{name: hook})
        tools = [tool("a"), tool("b")]
        async with agent_of(provider, Clock(), seen, tools=tools, hooks=hooks, retry=RetryPolicy.none()) as agent:
            await agent.run("Hello")

    with pytest.raises(Odd, match="hook"):
        run(going())
    assert [event.kind for event in seen].count("run_end") == 1
    assert seen[-1].kind == "run_end"
    assert seen[-1].result.ending is Ending.ERROR
    assert brackets(seen)
