"""Which sequences of events are legal: one table, read by a small interpreter (semantics.md 2.3, decisions D7 and D8, law 9).

`TURN` tells what may follow in a turn, `MESSAGES` what may follow in the projection to messages. docs/loop.md draws both with
`mermaid`, and a test compares. An event that no table names (notices, properties, kinds of others) changes nothing: it may
come anywhere in a turn, and nowhere after its end.

Weighed: a grammar, which is shorter to write down but cannot say *which* event was not due; checks spread over the step, which
would test the step by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any

from harness.loop.events import Event


class Progress(StrEnum):
    """How far a turn has come; the last three are its ends."""

    ASKED = "asked"
    SUBMITTED = "submitted"
    STREAMING = "streaming"
    ANSWERING = "answering"
    COMPLETE = "complete"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Signal(StrEnum):
    """The events that move a turn."""

    SUBMITTED = "lifecycle submitted"
    STREAMING = "lifecycle streaming"
    ARTIFACT = "artifact"
    TURN = "turn_complete"
    DONE = "lifecycle done"
    CANCELLED = "lifecycle cancelled"
    TRANSFORM_ERROR = "error transform"
    PROVIDER_ERROR = "error provider"
    HANDLER_ERROR = "error handler"


_P, _S = Progress, Signal

TURN: Mapping[Progress, Mapping[Signal, Progress]] = {
    # transforms run before anything is told; one that fails ends the turn without a `submitted`
    _P.ASKED: {_S.SUBMITTED: _P.SUBMITTED, _S.TRANSFORM_ERROR: _P.FAILED, _S.CANCELLED: _P.CANCELLED},
    # an empty turn has no `streaming` (L02)
    _P.SUBMITTED: {
        _S.STREAMING: _P.STREAMING,
        _S.TURN: _P.COMPLETE,
        _S.PROVIDER_ERROR: _P.FAILED,
        _S.CANCELLED: _P.CANCELLED,
    },
    # `streaming` is told with the first artifact, never without one (O3)
    _P.STREAMING: {_S.ARTIFACT: _P.ANSWERING, _S.PROVIDER_ERROR: _P.FAILED, _S.CANCELLED: _P.CANCELLED},
    _P.ANSWERING: {
        _S.ARTIFACT: _P.ANSWERING,
        _S.TURN: _P.COMPLETE,
        _S.PROVIDER_ERROR: _P.FAILED,
        _S.CANCELLED: _P.CANCELLED,
    },
    # handlers tell of turns of their own (O5)
    _P.COMPLETE: {
        _S.TURN: _P.COMPLETE,
        _S.DONE: _P.DONE,
        _S.HANDLER_ERROR: _P.FAILED,
        _S.CANCELLED: _P.CANCELLED,
    },
    _P.DONE: {},
    _P.FAILED: {},
    _P.CANCELLED: {},
}
"""State × event → state, of one turn."""

MESSAGES: Mapping[str, Mapping[str, str]] = {
    "between messages": {"message_start": "in a message"},
    "in a message": {"message_update": "in a message", "message_end": "between messages"},
}
"""The same of the projection to messages: starts and ends come in pairs, whatever happens (rows P26 and P28)."""

_NAMED = {"lifecycle": "phase", "error": "stage"}  # kinds of which a field tells what they mean for the turn
_SIGNALS = {signal.value: signal for signal in Signal}


def signal(event: Event) -> Signal | None:
    """What an event means for its turn; None if it changes nothing."""
    kind = event.kind
    field = _NAMED.get(kind)
    return _SIGNALS.get(f"{kind} {getattr(event, field).value}" if field else kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong at a place in a sequence of events; `position` counts from 0, and is their number where one is missing."""

    position: int
    says: str


class Sequence:
    """Follows one turn event by event."""

    def __init__(self) -> None:
        self.progress = Progress.ASKED

    @property
    def ended(self) -> bool:
        return not TURN[self.progress]

    def add(self, event: Event) -> str | None:
        """Take the next event; returns what is wrong with it. An event that is not due leaves the turn where it is."""
        given = signal(event)
        if self.ended:
            return f"{_name(event)} after the turn had ended ({self.progress})"
        if given is None:
            return None
        after = TURN[self.progress].get(given)
        if after is None:
            due = ", ".join(TURN[self.progress])
            return f"{given} while the turn is {self.progress}, where one of these is due: {due}"
        self.progress = after
        return None


def faults(events: Iterable[Event], *, whole: bool = True) -> Iterator[Fault]:
    """Everything that is wrong with the events of a step, of one turn or of several, in their order; message events are passed
    over.

    `whole` says that they are all of them: then their numbers follow each other, and every turn that began has ended.
    """
    turns: dict[int, Sequence] = {}
    position, before = -1, None
    for position, event in enumerate(events):
        if event.kind in _MESSAGE_KINDS:
            continue
        if before is not None:
            yield from (Fault(position=position, says=says) for says in _compared(before, event, whole))
        before = event
        if event.turn:
            wrong = turns.setdefault(event.turn, Sequence()).add(event)
            if wrong is not None:
                yield Fault(position=position, says=wrong)
    if whole:
        for number, turn in turns.items():
            if not turn.ended:
                yield Fault(position=position + 1, says=f"turn {number} has no end: the last that is known is {turn.progress}")


_MESSAGE_KINDS = frozenset(chain.from_iterable(MESSAGES.values()))


def message_faults(events: Iterable[Event]) -> Iterator[Fault]:
    """Everything that is wrong with a sequence of message events; others are passed over."""
    state, position = next(iter(MESSAGES)), -1
    for position, event in enumerate(events):
        if event.kind not in _MESSAGE_KINDS:
            continue
        after = MESSAGES[state].get(event.kind)
        if after is None:
            yield Fault(position=position, says=f"{event.kind} {state}")
        else:
            state = after
    if state != next(iter(MESSAGES)):
        yield Fault(position=position + 1, says="a message has no end")


def mermaid(table: Mapping[Any, Mapping[Any, Any]]) -> str:
    """A table as a state diagram in the words of Mermaid. Events that lead to the same place share an arrow."""
    lines = ["stateDiagram-v2"]
    names = {state: f"s{number}" if " " in state else str(state) for number, state in enumerate(table)}
    lines += [f"    {name} : {state}" for state, name in names.items() if name != state]
    lines.append(f"    [*] --> {next(iter(names.values()))}")
    for state, row in table.items():
        for after in dict.fromkeys(row.values()):
            events = ", ".join(event for event, to in row.items() if to == after)
            lines.append(f"    {names[state]} --> {names[after]} : {events}")
        if not row:
            lines.append(f"    {names[state]} --> [*]")
    return "\n".join(lines) + "\n"


def _compared(before: Event, event: Event, whole: bool) -> Iterator[str]:
    """Numbers and times only grow; with every event at hand, numbers grow by one."""
    if event.seq <= before.seq or (whole and event.seq != before.seq + 1):
        yield f"{_name(event)} has the number {event.seq} after {before.seq}"
    if event.at < before.at:
        yield f"{_name(event)} is at {event.at} s, before the event that comes before it ({before.at} s)"


def _name(event: Event) -> str:
    return signal(event) or event.kind
