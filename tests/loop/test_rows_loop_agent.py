"""Rows P34–P48 of semantics.md 5.3: several turns, tools, steering, limits, and how a run ends."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from decimal import Decimal
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.loop.costs import FixedPrices
from harness.loop.events import Event
from harness.loop.hooks import Hooks
from harness.loop.inbox import Reject, Warn
from harness.loop.limits import Limits
from harness.loop.retry import RetryPolicy
from harness.loop.run_events import Ending, RunEndEvent, Trigger
from harness.loop.sequence import faults
from harness.loop.state import Role, State, ToolResult, Turn
from harness.loop.tools import PARALLEL, SEQUENTIAL, SKIPPED, Strategy, Tool, batched
from harness.response import CostInfo, FinishReason, Text

from .agents import Clock, agent_of, call, calls, ran, results_of, slow, tool, turn, usage
from .running import others, rounds, run
from .scripted import Scripted, failure, text_of, user

D = Decimal


def test_P34_a_call_then_the_final_text() -> None:
    tides: list[Any] = []
    it = ran(turn(call()), turn(text="At noon."), tools=[tool("tide", {"high": "12:00"}, ran=tides)])
    assert (it.result.ending, it.result.text, tides) == (Ending.DONE, "At noon.", [{"port": "Brest"}])
    second = it.provider.requests[1]
    assert [t.role for t in second.turns] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert second.turns[2].parts == (ToolResult(call_id="c1", name="tide", content='{"high": "12:00"}'),)
    assert [event.trigger for event in it.of("turn_start")] == [Trigger.PROMPT, Trigger.TOOLS]
    assert len(it.provider.requests) == 2
    assert it.agent.state.turns == it.result.turns
    assert not list(faults(it.events))


def test_P34_the_stop_reason_is_not_consulted() -> None:
    it = ran(turn(call(), finish=FinishReason.LENGTH), turn(text="Done."), tools=[tool("tide")])
    assert (it.result.text, len(it.provider.requests)) == ("Done.", 2)


def _unknown(clock: Clock) -> dict[str, Any]:
    return {"tools": []}


def _raises(clock: Clock) -> dict[str, Any]:
    return {"tools": [tool("tide", ValueError("no such port"))]}


def _refused(clock: Clock) -> dict[str, Any]:
    return {"tools": [tool("tide")], "hooks": Hooks(before_tool=lambda call, arguments: False)}


def _refused_in_words(clock: Clock) -> dict[str, Any]:
    async def no(call: Any, arguments: Any) -> str:
        return f"not for {arguments['port']}"

    return {"tools": [tool("tide")], "hooks": Hooks(before_tool=no)}


def _out_of_time(clock: Clock) -> dict[str, Any]:
    return {"tools": [slow("tide", 60, clock, timeout=5)], "tool_timeout": 90}


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        (_unknown, "Tool tide not found"),
        (_raises, "ValueError: no such port"),
        (_refused, "Tool tide was refused"),
        (_refused_in_words, "not for Brest"),
        (_out_of_time, "Tool tide timed out after 5 s"),
    ],
)
def test_P35_whatever_befalls_a_tool_is_one_error_result(setting: Any, says: str) -> None:
    clock = Clock()
    it = ran(turn(call()), turn(text="I see."), clock=clock, **setting(clock))
    assert it.results == [ToolResult(call_id="c1", name="tide", content=says, is_error=True)]
    assert (it.result.ending, it.result.text, len(it.provider.requests)) == (Ending.DONE, "I see.", 2)
    begun = setting in (_raises, _out_of_time)
    assert (len(it.of("tool_start")), len(it.of("tool_end"))) == (begun, begun)


@pytest.mark.parametrize("arguments", ['{"port":', "Brest", "[1]", '"x"'])
def test_P36_arguments_that_cannot_be_read_are_an_error_result_that_names_the_tool(arguments: str) -> None:
    tides: list[Any] = []
    it = ran(turn(call(arguments=arguments)), turn(text="Sorry."), tools=[tool("tide", ran=tides)])
    (result,) = it.results
    assert result.is_error
    assert "Invalid arguments for tide" in result.content
    assert arguments in result.content
    assert (tides, it.of("tool_start"), it.result.text) == ([], [], "Sorry.")


def test_P36_no_arguments_are_an_empty_object() -> None:
    tides: list[Any] = []
    ran(turn(call(arguments="")), turn(text="ok"), tools=[tool("tide", ran=tides)])
    assert tides == [{}]


@pytest.mark.parametrize(
    ("strategy", "seconds", "begins"),
    [
        (PARALLEL, 3.0, ["a begins", "b begins", "c begins", "b ends", "c ends", "a ends"]),
        (SEQUENTIAL, 6.0, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]),
        (batched(2), 5.0, ["a begins", "b begins", "b ends", "a ends", "c begins", "c ends"]),
    ],
)
def test_P37_results_stand_in_the_order_of_the_calls(strategy: Strategy, seconds: float, begins: list[str]) -> None:
    clock, log = Clock(), []
    tools = [slow("a", 3, clock, log), slow("b", 1, clock, log), slow("c", 2, clock, log)]
    it = ran(turn(*calls("a", "b", "c")), turn(text="ok"), clock=clock, tools=tools, strategy=strategy)
    assert [result.content for result in it.results] == ["a took 3 s", "b took 1 s", "c took 2 s"]
    assert [result.call_id for result in it.results] == ["c1", "c2", "c3"]
    assert (log, clock.now - 100) == (begins, seconds)


def test_P38_steering_skips_the_calls_that_are_left_and_opens_the_next_turn() -> None:
    order: list[str] = []

    async def going() -> tuple[Any, Any]:
        async def stop(arguments: Any, run: Any) -> str:
            order.append(run.call.name)
            agent.steer("Wait, take Calais.")
            return "done"

        provider = Scripted(turn(*calls("a", "b", "c")), turn(text="Calais, then."))
        tools = [Tool(name=name, execute=stop) for name in "abc"]
        async with agent_of(provider, Clock(), events, tools=tools, strategy=SEQUENTIAL) as agent:
            await agent.run("Hello")
            return agent, provider

    events: list[Event] = []
    agent, provider = run(going())
    assert order == ["a"]
    assert [(r.content, r.is_error) for r in results_of(agent)] == [("done", False), (SKIPPED, True), (SKIPPED, True)]
    second = provider.requests[1].turns
    assert [t.role for t in second[-2:]] == [Role.TOOL, Role.USER]
    assert text_of(second[-1]) == "Wait, take Calais."
    assert [e.trigger for e in events if e.kind == "turn_start"] == [Trigger.PROMPT, Trigger.STEERING]


def test_P38_in_parallel_nothing_is_left_to_skip() -> None:
    async def going() -> Any:
        async def steered(arguments: Any, run: Any) -> str:
            agent.steer("Hurry.")
            return "done"

        tools = [Tool(name=name, execute=steered) for name in "ab"]
        async with agent_of(Scripted(turn(*calls("a", "b")), turn(text="ok")), Clock(), [], tools=tools) as agent:
            return await agent.run("Hello"), results_of(agent)

    result, results = run(going())
    assert [r.content for r in results] == ["done", "done"]
    assert [text_of(t) for t in result.turns if t.role is Role.USER] == ["Hello", "Hurry.", "Hurry."]


def _forever(**said: Any) -> list[Any]:
    return turn(call(), text="Again.", usage=usage(60, 40), **said)


@pytest.mark.parametrize(
    ("limits", "turns", "says"),
    [
        (Limits(turns=3), 3, "the limit of 3 turns is reached"),
        (Limits(tokens=250), 3, "the limit of 250 tokens is reached"),
        (Limits(seconds=25), 3, "the limit of 25 s is reached"),
        (Limits(cost=D("0.0002")), 2, "the limit of 0.0002 USD is reached"),
        (Limits(turns=0), 0, "the limit of 0 turns is reached"),
        (Limits(turns=2, tokens=1), 1, "the limit of 1 tokens is reached"),
    ],
)
def test_P39_a_limit_ends_the_run_before_the_next_turn(limits: Limits, turns: int, says: str) -> None:
    clock = Clock()
    prices = FixedPrices(input_price=D(1), output_price=D(1))
    it = ran(_forever(), clock=clock, tools=[slow("tide", 10, clock)], limits=limits, prices=prices)
    assert (it.result.ending, it.result.reason, len(it.provider.requests)) == (Ending.LIMIT, says, turns)
    assert text_of(it.agent.state.turns[-1]) == f"[Agent stopped: {says}]"
    assert it.agent.state.turns[-1].role is Role.USER
    assert len(it.of("turn_start")) == len(it.of("turn_end")) == turns
    assert len(it.results) == turns
    assert it.events[-1].kind == "run_end"


def test_P39_the_usual_limits() -> None:
    it = ran(turn(call()), tools=[tool("tide")])
    assert (it.result.reason, len(it.provider.requests)) == ("the limit of 50 turns is reached", 50)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_P40_before_turn_ends_the_run(asynchronous: bool) -> None:
    asked: list[int] = []

    def plain(index: int) -> bool:
        asked.append(index)
        return index < 2

    async def waiting(index: int) -> bool:
        return plain(index)

    it = ran(turn(call()), tools=[tool("tide")], hooks=Hooks(before_turn=waiting if asynchronous else plain))
    assert (asked, it.result.ending, len(it.provider.requests)) == ([1, 2], Ending.STOPPED, 1)
    assert [event.index for event in it.of("turn_start")] == [1]


def test_P41_follow_ups_after_the_natural_end() -> None:
    async def going() -> tuple[Any, Any, list[Event]]:
        events: list[Event] = []
        provider = Scripted(turn(call(), text="Looking."), turn(text="Noon."), turn(text="Six."))
        async with agent_of(provider, Clock(), events, tools=[tool("tide")]) as agent:
            agent.follow_up("And low water?")
            return await agent.run("High water?"), provider, events

    result, provider, events = run(going())
    assert (result.text, len(provider.requests)) == ("Six.", 3)
    assert text_of(provider.requests[2].turns[-1]) == "And low water?"
    assert [e.trigger for e in events if e.kind == "turn_start"] == [Trigger.PROMPT, Trigger.TOOLS, Trigger.FOLLOW_UP]


def test_P42_an_error_ends_the_run_and_is_told_once() -> None:
    seen: list[Any] = []
    it = ran(
        turn(call()),
        [failure("bad key", status=401)],
        turn(text="never"),
        tools=[tool("tide")],
        hooks=Hooks(on_error=seen.append),
    )
    assert [reply.error_message for reply in seen] == ["bad key"]
    assert (it.result.ending, it.result.reason, it.result.ok) == (Ending.ERROR, "bad key", False)
    last = it.of("turn_end")[-1]
    assert (last.index, last.results, last.parts, last.error, last.stop) == (2, (), (), "bad key", FinishReason.ERROR)
    assert (len(it.provider.requests), len(it.of("error")), it.events[-1].kind) == (2, 1, "run_end")
    assert it.agent.state.turns[-1].role is Role.TOOL


def test_P43_usage_and_cost_are_summed_over_the_turns() -> None:
    cost = CostInfo(provider="p", total_cost=D("0.25"))
    said = [
        turn(call(), usage=usage(10, 1), cost=cost),
        turn(call(), usage=None),
        turn(text="ok", usage=usage(30, 3), cost=cost),
    ]
    it = ran(*said, tools=[tool("tide")])
    (end,) = it.of("run_end")
    assert end.result is it.result
    assert it.result.usage == usage(40, 4)
    assert (it.result.cost.total_cost, it.result.cost.metadata) == (D("0.50"), {"aggregated": True, "count": 2})
    assert it.result.costs == (cost, cost)
    assert [event.usage for event in it.of("turn_end")] == [usage(10, 1), None, usage(30, 3)]


def test_P43_what_nobody_said_is_not_zero() -> None:
    it = ran(turn(text="ok"))
    assert (it.result.usage, it.result.cost, it.result.costs) == (None, None, ())


def test_P44_a_preamble_is_of_its_own_turn() -> None:
    it = ran(turn(call(), text="Let me look. "), turn(text="At noon."), tools=[tool("tide")])
    texts = [(event.turn, event.value.text) for event in it.events if event.topic == "text"]
    assert texts == [(1, "Let me look. "), (2, "At noon.")]
    assert (it.result.text, [text_of(t) for t in it.result.answers]) == ("At noon.", ["Let me look. ", "At noon."])


def test_P45_a_limit_while_streaming_is_one_end_with_what_there_was() -> None:
    async def going() -> list[Event]:
        prices = FixedPrices(input_price=D(1), output_price=D(2))
        provider = Scripted(_forever())
        async with agent_of(provider, Clock(), [], tools=[tool("tide")], limits=Limits(turns=2), prices=prices) as agent:
            return [event async for event in agent.stream("Hello")]

    events = run(going())
    ends = [event for event in events if isinstance(event, RunEndEvent)]
    assert ends == [events[-1]]
    result = ends[0].result
    assert (result.ending, result.reason) == (Ending.LIMIT, "the limit of 2 turns is reached")
    assert [t.role.value for t in result.turns] == ["user", "assistant", "tool", "assistant", "tool", "user"]
    assert (len(result.tool_calls), [c.total_cost for c in result.costs]) == (2, [D("0.00014"), D("0.00014")])


@pytest.mark.parametrize("where", ["run_start", "turn_start", "streaming", "artifact", "tool_start", "turn_end"])
@pytest.mark.parametrize("how", ["closed", "dropped", "cancelled"])
def test_P46_who_stops_reading_halts_the_run(where: str, how: str) -> None:
    clock, provider = Clock(), Scripted(_forever())
    told: list[Event] = []

    async def reading(agent: Any) -> None:
        async with aclosing(agent.stream("Hello")) as events:
            async for event in events:
                if where in (event.kind, getattr(event, "phase", None)):
                    if how == "cancelled":
                        asyncio.current_task().cancel()
                        await asyncio.sleep(0)
                    break

    async def dropping(agent: Any) -> None:
        async for event in agent.stream("Hello"):
            if where in (event.kind, getattr(event, "phase", None)):
                break

    async def going() -> Any:
        agent = agent_of(provider, clock, told, tools=[slow("tide", 60, clock)], strategy=SEQUENTIAL)
        task = asyncio.ensure_future(dropping(agent) if how == "dropped" else reading(agent))
        await asyncio.wait({task})
        await rounds(40)
        assert not others()
        assert (agent.abandoned, len(agent.step._teller.fanout.subscriptions)) == (0, 0)
        await agent.close()
        return task

    assert run(going()).cancelled() == (how == "cancelled")
    (end,) = [event for event in told if event.kind == "run_end"]
    assert (end.result.ending, told[-1]) == (Ending.HALTED, end)
    assert end.result.reason == "nobody reads the events any more"


def test_P47_a_filter_lets_a_prompt_pass() -> None:
    seen: list[Turn] = []
    it = ran(turn(text="ok"), filters=[seen.append])
    assert (seen, it.provider.requests[0].turns[0].parts) == ([user("Hello")], (Text(text="Hello"),))


def test_P47_a_warning_stands_at_the_end_of_the_last_message() -> None:
    async def going() -> tuple[Turn, ...]:
        async with agent_of(provider, Clock(), [], filters=[lambda m: Warn(f"seen: {text_of(m)}")]) as agent:
            await agent.run("one", "two")
            return agent.state.turns

    provider = Scripted(turn(text="ok"))
    run(going())
    first, second = provider.requests[0].turns
    assert text_of(first) == "one"
    assert [part.text for part in second.parts] == ["two", "seen: one", "seen: two"]


def test_P47_a_rejected_prompt_is_reported_and_no_provider_is_called() -> None:
    async def strict(message: Turn) -> Reject:
        return Reject("no ports, please")

    it = ran(turn(text="never"), filters=[lambda message: Warn("w"), strict, lambda message: Reject("second")])
    assert (it.provider.requests, it.agent.state.turns) == ([], ())
    assert (it.result.ending, it.result.reason, it.result.turns) == (Ending.REJECTED, "no ports, please", ())
    assert [event.kind for event in it.events] == ["run_start", "input_rejected", "run_end"]
    assert (it.events[1].reason, it.events[1].parts) == ("no ports, please", (Text(text="Hello"),))


def test_P47_rejected_steering_is_left_out_and_the_run_goes_on() -> None:
    async def going() -> Any:
        def judge(message: Turn) -> Reject | None:
            return Reject("rude") if "!" in text_of(message) else None

        async with agent_of(Scripted(turn(text="one"), turn(text="two")), Clock(), events, filters=[judge]) as agent:
            agent.steer("Faster!")
            agent.follow_up("Thanks.")
            return await agent.run("Hello")

    events: list[Event] = []
    result = run(going())
    assert (result.ending, result.text) == (Ending.DONE, "two")
    assert [e.reason for e in events if e.kind == "input_rejected"] == ["rude"]


@pytest.mark.parametrize(
    "turns",
    [
        [],
        [user("Hello"), Turn(role=Role.ASSISTANT, parts=(Text(text="Hi."),))],
        [user("Hello"), Turn(role=Role.ASSISTANT), Turn(role=Role.USER, extension="shown only")],
        [Turn(role=Role.USER, extension="shown only")],
    ],
)
def test_P48_there_is_nothing_to_go_on_with(turns: list[Turn]) -> None:
    provider = Scripted(turn(text="never"))

    async def going() -> None:
        async with agent_of(provider, Clock(), told, state=State(turns)) as agent:
            with pytest.raises(HarnessError, match="nothing to go on with"):
                await agent.resume()
            with pytest.raises(HarnessError, match="nothing to go on with"):
                _ = [event async for event in agent.stream()]

    told: list[Event] = []
    run(going())
    assert (told, provider.requests) == ([], [])


def test_P48_a_conversation_that_waits_for_an_answer_goes_on() -> None:
    async def going() -> Any:
        provider = Scripted([failure("down", status=500)], turn(text="Hi."))
        async with agent_of(provider, Clock(), events, retry=RetryPolicy.none()) as agent:
            failed = await agent.run("Hello")
            return failed, await agent.resume(), provider

    events: list[Event] = []
    failed, resumed, provider = run(going())
    assert (failed.ending, resumed.ending, resumed.text) == (Ending.ERROR, Ending.DONE, "Hi.")
    assert [text_of(t) for t in provider.requests[1].turns] == ["Hello"]
    assert [e.trigger for e in events if e.kind == "turn_start"] == [Trigger.PROMPT, Trigger.RESUME]
    assert not list(faults(events))
