"""The rows of semantics.md 5.2 on one turn: what is gathered, in which order it is told, how it ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.api_error import ErrorKind
from harness.errors import HarnessError
from harness.loop.artifacts import ArtifactKind, Complete, Finish, ReasoningDelta, Settled, Side, TextDelta, ToolCallDelta
from harness.loop.events import ErrorEvent, Event, LifecycleEvent, Phase, Stage
from harness.loop.failures import StepClosedError, TurnFailed, TurnOverError
from harness.loop.gathering import folded
from harness.loop.state import Role, State
from harness.response import FinishReason, Reasoning, Response, ToolCall, Usage

from .running import rounds, run
from .scripted import failure
from .stepping import Stuck, Told, asked, call, parts, text, told, turns

T = TextDelta
R = ReasoningDelta


def test_L01_two_fragments_give_exactly_these_events() -> None:
    whole = told([T("Hel"), T("lo")])
    assert whole.names == ["submitted", "streaming", "text_delta", "text_delta", "text", "turn_complete", "done"]
    assert parts(whole.events) == (text("Hello"),)
    assert [event.seq for event in whole.events] == [1, 2, 3, 4, 5, 6, 7]
    assert {event.turn for event in whole.events} == {1}


def test_L01_fragments_are_told_while_the_provider_goes_on() -> None:
    seen: list[int] = []
    whole = Told(())

    async def look() -> None:
        seen.append(len(whole.events))

    whole.provider.attempts = [[look, T("Hel"), look, T("lo"), look]]
    run(whole.turn())
    assert seen == [1, 3, 4]


def test_L02_a_provider_that_says_nothing_gives_an_empty_turn_and_no_streaming() -> None:
    whole = told([])
    assert whole.names == ["submitted", "turn_complete", "done"]
    assert parts(whole.events) == ()


def test_L03_fragments_of_a_text_gather_across_reasoning() -> None:
    whole = told([T("a"), R("why"), T("b")])
    assert parts(whole.events) == (text("ab"), Reasoning(text="why"))


def test_L04_blocks_stand_in_the_order_in_which_they_began() -> None:
    c = ToolCallDelta
    said = [
        T("a"),
        c(0, id="c0", name="add", arguments="{"),
        R("why"),
        T("b"),
        c(1, id="c1", name="sub"),
        c(0, arguments="}"),
        c(1, arguments="[]"),
        R("?"),
    ]
    whole = told(said)
    assert parts(whole.events) == (text("ab"), call("add", 0, "{}"), Reasoning(text="why?"), call("sub", 1, "[]"))
    assert whole.names[10:] == ["text", "tool_call", "reasoning", "tool_call", "turn_complete", "done"]


def test_L05_a_whole_text_closes_what_is_open() -> None:
    whole = told([T("a"), T("b"), Complete(text("WHOLE")), T("c")])
    assert parts(whole.events) == (text("ab"), text("WHOLE"), text("c"))
    assert whole.names[2:] == ["text_delta", "text_delta", "text", "text", "text_delta", "text", "turn_complete", "done"]
    assert [event.value for event in whole.events if event.topic == "text"] == list(parts(whole.events))


@pytest.mark.parametrize(
    "side",
    [
        Side(ArtifactKind.USAGE, Usage(input_tokens=1)),
        Side(ArtifactKind.REASONING_SIGNATURE, "sig"),
        Side(ArtifactKind.FINISH, FinishReason.STOP),
        Side(ArtifactKind.METADATA, {"a": 1}),
        Side(ArtifactKind.UNKNOWN, {"path": "/x", "value": 1}),
    ],
    ids=lambda side: side.kind.value,
)
def test_L06_side_channels_do_not_split_a_text(side: Side) -> None:
    whole = told([R("why"), T("a"), side, T("b")])
    signature = "sig" if side.kind is ArtifactKind.REASONING_SIGNATURE else None
    assert parts(whole.events) == (Reasoning(text="why", signature=signature), text("ab"))
    assert whole.names[4] == side.kind.value


def test_L06_usage_adds_up_field_by_field() -> None:
    usages = [Usage(input_tokens=3, output_tokens=1), Usage(output_tokens=7)]
    whole = told([T("a"), *(Side(ArtifactKind.USAGE, usage) for usage in usages)])
    assert turns(whole.events)[0].usage == Usage(input_tokens=3, output_tokens=7)


def test_L07_interleaved_calls_gather_by_slot() -> None:
    c = ToolCallDelta
    whole = told(
        [
            c(0, id="c0", name="add", arguments='{"a"'),
            c(1, id="c1", name="sub", arguments="{"),
            c(0, id="other", name="add", arguments=":1}"),
            c(1, arguments="}"),
        ]
    )
    assert parts(whole.events) == (call("add", 0, '{"a":1}'), call("sub", 1, "{}"))


def test_L07_calls_without_an_id_get_one_by_their_position() -> None:
    whole = told([Complete(call("first", 7)), ToolCallDelta("x", name="add"), ToolCallDelta("y", name="add")])
    _, second, third = parts(whole.events)
    assert (second, third) == (
        ToolCall(id="call_1", name="add", arguments="", synthetic_id=True),
        ToolCall(id="call_2", name="add", arguments="", synthetic_id=True),
    )


def test_L08_a_turn_needs_nobody_who_listens() -> None:
    whole = told([T("x")] * 1000)
    assert whole.raised is None
    assert whole.roles == ["assistant"]
    assert whole.state.turns[0].parts == (text("x" * 1000),)


def test_L09_an_error_after_output_flushes_and_ends_the_turn() -> None:
    error = ValueError("broken")
    whole = told([T("Hel"), T("lo"), error], turns=[asked()])
    assert whole.names == ["submitted", "streaming", "text_delta", "text_delta", "text", "error"]
    last = whole.events[-1]
    assert isinstance(last, ErrorEvent)
    assert (last.stage, last.error) == (Stage.PROVIDER, error)
    assert last.error is error
    assert whole.roles == ["user"]
    assert isinstance(whole.raised, TurnFailed)
    assert (whole.raised.error, whole.raised.__cause__, whole.raised.parts) == (error, error, (text("Hello"),))


def test_L09_what_an_api_said_is_the_error_and_the_partial_response_is_kept() -> None:
    refused = failure("slow down")
    refused.response = Response(parts=(text("Hel"),))
    whole = told([T("Hel"), refused])
    assert isinstance(whole.raised, TurnFailed)
    assert whole.raised.error is refused.error
    assert whole.raised.error.kind is ErrorKind.RATE_LIMITED
    assert whole.raised.response is refused.response
    assert whole.raised.__cause__ is refused


def test_L10_an_error_before_output_is_submitted_and_error_only() -> None:
    handled: list[Any] = []

    async def handler(part: Any, emitter: Any) -> None:
        handled.append(part)

    whole = told([ValueError("broken")], handlers=[handler])
    assert whole.names == ["submitted", "error"]
    assert (whole.roles, handled) == ([], [])


def cancelled_while_it_waits(provider: Stuck, *, grace: float = 0.0, times: int = 1) -> Told:
    whole = Told(provider, grace=grace, turns=[asked()])

    async def go() -> None:
        turn = asyncio.create_task(whole.step.run_turn(whole.state))
        await provider.waiting.wait()
        for _ in range(times):
            turn.cancel()
            await rounds(1)
        with pytest.raises(asyncio.CancelledError):
            await turn
        before = len(whole.events)
        whole.abandoned = whole.step.abandoned  # type: ignore[attr-defined]
        provider.release.set()
        await rounds()
        assert len(whole.events) == before  # nothing comes after the end
        assert whole.step.abandoned == 0

    run(go())
    return whole


def test_L11_a_turn_that_is_cancelled_is_cancelled_and_no_error() -> None:
    whole = cancelled_while_it_waits(Stuck(T("Hel")), grace=60)
    assert whole.names == ["submitted", "streaming", "text_delta", "cancelled"]
    assert whole.roles == ["user"]
    assert whole.provider.cancelled == 1


@pytest.mark.parametrize("topic", ["submitted", "streaming", "text_delta", "text", "turn_complete"])
def test_L11_nothing_comes_after_the_event_at_which_it_was_cancelled(topic: str) -> None:
    async def go() -> None:
        task = asyncio.current_task()
        assert task is not None
        whole = Told([T("a"), T("b"), T("c")])
        whole.then = lambda event: task.cancel() if whole.names[-1] == topic else None
        try:
            await whole.step.run_turn(whole.state)
        except asyncio.CancelledError:
            task.uncancel()
        assert whole.names[-2:] == [topic, "cancelled"]
        assert whole.names.count(topic) == 1

    run(go())


def test_L11_a_turn_that_timed_out_is_cancelled() -> None:
    async def go() -> None:
        whole = Told(Stuck(T("a")))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await whole.step.run_turn(whole.state)
        assert whole.names[-1] == "cancelled"
        whole.provider.release.set()
        await whole.turn()
        assert whole.names[-2:] == ["turn_complete", "done"]

    run(go())


def test_L11_a_provider_whose_own_task_was_cancelled_cancels_the_turn() -> None:
    whole = told([T("a"), asyncio.CancelledError()])
    assert whole.names == ["submitted", "streaming", "text_delta", "cancelled"]
    assert isinstance(whole.raised, asyncio.CancelledError)


def test_L12_a_provider_that_ignores_being_cancelled_is_left_behind() -> None:
    whole = cancelled_while_it_waits(Stuck(T("Hel"), stubborn=True))
    assert whole.names == ["submitted", "streaming", "text_delta", "cancelled"]
    assert whole.provider.cancelled == 1
    assert [type(refused) for refused in whole.provider.refused] == [asyncio.CancelledError]
    assert whole.abandoned == 1  # type: ignore[attr-defined]


def test_L12_cancelling_twice_does_not_wait_for_the_grace() -> None:
    whole = cancelled_while_it_waits(Stuck(stubborn=True), grace=3600, times=2)
    assert whole.names == ["submitted", "cancelled"]


def test_L12_a_provider_that_never_pauses_can_be_cancelled() -> None:
    class Endless:
        name = "endless"

        async def invoke(self, request: Any, emit: Any) -> None:
            while True:
                await emit(T("x"))

    async def go() -> None:
        whole = Told(Endless())
        turn = asyncio.create_task(whole.step.run_turn(whole.state))
        await rounds()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert whole.names[-1] == "cancelled"

    run(go())


def test_L12_a_provider_that_tries_for_ever_keeps_nobody_else_from_going_on() -> None:
    stop = asyncio.Event()

    class Deaf:
        name = "deaf"

        async def invoke(self, request: Any, emit: Any) -> None:
            while not stop.is_set():
                try:
                    await emit(T("x"))
                except (asyncio.CancelledError, TurnOverError):
                    continue

    async def go() -> None:
        whole = Told(Deaf(), grace=0)
        turn = asyncio.create_task(whole.step.run_turn(whole.state))
        await rounds()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert (whole.names[-1], whole.step.abandoned) == ("cancelled", 1)
        stop.set()
        await rounds()
        assert whole.step.abandoned == 0

    run(go())


def test_L12_what_a_provider_says_after_its_turn_is_refused() -> None:
    provider = Stuck(T("a"))
    provider.release.set()
    whole = Told(provider)

    async def go() -> None:
        await whole.turn()
        assert whole.names[-1] == "done"
        with pytest.raises(TurnOverError):
            await provider.emit(T("late"))
        assert whole.names[-1] == "done"

    run(go())


def test_L37_fragments_are_never_in_the_turn_that_is_stored() -> None:
    said = [T("a"), R("b"), ToolCallDelta(0, id="c0", name="add", arguments="{}"), Complete(text("c")), T("d")]
    whole = told(said)
    (turn,) = whole.state
    assert turn.parts == (text("a"), Reasoning(text="b"), call(), text("c"), text("d"))
    assert sum(name.endswith("_delta") for name in whole.names) == 4


async def _raises(part: Any, emitter: Any) -> None:
    raise ValueError("handler")


def _breaks(state: State) -> State:
    raise ValueError("transform")


def _callback(event: Any) -> None:
    if event.kind == "turn_complete":
        raise ValueError("callback")


@pytest.mark.parametrize(
    ("said", "settings", "end"),
    [
        ([], {}, "done"),
        ([T("a")], {}, "done"),
        ([T("a"), ValueError()], {}, "error"),
        ([ValueError()], {}, "error"),
        ([asyncio.CancelledError()], {}, "cancelled"),
        (["no artifact"], {}, "error"),
        ([Side(ArtifactKind.TEXT, "no side")], {}, "error"),
        ([T("a")], {"transforms": [_breaks]}, "error"),
        ([T("a")], {"transforms": [lambda state: None]}, "error"),
        ([T("a")], {"handlers": [_raises]}, "error"),
        ([T("a")], {"on_emit": [_callback]}, "error"),
    ],
)
def test_L38_every_turn_has_exactly_one_terminal_event_and_it_is_the_last(
    said: list[Any], settings: dict[str, Any], end: str
) -> None:
    whole = told(said, **settings)
    assert [event.terminal for event in whole.events] == [False] * (len(whole.events) - 1) + [True]
    assert whole.names[-1] == end
    run(whole.turn())
    assert sum(event.terminal for event in whole.events) == 2
    assert {event.turn for event in whole.events} == {1, 2}


def test_L38_nobody_else_ends_a_turn() -> None:
    whole = Told(())
    tried: list[str] = []

    async def end() -> None:
        with pytest.raises(HarnessError, match="only the step ends"):
            whole.step.emit(LifecycleEvent(phase=Phase.DONE))
        tried.append("step")

    async def handler(part: Any, emitter: Any) -> None:
        with pytest.raises(HarnessError, match="does not end the turn"):
            await emitter.emit(ErrorEvent(stage=Stage.HANDLER, error=ValueError()))
        tried.append("emitter")

    whole = Told([T("a"), end], handlers=[handler])
    run(whole.turn())
    assert tried == ["step", "emitter"]
    assert whole.names.count("done") == 1


def test_L38_a_callback_that_is_cancelled_at_the_end_does_not_end_the_turn_again() -> None:
    def cancels(event: Event) -> None:
        if event.terminal:
            raise asyncio.CancelledError

    async def go() -> None:
        whole = Told([T("a")], on_emit=[cancels])
        listening = whole.step.subscribe()
        await whole.turn()
        assert isinstance(whole.raised, asyncio.CancelledError)
        assert listening.take() == whole.events
        assert [event.terminal for event in whole.events][-2:] == [False, True]

    run(go())


def test_L38_two_turns_at_once_are_refused() -> None:
    provider = Stuck()
    whole = Told(provider)

    async def go() -> None:
        turn = asyncio.create_task(whole.turn())
        await provider.waiting.wait()
        with pytest.raises(HarnessError, match="is running"):
            await whole.step.run_turn(whole.state)
        provider.release.set()
        await turn

    run(go())
    assert whole.names == ["submitted", "turn_complete", "done"]


def test_L38_closing_a_step_ends_its_turn() -> None:
    provider = Stuck(T("a"))
    whole = Told(provider)

    async def go() -> None:
        listening = whole.step.subscribe()
        turn = asyncio.create_task(whole.turn())
        await provider.waiting.wait()
        await whole.step.close()
        await turn
        assert isinstance(whole.raised, StepClosedError)
        assert [event.topic async for event in listening][-1] == "lifecycle"
        assert whole.names[-1] == "cancelled"
        with pytest.raises(StepClosedError):
            await whole.step.run_turn(whole.state)

    run(go())


def test_L38_a_handler_that_closes_its_step_cancels_its_turn() -> None:
    async def handler(part: Any, emitter: Any) -> None:
        await whole.step.close()
        raise AssertionError("went on")

    whole = Told([T("a")], handlers=[handler])
    run(whole.turn())
    assert isinstance(whole.raised, StepClosedError)
    assert whole.names[-2:] == ["turn_complete", "cancelled"]


@pytest.mark.parametrize(
    ("reasons", "finish"),
    [
        ([FinishReason.LENGTH, None], Finish(FinishReason.LENGTH)),
        ([Finish(FinishReason.LENGTH, "max_tokens"), Finish()], Finish(FinishReason.LENGTH, "max_tokens")),
        ([None, FinishReason.STOP], Finish(FinishReason.STOP)),
        ([FinishReason.STOP, FinishReason.LENGTH], Finish(FinishReason.LENGTH)),
        ([None], None),
    ],
)
def test_L39_a_finish_reason_of_null_never_overwrites(reasons: list[Any], finish: Finish | None) -> None:
    whole = told([T("a"), *(Side(ArtifactKind.FINISH, reason) for reason in reasons)])
    (turn,) = turns(whole.events)
    assert turn.finish == finish == folded(whole.events).finish
    assert turn.response is not None
    assert turn.response.finish_reason == (finish.reason if finish else None)


def test_L39_a_stop_with_calls_is_a_stop_for_calls() -> None:
    whole = told([ToolCallDelta(0, id="c0", name="add"), Side(ArtifactKind.FINISH, Finish(FinishReason.STOP, "STOP"))])
    assert turns(whole.events)[0].finish == Finish(FinishReason.TOOL_CALLS, "STOP")
    assert folded(whole.events).finish == Finish(FinishReason.TOOL_CALLS, "STOP")


def test_law_5_the_turn_that_the_provider_settles_is_the_turn() -> None:
    whole_parts = (text("first"), Reasoning(text="why", signature="s"), text("twice"), text("twice"))
    response = Response(parts=whole_parts, raw={"id": "r-1"})
    whole = told([Complete(text("first")), T("twi"), R("why"), T("ce"), Settled(whole_parts, response)])
    assert parts(whole.events) == folded(whole.events).parts == whole_parts
    assert whole.names.count("text") == 3
    assert turns(whole.events)[0].response is response
    (turn,) = whole.state
    assert (turn.role, turn.parts, turn.response) == (Role.ASSISTANT, whole_parts, response)
