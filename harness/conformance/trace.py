"""From a finding back to the bytes: which frame, and which bytes of it, say what the finding is about.

A finding of a dialect names a frame and a pointer into its payload. A difference to the twin names a place in the body; there
the edits tell which fragment ended up there, and the first character that differs leads to one byte of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from harness.adapters.ours import framing_of
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Exchange
from harness.collector import same
from harness.dialects import Dialect
from harness.edits import Edit, Op, Path, pointer
from harness.errors import Where
from harness.findings import Finding
from harness.framing import Frame, framer
from harness.json_spans import Span, locate, steps_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fragment:
    """A piece of what gathered at a place: the edit, its frame, and where the piece begins in the whole text."""

    edit: Edit
    frame: Frame
    start: int = 0


class Trace:
    """The frames and edits of one exchange, worked out again when the first finding asks."""

    def __init__(self, exchange: Exchange, dialect: Dialect) -> None:
        self._exchange = exchange
        self._dialect = dialect

    def pinpoint(self, finding: Finding) -> Finding:
        """The same finding with the narrowest place that the bytes allow."""
        where = finding.where
        if finding.kind.startswith("reference/"):
            found = self._of_difference(finding)
        elif where.frame is not None and (where.path or "").startswith("/") and where.frame < len(self._frames):
            frame = self._frames[where.frame]
            found = Where(span=self._in_body(frame, locate(frame.data, where.path or "")) or where.span)
        else:
            return finding
        return replace(finding, where=replace(where, frame=found.frame or where.frame, span=found.span or where.span))

    @cached_property
    def body(self) -> bytes:
        """The body that spans point into: decoded, if it was compressed."""
        return b"".join(chunk.data for chunk in DecodedBody(self._exchange))

    @cached_property
    def _frames(self) -> list[Frame]:
        frames = framer(framing_of(self._dialect, self.body))
        return [*frames.feed(self.body), *frames.close()]

    @cached_property
    def _edits(self) -> list[tuple[Edit, Frame]]:
        translator = self._dialect.translator(self._exchange.request.json)
        return [(edit, frame) for frame in self._frames for edit in translator.translate(frame)]

    def _of_difference(self, finding: Finding) -> Where:
        path = self._keyed(steps_of(finding.where.path or ""))
        fragments = self._fragments(path)
        if not fragments:
            return Where()
        place = fragments[0].edit.path
        rest = pointer(path[len(place) :])
        if fragments[0].edit.op is Op.CONCAT:
            offset = self._offset(fragments, rest, finding)
            hit = next((f for f in reversed(fragments) if f.start <= offset), fragments[0])
            return self._character(hit, offset - hit.start)
        hit = fragments[-1]
        span = locate(hit.frame.data, hit.edit.target.source + rest)
        return Where(frame=hit.frame.index, span=self._in_body(hit.frame, span) or hit.frame.span)

    def _keyed(self, steps: list[str]) -> Path:
        """The path of edits that leads to a place of the built body: positions become keys."""
        path: Path = ()
        for step in steps:
            key: str | int = step
            if step.isdigit():
                level = len(path)
                keys = {
                    k
                    for edit, _ in self._edits
                    if len(edit.path) > level and edit.path[:level] == path and isinstance(k := edit.path[level], int)
                }
                ordered = sorted(keys)
                key = ordered[int(step)] if int(step) < len(ordered) else int(step)
            path = (*path, key)
        return path

    def _fragments(self, path: Path) -> list[_Fragment]:
        """The pieces that the value at `path` was made of: fragments of a text at it or around it, or one edit that set it."""
        pieces: list[_Fragment] = []
        length = 0
        for edit, frame in self._edits:
            if edit.op in (Op.NOTE, Op.FAIL, Op.PARSE) or edit.path != path[: len(edit.path)]:
                continue
            if edit.op is Op.CONCAT:
                if pieces and pieces[-1].edit.op is not Op.CONCAT:
                    pieces, length = [], 0
                pieces.append(_Fragment(edit=edit, frame=frame, start=length))
                length += len(edit.value)
            elif edit.op is Op.SETTLE and pieces and self._repeats(pieces, edit):
                continue
            elif edit.op is not Op.APPEND and _holds(edit, path):
                pieces, length = [_Fragment(edit=edit, frame=frame)], 0
        return pieces

    @staticmethod
    def _repeats(pieces: list[_Fragment], edit: Edit) -> bool:
        """Whether a settling value says what has gathered, so that the fragments still are where it comes from."""
        if pieces[0].edit.op is not Op.CONCAT:
            return False
        text = "".join(piece.edit.value for piece in pieces)
        return same(_inside(edit.value, pieces[0].edit.path[len(edit.path) :]), text)

    @staticmethod
    def _offset(fragments: list[_Fragment], rest: str, finding: Finding) -> int:
        """The first character of the gathered text that differs; `rest` leads into the JSON that the text is."""
        text = "".join(f.edit.value for f in fragments)
        expected, got, start = finding.expected, text, 0
        if rest:
            span = locate(text.encode(), rest)
            if span is None:
                return 0
            start = len(text.encode()[: span[0]].decode(errors="replace"))
            got = text.encode()[span[0] : span[1]].decode(errors="replace")
            expected = json.dumps(finding.expected, ensure_ascii=False)
        if not isinstance(expected, str):
            return start
        same_length = next((n for n, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), None)
        return start + (min(len(expected), max(len(got) - 1, 0)) if same_length is None else same_length)

    def _character(self, hit: _Fragment, offset: int) -> Where:
        """The bytes of one character of a fragment, in the JSON string that carries it."""
        span = locate(hit.frame.data, hit.edit.target.source)
        if span is None:
            return Where(frame=hit.frame.index, span=hit.frame.span)
        start, end = span[0] + 1, span[1] - 1
        for _ in range(offset):
            if start < end:
                start += _width(hit.frame.data, start)
        narrow = (start, min(end, start + _width(hit.frame.data, start)))
        return Where(frame=hit.frame.index, span=self._in_body(hit.frame, narrow) or hit.frame.span)

    def _in_body(self, frame: Frame, span: Span | None) -> Span | None:
        """A span of a frame's payload as a span of the body; None where the payload does not stand there in one piece."""
        start = self.body.find(frame.data, *frame.span) if span is not None else -1
        return None if span is None or start < 0 else (start + span[0], start + span[1])


def _width(data: bytes, pos: int) -> int:
    """How many bytes of a JSON string the character at `pos` takes: an escape, or a UTF-8 sequence."""
    if data[pos : pos + 1] == b"\\":
        if data[pos + 1 : pos + 2] != b"u":
            return 2
        high = data[pos + 2 : pos + 4].lower()
        return 12 if b"d8" <= high <= b"db" and data[pos + 6 : pos + 8] == b"\\u" else 6
    first = data[pos]
    return 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4


def _holds(edit: Edit, path: Path) -> bool:
    return edit.path == path or _inside(edit.value, path[len(edit.path) :]) is not None


def _inside(value: Any, steps: Iterable[str | int]) -> Any:
    for step in steps:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step] if step < len(value) else None
        else:
            return None
    return value
