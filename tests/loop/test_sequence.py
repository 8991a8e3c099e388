"""The table of legal sequences: every state × every event, and what is said of a sequence that is not legal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness.api_error import ApiError, ErrorKind
from harness.loop.artifacts import ArtifactKind, TextDelta
from harness.loop.events import (
    ArtifactEvent,
    ErrorEvent,
    Event,
    LifecycleEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    NoticeEvent,
    Phase,
    PropertiesEvent,
    Stage,
    TurnCompleteEvent,
)
from harness.loop.sequence import MESSAGES, TURN, Progress, Sequence, Signal, faults, mermaid, message_faults, signal
from harness.loop.state import Role

ERROR = ApiError(kind=ErrorKind.SERVER, message="no")
DELTA = TextDelta("a")


def event(given: Signal, **more: Any) -> Event:
    match given.partition(" "):
        case "lifecycle", _, phase:
            return LifecycleEvent(phase=Phase(phase), **more)
        case "error", _, stage:
            return ErrorEvent(stage=Stage(stage), error=ERROR, **more)
        case "turn_complete", _, _:
            return TurnCompleteEvent(role=Role.ASSISTANT, parts=(), **more)
    return ArtifactEvent(artifact=ArtifactKind.TEXT_DELTA, value=DELTA, **more)


def told(*signals: Signal | Event, turn: int = 1) -> list[Event]:
    """Events of one turn, numbered."""
    return [
        given if isinstance(given, Event) else event(given, turn=turn, seq=number, at=float(number))
        for number, given in enumerate(signals, 1)
    ]


S = Signal
GOOD = (S.SUBMITTED, S.STREAMING, S.ARTIFACT, S.ARTIFACT, S.TURN, S.TURN, S.DONE)
ROUTES: dict[Progress, tuple[Signal, ...]] = {
    Progress.ASKED: (),
    Progress.SUBMITTED: GOOD[:1],
    Progress.STREAMING: GOOD[:2],
    Progress.ANSWERING: GOOD[:3],
    Progress.COMPLETE: GOOD[:5],
    Progress.DONE: GOOD,
    Progress.FAILED: (S.SUBMITTED, S.PROVIDER_ERROR),
    Progress.CANCELLED: (S.CANCELLED,),
}


@pytest.mark.parametrize("given", Signal)
@pytest.mark.parametrize("state", Progress)
def test_every_state_and_event(state: Progress, given: Signal) -> None:
    turn = Sequence()
    assert [turn.add(e) for e in told(*ROUTES[state])] == [None] * len(ROUTES[state])
    assert turn.progress is state
    said = turn.add(event(given, turn=1))
    if given in TURN[state]:
        assert said is None
        assert turn.progress is TURN[state][given]
    else:
        assert said is not None
        assert given in said
        assert turn.progress is state


def test_every_signal_is_an_event() -> None:
    assert [signal(event(given)) for given in Signal] == list(Signal)


@pytest.mark.parametrize(
    "signals",
    [
        GOOD,
        (S.SUBMITTED, S.TURN, S.DONE),
        (S.TRANSFORM_ERROR,),
        (S.SUBMITTED, S.PROVIDER_ERROR),
        (*GOOD[:4], S.PROVIDER_ERROR),
        (*GOOD[:5], S.HANDLER_ERROR),
        *((*GOOD[:end], S.CANCELLED) for end in range(7)),
    ],
    ids=lambda signals: f"{len(signals)} {signals[-1]}",
)
def test_legal_turns(signals: tuple[Signal, ...]) -> None:
    assert list(faults(told(*signals))) == []


@pytest.mark.parametrize(
    ("signals", "position", "words"),
    [
        ((S.SUBMITTED, S.ARTIFACT, S.TURN, S.DONE), 1, "artifact while the turn is submitted"),
        ((S.SUBMITTED, S.STREAMING, S.TURN, S.DONE), 2, "turn_complete while the turn is streaming"),
        ((S.SUBMITTED, S.TURN, S.DONE, S.DONE), 3, "lifecycle done after the turn had ended (done)"),
        ((S.SUBMITTED, S.DONE), 1, "where one of these is due: lifecycle streaming, turn_complete"),
        ((S.SUBMITTED, S.TURN), 2, "turn 1 has no end: the last that is known is complete"),
        ((*GOOD[:5], S.ARTIFACT, S.DONE), 5, "artifact while the turn is complete"),
        ((S.SUBMITTED, S.PROVIDER_ERROR, S.CANCELLED), 2, "lifecycle cancelled after the turn had ended (failed)"),
    ],
)
def test_illegal_turns(signals: tuple[Signal, ...], position: int, words: str) -> None:
    first = next(faults(told(*signals)))
    assert first.position == position
    assert words in first.says


def test_what_no_table_names_comes_anywhere_but_after_the_end() -> None:
    asides = [
        PropertiesEvent(properties={"a": "b"}, turn=1),
        NoticeEvent(message="again", attempt=1, max_attempts=2, delay=0.0, error=ERROR, turn=1),
    ]
    for aside in asides:
        for state, route in ROUTES.items():
            turn = Sequence()
            for each in told(*route):
                turn.add(each)
            assert (turn.add(aside) is None) == bool(TURN[state])


def test_numbers_and_times_only_grow() -> None:
    turn = told(*GOOD)
    assert [f.position for f in faults([*turn[:3], *turn[4:]])] == [3]
    assert list(faults([*turn[:3], *turn[4:]], whole=False)) == []
    twice = list(faults([*turn[:3], turn[2], *turn[3:]], whole=False))
    assert ["has the number 3 after 3" in f.says for f in twice] == [True]
    back = list(faults([turn[0], event(S.STREAMING, turn=1, seq=2, at=0.5)], whole=False))
    assert ["is at 0.5 s" in f.says for f in back] == [True]


def test_turns_are_followed_each_for_itself_and_what_is_outside_of_them_is_not() -> None:
    first, second = told(*GOOD, turn=1), told(S.TRANSFORM_ERROR, turn=2)
    between = TurnCompleteEvent(role=Role.USER, parts=(), seq=8, at=8.0)
    after = [event(given, turn=2, seq=9, at=9.0) for given in (S.TRANSFORM_ERROR,)]
    assert second
    assert list(faults([*first, between, *after])) == []


def test_an_unfinished_turn_is_no_fault_of_a_part_of_the_events() -> None:
    assert list(faults(told(*GOOD[:4]), whole=False)) == []


START = MessageStartEvent(role=Role.ASSISTANT)
UPDATE = MessageUpdateEvent(parts=(), delta=DELTA)
END = MessageEndEvent(role=Role.ASSISTANT, parts=())


def test_messages_come_in_pairs() -> None:
    assert list(message_faults([START, UPDATE, UPDATE, END, START, END])) == []
    assert [f.position for f in message_faults([START, START])] == [1, 2]
    assert [f.says for f in message_faults([END])] == ["message_end between messages"]
    assert [f.says for f in message_faults([START, UPDATE])] == ["a message has no end"]


def test_messages_are_passed_over_where_turns_are_followed() -> None:
    turn = told(*GOOD)
    assert list(faults([turn[0], START, *turn[1:], UPDATE])) == []
    assert list(message_faults([START, *turn, END])) == []


def test_the_documentation_draws_the_tables() -> None:
    text = (Path(__file__).parents[2] / "docs" / "loop.md").read_text(encoding="utf-8")
    drawn = re.findall(r"```mermaid\n(.*?)```", text, re.DOTALL)
    assert drawn == [mermaid(TURN), mermaid(MESSAGES)]
