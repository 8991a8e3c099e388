"""Where in the stream a fact stands that a client has wrong: the frame that carries it, and its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from types import NoneType
from typing import Any

from harness.adapters.ours import framing_of
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Exchange
from harness.dialects import Dialect
from harness.edits import Edit, Op, PartKind
from harness.findings import Finding
from harness.framing import Frame, framer
from harness.json_spans import locate

_KINDS: dict[str, tuple[PartKind, ...]] = {
    "subject/text": (PartKind.TEXT, PartKind.REFUSAL),
    "subject/reasoning": (PartKind.REASONING,),
    "subject/calls": (PartKind.TOOL_CALL,),
    "subject/name": (PartKind.TOOL_CALL,),
    "subject/id": (PartKind.TOOL_CALL,),
    "subject/arguments": (PartKind.TOOL_CALL,),
    "subject/finish": (PartKind.FINISH,),
    "subject/usage": (PartKind.USAGE,),
    "subject/failure-hidden": (PartKind.ERROR,),
}
_LATEST = ("subject/finish", "subject/usage", "subject/failure-hidden")
"""What may be told several times, of which the last counts."""


def placed(findings: tuple[Finding, ...], exchange: Exchange, dialect: Dialect) -> tuple[Finding, ...]:
    """The findings with the frame that carries what they are about, where the edits of the stream tell."""
    if not any(finding.kind in _KINDS for finding in findings):
        return findings
    body = b"".join(chunk.data for chunk in DecodedBody(exchange))
    told = list(_edits(body, exchange, dialect))
    return tuple(_placed(finding, told, body) for finding in findings)


def _edits(body: bytes, exchange: Exchange, dialect: Dialect) -> Iterator[tuple[Edit, Frame]]:
    frames = framer(framing_of(dialect, body.lstrip()))
    translator = dialect.translator(exchange.request.json)
    for frame in [*frames.feed(body), *frames.close()]:
        for edit in translator.translate(frame):
            yield edit, frame


def _placed(finding: Finding, told: list[tuple[Edit, Frame]], body: bytes) -> Finding:
    kinds = _KINDS.get(finding.kind, ())
    about = [(edit, frame) for edit, frame in told if edit.part.kind in kinds and edit.op is not Op.NOTE]
    if PartKind.TOOL_CALL in kinds:
        about = _of_call(about, _number(finding))
    if not about:
        return finding
    edit, frame = about[-1] if finding.kind in _LATEST else _differing(about, finding.expected, finding.got)
    return replace(finding, where=replace(finding.where, frame=frame.index, span=_span(edit, frame, body)))


def _span(edit: Edit, frame: Frame, body: bytes) -> tuple[int, int]:
    """The value that an edit is made of, as far as its dialect says where it stands; else the frame."""
    at = body.find(frame.data, *frame.span) if edit.target.source else -1
    span = locate(frame.data, edit.target.source) if at >= 0 else None
    return frame.span if span is None else (at + span[0], at + span[1])


def _number(finding: Finding) -> int | None:
    """Which call a finding is about: the one that its path `/tool_calls/N/…` names, or the first that was lost or stands
    elsewhere."""
    path = (finding.where.path or "").split("/")
    if path[1:2] == ["tool_calls"] and path[2].isdigit():
        return int(path[2])
    due, told = ([_id(call) for call in side] if isinstance(side, list) else [] for side in (finding.expected, finding.got))
    return next((number for number, call in enumerate(due) if [call] != told[number : number + 1]), None)


def _id(call: Any) -> Any:
    """What tells calls apart: their ids, and where there are none their names."""
    return (call.get("id") or call.get("name")) if isinstance(call, dict) else call


def _of_call(about: list[tuple[Edit, Frame]], number: int | None) -> list[tuple[Edit, Frame]]:
    """What tells of the call of that number; of none, all calls."""
    keys = list(dict.fromkeys(edit.part.key for edit, _ in about))
    if number is None or number >= len(keys):
        return about
    return [(edit, frame) for edit, frame in about if edit.part.key == keys[number]]


def _differing(about: list[tuple[Edit, Frame]], expected: Any, got: Any) -> tuple[Edit, Frame]:
    """What brought the first character in which two texts differ; of anything else the first."""
    pieces = [(edit, frame) for edit, frame in about if edit.op is Op.CONCAT and isinstance(edit.value, str)]
    if not isinstance(expected, str) or not isinstance(got, (str, NoneType)) or not pieces:
        return about[0]
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(expected, got or "", strict=False)))
    end = 0
    for edit, frame in pieces:
        end += len(edit.value)
        if end > alike:
            return edit, frame
    return pieces[-1]
