"""Tools: how they run, what their results look like, and what becomes of one that never returns."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.loop.agent import AgentLoop
from harness.loop.bounded import Bounds, called
from harness.loop.cancel import Cancel
from harness.loop.events import Event
from harness.loop.hooks import Hooks
from harness.loop.limits import Limits
from harness.loop.run_events import Ending
from harness.loop.state import ToolResult
from harness.loop.tools import SEQUENTIAL, Tool, batched

from .agents import Clock, Never, agent_of, call, calls, ran, results_of, slow, tool, turn
from .running import rounds, run
from .scripted import Scripted

# results


class Odd:
    def __repr__(self) -> str:
        return "<odd>"


class Unshowable:
    def __repr__(self) -> str:
        raise ValueError("not to be shown")


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("as it is", "as it is"),
        ("", ""),
        (None, "null"),
        ({"höchst": [1, 2.5, True]}, '{"höchst": [1, 2.5, true]}'),
        (Odd(), "<odd>"),
        ({"x": Odd()}, "{'x': <odd>}"),
        (LOOP, "[[...]]"),
    ],
)
def test_a_result_is_the_text_as_it_is_or_json(value: Any, content: str) -> None:
    it = ran(turn(call()), turn(text="ok"), tools=[tool("tide", value)])
    assert it.results == [ToolResult(call_id="c1", name="tide", content=content)]


def test_a_result_that_cannot_be_shown_is_an_error() -> None:
    it = ran(turn(call()), turn(text="ok"), tools=[tool("tide", Unshowable())])
    assert [(r.is_error, r.content) for r in it.results] == [(True, "ValueError: not to be shown")]


def test_a_custom_tool_gets_the_text_that_the_model_wrote() -> None:
    seen: list[Any] = []
    ran(turn(call(arguments="{not json", kind="custom")), turn(text="ok"), tools=[tool("tide", ran=seen)])
    assert seen == ["{not json"]


def test_two_calls_with_one_id_have_two_results() -> None:
    it = ran(turn(call(id="x"), call("other", "{}", id="x")), turn(text="ok"), tools=[tool("tide", "1"), tool("other", "2")])
    assert [(r.call_id, r.content) for r in it.results] == [("x", "1"), ("x", "2")]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(HarnessError, match="two tools have one name"):
        AgentLoop(Scripted(turn()), tools=[tool("tide"), tool("tide")])


@pytest.mark.parametrize(("number", "at_once"), [(2, 2), (1, 1), (0, 1), (-3, 1)])
def test_batches_hold_one_call_at_least(number: int, at_once: int) -> None:
    assert batched(number).at_once == at_once


def test_a_tool_that_cancels_itself_has_failed() -> None:
    it = ran(turn(call()), turn(text="ok"), tools=[tool("tide", asyncio.CancelledError())])
    assert [(r.is_error, r.content) for r in it.results] == [(True, "RuntimeError: it cancelled itself")]
    assert it.result.text == "ok"


# threads


def _in_thread(value: Any) -> Tool:
    def execute(arguments: Any, run: Any) -> Any:
        run.progress(threading.current_thread().name)
        if isinstance(value, BaseException):
            raise value
        return value

    return Tool(name="tide", execute=execute)


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("high", "high"),
        (KeyError("x"), "KeyError: 'x'"),
        (SystemExit(3), "RuntimeError: SystemExit: 3"),
        (StopIteration("x"), "RuntimeError: coroutine raised StopIteration"),
    ],
)
def test_a_plain_function_runs_in_a_thread_of_its_own(value: Any, content: str) -> None:
    it = ran(turn(call()), turn(text="ok"), tools=[_in_thread(value)], limits=Limits(seconds=None))
    assert [(r.content, r.is_error) for r in it.results] == [(content, content != "high")]
    assert [event.value for event in it.of("tool_update")] == ["streamproof-tool"]


def test_a_plain_function_may_return_a_coroutine() -> None:
    async def later() -> str:
        return "later"

    tools = [Tool(name="tide", execute=lambda arguments, run: later())]
    it = ran(turn(call()), turn(text="ok"), tools=tools, limits=Limits(seconds=None))
    assert [r.content for r in it.results] == ["later"]


def test_an_object_with_a_coroutine_method_runs_in_the_loop() -> None:
    class Tide:
        async def __call__(self, arguments: Any, run: Any) -> str:
            return threading.current_thread().name

    it = ran(turn(call()), turn(text="ok"), tools=[Tool(name="tide", execute=Tide())])
    assert [r.content for r in it.results] == [threading.main_thread().name]


# a tool that never returns


@pytest.mark.parametrize("limit", [{"tool_timeout": 5.0}, {"limits": Limits(seconds=5)}])
@pytest.mark.parametrize("stubborn", [False, True])
def test_a_tool_that_never_returns_costs_its_time_and_no_more(limit: dict[str, Any], stubborn: bool) -> None:
    """Most end when they are cancelled; others are left behind, and counted."""
    clock, never = Clock(), Never(stubborn=stubborn)

    async def going() -> Any:
        provider = Scripted(turn(call()), turn(text="I see."))
        async with agent_of(provider, clock, [], tools=[never.tool], **limit) as agent:
            result, abandoned = await agent.run("Hello"), agent.abandoned
            never.release()
            await rounds()
            assert agent.abandoned == 0
        return agent, result, abandoned

    agent, result, abandoned = run(going())
    assert [(r.is_error, r.content) for r in results_of(agent)] == [(True, "Tool tide timed out after 5 s")]
    assert [(c.cancelled, c.reason) for c in never.cancels] == [(True, "timed out")]
    assert result.ending is (Ending.DONE if "tool_timeout" in limit else Ending.LIMIT)
    assert (abandoned, clock.now) == (int(stubborn), 106.0 if stubborn else 105.0)


def test_a_thread_that_never_returns_is_left_behind() -> None:
    release = threading.Event()
    clock = Clock()
    stopped: list[Any] = []

    def execute(arguments: Any, run: Any) -> str:
        release.wait(10)
        stopped.append(run.cancel.cancelled)
        run.progress("too late")
        return "too late"

    tools = [Tool(name="tide", execute=execute, timeout=5)]
    it = ran(turn(call()), turn(text="I see."), clock=clock, tools=tools)
    release.set()
    assert [r.content for r in it.results] == ["Tool tide timed out after 5 s"]
    assert (it.result.text, it.of("tool_update")) == ("I see.", [])


def test_progress_after_the_end_is_not_told() -> None:
    kept: list[Any] = []

    async def execute(arguments: Any, run: Any) -> str:
        run.progress({"done": 1})
        kept.append(run.progress)
        return "ok"

    async def going() -> list[Event]:
        events: list[Event] = []
        tools = [Tool(name="tide", execute=execute)]
        async with agent_of(Scripted(turn(call()), turn(text="ok")), Clock(), events, tools=tools) as agent:
            await agent.run("Hello")
            kept[0]("late")
            await rounds()
            return events

    updates = [(e.index, e.call_id, e.name, e.value) for e in run(going()) if e.kind == "tool_update"]
    assert updates == [(1, "c1", "tide", {"done": 1})]


# hooks around tools


def test_hooks_around_a_tool() -> None:
    log: list[str] = []

    def before(call: Any, arguments: Any) -> None:
        log.append(f"before {call.name} {arguments}")

    async def after(call: Any, result: ToolResult) -> ToolResult:
        log.append(f"after {result.content}")
        return ToolResult(call_id=result.call_id, name=result.name, content="revised")

    it = ran(turn(call()), turn(text="ok"), tools=[tool("tide", "noon")], hooks=Hooks(before_tool=before, after_tool=after))
    assert log == ["before tide {'port': 'Brest'}", "after noon"]
    assert [r.content for r in it.results] == ["revised"]
    assert [event.result.content for event in it.of("tool_end")] == ["noon"]


@pytest.mark.parametrize("which", ["before_tool", "after_tool"])
def test_a_hook_of_a_tool_that_raises_fails_the_call(which: str) -> None:
    def broken(*told: Any) -> None:
        raise OSError("no disk")

    it = ran(turn(call()), turn(text="ok"), tools=[tool("tide")], hooks=Hooks(**{which: broken}))
    assert [(r.is_error, r.content) for r in it.results] == [(True, "OSError: no disk")]
    assert it.result.ok


@pytest.mark.parametrize("said", [None, True, 1, {}])
def test_what_a_hook_says_beside_false_and_texts_lets_the_call_pass(said: Any) -> None:
    it = ran(turn(call()), turn(text="ok"), tools=[tool("tide")], hooks=Hooks(before_tool=lambda call, arguments: said))
    assert [r.content for r in it.results] == ["ok"]


def test_events_of_tools_stand_between_the_turns() -> None:
    clock = Clock()
    tools = [slow("a", 2, clock), slow("b", 1, clock)]
    it = ran(turn(*calls("a", "b")), turn(text="ok"), tools=tools, clock=clock, strategy=SEQUENTIAL)
    shown = [
        (event.kind, getattr(event, "call", getattr(event, "result", None)))
        for event in it.of("tool_start", "tool_end", "turn_complete")
        if event.turn == 0
    ]
    assert [kind for kind, _ in shown][1:] == ["tool_start", "tool_end", "turn_complete"] * 2


# bounds


def test_bounded_work_gives_what_it_gives() -> None:
    async def work() -> int:
        return 3

    async def going() -> list[Any]:
        clock = Clock()
        bounds = Bounds(clock.sleep, 1.0)
        return [await bounds.run(work(), Cancel(), 5.0), await bounds.run(work(), Cancel(), None), bounds.abandoned]

    assert run(going()) == [3, 3, 0]


def test_work_whose_caller_is_cancelled_is_cancelled() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    async def going() -> str | None:
        token = Cancel()
        task = asyncio.ensure_future(Bounds(Clock().sleep, 1.0).run(work(), token, None))
        await rounds()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return token.reason

    assert (run(going()), ended) == ("cancelled", ["ended"])


def test_a_loop_that_has_ended_is_told_nothing_by_a_late_thread() -> None:
    release, done = threading.Event(), threading.Event()

    def late() -> None:
        release.wait(10)
        done.set()

    async def going() -> None:
        task = asyncio.ensure_future(called(late))
        await rounds()
        task.cancel()
        await asyncio.wait({task})

    run(going())
    release.set()
    assert done.wait(10)
