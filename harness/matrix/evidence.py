"""Where in the stream a fact stands that a client has wrong: the frame that carries it, and its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any

from harness.adapters.ours import framing_of
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Exchange
from harness.dialects import Dialect
from harness.edits import Edit, Op, PartKind
from harness.findings import Finding
from harness.framing import Frame, framer

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
    told = list(_edits(exchange, dialect))
    return tuple(_placed(finding, told) for finding in findings)


def _edits(exchange: Exchange, dialect: Dialect) -> Iterator[tuple[Edit, Frame]]:
    body = b"".join(chunk.data for chunk in DecodedBody(exchange))
    frames = framer(framing_of(dialect, body.lstrip()))
    translator = dialect.translator(exchange.request.json)
    for frame in [*frames.feed(body), *frames.close()]:
        for edit in translator.translate(frame):
            yield edit, frame


def _placed(finding: Finding, told: list[tuple[Edit, Frame]]) -> Finding:
    kinds = _KINDS.get(finding.kind, ())
    about = [(edit, frame) for edit, frame in told if edit.part.kind in kinds and edit.op is not Op.NOTE]
    if PartKind.TOOL_CALL in kinds:
        about = _of_call(about, finding.where.path or "")
    if not about:
        return finding
    frame = about[-1][1] if finding.kind in _LATEST else _differing(about, finding.expected, finding.got)
    return replace(finding, where=replace(finding.where, frame=frame.index, span=frame.span))


def _of_call(about: list[tuple[Edit, Frame]], path: str) -> list[tuple[Edit, Frame]]:
    """What tells of the call that a path `/tool_calls/N/…` names; of a path that names none, all calls."""
    number = path.split("/")[2] if path.startswith("/tool_calls/") else ""
    keys = list(dict.fromkeys(edit.part.key for edit, _ in about))
    if not number.isdigit() or int(number) >= len(keys):
        return about
    return [(edit, frame) for edit, frame in about if edit.part.key == keys[int(number)]]


def _differing(about: list[tuple[Edit, Frame]], expected: Any, got: Any) -> Frame:
    """The frame that brought the first character in which two texts differ; of anything else the first frame."""
    pieces = [(edit.value, frame) for edit, frame in about if edit.op is Op.CONCAT and isinstance(edit.value, str)]
    if not isinstance(expected, str) or not isinstance(got, str) or not pieces:
        return about[0][1]
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(expected, got, strict=False)))
    end = 0
    for text, frame in pieces:
        end += len(text)
        if end > alike:
            return frame
    return pieces[-1][1]
