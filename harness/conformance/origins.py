"""Where a place of the collected body comes from: the edits that made what stands there, followed as the collector does."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.edits import Edit, LateEdit, Op, Path, pointer
from harness.framing import Frame
from harness.json_spans import steps_of
from harness.nodes import EMPTY, same

ANY = "*"
"""A step to any element of a list, in differences that were found by shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A piece of what stands at a place: the value at `inside` in what an edit brought. Of a piece of text, `start` tells how
    many characters stand before it; of what was appended, `order` how many others its frame appended from the same list."""

    frame: Frame
    edit: Edit
    value: Any
    inside: str = ""
    start: int = 0
    order: int = 0

    @property
    def source(self) -> str:
        """Where it stands in the payload of its frame, as far as its dialect says."""
        return self.edit.target.source + self.inside


class Origin(NamedTuple):
    """The pieces of a value, which are several for a text only; `inner` leads from there into the JSON that the text is."""

    pieces: list[Piece]
    inner: str = ""


class _Made(NamedTuple):
    """An edit, and when it came: which of all edits it is, and which of those of its frame that append from the same list."""

    number: int
    edit: Edit
    frame: Frame
    order: int


class Origins:
    """The edits of a stream, by the places that they are about."""

    def __init__(self, edits: Iterable[tuple[Edit, Frame]]) -> None:
        self._at: dict[Path, list[_Made]] = {}
        self._first_below: dict[Path, _Made] = {}
        self._keys: dict[Path, set[int]] = {}
        self._ends: dict[Path, int] = {}
        self._moves: list[tuple[int, Path, Path]] = []
        appended: Counter[tuple[int, str]] = Counter()
        for number, (edit, frame) in enumerate(edits):
            if edit.op is Op.MOVE:
                self._moves.append((number, edit.path, edit.value))
                self._know_keys(edit.value)
            elif edit.op is Op.APPEND:
                self._keep(_Made(number, edit, frame, appended[frame.index, edit.target.source]))
                appended[frame.index, edit.target.source] += 1
            elif edit.op not in (Op.NOTE, Op.FAIL, Op.PARSE):
                self._keep(_Made(number, edit, frame, 0))

    def of(self, place: str, before: float = math.inf) -> Origin | None:
        """What made the value at a place of the body, a JSON pointer; what began it, for an object or a list that grew; None if
        nothing is known of it. Frames from the one with the number `before` on are left out."""
        steps = steps_of(place)
        paths = self._paths(steps)
        made = (origin for path in paths if (origin := self._origin(path, steps, before)) is not None)
        begun = (
            Origin([_piece(self._first_below[path], self._first_below[path].edit.value)])
            for path in paths
            if path in self._first_below
        )
        return next(made, None) or next(begun, None)

    def _keep(self, made: _Made) -> None:
        path = made.edit.path
        if made.edit.op is Op.APPEND:
            path = (*path, self._ends.get(path, 0))
        if path not in self._at:
            self._at[path] = []
            for depth in range(len(path)):
                self._first_below.setdefault(path[:depth], made)
            self._know_keys(path)
        self._at[path].append(made)
        for key in range(_length(made.edit)):
            self._know(path, key)

    def _know_keys(self, path: Path) -> None:
        for depth, step in enumerate(path):
            if isinstance(step, int):
                self._know(path[:depth], step)

    def _know(self, path: Path, key: int) -> None:
        self._keys.setdefault(path, set()).add(key)
        self._ends[path] = max(key + 1, self._ends.get(path, 0))

    def _paths(self, steps: Sequence[str]) -> list[Path]:
        """The paths of edits that a pointer into the built body may mean: positions become keys."""
        paths: list[Path] = [()]
        for step in steps:
            paths = [(*path, key) for path in paths for key in self._meant(path, step)]
        return paths

    def _meant(self, path: Path, step: str) -> Sequence[str | int]:
        keys = sorted(self._keys.get(path, ()))
        if step == ANY and keys:
            return keys
        return [keys[int(step)]] if step.isdecimal() and int(step) < len(keys) else [step]

    def _history(self, path: Path, steps: Sequence[str], until: float) -> Iterator[tuple[_Made, Sequence[str]]]:
        """The edits at `path` and around it in their order, and the steps from each to the place; what was moved there brings
        its own history with it."""
        since = -1
        for number, before, after in self._moves:
            if since < number < until and path[: len(after)] == after:
                since = number
                moved = (*before, *path[len(after) :]), [*map(str, before), *steps[len(after) :]]
        if since >= 0:
            yield from self._history(*moved, until=since)
        here = [(made, steps[depth:]) for depth in range(len(path) + 1) for made in self._at.get(path[:depth], ())]
        yield from sorted((pair for pair in here if since < pair[0].number < until), key=lambda pair: pair[0].number)

    def _origin(self, path: Path, steps: Sequence[str], before: float) -> Origin | None:
        pieces: list[Piece] = []
        inner: Sequence[str | int] = ()
        for made, rest in self._history(path, steps, math.inf):
            if made.frame.index >= before:
                break
            if made.edit.op is Op.CONCAT:
                if pieces and not isinstance(pieces[-1].value, str):
                    pieces = []
                start = pieces[-1].start + len(pieces[-1].value) if pieces else 0
                pieces.append(_piece(made, made.edit.value, start=start))
                inner = rest
                continue
            found = _inside(made.edit.value, rest)
            if made.edit.op is Op.SETTLE and (found is None or _says_nothing_new(found[0], pieces)):
                continue
            pieces = [] if found is None else [_piece(made, found[0], pointer(found[1]))]
            inner = () if found is None else rest[len(found[1]) :]
        return Origin(pieces, pointer(tuple(inner))) if pieces else None


def _piece(made: _Made, value: Any, inside: str = "", start: int = 0) -> Piece:
    return Piece(frame=made.frame, edit=made.edit, value=value, inside=inside, start=start, order=made.order)


def _length(edit: Edit) -> int:
    """How many elements an edit brings along; that of a snapshot which is no list is not worth decoding."""
    if edit.op is Op.CONCAT or (isinstance(edit, LateEdit) and not edit.data.startswith(b"[")):
        return 0
    return len(value) if isinstance(value := edit.value, list) else 0


def _says_nothing_new(value: Any, pieces: list[Piece]) -> bool:
    """Whether a settling value leaves what has gathered as it is, so that this still is where it comes from."""
    if not pieces:
        return False
    gathered: Any = "".join(piece.value for piece in pieces) if isinstance(pieces[0].value, str) else pieces[0].value
    return value in EMPTY or same(value, gathered)


def _inside(value: Any, steps: Sequence[str]) -> tuple[Any, Path] | None:
    """What the steps lead to, or the text on the way to it, and the steps that were taken; None if there is no such thing."""
    if not steps or isinstance(value, str):
        return value, ()
    first, rest = steps[0], steps[1:]
    keys: Iterable[str | int] = ()
    if isinstance(value, dict):
        keys = [first] if first in value else []
    elif isinstance(value, list):
        keys = range(len(value)) if first == ANY else [int(first)] if first.isdecimal() and int(first) < len(value) else []
    for key in keys:
        if (found := _inside(value[key], rest)) is not None:
            return found[0], (key, *found[1])
    return None
