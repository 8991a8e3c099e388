"""From a finding back to the bytes: which frame, and which bytes of it, say what the finding is about.

A finding of a dialect names a frame and a pointer into its payload. A difference to the twin names a place in the body; there
the edits tell which piece ended up there, and the first character that differs leads to one byte of it. A field that should not
be there is pointed at by its name.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from harness import payload
from harness.adapters.ours import framing_of
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Exchange
from harness.conformance.origins import Origin, Origins, Piece
from harness.dialects import Dialect
from harness.edits import Op
from harness.errors import Where
from harness.findings import CUT, Finding, Level
from harness.framing import Frame, blocks, framer
from harness.json_spans import Span, Spans, character, strings
from harness.nodes import same

_NAMED = ("field/unknown", "reference/extra")
"""Kinds of findings that are about a field's being there, not about its value."""
_AT_THE_END = (CUT - {"stream/empty"}) | {"stream/done-missing", "stream/finish-missing", "stream/trailer-missing"}
"""Kinds that say that the body ended and something had still to come."""
_MOST_FOLLOWED = 16 << 20  # bytes
_LONE = re.compile("[\ud800-\udfff]")


class Trace:
    """The frames and edits of one exchange, worked out again when the first finding asks."""

    def __init__(self, exchange: Exchange, dialect: Dialect) -> None:
        self._exchange = exchange
        self._dialect = dialect
        self._wanted: set[int] = set()  # numbers of frames
        self._kept: dict[int, Frame | None] = {}
        self._known: dict[tuple[int, bool], Spans] = {}
        self._text: tuple[str, Spans] | None = None

    def pinpoint(self, finding: Finding) -> Finding:
        """The same finding with the narrowest place that the bytes allow."""
        where = finding.where
        place = where.path or ""
        found = Where()
        if finding.kind in _AT_THE_END and where.frame is None and where.span is None:
            found = Where(span=(len(self.body),) * 2)
        elif finding.kind.startswith("reference/") or self._is_of_the_turn(finding):
            found = self._of_origin(self._origins.of(place), finding)
        elif where.frame is not None and place.startswith("/") and (frame := self._frame(where.frame)) is not None:
            span = self._of_pointer(frame, place, finding.kind in _NAMED)
            if span is None and isinstance(finding.expected, str):  # a repetition, whose place is one of the body
                found = self._of_origin(self._origins.of(place, before=where.frame), finding)
            else:
                found = Where(span=span)
        return replace(finding, where=replace(where, frame=_first(found.frame, where.frame), span=found.span or where.span))

    def _is_of_the_turn(self, finding: Finding) -> bool:
        """Whether its place is one of the collected body. Of a large one that would mean to remember all of its edits."""
        where = finding.where
        bare = where.frame is None and where.span is None and (where.path or "").startswith("/")
        return bare and finding.level is not Level.INFO and len(self.body) <= _MOST_FOLLOWED

    @cached_property
    def body(self) -> bytes:
        """The body that spans point into: decoded, if it was compressed."""
        return b"".join(chunk.data for chunk in DecodedBody(self._exchange))

    def pinpointed(self, findings: Sequence[Finding]) -> list[Finding]:
        """All of them with their places; goes over the frames once."""
        self._wanted |= {f.where.frame for f in findings if f.where.frame is not None and (f.where.path or "").startswith("/")}
        return list(map(self.pinpoint, findings))

    def _frame(self, number: int) -> Frame | None:
        """The frame of that number. Frames that no finding is about are not kept: there may be more of them than memory for."""
        if number not in self._kept:
            self._wanted.add(number)
            self._kept = dict.fromkeys(self._wanted)
            self._kept.update((frame.index, frame) for frame in self._frames() if frame.index in self._wanted)
        return self._kept[number]

    def _frames(self) -> Iterator[Frame]:
        frames = framer(framing_of(self._dialect, self.body))
        for block in blocks(self.body):
            yield from frames.feed(block)
        yield from frames.close()

    @cached_property
    def _origins(self) -> Origins:
        translator = self._dialect.translator(self._exchange.request.json)
        return Origins((edit, frame) for frame in self._frames() for edit in translator.translate(frame))

    def _of_pointer(self, frame: Frame, place: str, named: bool) -> Span | None:
        """What a pointer into a payload leads to; of a payload inside another one, either may be meant."""
        for carried in (True, False):
            said = self._payload(frame, carried)
            span = (said.locate_name(place) if named else None) or said.locate(place)
            if span is not None:
                return self._in_body(frame, span, carried)
        return None

    def _of_origin(self, origin: Origin | None, finding: Finding) -> Where:
        if origin is None:
            return Where()
        first = origin.pieces[0]
        if isinstance(first.value, str) and (characters := self._characters(origin, finding)) is not None:
            (frame, start), (_, end) = (self._character(origin.pieces, number) for number in characters)
            return Where(frame=frame.index, span=(start[0], max(start[1], end[1])))
        span = self._of_pointer(first.frame, self._source(first), finding.kind in _NAMED)
        return Where(frame=first.frame.index, span=span or first.frame.span)

    def _source(self, piece: Piece) -> str:
        """Where a piece stands in its payload; of a list of what is appended, in the element that is the one appended."""
        said = self._payload(piece.frame)
        source = piece.edit.target.source
        brought = said.locate(source) if piece.edit.op is Op.APPEND else None
        if brought is None or said.data[brought[0] : brought[0] + 1] != b"[":
            return piece.source
        return f"{source}/{piece.order}{piece.inside}"

    def _characters(self, origin: Origin, finding: Finding) -> tuple[int, int] | None:
        """The first and the last character that a finding is about, of the text that gathered; None if it is about all."""
        text = "".join(piece.value for piece in origin.pieces)
        differing = _first_difference(finding)
        if not origin.inner:
            return None if differing is None or not text else (min(differing, len(text) - 1),) * 2
        said = self._within(text)
        span = (said.locate_name(origin.inner) if finding.kind in _NAMED else None) or said.locate(origin.inner)
        if span is None or span[0] == span[1]:
            return None
        if differing is not None and said.data[span[0] : span[0] + 1] == b'"':
            narrow = character(said.data, span, differing)
            span = narrow if narrow[0] < narrow[1] else span
        before, inside = (said.data[slice(*part)].decode() for part in ((0, span[0]), span))
        return len(before), len(before) + len(inside) - 1

    def _within(self, text: str) -> Spans:
        """The JSON that a text is; the last one is remembered, since findings come text by text."""
        if self._text is None or self._text[0] != text:
            self._text = text, Spans(_LONE.sub("\ufffd", text).encode())
        return self._text[1]

    def _character(self, pieces: Sequence[Piece], number: int) -> tuple[Frame, Span]:
        """The frame and the bytes of one character of a text."""
        piece = pieces[bisect_right(pieces, number, key=lambda p: p.start) - 1]
        said = self._payload(piece.frame)
        source = self._source(piece)
        string = _string(said, source, piece.value)
        if string is None:
            return piece.frame, self._of_pointer(piece.frame, source, named=False) or piece.frame.span
        return piece.frame, self._in_body(piece.frame, character(said.data, string, number - piece.start))

    def _payload(self, frame: Frame, carried: bool = True) -> Spans:
        """What the frame says: its data, or the payload that this carries."""
        known = self._known.get((frame.index, carried))
        if known is None:
            inside = self._dialect.carried(frame) if carried else None
            known = self._known[frame.index, carried] = Spans(frame.data if inside is None else inside[0])
        return known

    def _in_body(self, frame: Frame, span: Span, carried: bool = True) -> Span:
        """A span of a frame's payload as a span of the body."""
        inside = self._dialect.carried(frame) if carried else None
        if inside is not None:  # in base64 four letters carry three bytes
            start, _ = inside[1]
            span = start + span[0] // 3 * 4, start + -(-span[1] // 3) * 4
        at = self.body.find(frame.data, *frame.span)
        if at >= 0:
            return at + span[0], at + span[1]
        lines = list(self._lines(frame))  # an event of several data lines
        begin, end = (frame.data.count(b"\n", 0, place) for place in (span[0], span[1] - 1))
        if max(begin, end) >= len(lines):
            return frame.span
        return span[0] + lines[begin], span[1] + lines[end]

    def _lines(self, frame: Frame) -> Iterator[int]:
        """Of each line of the data how far further it stands in the body than in the data; none after one not to be found."""
        at, before = frame.span[0], 0
        for line in frame.data.split(b"\n"):
            field = self.body.find(b"data:", at, frame.span[1])
            start = self.body.find(line, field + len(b"data:"), frame.span[1])
            if field < 0 or start < 0:
                return
            yield start - before
            at, before = start + len(line), before + len(line) + 1


