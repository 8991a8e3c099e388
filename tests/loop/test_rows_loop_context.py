"""Rows P01–P10 of semantics.md 5.3: what the provider is asked."""

from __future__ import annotations

from typing import Any

from harness.loop.context import InRun, Origin, RunContext, StreamConfig, working_turns
from harness.loop.state import Role, ToolResult, Turn
from harness.request import CacheSettings, ResponseFormat, ThinkingLevel, ToolDefinition
from harness.response import Text, ToolCall

from .scripted import Scripted, answer, ask, failure, text_of, user


def said(text: str, at: float = 0.0) -> InRun:
    return InRun(turn=Turn(role=Role.ASSISTANT, parts=(Text(text=text),), at=at))


def calling(*ids: str, at: float) -> Turn:
    return Turn(role=Role.ASSISTANT, parts=tuple(ToolCall(id=id, name="tide", arguments="{}") for id in ids), at=at)


def result(*ids: str, at: float, content: str = "high") -> Turn:
    parts = tuple(ToolResult(call_id=id, name="tide", content=content) for id in ids)
    return Turn(role=Role.TOOL, parts=parts, at=at)


def texts(context: RunContext) -> list[str]:
    return [text_of(placed.turn) for placed in working_turns(context)]


def test_P01_without_streams_the_messages_are_the_context() -> None:
    context = RunContext(turns=(user("b", at=9), user("a", at=1)))
    assert texts(context) == ["b", "a"]
    assert {placed.origin for placed in working_turns(context)} == {Origin.MESSAGES}


def test_P02_streams_are_merged_by_time_and_users_come_first_at_the_same_time() -> None:
    context = RunContext(
        turns=(user("only in the log"),),
        user_context=(user("late", at=5), user("one", at=1), user("two", at=1)),
        inrun=(said("after two", at=1), said("zero", at=0), said("also after two", at=1)),
    )
    assert texts(context) == ["zero", "one", "two", "after two", "also after two", "late"]
    assert [p.origin for p in working_turns(context)][:2] == [Origin.INRUN, Origin.USER_CONTEXT]


def test_P03_a_memo_stands_as_a_user_message_where_the_turn_stood() -> None:
    pruned = InRun(turn=calling("a", at=2), pruned=True, memo="the tide was looked up")
    context = RunContext(user_context=(user("first", at=1), user("last", at=3)), inrun=(pruned,))
    first, memo, last = working_turns(context)
    assert text_of(memo.turn) == "[Pruned context summary: the tide was looked up]"
    assert (memo.turn.role, memo.turn.at, memo.origin) == (Role.USER, 2, Origin.MEMO)
    assert (text_of(first.turn), text_of(last.turn)) == ("first", "last")


def test_P03_an_empty_memo_is_a_memo_and_one_on_a_live_turn_is_not() -> None:
    inrun = (InRun(turn=user("x", at=1), pruned=True, memo=""), InRun(turn=user("live", at=2), memo="not yet"))
    assert texts(RunContext(inrun=inrun)) == ["[Pruned context summary: ]", "live"]


def test_P04_a_silently_pruned_turn_is_absent() -> None:
    context = RunContext(
        user_context=(user("asked", at=1),), inrun=(InRun(turn=said("x").turn, pruned=True), said("kept", at=2))
    )
    assert texts(context) == ["asked", "kept"]


def test_P05_what_was_pruned_does_not_come_back_with_the_log() -> None:
    context = RunContext(turns=(user("long ago"),), inrun=(InRun(turn=said("x").turn, pruned=True),))
    assert texts(context) == []


def test_P06_a_result_follows_its_call_whatever_was_said_in_between() -> None:
    call, tide = calling("a", at=1), result("a", at=3)
    context = RunContext(user_context=(user("hurry", at=2),), inrun=(InRun(turn=call), InRun(turn=tide)))
    assert [placed.turn for placed in working_turns(context)] == [call, tide, user("hurry", at=2)]


def test_P06_results_of_one_turn_stand_in_the_order_of_its_calls() -> None:
    call, early, late = calling("a", "b", "c", at=1), result("b", "c", at=2), result("a", at=4)
    context = RunContext(user_context=(user("hurry", at=3),), inrun=tuple(InRun(turn=turn) for turn in (call, early, late)))
    assert [placed.turn for placed in working_turns(context)] == [call, late, early, user("hurry", at=3)]


