"""What passes in words: short lines, each with a style that is only a second signal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from harness.api_error import ApiError
from harness.edits import Edit, Op, PartKind, pointer
from harness.findings import Finding
from harness.framing import Frame
from harness.loop.artifacts import Finish, ReasoningDelta, RefusalDelta, TextDelta, ToolCallDelta
from harness.loop.events import ArtifactEvent, ErrorEvent, Event, LifecycleEvent, TurnCompleteEvent
from harness.loop.values import plain
from harness.reporting.results import dumped
from harness.response import Usage
from harness.showing.watching import Arrived, Ended, Passing, Taken

Line = tuple[int, str, str]
"""How far a line is set in, its words, its style."""

_MARGIN = 11  # columns, in which the time stands
_MOST_REPEATED = 3
_LINES = re.compile(r"\s*\n\s*")
_ENDINGS = {"eof": "end of the body", "reset": "the connection is reset", "timeout": "nothing more comes"}


def lines(passing: Passing) -> Iterator[Line]:
    """The lines for one thing that passes."""
    if isinstance(passing, Arrived):
        start, end = passing.span
        yield 0, f"{passing.at:>9.3f}  chunk {passing.number} · bytes {start}–{end}", "bold"
    elif isinstance(passing, Taken):
        if passing.frame is not None:
            yield _MARGIN, f"frame {passing.frame.index}  {_data(passing.frame, passing.payload)}", "dim"
        yield from _edits(passing.edits)
    elif isinstance(passing, Ended):
        yield 0, f"{passing.at:>9.3f}  {_ENDINGS[passing.ending]}", "bold"
    else:
        yield _MARGIN, f"→ {_event(passing)}", _style(passing)


def _data(frame: Frame, payload: bytes) -> str:
    """What a frame says, in one line."""
    name = f"{frame.name} " if frame.name else ""
    carries = "" if payload is frame.data else "carries "
    return name + carries + _LINES.sub(" ", payload.decode(errors="replace"))


def _edits(edits: Sequence[Edit]) -> Iterator[Line]:
    """Each edit in its line, but in one those that repeat what stands outside of the parts, where a frame repeats it all."""
    repeated = [edit for edit in edits if edit.op is Op.SETTLE and edit.part.kind is PartKind.METADATA]
    if len(repeated) <= _MOST_REPEATED:
        repeated = []
    for edit in edits:
        if repeated and edit is repeated[0]:
            places = ", ".join(pointer(edit.path) for edit in repeated)
            yield _MARGIN + 2, f"{'settle':<6}  {len(repeated)} values: {places}", "cyan"
        elif not any(edit is other for other in repeated):
            yield _edit(edit)


def _edit(edit: Edit) -> Line:
    value, place = edit.value, pointer(edit.path) or "/"
    match edit.op:
        case Op.NOTE if isinstance(value, Finding):
            return _MARGIN + 2, f"{'note':<6}  {value.level.value} {value.kind}: {value.message}", "yellow"
        case Op.FAIL if isinstance(value, ApiError):
            return _MARGIN + 2, f"{'fail':<6}  {_error(value)}", "red"
        case Op.MOVE:
            shown = pointer(value)
        case _:
            shown = dumped(value)
    unknown = edit.part.kind is PartKind.UNKNOWN
    return (
        _MARGIN + 2,
        f"{edit.op.value:<6}  {place}  {shown}{' (unknown field)' if unknown else ''}",
        "yellow" if unknown else "cyan",
    )


def _event(event: Event) -> str:
    match event:
        case LifecycleEvent():
            return event.phase.value
        case ArtifactEvent():
            return f"{event.artifact.value} {_value(event.value)}"
        case TurnCompleteEvent():
            kinds = ", ".join(str(plain(part).get("type")) for part in event.parts)
            return f"turn_complete {len(event.parts)} part{'' if len(event.parts) == 1 else 's'}{f': {kinds}' if kinds else ''}"
        case ErrorEvent(stage=stage, error=error):
            said = _error(error) if isinstance(error, ApiError) else f"{type(error).__name__}: {error}"
            return f"error at the {stage.value} · {said}"
    return event.kind


def _value(value: Any) -> str:
    match value:
        case TextDelta() | ReasoningDelta() | RefusalDelta():
            return dumped(value.text)
        case ToolCallDelta():
            named = [f"{name} {dumped(said)}" for name in ("id", "name", "arguments") if (said := getattr(value, name))]
            return " · ".join([f"call {dumped(plain(value.slot))}", *named])
        case Usage():
            counts = {name: count for name, count in plain(value).items() if count is not None and name != "type"}
            return " · ".join(f"{name.removesuffix('_tokens')} {count}" for name, count in counts.items())
        case Finish():
            reason = value.reason.value if value.reason is not None else "unknown"
            return reason + (f" ({value.raw})" if value.raw not in (None, reason) else "")
    shown = plain(value)
    if isinstance(shown, dict):
        shown = {name: inner for name, inner in shown.items() if name != "type"}
    return dumped(shown)


def _error(error: ApiError) -> str:
    more = [f"HTTP {error.status}"] if error.status is not None else []
    more += ["may be tried again"] if error.retryable else []
    more += [f"after {error.retry_after:g} s"] if error.retry_after is not None else []
    return f"{error.kind.value}: {error.message}" + (f" ({', '.join(more)})" if more else "")


def _style(event: Event) -> str:
    if isinstance(event, ErrorEvent):
        return "red"
    return "green" if event.terminal or isinstance(event, TurnCompleteEvent) else ""
