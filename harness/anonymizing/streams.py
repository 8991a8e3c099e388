"""Where the pieces of a streamed text stand, and what each of them becomes: its part of the replacement of the whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from harness.anonymizing.texts import Texts
from harness.dialects import Dialect
from harness.edits import Edit, LateEdit, Op, Path, pointer
from harness.framing import Frame


class Piece:
    """A piece of a text: the string at the JSON pointer `source` of a payload says `value`, which becomes `new`."""

    __slots__ = ("frame", "grows", "new", "source", "used", "value")

    def __init__(self, frame: int, source: str, value: str, *, grows: bool = False) -> None:
        self.frame = frame
        self.source = source
        self.value = value
        self.new = value
        self.grows = grows
        self.used = False

    @property
    def name(self) -> str:
        return self.source.rpartition("/")[2]


class Pieces:
    """The pieces of the texts that a stream gathers, by the frames that brought them. Edits are followed as the collector
    follows them, as far as texts go."""

    def __init__(self, frames: Iterable[Frame], dialect: Dialect, request: Any, texts: Texts) -> None:
        self._of_frame: dict[int, list[Piece]] = defaultdict(list)
        self._growing: dict[Path, list[Piece]] = {}
        self._all: list[list[Piece]] = []
        translator = dialect.translator(request)
        for frame in frames:
            for edit in translator.translate(frame):
                self._take(edit, frame.index)
        self.said = [self._replace(pieces, texts) for pieces in self._all if len(pieces) > 1 or pieces[0].grows]
        """Every text that gathered, and its replacement."""

    def of(self, frame: int, source: str, value: str) -> str | None:
        """What a string of a payload becomes as a piece of a longer text; None if it is none.

        Of pieces that say the same, the one whose dialect named this very place is meant, or else the next of a field with
        this name, or the next one.
        """
        alike = [piece for piece in self._of_frame.get(frame, ()) if piece.value == value]
        fresh = [piece for piece in alike if not piece.used]
        name = source.rpartition("/")[2]
        orders = ((p for p in alike if p.source == source), (p for p in fresh if p.name == name), fresh, alike)
        found = next((piece for order in orders for piece in order), None)
        if found is None:
            return None
        found.used = True
        return found.new

    def saying(self, frame: int, value: str) -> str | None:
        """What a text that is repeated in another form beside a piece becomes."""
        return next((piece.new for piece in self._of_frame.get(frame, ()) if piece.value == value), None)

    def _take(self, edit: Edit, frame: int) -> None:
        if edit.op is Op.CONCAT and isinstance(edit.value, str):
            self._grow(edit.path, Piece(frame, edit.target.source, edit.value, grows=True))
        elif edit.op is Op.MOVE:
            for path in self._below(edit.path):
                self._growing[(*edit.value, *path[len(edit.path) :])] = self._growing.pop(path)
        elif edit.op is Op.SET and not isinstance(edit, LateEdit):
            value = edit.value
            for path in self._below(edit.path) if isinstance(value, (dict, list)) else [edit.path]:
                self._growing.pop(path, None)
            for inside, text in _strings(value):
                self._grow((*edit.path, *inside), Piece(frame, edit.target.source + pointer(inside), text))

    def _below(self, above: Path) -> list[Path]:
        return [path for path in self._growing if path[: len(above)] == above]

    def _grow(self, path: Path, piece: Piece) -> None:
        pieces = self._growing.get(path)
        if pieces is None:
            pieces = self._growing[path] = []
            self._all.append(pieces)
        pieces.append(piece)

    def _replace(self, pieces: list[Piece], texts: Texts) -> tuple[str, str]:
        whole = "".join(piece.value for piece in pieces)
        new, at = texts.text(whole), 0
        for piece in pieces:
            piece.new = new[at : at + len(piece.value)]
            at += len(piece.value)
            if len(pieces) > 1:  # a text that came at once is what it is wherever it stands
                self._of_frame[piece.frame].append(piece)
        return whole, new


def _strings(value: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield (), value
    elif isinstance(value, dict):
        for name, field in value.items():
            yield from (((name, *inside), text) for inside, text in _strings(field))
    elif isinstance(value, list):
        for number, element in enumerate(value):
            yield from (((number, *inside), text) for inside, text in _strings(element))