def test_P06_ids_that_repeat_from_turn_to_turn_keep_their_own_results() -> None:
    first, second = calling("call_0", at=1), calling("call_0", at=3)
    low, high = result("call_0", at=2, content="low"), result("call_0", at=5, content="high")
    inrun = tuple(InRun(turn=turn) for turn in (first, low, second, high))
    context = RunContext(user_context=(user("hurry", at=4),), inrun=inrun)
    assert [placed.turn for placed in working_turns(context)] == [first, low, second, high, user("hurry", at=4)]


def test_P06_no_call_gets_two_results_while_another_waits_and_none_gets_anothers() -> None:
    first, second = calling("call_0", at=1), calling("call_0", at=2)
    only = result("call_0", at=3)
    context = RunContext(inrun=tuple(InRun(turn=turn) for turn in (first, second, only)))
    assert [placed.turn for placed in working_turns(context)] == [first, second, only]
    inrun = tuple(InRun(turn=turn) for turn in (first, second, only, result("call_0", at=4)))
    assert [placed.turn.role for placed in working_turns(RunContext(inrun=inrun))] == [Role.ASSISTANT, Role.TOOL] * 2


def test_P06_a_result_that_is_stamped_before_its_call_follows_it_and_one_without_a_call_stays() -> None:
    call, early, stray = calling("a", at=2), result("a", at=1), result("nobody", at=0)
    context = RunContext(inrun=tuple(InRun(turn=turn) for turn in (stray, early, call)))
    assert [placed.turn for placed in working_turns(context)] == [stray, call, early]


def test_P07_the_context_is_transformed_before_it_is_converted() -> None:
    order: list[str] = []

    def transform(turns: tuple[Turn, ...]) -> list[Turn]:
        order.append("transform")
        return [*turns, user("added")]

    async def convert(turns: tuple[Turn, ...]) -> list[Turn]:
        order.append("convert")
        return [user(text_of(turn).upper()) for turn in turns]

    provider = Scripted(answer("ok"))
    asked = ask(provider, RunContext(turns=(user("given"),)), StreamConfig(transform_context=transform, convert=convert))
    assert order == ["transform", "convert"]
    assert [text_of(turn) for turn in provider.requests[0].turns] == ["GIVEN", "ADDED"]
    assert asked.of("request")[0].origins == ("hook", "hook")


def test_P08_turns_that_are_not_for_the_model_are_dropped_without_a_conversion() -> None:
    banner = Turn(role=Role.USER, parts=(Text(text="banner"),), extension={"shown": True})
    provider = Scripted(answer("ok"))
    ask(provider, RunContext(turns=(user("a"), banner, user("b"))))
    assert [text_of(turn) for turn in provider.requests[0].turns] == ["a", "b"]


def test_P08_a_conversion_of_ones_own_is_taken_verbatim() -> None:
    banner = Turn(role=Role.USER, parts=(Text(text="banner"),), extension={"shown": True})
    provider = Scripted(answer("ok"))
    ask(provider, RunContext(turns=(user("a"), banner)), StreamConfig(convert=reversed))
    assert provider.requests[0].turns == (banner, user("a"))


def test_P09_of_a_tool_the_model_is_told_name_description_and_schema() -> None:
    class Tool:
        name, description, parameters = (
            "tide",
            "Tells the tide.",
            {"type": "object", "properties": {"port": {"type": "string"}}},
        )
        secret = "not for the model"

        async def run(self, port: str) -> str:
            raise AssertionError("nobody runs it here")

    provider = Scripted(answer("ok"))
    ask(provider, RunContext(turns=(user("a"),), tools=(Tool(),)))
    assert provider.requests[0].tools == (
        ToolDefinition(name="tide", description="Tells the tide.", parameters=Tool.parameters),
    )


def test_P10_the_request_is_told_once_and_is_what_the_provider_gets_each_time() -> None:
    everything: dict[str, Any] = {
        "model": "m-1",
        "thinking_level": ThinkingLevel.HIGH,
        "max_tokens": 7,
        "temperature": 0.0,
        "cache": CacheSettings(),
        "response_format": ResponseFormat(schema={"type": "object"}),
        "stop": ("END",),
        "tool_choice": "none",
    }
    config = StreamConfig(**everything, options={"extra_body": {"seed": 1}})
    provider = Scripted([failure()], [failure()], answer("ok"))
    asked = ask(provider, RunContext(system="Be brief.", turns=(user("a"),)), config)
    (told,) = asked.of("request")
    assert len(provider.requests) == 3
    assert all(request == told.request for request in provider.requests)
    assert {name: getattr(told.request, name) for name in everything} == everything
    assert (told.request.system, told.request.turns) == ("Be brief.", (user("a"),))
    assert told.request.options == {"extra_body": {"seed": 1}}
    assert told.origins == ("messages",)
    assert asked.told.index("request") == 1  # after submitted, before the first attempt
