"""Did the loop tell the truth about a turn? What its events say, against the bytes and against the twin (laws 5 and 9).

Of one side: the sequence is legal, the end that was told is the one that was recorded, and what was told folds to the response
that the collector builds by itself. Of both sides: they tell the same turn, which in shape mode means a turn of the same make.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from harness.adapters.observation import Observation
from harness.api_error import ApiError
from harness.cassette.model import Match
from harness.conformance.compare import ABSENT
from harness.errors import Where
from harness.findings import Finding
from harness.loop.events import ErrorEvent, Event, LifecycleEvent, TurnCompleteEvent
from harness.loop.gathering import Folded, folded
from harness.loop.sequence import faults
from harness.loop.values import plain
from harness.response import FinishReason, Other, Reasoning, Response, Text, ToolCall, Usage

_MOST_FAULTS = 20  # of one sequence; what follows a wrong event is wrong as a rule


def told(seen: Observation, *, cancelled: bool = False) -> Iterator[Finding]:
    """What is wrong with the events of one side of a cassette, by themselves and against what else was observed of it.
    `cancelled` says that whoever awaited the turn was."""
    events = seen.events or ()
    for fault, _ in zip(faults(events), range(_MOST_FAULTS), strict=False):
        where = Where(path=f"/events/{fault.position}")
        yield Finding(kind="events/sequence", message=f"event {fault.position}: {fault.says}", where=where)
    wanted, got = "cancelled" if cancelled else _end_of(seen), end(events)
    if wanted != got:
        message = f"the loop told that the turn ended with {got}, the recording ends with {wanted}"
        yield Finding(kind="events/end", message=message, expected=wanted, got=got)
    elif seen.error is None and seen.response is not None:
        yield from _folded(events, seen.response)


def same_turn(
    stream: Observation, reference: Observation, match: Match, *, declared: bool = True, counted: bool = True
) -> Iterator[Finding]:
    """Where the events of the streamed turn and those of its twin tell different turns.

    Counts are compared where equal values were `declared` to be expected: two answers that happen to say the same may still
    differ in what was cached. `counted` tells whether the request asked the stream for usage at all.
    """
    sides = folded(reference.events or ()), folded(stream.events or ())
    if not counted and sides[1].usage is None:
        sides = replace(sides[0], usage=None), sides[1]
    ends = end(reference.events or ()), end(stream.events or ())
    view = _values if match == "exact" else _make
    counts = _counts if declared else _counted
    one, other = ({"/end": end, **view(turn), **counts(turn.usage)} for end, turn in zip(ends, sides, strict=True))
    for path in dict.fromkeys([*one, *other]):
        expected, got = one.get(path, ABSENT), other.get(path, ABSENT)
        if expected == got or (match == "shape" and ABSENT in (expected, got)):
            continue
        message = f"the streamed turn and its twin, each run through the loop, differ in {path}"
        yield Finding(kind="events/turn", message=message, where=Where(path=path), expected=expected, got=got)


def end(events: Sequence[Event]) -> str:
    """How a turn ended as its events tell it: `done`, `cancelled`, or an error with its stage and kind."""
    last = events[-1] if events else None
    if isinstance(last, LifecycleEvent) and last.terminal:
        return last.phase.value
    if not isinstance(last, ErrorEvent):
        return "nothing"
    error = last.error.kind.value if isinstance(last.error, ApiError) else type(last.error).__name__
    return f"error {last.stage.value}: {error}"


def _end_of(seen: Observation) -> str:
    return "done" if seen.error is None else f"error provider: {seen.error.kind.value}"


def _folded(events: Sequence[Event], response: Response) -> Iterator[Finding]:
    """Law 5: the response, from the events alone, and the turn that is kept."""
    parts, finish = folded(events), response.finish_reason
    if finish is FinishReason.STOP and response.tool_calls:
        finish = FinishReason.TOOL_CALLS
    complete = [event.parts for event in events if isinstance(event, TurnCompleteEvent)]
    wanted = {"/parts": response.parts, "/usage": response.usage, "/finish": finish, "/turn": response.parts}
    got = {
        "/parts": parts.parts,
        "/usage": parts.usage,
        "/finish": parts.finish.reason if parts.finish else None,
        "/turn": complete[0] if complete else None,
    }
    for path, expected in wanted.items():
        if got[path] != expected:
            message = f"what the events tell of {path[1:]} is not what the stream says"
            yield Finding(
                kind="events/folded",
                message=message,
                where=Where(path=path),
                expected=plain(expected),
                got=plain(got[path]),
            )


def _values(turn: Folded) -> dict[str, Any]:
    """What a turn says, place by place; ids and signatures differ between two answers and are left to the body comparison."""
    shown: dict[str, Any] = {"/finish": plain(turn.finish.reason) if turn.finish else None}
    for number, part in enumerate(_said(turn)):
        said = {"kind": _kind(part), "text": getattr(part, "text", None)}
        if isinstance(part, ToolCall):
            said |= {"name": part.name, "arguments": part.shown_arguments()}
        shown |= {f"/parts/{number}/{name}": value for name, value in said.items()}
    return shown


def _make(turn: Folded) -> dict[str, Any]:
    """What a turn is made of, sampling aside: whether it has a finish reason, and of each kind of part, which fields of it are
    always or never filled in."""
    shown: dict[str, Any] = {"/finish": turn.finish is not None}
    filled: dict[str, set[bool]] = defaultdict(set)
    for part in _said(turn):
        for name in _ALWAYS.get(type(part), ()):
            filled[f"/parts/{_kind(part)}/{name}"].add(bool(getattr(part, name)))
    return shown | {path: found.pop() for path, found in filled.items() if len(found) == 1}


_ALWAYS: dict[type, tuple[str, ...]] = {ToolCall: ("name", "arguments", "synthetic_id"), Reasoning: ("text",)}
"""Fields that sampling has no say in, or hardly any: that a call has a name, arguments, an id; that thinking is shown."""


def _counts(usage: Usage | None) -> dict[str, Any]:
    return {"/usage": None} if usage is None else {f"/usage/{name}": count for name, count in usage.as_dict().items()}


def _counted(usage: Usage | None) -> dict[str, Any]:
    """What is counted at all; details of a count come and go with caches and with thinking."""
    return {f"/usage/{name}": usage is not None and getattr(usage, name) is not None for name in _TOTALS}


_TOTALS = ("input_tokens", "output_tokens", "total_tokens")


def _said(turn: Folded) -> list[Any]:
    """The parts that say something: a text that is empty is told by one form of an answer and left out by the other, which
    the body comparison has a word on."""
    return [part for part in turn.parts if not isinstance(part, Text) or part.text]


def _kind(part: Any) -> str:
    return part.kind if isinstance(part, Other) else type(part).__name__.lower()
