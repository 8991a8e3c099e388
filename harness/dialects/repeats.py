"""Payloads that repeat the one before them, but for a few values.

Nine in ten payloads of a stream differ from their predecessor in one string. Once two payloads in a row had the same effect,
that is, edits with the very same targets, the bytes around the changing values are remembered as literals; a payload that
has the same literals needs no decoding but that of the values, and no vocabulary, since every name in it has been checked.

This is safe by construction. The literals are compared byte by byte and each value must itself be one whole JSON value of
the same form, so the payload is the remembered one with other values in it; anything else takes the careful way. The
memory is dropped as soon as any payload went the careful way, since that may have changed what the translator knows. What
a dialect promises by using a `Target` again is that the edit does not depend on what the value says, only on its not being
empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from itertools import pairwise
from typing import Any, NamedTuple

from harness import payload
from harness.edits import Edit, Op, Target
from harness.framing import Frame
from harness.json_spans import Span, closing_gaps, locate

_MOST_PATIENCE = 4096
_WORTH_IT = 16  # payloads that a memory must serve to have paid for itself


class _Form(Enum):
    """What a changing value must be."""

    TEXT = 0  # a string that is not empty; the hole lies between its quotes
    OBJECT = 1  # an object with the remembered names at every depth
    DIGITS = 2  # noise: a number
    LETTERS = 3  # noise: what stands between the quotes of a string
    WHITE = 4  # noise: padding in front of a closing bracket


class _Hole(NamedTuple):
    """A changing value in a payload: its span, its form, where it goes (None for noise)."""

    start: int
    end: int
    form: _Form
    target: Target | None = None
    names: tuple[Any, ...] = ()


class Memory:
    """What a payload looks like: literal bytes with holes between them."""

    def __init__(self, frame: Frame, holes: list[_Hole], targets: list[Target]) -> None:
        data = frame.data
        self.served = 0
        self._name = frame.name
        self._head = data[: holes[0].start]
        ends = [hole.start for hole in holes[1:]] + [len(data)]
        literals = [data[hole.end : end] for hole, end in zip(holes, ends, strict=True)]
        self._holes = [(h.form, h.target, h.names, text, len(text)) for h, text in zip(holes, literals, strict=True)]
        order = [targets.index(hole.target) for hole in holes if hole.target is not None]
        self._reorder = None if order == sorted(order) else [order.index(n) for n in range(len(order))]

    def edits(self, frame: Frame) -> list[Edit] | None:
        """The edits of a payload that repeats this one; None if it does not. The hot path of every translator."""
        data = frame.data
        if frame.name != self._name or not data.startswith(self._head):
            return None
        start = len(self._head)
        out = []
        for form, target, names, literal, length in self._holes:
            end = data.find(literal, start)
            if end < 0:
                return None
            if form is _TEXT:
                try:
                    value = _strict(data[start - 1 : end + 1])
                except ValueError:
                    return None
                if not value or type(value) is not str:
                    return None
                out.append(Edit(target, value, frame.index))  # type: ignore[arg-type]
            elif form is _LETTERS:
                if not data[start:end].isalnum():
                    return None
            elif not self._is(form, data[start:end]):
                return None
            elif form is _Form.OBJECT:
                value = _object(data[start:end], names)
                if value is None:
                    return None
                out.append(Edit(target, value, frame.index))  # type: ignore[arg-type]
            start = end + length
        if start != len(data):
            return None
        self.served += 1
        return out if self._reorder is None else [out[n] for n in self._reorder]

    @staticmethod
    def _is(form: _Form, part: bytes) -> bool:
        if form is _Form.DIGITS:
            return part.isdigit() and (part[0] != 0x30 or len(part) == 1)
        return form is _Form.OBJECT or not part.strip(b" ")


_TEXT, _LETTERS = _Form.TEXT, _Form.LETTERS
_strict = payload.strict


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
        data = frame.data
        holes = []
        for edit in edits:
            hole = _hole(data, edit)
            if hole is None:
                return None
            holes.append(hole)
        holes += [_noise(data, span) for name in self._noise if name in value and (span := locate(data, f"/{name}"))]
        holes += [_Hole(start, end, _Form.WHITE) for start, end in closing_gaps(data)]
        holes.sort(key=lambda hole: hole.start)
        if any(hole.end >= after.start for hole, after in pairwise(holes)) or holes[-1].end >= len(data):
            return None  # two holes without a literal between them, or one inside the other
        return Memory(frame, holes, self._targets)


def _hole(data: bytes, edit: Edit) -> _Hole | None:
    """The hole that an edit's value leaves in its payload; None if the value does not stand there as it is."""
    span = locate(data, edit.target.source) if edit.op in (Op.CONCAT, Op.SET) else None
    if span is None:
        return None
    try:
        if payload.strict(data[slice(*span)]) != edit.value:
            return None
    except ValueError:
        return None
    if isinstance(edit.value, str):
        return _Hole(span[0] + 1, span[1] - 1, _Form.TEXT, edit.target)
    if isinstance(edit.value, dict):
        return _Hole(*span, _Form.OBJECT, edit.target, _names(edit.value))
    return None


def _noise(data: bytes, span: Span) -> _Hole:
    if data[span[0]] == 0x22:
        return _Hole(span[0] + 1, span[1] - 1, _Form.LETTERS)
    return _Hole(*span, _Form.DIGITS)


def _object(data: bytes, names: tuple[Any, ...]) -> Any:
    try:
        value = payload.strict(data)
    except ValueError:
        return None
    return value if type(value) is dict and _names(value) == names else None


def _names(value: Any) -> tuple[Any, ...]:
    """The names in an object at every depth: two objects with equal ones differ in scalars only."""
    if isinstance(value, dict):
        return tuple((name, _names(field)) for name, field in value.items())
    if isinstance(value, list):
        return tuple(map(_names, value))
    return ()
