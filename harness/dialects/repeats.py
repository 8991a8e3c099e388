"""Payloads that repeat the one before them, but for a few values.

Nine in ten payloads of a stream differ from their predecessor in one string. Once two payloads in a row had the same effect,
that is, edits with the very same targets, the bytes around the changing values are remembered as literals; a payload that
has the same literals needs no decoding but that of the values, and no vocabulary, since every name in it has been checked.

This is safe by construction. The literals are compared byte by byte and each value must itself be one whole JSON value of
the same form, so the payload is the remembered one with other values in it; anything else takes the careful way. The
memory is dropped as soon as any payload went the careful way, since that may have changed what the translator knows. What
a dialect promises by using a `Target` again is that the edit does not depend on what the value says, only on its not being
empty.

A payload whose whole effect is one text is so common that its text can be had without an edit around it (`OneText`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from itertools import pairwise
from typing import Any, NamedTuple

from harness import payload
from harness.edits import Edit, LateEdit, Op, Target
from harness.framing import Frame
from harness.json_spans import Span, Spans, closing_gaps

_MOST_PATIENCE = 4096
_WORTH_IT = 16  # payloads that a memory must serve to have paid for itself
_LONGEST_OBJECT = 2048  # bytes


class _Form(Enum):
    """What a changing value must be."""

    TEXT = 0  # a string that is not empty; the hole lies between its quotes
    OBJECT = 1  # an object with the remembered names at every depth
    DIGITS = 2  # noise: a number
    LETTERS = 3  # noise: what stands between the quotes of a string, perhaps nothing
    WHITE = 4  # noise: padding in front of a closing bracket


class _Hole(NamedTuple):
    """A changing value in a payload: its span, its form, where it goes (None for noise)."""

    start: int
    end: int
    form: _Form
    target: Target | None = None


class OneText(NamedTuple):
    """What is known of payloads that add one text and do nothing else."""

    target: Target
    find: Callable[[Frame], str | None]
    """The text in a payload that repeats the remembered one; None if it does not."""


class Memory:
    """What a payload looks like: literal bytes with holes between them."""

    def __init__(self, frame: Frame, holes: list[_Hole], targets: list[Target]) -> None:
        data = frame.data
        self.served = 0
        self.one_text: OneText | None = None
        self._name = frame.name
        self._head = data[: holes[0].start]
        ends = [hole.start for hole in holes[1:]] + [len(data)]
        literals = [data[hole.end : end] for hole, end in zip(holes, ends, strict=True)]
        self._holes = [(h.form, h.target, text, len(text)) for h, text in zip(holes, literals, strict=True)]
        order = [targets.index(hole.target) for hole in holes if hole.target is not None]
        self._reorder = None if order == sorted(order) else [order.index(n) for n in range(len(order))]
        self.edits: Callable[[Frame], list[Edit] | None] = self._piecewise
        """The edits of a payload that repeats this one; None if it does not. The hot path of every translator."""

    def _piecewise(self, frame: Frame) -> list[Edit] | None:
        data = frame.data
        if frame.name != self._name or not data.startswith(self._head):
            return None
        find = data.find
        start = len(self._head)
        out = []
        for form, target, literal, length in self._holes:
            end = find(literal, start)
            if end < 0:
                return None
            if form is _TEXT:
                try:
                    value = _strict(data[start - 1 : end + 1])
                except ValueError:
                    return None
                if not value:
                    return None
                out.append(Edit(target, value, frame.index))  # type: ignore[arg-type]
            elif form is _LETTERS:
                if end > start and not data[start:end].isalnum():
                    return None
            elif not _is_noise(form, data[start:end]):
                return None
            start = end + length
        if start != len(data):
            return None
        self.served += 1
        return out if self._reorder is None else [out[n] for n in self._reorder]

    def _serve(self, one_text: OneText) -> None:
        target, find = one_text

        def edits(frame: Frame) -> list[Edit] | None:
            text = find(frame)
            return None if text is None else [Edit(target, text, frame.index)]

        self.edits = edits
        self.one_text = one_text


_TEXT, _OBJECT, _DIGITS, _LETTERS, _WHITE = _Form  # names cost less than attributes
_strict = payload.strict


class TextMemory(Memory):
    """The most common case: one text and nothing else, so that its end need not be searched for."""

    def __init__(self, frame: Frame, holes: list[_Hole], targets: list[Target]) -> None:
        super().__init__(frame, holes, targets)
        self._serve(OneText(targets[0], self._finder(frame.data[holes[0].end :])))

    def _finder(self, tail: bytes) -> Callable[[Frame], str | None]:
        name, head, strict = self._name, self._head, payload.quick  # what is read is a string
        start, end = len(head) - 1, 1 - len(tail)  # with its quotes

        def find(frame: Frame) -> str | None:
            data = frame.data
            if frame.name != name or not (data.startswith(head) and data.endswith(tail)):
                return None
            try:
                text: str = strict(data[start:end])
            except ValueError:
                return None
            if not text:
                return None
            self.served += 1
            return text

        return find


class PaddedTextMemory(Memory):
    """One text with letters behind it that mean nothing, and perhaps a number before it that means nothing either.

    Single bytes are searched for and what follows them is compared, which costs less than to search for what follows.
    """

    def __init__(self, frame: Frame, holes: list[_Hole], targets: list[Target]) -> None:
        super().__init__(frame, holes, targets)
        literals = [literal for *_, literal, _ in self._holes]
        self._serve(OneText(targets[0], self._finder(b"" if len(holes) == 2 else literals[0], *literals[-2:])))

    def _finder(self, between: bytes, closing: bytes, tail: bytes) -> Callable[[Frame], str | None]:
        """`between` stands between the number and the text, `closing` between the text and the letters."""
        name, head, strict = self._name, self._head, payload.quick  # what is read is a string
        after_head, after_closing, end_of_letters = len(head), len(closing), -len(tail)
        number = before_text = after_head  # where the number ended last, and where the text began

        def find(frame: Frame) -> str | None:
            nonlocal number, before_text
            data = frame.data
            if frame.name != name or not (data.startswith(head) and data.endswith(tail)):
                return None
            if between:
                if data[number:before_text] != between:
                    end = data.find(between, after_head)
                    if end < 0:
                        return None
                    number, before_text = end, end + len(between)
                if not data[after_head:number].isdigit() or data[after_head] == _ZERO:
                    return None
            start = before_text
            end = data.find(b'"', start)
            while not data.startswith(closing, end):  # a quote inside the text
                end = data.find(b'"', end + 1)
                if end < start:
                    return None
            letters = data[end + after_closing : end_of_letters]
            if not letters.isalnum() and end + after_closing != len(data) + end_of_letters:  # none at all may be
                return None
            try:
                text: str = strict(data[start - 1 : end + 1])  # with its quotes
            except ValueError:
                return None
            if not text:
                return None
            self.served += 1
            return text

        return find


_ZERO = 0x30


class CountedTextMemory(Memory):
    """One text, and behind it an object that changes with it, such as counts: it is only decoded for those who look at it.

    An object is of the known form if it has the names of the remembered one, and values of its types. Those that differ from
    one that was found to be so in digits only, zeros apart, are so as well, since there are no digits in the names and no
    escapes.
    """

    def __init__(self, frame: Frame, holes: list[_Hole], targets: list[Target], names: Any) -> None:
        super().__init__(frame, holes, targets)
        text, counts = holes
        data = frame.data
        self._names = names
        self._shapes: set[bytes] = set()
        self.edits = self._reader(data[text.end : counts.start], data[counts.end :], *targets[:: -1 if self._reorder else 1])

    def _reader(self, between: bytes, tail: bytes, text: Target, counts: Target) -> Callable[[Frame], list[Edit] | None]:
        """`edits`, with all that it needs at hand: a name of the function costs less than an attribute."""
        name, head, start, shapes, swapped = self._name, self._head, len(self._head), self._shapes, self._reorder is not None
        before, width, rest = start - 1, len(between), -len(tail)

        def edits(frame: Frame) -> list[Edit] | None:
            data = frame.data
            if not (data.startswith(head) and data.endswith(tail)) or frame.name != name:
                return None
            end = data.find(between, start)
            if end < 0:
                return None
            value = data[end + width : rest]
            if value.translate(_DIGITS_ALIKE) not in shapes and not self._learn_shape(value):
                return None
            try:
                piece = _strict(data[before : end + 1])  # with its quotes
            except ValueError:
                return None
            if not piece:
                return None
            self.served += 1
            index = frame.index
            out = [Edit(text, piece, index), LateEdit(counts, value, index)]
            return out[::-1] if swapped else out

        return edits

    def _learn_shape(self, counts: bytes) -> bool:
        try:
            value = _strict(counts)
        except ValueError:
            return False
        if b"\\" in counts or _names(value) != self._names:
            return False
        if len(self._shapes) < _MOST_SHAPES:
            self._shapes.add(counts.translate(_DIGITS_ALIKE))
        return True


_MOST_SHAPES = 1024
_DIGITS_ALIKE = bytes.maketrans(b"23456789", b"11111111")


def _names(value: Any) -> Any:
    """The names in an object at every depth, where lists are, and of which type each value is."""
    if isinstance(value, dict):
        return "{", *((name, _names(field)) for name, field in value.items())
    if isinstance(value, list):
        return "[", *map(_names, value)
    return type(value).__name__


_KINDS: dict[tuple[_Form, ...], type[Memory]] = {
    (_TEXT,): TextMemory,
    (_TEXT, _LETTERS): PaddedTextMemory,
    (_DIGITS, _TEXT, _LETTERS): PaddedTextMemory,
}


class Repeats:
    """Remembers what payloads look like; one for each translator. `noise` are top-level fields that mean nothing."""

    def __init__(self, noise: Iterable[str] = ()) -> None:
        self._noise = tuple(noise)
        self._targets: list[Target] = []
        self._streak = 0
        self._patience = 1
        self.memory: Memory | None = None

    def careful(self, value: Any, edits: list[Edit], frame: Frame) -> None:
        """A payload went the careful way and had these edits: forget, and learn if it had the effect of its predecessor."""
        if self.memory is not None:
            self._patience = 1 if self.memory.served >= _WORTH_IT else min(2 * self._patience, _MOST_PATIENCE)
            self.memory = None
        targets = [edit.target for edit in edits]
        if not targets or targets != self._targets:  # by identity: targets do not compare in any other way
            self._targets = targets
            self._streak = 0
            return
        self._streak += 1
        if self._streak >= self._patience:
            self._streak = 0
            self.memory = self._learn(value, edits, frame)

    def _learn(self, value: Any, edits: list[Edit], frame: Frame) -> Memory | None:
        if not isinstance(value, dict):
            return None  # the strict reader refused it, or it is a list
        data, spans = frame.data, Spans(frame.data)
        holes = []
        for edit in edits:
            hole = _hole(data, spans, edit)
            if hole is None:
                return None
            holes.append(hole)
        holes += [_noise(data, span) for name in self._noise if name in value and (span := spans.locate(f"/{name}"))]
        objects = [hole for hole in holes if hole.form is _OBJECT]
        for start, end in closing_gaps(data):  # padding; a line break is the server's style, and stays as it is
            if not data[start:end].strip(b" ") and not any(hole.start < start < hole.end for hole in objects):
                holes.append(_Hole(start, end, _Form.WHITE))
        holes.sort(key=lambda hole: hole.start)
        if any(hole.end >= after.start for hole, after in pairwise(holes)) or holes[-1].end >= len(data):
            return None  # two holes without a literal between them, or one inside the other
        forms = [hole.form for hole in holes]
        if _OBJECT in forms:
            names = _names(next(edit.value for edit in edits if isinstance(edit.value, dict)))
            simple = forms == [_TEXT, _OBJECT] and not any(map(str.isdigit, str(names)))
            return CountedTextMemory(frame, holes, self._targets, names) if simple else None
        return _KINDS.get(tuple(forms), Memory)(frame, holes, self._targets)


def _hole(data: bytes, spans: Spans, edit: Edit) -> _Hole | None:
    """The hole that an edit's value leaves in its payload; None if the value does not stand there as it is."""
    span = spans.locate(edit.target.source) if edit.op in (Op.CONCAT, Op.SET) else None
    if span is None:
        return None
    try:
        if payload.strict(data[slice(*span)]) != edit.value:
            return None
    except ValueError:
        return None
    if isinstance(edit.value, str):
        return _Hole(span[0] + 1, span[1] - 1, _Form.TEXT, edit.target)
    if isinstance(edit.value, dict) and edit.op is Op.SET and span[1] - span[0] <= _LONGEST_OBJECT:
        return _Hole(*span, _Form.OBJECT, edit.target)
    return None


def _noise(data: bytes, span: Span) -> _Hole:
    if data[span[0]] == 0x22:
        return _Hole(span[0] + 1, span[1] - 1, _Form.LETTERS)
    return _Hole(*span, _Form.DIGITS)


def _is_noise(form: _Form, part: bytes) -> bool:
    if form is _DIGITS:
        return part.isdigit() and (part[0] != 0x30 or len(part) == 1)
    return not part.strip(b" ")
