"""The rows of semantics.md 5.2 on what is around a turn: transforms, submit, handlers, callbacks, context, options, JSON."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from harness.errors import HarnessError
from harness.loop.artifacts import Complete, TextDelta
from harness.loop.events import (
    ErrorEvent,
    Event,
    LifecycleEvent,
    Phase,
    PropertiesEvent,
    Stage,
    TurnCompleteEvent,
    as_json,
    from_json,
)
from harness.loop.failures import StepClosedError, TurnFailed, TurnOverError
from harness.loop.state import Role, State, Turn

from .running import run
from .scripted import Scripted
from .stepping import Stuck, Told, asked, call, names, text, told, turns

T = TextDelta
SYSTEM = Turn(role=Role.SYSTEM, parts=(text("Be brief."),))


def with_system(state: State) -> State:
    return state.view([SYSTEM, *state])


# transforms


def test_L13_transforms_work_one_after_the_other() -> None:
    seen: list[tuple[str, int]] = []

    def first(state: State) -> State:
        seen.append(("first", len(state)))
        return with_system(state)

    async def second(state: State) -> State:
        seen.append(("second", len(state)))
        return state.view([*state, asked("and this")])

    whole = told([T("a")], transforms=[first, second], turns=[asked()])
    assert seen == [("first", 1), ("second", 2)]
    assert whole.provider.requests[0].turns == (SYSTEM, asked(), asked("and this"))
    assert whole.roles == ["user", "assistant"]


def test_L14_what_a_transform_adds_is_not_stored_and_stands_once_in_every_turn() -> None:
    whole = Told([T("a")], transforms=[with_system], turns=[asked()])

    async def go() -> None:
        state = await whole.step.run_turn(whole.state)
        assert state is whole.state
        await whole.step.submit(state, Role.USER, text("again"))
        assert await whole.step.run_turn(state) is whole.state

    run(go())
    assert whole.roles == ["user", "assistant", "user", "assistant"]
    assert [[turn.role for turn in request.turns].count(Role.SYSTEM) for request in whole.provider.requests] == [1, 1]


def test_L14_the_base_of_a_view_comes_back() -> None:
    whole = Told([T("a")])
    view = whole.state.view([SYSTEM])
    assert run(whole.step.run_turn(view)) is whole.state


@pytest.mark.parametrize("deep", [False, True])
def test_L14_a_transform_cannot_append(deep: bool) -> None:
    def append(state: State) -> State:
        view = state.view([*state]) if deep else state
        view.append(asked("sneaked in"))
        return view

    whole = told([T("a")], transforms=[append], turns=[asked()])
    assert isinstance(whole.raised, TurnFailed)
    assert isinstance(whole.raised.error, HarnessError)
    assert (whole.names, whole.roles) == (["error"], ["user"])


def test_L15_a_transform_that_raises_ends_the_turn_before_anything_is_asked() -> None:
    error = ValueError("transform")

    def breaks(state: State) -> State:
        raise error

    whole = told([T("a")], transforms=[breaks], turns=[asked()])
    (event,) = whole.events
    assert isinstance(event, ErrorEvent)
    assert (event.stage, event.error) == (Stage.TRANSFORM, error)
    assert isinstance(whole.raised, TurnFailed)
    assert whole.raised.__cause__ is error
    assert (whole.provider.requests, whole.roles) == ([], ["user"])


def test_L15_a_transform_that_ignores_being_cancelled_goes_no_further() -> None:
    release = asyncio.Event()

    async def deaf(state: State) -> State:
        with suppress(asyncio.CancelledError):
            await release.wait()
        return state

    async def go() -> None:
        whole = Told([T("a")], transforms=[deaf, with_system])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await whole.step.run_turn(whole.state)
        assert (whole.names, whole.provider.requests) == (["cancelled"], [])

    run(go())


# submit


class Seen:
    """A handler that notes what it gets."""

    def __init__(self, name: str, into: list[tuple[str, Any]]) -> None:
        self.name = name
        self.into = into

    async def __call__(self, part: Any, emitter: Any) -> None:
        self.into.append((self.name, part))


def submitted(*parts: Any, role: Role = Role.USER, **settings: Any) -> Told:
    whole = Told([T("a")], **settings)
    state = run(whole.step.submit(whole.state, role, *parts))
    assert state is whole.state
    return whole


def test_L16_submit_tells_of_one_turn_and_calls_the_handlers() -> None:
    handled: list[tuple[str, Any]] = []

    def transform(state: State) -> State:
        raise AssertionError("submit has no transforms")

    whole = submitted(text("Hello"), text("there"), handlers=[Seen("h", handled)], transforms=[transform])
    assert whole.names == ["turn_complete"]
    assert whole.roles == ["user"]
    assert handled == [("h", text("Hello")), ("h", text("there"))]
    assert (whole.provider.requests, whole.events[0].turn) == ([], 0)


def test_L16_a_handler_that_raises_on_what_was_submitted() -> None:
    async def breaks(part: Any, emitter: Any) -> None:
        raise ValueError("handler")

    whole = Told([T("a")], handlers=[breaks])
    with pytest.raises(TurnFailed) as raised:
        run(whole.step.submit(whole.state, Role.USER, text("Hello")))
    assert (raised.value.stage, whole.names, whole.roles) == (Stage.HANDLER, ["turn_complete", "error"], ["user"])


def test_L16_a_turn_can_be_submitted_while_another_runs() -> None:
    provider = Stuck(T("a"))
    whole = Told(provider)

    async def go() -> None:
        turn = asyncio.create_task(whole.turn())
        await provider.waiting.wait()
        await whole.step.submit(whole.state, Role.USER, text("wait!"))
        provider.release.set()
        await turn

    run(go())
    assert whole.roles == ["user", "assistant"]
    assert [event.turn for event in turns(whole.events)] == [0, 1]
    assert whole.names[-1] == "done"


def test_L17_an_empty_turn_may_be_submitted() -> None:
    whole = submitted()
    assert (whole.names, whole.roles, whole.state.turns[0].parts) == (["turn_complete"], ["user"], ())


# handlers


def test_L18_each_part_goes_to_each_handler_before_the_next_part() -> None:
    handled: list[tuple[str, Any]] = []
    said = [T("a"), T("b"), Complete(call())]
    told(said, handlers=[Seen("h1", handled), Seen("h2", handled)])
    assert handled == [("h1", text("ab")), ("h2", text("ab")), ("h1", call()), ("h2", call())]


async def answers(part: Any, emitter: Any) -> None:
    await emitter.turn(Role.TOOL, text("42"))


def test_L19_what_a_handler_adds_comes_after_the_turn_and_before_done() -> None:
    whole = told([Complete(call())], handlers=[answers], turns=[asked()])
    assert whole.names == ["submitted", "streaming", "tool_call", "turn_complete", "turn_complete", "done"]
    assert [event.role for event in turns(whole.events)] == [Role.ASSISTANT, Role.TOOL]
    assert whole.roles == ["user", "assistant", "tool"]


def test_L19_a_handler_says_nothing_once_its_turn_is_over() -> None:
    kept: list[Any] = []

    async def keeps(part: Any, emitter: Any) -> None:
        kept.append(emitter)

    whole = told([T("a")], handlers=[keeps])
    for emitter in kept:
        with pytest.raises(TurnOverError):
            emitter.turn(Role.TOOL, text("late"))
    assert whole.names[-1] == "done"
    submitted_ = submitted(text("a"), handlers=[keeps])
    with pytest.raises(TurnOverError):
        kept[-1].turn(Role.TOOL)
    assert submitted_.names == ["turn_complete"]


def test_L20_a_handler_that_raises_ends_the_turn_that_is_stored_already() -> None:
    error = ValueError("handler")
    handled: list[Any] = []

    async def breaks(part: Any, emitter: Any) -> None:
        handled.append(part)
        if len(handled) == 2:
            raise error

    whole = told([T("a"), Complete(call()), Complete(text("b"))], handlers=[breaks], turns=[asked()])
    assert handled == [text("a"), call()]
    assert whole.names[-2:] == ["turn_complete", "error"]
    last = whole.events[-1]
    assert isinstance(last, ErrorEvent)
    assert (last.stage, last.error) == (Stage.HANDLER, error)
    assert whole.roles == ["user", "assistant"]
    assert isinstance(whole.raised, TurnFailed)
    assert whole.raised.error is error


def test_L20_a_handler_that_ignores_being_cancelled_is_the_last_that_is_called() -> None:
    handled: list[Any] = []
    waiting = asyncio.Event()

    async def deaf(part: Any, emitter: Any) -> None:
        handled.append(part)
        waiting.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        with pytest.raises(asyncio.CancelledError):
            emitter.turn(Role.TOOL, text("late"))

    async def go() -> None:
        whole = Told([T("a"), Complete(call())], handlers=[deaf])
        turn = asyncio.create_task(whole.step.run_turn(whole.state))
        await waiting.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert (whole.names[-2:], len(handled)) == (["turn_complete", "cancelled"], 1)

    run(go())


# callbacks


def test_L21_callbacks_see_every_kind_in_order_and_each_other_s_effects() -> None:
    order: list[tuple[int, str]] = []

    def callback(number: int) -> Any:
        def see(event: Event) -> None:
            assert number == 1 or order[-1] == (number - 1, event.topic)
            order.append((number, event.topic))

        return see

    whole = Told([T("a")], on_emit=[callback(number) for number in (1, 2, 3)])

    async def go() -> None:
        await whole.step.submit(whole.state, Role.USER, text("Hello"))
        await whole.turn()
        await whole.step.emit(PropertiesEvent(properties={}))

    run(go())
    assert [topic for number, topic in order if number == 2] == [event.topic for event in whole.events]
    assert len(order) == 3 * 8


def test_L21_a_callback_that_raises_keeps_nobody_else_from_seeing_and_fails_the_turn() -> None:
    error = ValueError("callback")
    seen: list[str] = []

    def breaks(event: Event) -> None:
        if event.topic == "text_delta":
            raise error

    class Careless(Scripted):
        async def invoke(self, request: Any, emit: Any) -> None:
            with suppress(ValueError):  # the turn is not saved by this
                await super().invoke(request, emit)

    async def go() -> None:
        whole = Told(Careless([T("a"), T("b")]), on_emit=[breaks, lambda event: seen.append(event.topic)])
        listening = whole.step.subscribe()
        await whole.turn()
        await whole.step.close()
        assert names([event async for event in listening]) == whole.names
        assert whole.names == ["submitted", "streaming", "text_delta", "text", "error"]
        assert seen == [event.topic for event in whole.events]
        assert isinstance(whole.raised, TurnFailed)
        assert (whole.raised.stage, whole.raised.error) == (Stage.PROVIDER, error)

    run(go())


def test_L21_a_callback_that_raises_at_the_end() -> None:
    def breaks(event: Event) -> None:
        if event.terminal:
            raise ValueError("callback")

    whole = Told([T("a")], on_emit=[breaks])
    with pytest.raises(ValueError, match="callback"):
        run(whole.turn())
    assert whole.names[-1] == "done"
    failed = told([KeyError("provider")], on_emit=[breaks])
    assert failed.names[-1] == "error"
    assert isinstance(failed.raised, TurnFailed)
    assert isinstance(failed.raised.error, KeyError)
    assert "callback" in failed.raised.__notes__[0]


def test_L22_callbacks_are_called_for_a_turn_that_is_cancelled() -> None:
    seen: list[Event] = []
    told([asyncio.CancelledError()], on_emit=[seen.append])
    assert names(seen) == ["submitted", "cancelled"]


def test_L22_callbacks_are_called_whoever_is_cancelled() -> None:
    async def go() -> None:
        whole = Told(())
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        whole.step.emit(PropertiesEvent(properties={"a": "b"}))
        assert whole.names == ["properties"]
        task.uncancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(0)

    run(go())


def test_L23_a_second_state_is_refused() -> None:
    whole = Told([T("a")])
    with pytest.raises(HarnessError, match="bound already"):
        whole.step.bind_state(State())
    with pytest.raises(HarnessError, match="bound already"):
        whole.step.bind_state(whole.state)
    run(whole.turn())
    assert whole.roles == ["assistant"]


def test_L23_the_state_is_stored_into_before_any_callback_is_called() -> None:
    lengths: list[int] = []
    whole = Told([T("a")], on_emit=[lambda event: lengths.append(len(whole.state))])
    run(whole.turn())
    assert lengths[-2:] == [1, 1]


def test_L23_without_a_bound_state_nothing_is_stored() -> None:
    from harness.loop.step import Step

    state = State([asked()])
    assert run(Step(Scripted([T("a")])).run_turn(state)) is state
    assert len(state) == 1


# context, options, kinds


@pytest.mark.parametrize("said", [[T("a")], [T("a"), ValueError()], [asyncio.CancelledError()]])
def test_L33_the_context_is_on_every_event_of_the_turn_and_gone_afterwards(said: list[Any]) -> None:
    whole = Told(said, handlers=[answers])

    async def go() -> None:
        whole.step.set_context({"trace": "t-1"})
        await whole.turn()
        assert {tuple(event.context.items()) for event in whole.events} == {(("trace", "t-1"),)}
        whole.events.clear()
        await whole.turn()
        assert {tuple(event.context.items()) for event in whole.events} == {()}

    run(go())


def test_L33_the_context_of_a_submit_is_gone_afterwards_and_an_event_s_own_stays() -> None:
    whole = Told([T("a")])

    async def go() -> None:
        whole.step.set_context({"trace": "t-1"})
        await whole.step.emit(PropertiesEvent(properties={}, context={"trace": "own"}))
        await whole.step.submit(whole.state, Role.USER)
        await whole.step.submit(whole.state, Role.USER)

    run(go())
    assert [dict(event.context) for event in whole.events] == [{"trace": "own"}, {"trace": "t-1"}, {}]


def test_L33_a_submit_within_a_turn_leaves_the_turn_its_context() -> None:
    async def handler(part: Any, emitter: Any) -> None:
        if part == text("a"):
            await whole.step.submit(whole.state, Role.USER)

    whole = Told([T("a")], handlers=[handler])

    async def go() -> None:
        whole.step.set_context({"trace": "t-1"})
        await whole.turn()

    run(go())
    assert whole.events[-1].context == {"trace": "t-1"}


def test_L34_options_that_were_set_before_come_first() -> None:
    whole = Told([T("a")], options={"model": "m-1", "max_tokens": 10, "service_tier": "flex", "seed": 1})
    run(whole.turn(max_tokens=20, seed=2, thinking_level="low"))
    run(whole.turn())
    first, second = whole.provider.requests
    assert (first.model, first.max_tokens, first.thinking_level) == ("m-1", 20, "low")
    assert list(first.options.items()) == [("service_tier", "flex"), ("seed", 2)]
    assert (second.max_tokens, dict(second.options)) == (10, {"service_tier": "flex", "seed": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEvent(Event):
    kind: ClassVar[str] = "plan"
    steps: tuple[str, ...]
    readers: ClassVar[Any] = {"steps": tuple}


def test_L35_an_event_of_another_kind_is_told_to_those_who_want_it() -> None:
    async def plans(part: Any, emitter: Any) -> None:
        await emitter.emit(PlanEvent(steps=("a", "b")))

    async def go() -> None:
        whole = Told([T("x")], handlers=[plans])
        plan, other = whole.step.subscribe("plan"), whole.step.subscribe("error")
        await whole.turn()
        (event,) = plan.take()
        assert isinstance(event, PlanEvent)
        assert (event.steps, event.turn, event.seq) == (("a", "b"), 1, 6)
        assert other.take() == []
        assert from_json(as_json(event)) == event

    run(go())


def test_L36_properties_are_told_with_map_and_context_and_deleting_what_is_absent_changes_nothing() -> None:
    whole = Told([T("a")])

    async def go() -> None:
        listening = whole.step.subscribe("properties")
        whole.step.set_context({"trace": "t-1"})
        await whole.step.emit(PropertiesEvent(properties={"mode": "fast", "gone": None}))
        (event,) = listening.take()
        assert isinstance(event, PropertiesEvent)
        assert (event.properties, event.context) == ({"mode": "fast", "gone": None}, {"trace": "t-1"})
        assert event.applied({"old": "1"}) == {"old": "1", "mode": "fast"}
        assert event.applied({"old": "1", "gone": "2"}) == {"old": "1", "mode": "fast"}

    run(go())


def test_L40_events_as_json_have_a_kind_and_a_context_only_when_one_was_set() -> None:
    plain = as_json(LifecycleEvent(turn=1, seq=2, at=0.5, phase=Phase.DONE))
    assert plain == {"kind": "lifecycle", "turn": 1, "seq": 2, "at": 0.5, "phase": "done"}
    assert next(iter(plain)) == "kind"
    traced = as_json(TurnCompleteEvent(context={"trace": "t-1"}, role=Role.USER, parts=(text("a"),)))
    assert traced["context"] == {"trace": "t-1"}
    assert traced["parts"] == [{"type": "text", "text": "a"}]


def test_a_step_that_is_closed_takes_nothing_more() -> None:
    async def go() -> None:
        whole = Told([T("a")])
        async with whole.step:
            await whole.turn()
        with pytest.raises(StepClosedError):
            await whole.step.submit(whole.state, Role.USER)
        assert whole.step.closed

    run(go())
