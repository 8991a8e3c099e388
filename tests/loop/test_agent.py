"""The agent loop beside its rows: how runs are stopped, what is left of them, hooks, brackets, and runs in a row."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest

from harness.api_error import ErrorKind
from harness.errors import HarnessError
from harness.loop.artifacts import TextDelta
from harness.loop.cancel import Cancel
from harness.loop.context import StreamConfig
from harness.loop.costs import FixedPrices
from harness.loop.events import Event, as_json, from_json
from harness.loop.hooks import Hooks
from harness.loop.inbox import Reject
from harness.loop.limits import Limits, Spent
from harness.loop.messages import MessageProjection
from harness.loop.retry import RetryPolicy
from harness.loop.run_events import Ending
from harness.loop.sequence import faults, message_faults
from harness.loop.state import Role, State, ToolResult, Turn
from harness.loop.tools import SEQUENTIAL
from harness.request import ThinkingLevel
from harness.response import CostInfo, FinishReason, Response, Text, ToolCall, Usage

from .agents import Clock, Never, Ran, agent_of, call, calls, ran, reasoning, results_of, slow, tool, turn, usage
from .running import others, rounds, run
from .scripted import Scripted, failure, text_of, user

D = Decimal
TALK = (turn(reasoning("hm"), *calls("a", "b"), text="Looking.", usage=usage(5, 5)), turn(text="At noon."))


def answered(turns: Any) -> bool:
    """Whether every call has exactly one result, right behind the turn that calls."""
    turns = list(turns)
    for place, this in enumerate(turns):
        ids = [p.id for p in this.parts if isinstance(p, ToolCall)]
        behind = [p.call_id for t in turns[place + 1 : place + 1 + len(ids)] for p in t.parts if isinstance(p, ToolResult)]
        if ids != behind:
            return False
    return True


def brackets(events: list[Event]) -> bool:
    """Whether whatever was begun is ended, inner before outer."""
    begun: list[str] = []
    for event in events:
        what, _, how = event.kind.rpartition("_")
        if what not in ("run", "turn", "tool") or how not in ("start", "end"):
            continue
        if how == "start":
            begun.append(what)
        elif what in begun:
            begun.remove(what)
        elif what != "run":
            return False
    return not begun


def well_told(events: list[Event]) -> bool:
    messages = [m for projection in [MessageProjection()] for event in events for m in projection.add(event)]
    return not list(faults(events)) and not list(message_faults(messages)) and brackets(events)


# stopping a run


def _watched(places: int, how: str, **options: Any) -> tuple[Any, list[Event], Any, int]:
    """A run that is stopped at the event of this number; its result (None: it was cancelled from outside)."""
    events: list[Event] = []
    clock = Clock()

    async def going() -> tuple[Any, Any]:
        token = Cancel()

        def stop(event: Event) -> None:
            if len(events) != places:
                return
            if how == "token":
                token.cancel("enough")
            elif how == "agent":
                agent.cancel()
            elif how == "close":
                closing.append(asyncio.ensure_future(agent.close()))
            else:
                task.cancel()

        closing: list[Any] = []
        tools = [slow("a", 3, clock), tool("b")]
        agent = agent_of(Scripted(*TALK), clock, events, tools=tools, on_emit=[stop], **options)
        task = asyncio.ensure_future(agent.run("Hello", cancel=token))
        await asyncio.wait({task})
        await rounds(3)
        await agent.close()
        for one in closing:
            await one
        assert not others()
        assert agent.abandoned == 0
        return None if task.cancelled() else task.result(), agent

    result, agent = run(going())
    return result, events, agent, len(events)


WHOLE = len(ran(*TALK, tools=[tool("a"), tool("b")]).events)


@pytest.mark.parametrize("how", ["token", "agent", "task", "close"])
@pytest.mark.parametrize("at", range(1, WHOLE + 1))
@pytest.mark.parametrize("strategy", [{}, {"strategy": SEQUENTIAL}])
def test_a_run_can_be_stopped_at_every_event(at: int, how: str, strategy: dict[str, Any]) -> None:
    result, events, agent, _ = _watched(at, how, **strategy)
    ends = [event for event in events if event.kind == "run_end"]
    assert ends == events[-1:]
    assert well_told(events)
    assert answered(agent.state.turns)
    late = at >= WHOLE - 1  # all was said: it is the end of the last turn
    assert ends[0].result.ending is (Ending.DONE if late else Ending.CANCELLED)
    if how == "task":
        assert result is None or late
    else:
        assert result is ends[0].result
        assert result.reason == (None if late else {"token": "enough", "agent": "cancelled", "close": "closed"}[how])


def test_a_token_that_is_cancelled_already_starts_nothing() -> None:
    token = Cancel()
    token.cancel("before")
    events: list[Event] = []

    async def going() -> Any:
        provider = Scripted(*TALK)
        async with agent_of(provider, Clock(), events) as agent:
            return await agent.run("Hello", cancel=token), provider.requests

    result, requests = run(going())
    assert (result.ending, result.reason, requests, [e.kind for e in events]) == (Ending.CANCELLED, "before", [], ["run_end"])


def test_stopping_what_does_not_run_does_nothing() -> None:
    async def going() -> Any:
        async with agent_of(Scripted(*TALK), Clock(), [], tools=[tool("a"), tool("b")]) as agent:
            agent.cancel()
            return await agent.run("Hello")

    assert run(going()).ok


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_stopped_run_does_not_wait_for_a_tool_that_never_returns(stubborn: bool) -> None:
    never = Never("a", stubborn=stubborn)
    clock = Clock()

    async def going() -> Any:
        agent = agent_of(Scripted(*TALK), clock, [], tools=[never.tool, tool("b")], strategy=SEQUENTIAL)
        task = asyncio.ensure_future(agent.run("Hello"))
        while not never.cancels:
            await asyncio.sleep(0)
        agent.cancel("enough")
        result, abandoned = await task, agent.abandoned
        never.release()
        await rounds()
        await agent.close()
        return result, abandoned, agent

    result, abandoned, agent = run(going())
    assert (result.ending, abandoned) == (Ending.CANCELLED, int(stubborn))
    assert [(r.content, r.is_error) for r in results_of(agent)] == [("Cancelled", True)] * 2
    assert never.cancels[0].reason == "cancelled"


def test_who_waits_with_a_deadline_gets_a_timeout() -> None:
    async def going() -> None:
        async with agent_of(Scripted(*TALK), Clock(), events, tools=[never.tool, tool("b")]) as agent:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(None) as limit:
                    asyncio.get_running_loop().call_soon(limit.reschedule, 0.0)
                    await agent.run("Hello")
            assert await asyncio.sleep(0) is None  # nothing of it is left in this task

    never, events = Never("a", stubborn=False), []
    run(going())
    assert events[-1].result.ending is Ending.CANCELLED


def test_a_run_that_is_stopped_while_its_task_is_cancelled_does_not_come_back() -> None:
    async def going() -> None:
        agent = agent_of(Scripted(*TALK), Clock(), [], tools=[never.tool, tool("b")])
        task = asyncio.ensure_future(agent.run("Hello"))
        while not never.cancels:
            await asyncio.sleep(0)
        agent.cancel()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await agent.close()

    never = Never("a", stubborn=False)
    run(going())


def test_a_conversation_that_was_stopped_goes_on() -> None:
    async def going() -> Any:
        provider = Scripted(*TALK)
        agent = agent_of(provider, Clock(), events, tools=[never.tool, tool("b")])
        task = asyncio.ensure_future(agent.run("Hello"))
        while not never.cancels:
            await asyncio.sleep(0)
        agent.cancel()
        await task
        result = await agent.resume()
        await agent.close()
        return result, provider.requests[1]

    never, events = Never("a", stubborn=False), []
    result, request = run(going())
    assert (result.text, len(result.turns)) == ("At noon.", 1)
    assert [t.role.value for t in request.turns] == ["user", "assistant", "tool", "tool"]
    assert well_told(events)


# one run at a time


def test_a_second_run_at_the_same_time_is_refused() -> None:
    async def going() -> Any:
        async with agent_of(Scripted(*TALK), Clock(), events, tools=[tool("a"), tool("b")]) as agent:
            first = asyncio.ensure_future(agent.run("Hello"))
            await asyncio.sleep(0)
            with pytest.raises(HarnessError, match="going on already"):
                await agent.run("Hello again")
            with pytest.raises(HarnessError, match="going on already"):
                _ = [event async for event in agent.stream("Hello again")]
            return await first

    events: list[Event] = []
    assert run(going()).ok
    assert len([e for e in events if e.kind == "run_end"]) == 1


def test_a_run_needs_a_prompt() -> None:
    with pytest.raises(HarnessError, match="needs a prompt"):
        run(agent_of(Scripted(*TALK), Clock(), []).run())


def test_runs_in_a_row_share_conversation_and_numbers() -> None:
    async def going() -> Any:
        async with agent_of(Scripted(turn(text="one"), turn(text="two")), Clock(), events) as agent:
            return await agent.run("1"), await agent.run("2"), agent.state

    events: list[Event] = []
    first, second, state = run(going())
    assert [len(first.turns), len(second.turns), len(state)] == [2, 2, 4]
    assert [text_of(t) for t in state.turns] == ["1", "one", "2", "two"]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {event.turn for event in events} == {0, 1, 2}
    assert [e.index for e in events if e.kind == "turn_start"] == [1, 1]


def test_a_closed_agent_runs_nothing() -> None:
    async def going() -> None:
        agent = agent_of(Scripted(*TALK), Clock(), [])
        await agent.close()
        await agent.close()
        result = await agent.run("Hello")
        assert (result.ending, type(result.error).__name__) == (Ending.ERROR, "StepClosedError")

    run(going())


# what is asked


def test_what_the_provider_gets() -> None:
    config = StreamConfig(model="m-1", thinking_level=ThinkingLevel.HIGH, max_tokens=9)
    it = ran(
        *TALK, tools=[tool("a", description="A.", parameters={"type": "object"}), tool("b")], config=config, system="Be brief."
    )
    first, second = it.provider.requests
    assert (first.model, first.thinking_level, first.max_tokens, first.system) == ("m-1", ThinkingLevel.HIGH, 9, "Be brief.")
    assert [(t.name, t.description) for t in first.tools] == [("a", "A."), ("b", "")]
    assert first.tools == second.tools
    assert second.turns[1].parts == (Text(text="Looking."), reasoning("hm"), *calls("a", "b"))
    assert second.turns[1].response.parts == second.turns[1].parts


def test_a_conversation_that_was_there_before() -> None:
    before = State([user("Hi"), Turn(role=Role.ASSISTANT, parts=(Text(text="Hi."),))])
    it = ran(turn(text="ok"), state=before)
    assert [text_of(t) for t in it.provider.requests[0].turns] == ["Hi", "Hi.", "Hello"]
    assert [text_of(t) for t in it.result.turns] == ["Hello", "ok"]


def test_messages_may_be_turns() -> None:
    it = ran(turn(text="ok"), prompt=Turn(role=Role.SYSTEM, parts=(Text(text="Be brief."),)))
    assert [t.role for t in it.provider.requests[0].turns] == [Role.SYSTEM]


# hooks


def test_hooks_in_their_order() -> None:
    log: list[str] = []

    def noting(name: str) -> Any:
        async def hook(*told: Any) -> None:
            log.append(name)

        return hook

    names = ["before_run", "before_turn", "after_turn", "on_error", "after_run", "before_tool", "after_tool"]
    events: list[Any] = []
    ran(
        turn(call()), turn(text="ok"),
        tools=[tool("tide")], hooks=Hooks(**{name: noting(name) for name in names}),
        on_emit=[lambda e: log.append(e.kind) if "start" in e.kind or "end" in e.kind else events.append(e)],
    )  # fmt: skip
    assert log == [
        "before_run", "run_start",
        "before_turn", "turn_start", "before_tool", "tool_start", "tool_end", "after_tool", "turn_end", "after_turn",
        "before_turn", "turn_start", "turn_end", "after_turn",
        "run_end", "after_run",
    ]  # fmt: skip


def test_before_run_ends_it_at_once() -> None:
    it = ran(turn(text="never"), hooks=Hooks(before_run=lambda: False))
    assert (it.result.ending, [e.kind for e in it.events], it.provider.requests) == (Ending.STOPPED, ["run_end"], [])


@pytest.mark.parametrize("name", ["before_run", "before_turn", "after_turn", "on_error"])
def test_a_hook_that_raises_ends_the_run(name: str) -> None:
    broken = OSError("no disk")

    def hook(*told: Any) -> None:
        raise broken

    it = ran([failure("bad", status=400)] if name == "on_error" else turn(text="ok"), hooks=Hooks(**{name: hook}))
    assert (it.result.ending, it.result.reason, it.result.error) == (Ending.ERROR, "OSError: no disk", broken)
    assert well_told(it.events)
    assert it.events[-1].kind == "run_end"


def test_after_run_raises_to_the_caller() -> None:
    def hook(result: Any) -> None:
        raise OSError("no disk")

    async def going() -> list[Event]:
        events: list[Event] = []
        async with agent_of(Scripted(turn(text="ok")), Clock(), events, hooks=Hooks(after_run=hook)) as agent:
            with pytest.raises(OSError, match="no disk"):
                await agent.run("Hello")
            with pytest.raises(OSError, match="no disk"):
                _ = [event async for event in agent.stream("Hello")]
        return events

    assert [e.result.ending for e in run(going()) if e.kind == "run_end"] == [Ending.DONE, Ending.DONE]


@pytest.mark.parametrize("at", range(1, WHOLE + 1))
def test_a_watcher_that_raises_leaves_the_conversation_whole(at: int) -> None:
    seen: list[Event] = []

    def broken(event: Event) -> None:
        seen.append(event)
        if len(seen) == at:
            raise ValueError("watcher")

    it = ran(*TALK, tools=[tool("a"), tool("b")], on_emit=[broken])
    assert it.result.ending is (Ending.DONE if at == WHOLE else Ending.ERROR)
    assert answered(it.agent.state.turns)
    assert [e.kind for e in it.events].count("run_end") == 1
    assert it.events[-1].kind == "run_end"


def test_a_handler_that_raises_leaves_no_call_without_a_result() -> None:
    async def broken(part: Any, emitter: Any) -> None:
        if isinstance(part, ToolCall):
            raise OSError("no disk")

    it = ran(*TALK, tools=[tool("a"), tool("b")], handlers=[broken])
    assert (it.result.ending, str(it.result.error)) == (Ending.ERROR, "no disk")
    assert [(r.call_id, r.content) for r in it.results] == [("c1", "Cancelled"), ("c2", "Cancelled")]
    assert well_told(it.events)


# failures and what they leave


def test_a_turn_that_failed_is_not_of_the_conversation_and_its_tokens_count() -> None:
    partial = Response(parts=(Text(text="half"),), usage=usage(7, 3))
    broken = failure("cut", status=400)
    broken.response = partial
    prices = FixedPrices(input_price=D(1), output_price=D(1))
    it = ran([TextDelta("half"), broken], prices=prices)
    assert (it.result.ending, it.result.error.kind) == (Ending.ERROR, ErrorKind.INVALID_REQUEST)
    assert (it.result.text, it.result.usage, it.result.cost.total_cost) == (None, usage(7, 3), D("0.00001"))
    assert [t.role for t in it.agent.state.turns] == [Role.USER]


def test_a_provider_that_cancels_ends_the_run_as_cancelled() -> None:
    it = ran(turn(text="Well,", finish=FinishReason.CANCELLED))
    assert (it.result.ending, well_told(it.events)) == (Ending.CANCELLED, True)


def test_retries_are_part_of_the_turn() -> None:
    it = ran([failure(status=503)], turn(text="ok"), retry=RetryPolicy(max_retries=1))
    assert (it.result.text, len(it.provider.requests), len(it.of("notice"))) == ("ok", 2, 1)
    assert [e.index for e in it.of("turn_start")] == [1]


def test_costs_in_two_currencies_are_an_error_and_not_a_sum() -> None:
    said = [turn(call(), cost=CostInfo(total_cost=D(1), currency="EUR")), turn(text="ok", cost=CostInfo(total_cost=D(1)))]
    it = ran(*said, tools=[tool("tide")])
    assert (it.result.ending, len(it.result.costs), it.result.cost.currency) == (Ending.ERROR, 1, "EUR")
    assert "EUR and in USD" in (it.result.reason or "")
    assert well_told(it.events)


def test_rejected_follow_ups_do_not_keep_a_run_going() -> None:
    async def going() -> Any:
        filters = [lambda m: Reject("no") if text_of(m) == "More?" else None]
        async with agent_of(Scripted(turn(text="one")), Clock(), [], filters=filters) as agent:
            agent.follow_up("More?")
            return await agent.run("Hello")

    assert len(run(going()).answers) == 1


# reading


def test_a_reader_that_takes_its_time_loses_nothing() -> None:
    deltas = [TextDelta(str(n % 10)) for n in range(500)]

    async def going() -> list[Event]:
        events: list[Event] = []
        async with agent_of(Scripted(deltas), Clock(), told) as agent:
            async for event in agent.stream("Hello"):
                events.append(event)
                await rounds(4)
        return events

    told: list[Event] = []
    assert run(going()) == told
    assert len(told) > 500


def test_subscriptions_of_topics() -> None:
    async def going() -> list[str]:
        async with agent_of(Scripted(*TALK), Clock(), [], tools=[tool("a"), tool("b")]) as agent:
            tools = agent.subscribe("tool_end", "run_end")
            await agent.run("Hello")
            return [event.kind for event in tools.take()]

    assert run(going()) == ["tool_end", "tool_end", "run_end"]


def _everything() -> list[Event]:
    """Runs in which every kind of event of a run occurs."""
    cost = CostInfo(input_cost=D("0.1"), total_cost=D("0.30"), input_price=D(2), metadata={"a": 1})

    async def execute(arguments: Any, run: Any) -> str:
        run.progress([1, {"x": None}])
        return "ok"

    from harness.loop.tools import Tool

    good: Ran = ran(turn(call(), cost=cost, usage=usage(1, 2)), turn(text="ok"), tools=[Tool(name="tide", execute=execute)])
    bad = ran([failure("bad", status=400)])
    odd = ran(turn(text="ok"), hooks=Hooks(after_turn=lambda e: {}[1]))
    rejected = ran(turn(text="ok"), filters=[lambda m: Reject("no")])
    return [event for it in (good, bad, odd, rejected) for event in it.events]


def test_events_of_runs_as_json_and_back() -> None:
    events = _everything()
    kinds = {event.kind for event in events}
    assert kinds >= {
        "run_start",
        "turn_start",
        "tool_start",
        "tool_update",
        "tool_end",
        "turn_end",
        "input_rejected",
        "run_end",
    }
    for event in events:
        shown = as_json(event)
        again = from_json(json.loads(json.dumps(shown)))
        assert type(again) is type(event)
        assert as_json(again) == shown
        if event.kind == "run_end":
            assert (again.result.ending, again.result.turns, again.result.cost) == (
                event.result.ending, event.result.turns, event.result.cost,
            )  # fmt: skip


# limits


def test_nothing_is_a_limit_by_itself() -> None:
    spent = Spent(since=0.0)
    for _ in range(1000):
        spent.add(Usage(input_tokens=10**9, output_tokens=1), CostInfo(total_cost=D(10**9)))
    none = Limits(turns=None, tokens=None, seconds=None, cost=None)
    assert (none.hit(spent, 1e9), none.left(spent, 1e9)) == (None, None)


def test_tokens_that_an_api_counts_apart_count_as_well() -> None:
    spent = Spent(since=0.0)
    spent.add(Usage(input_tokens=10, output_tokens=5, input_apart=80, output_apart=5), None)
    spent.add(Usage(output_tokens=1), None)
    spent.add(None, None)
    assert (spent.tokens, spent.turns) == (101, 3)
    assert Limits(tokens=101).hit(spent, 0.0) is not None
    assert Limits(tokens=102).hit(spent, 0.0) is None


def test_an_unknown_cost_reaches_no_limit() -> None:
    spent = Spent(since=0.0)
    spent.add(None, CostInfo(input_tokens=1))
    assert Limits(cost=D(0)).hit(spent, 0.0) is None


@pytest.mark.parametrize(("now", "left"), [(10.0, 20.0), (29.0, 1.0), (31.0, 0.0)])
def test_the_time_that_is_left(now: float, left: float) -> None:
    assert Limits(seconds=20).left(Spent(since=10.0), now) == left