def _first(one: int | None, other: int | None) -> int | None:
    return other if one is None else one


def _first_difference(finding: Finding) -> int | None:
    """The number of the first character of the streamed text that differs; of a text that ends too early the last one."""
    if finding.kind in ("reference/absent", "reference/extra", "reference/type", "reference/word"):
        return None
    wanted, streamed = finding.expected, finding.got
    if finding.kind != "reference/value":  # a repetition: first what was streamed, then what came again
        wanted, streamed = streamed, wanted
    if not isinstance(wanted, str) or not isinstance(streamed, str):
        return None
    pairs = enumerate(zip(wanted, streamed, strict=False))
    unlike = next((number for number, (one, other) in pairs if one != other), min(len(wanted), len(streamed)))
    return max(0, min(unlike, len(streamed) - 1))


def _string(said: Spans, source: str, text: str) -> Span | None:
    """The JSON string that a piece of text came in: where its dialect says, or the only one that says the same."""
    told = said.locate(source)
    if told is not None and _says(said.data, told, text):
        return told
    alike = [span for span in strings(said.data) if _says(said.data, span, text)]
    return alike[0] if len(alike) == 1 else None


def _says(data: bytes, span: Span, meant: Any) -> bool:
    try:
        value, _ = payload.tolerant(data[slice(*span)])
    except payload.NotJSON:
        return False
    return same(value, meant)
