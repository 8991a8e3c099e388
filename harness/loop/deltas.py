"""Edits as a consumer sees them: which fragments of a turn to show while they arrive (product contract, section 3: deltas).

The view is neutral and knows no field of any API. What grows is shown piece by piece; what comes whole is shown once. Three
things need care: only the first of several choices is the turn (D17); a server may send the same thoughts in two forms, which
must not be told twice (row C46); and of a call only the dialect knows where its id, name and arguments stand, so that it is
asked to read the element as far as it has come. At the end the whole turn settles whatever a live view cannot know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from harness.dialects import Dialect
from harness.edits import Edit, Op, PartKind, Path, Target, pointer
from harness.loop.artifacts import Artifact, ArtifactKind, Key, ReasoningDelta, RefusalDelta, Side, TextDelta, ToolCallDelta

_Show = Callable[[Any], object]

_TEXTS: dict[PartKind, type[TextDelta] | type[ReasoningDelta] | type[RefusalDelta]] = {
    PartKind.TEXT: TextDelta,
    PartKind.REASONING: ReasoningDelta,
    PartKind.REFUSAL: RefusalDelta,
}
_SAID_WHOLE = {PartKind.TEXT: (Op.SET, Op.SETTLE), PartKind.REASONING: (Op.SETTLE,), PartKind.REFUSAL: (Op.SETTLE,)}
"""How a text comes that was never sent in pieces: with the start of its block, or with its end."""
_METADATA, _USAGE, _FINISH = PartKind.METADATA, PartKind.USAGE, PartKind.FINISH
_IDENTITY_DEPTH = 2  # steps from a call's element to its id and name, at most, in every API
_PROBE = "\x00probe"


def _nothing(value: Any) -> None:
    """What is not shown."""


class _Call:
    """A call as far as it has come: the element of the native body, and what of it was shown."""

    __slots__ = ("element", "grows", "id", "name", "slot")

    def __init__(self, slot: int, element: dict[str, Any]) -> None:
        self.slot = slot
        self.element = element
        self.id = self.name = ""
        self.grows = False


class Deltas:
    """What is shown of the edits of one turn: listens to its collector. One for each turn, fed with all edits in order."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._shown: list[Artifact] = []  # always this list
        self._shows: dict[Target, _Show] = {}  # for places where texts grow
        self._told: set[Path] = set()  # places whose text was shown
        self._thoughts: dict[Key, Path] = {}  # the form in which the thoughts of a part are told
        self._calls: dict[Path, _Call] = {}  # by the place of their element
        self._slots = 0
        self.texts: Callable[[Target], _Show | None] = self._shows.get

    def edits(self, edits: list[Edit]) -> None:
        """Take the edits of one frame."""
        shows = self._shows
        for edit in edits:
            target = edit.target
            show = shows.get(target)
            if show is not None:
                if edit.value:
                    show(edit.value)
                continue
            kind = target.part.kind
            if kind is not _METADATA and kind is not _USAGE and kind is not _FINISH:
                self._shown.extend(self._look(edit, kind))

    def taken(self) -> list[Artifact]:
        """The artifacts of what was taken in since this was asked for last."""
        shown = self._shown.copy()
        self._shown.clear()
        return shown

    def of(self, edits: list[Edit]) -> list[Artifact]:
        """The artifacts that the edits of one frame are."""
        self.edits(edits)
        return self.taken()

    def _look(self, edit: Edit, kind: PartKind) -> Iterator[Artifact]:
        """An edit at a place that is not known yet."""
        path = edit.path
        if kind is PartKind.UNKNOWN:
            yield Side(kind=ArtifactKind.UNKNOWN, value={"path": pointer(path), "value": edit.value})
        elif self._is_other_choice(path):
            if edit.op is Op.CONCAT:
                self._shows[edit.target] = _nothing
        elif kind is PartKind.TOOL_CALL:
            yield from self._call(edit)
        elif kind is PartKind.SIGNATURE:
            yield from self._signature(edit)
        elif kind in _TEXTS:
            yield from self._text(edit, kind)

    def _is_other_choice(self, path: Path) -> bool:
        """Whether the place is in a choice that is not the turn."""
        return len(path) > 1 and path[0] in self._dialect.choices and path[1] != 0

    def _text(self, edit: Edit, kind: PartKind) -> Iterator[Artifact]:
        value, path = edit.value, edit.path
        if not isinstance(value, str) or not value:
            return
        key = (kind.value, *edit.part.key)
        echo = kind is PartKind.REASONING and self._thoughts.setdefault(key, _form(path)) != _form(path)
        delta, show = _TEXTS[kind], self._shown.append
        if edit.op is Op.CONCAT:
            self._shows[edit.target] = _nothing if echo else lambda text: show(delta(text, key))
        elif edit.op not in _SAID_WHOLE[kind] or path in self._told:
            return
        self._told.add(path)
        if not echo:
            yield delta(value, key)

    def _signature(self, edit: Edit) -> Iterator[Artifact]:
        """A signature of thoughts that were shown; others have no text to stand on and come with the whole turn."""
        shown = (PartKind.REASONING.value, *edit.part.key) in self._thoughts
        if shown and edit.op is Op.SET and edit.value and isinstance(edit.value, str):
            yield Side(kind=ArtifactKind.REASONING_SIGNATURE, value=edit.value)

    # calls

    def _call(self, edit: Edit) -> Iterator[Artifact]:
        value, path = edit.value, edit.path
        found = self._call_at(path)
        if found is None:
            if isinstance(value, dict) and edit.op in (Op.SET, Op.APPEND, Op.SETTLE):
                place = (*path, self._slots) if edit.op is Op.APPEND else path
                yield from self._began(place, value)
            return
        call, inside = found
        if edit.op is Op.CONCAT:
            yield from self._arguments(call, inside, edit)
        elif edit.op in (Op.SET, Op.SETTLE) and isinstance(value, str) and 0 < len(inside) <= _IDENTITY_DEPTH:
            before = self._dialect.read_call(call.element).arguments
            call.element = _with(call.element, inside, value)
            read = self._dialect.read_call(call.element)
            late = read.arguments if read.arguments not in (before, "{}") and not call.grows else ""
            yield from self._identified(call, late)

    def _call_at(self, path: Path) -> tuple[_Call, Path] | None:
        """The call whose element has the place in it, and the rest of the way."""
        for end in range(len(path), 0, -1):
            call = self._calls.get(path[:end])
            if call is not None:
                return call, path[end:]
        return None

    def _began(self, place: Path, element: dict[str, Any]) -> Iterator[Artifact]:
        call = self._calls[place] = _Call(self._slots, element)
        self._slots += 1
        arguments = self._dialect.read_call(element).arguments
        yield from self._identified(call, "" if arguments == "{}" else arguments)

    def _identified(self, call: _Call, arguments: str = "") -> Iterator[Artifact]:
        """The id and the name where they are new: the first that are not empty count (D3)."""
        read = self._dialect.read_call(call.element)
        identity = "" if read.synthetic_id or call.id else read.id
        name = "" if call.name else read.name
        call.id, call.name = call.id or identity, call.name or name
        if identity or name or arguments:
            call.grows = call.grows or bool(arguments)
            yield ToolCallDelta(slot=call.slot, id=identity, name=name, arguments=arguments)

    def _arguments(self, call: _Call, inside: Path, edit: Edit) -> Iterator[Artifact]:
        """A fragment of the arguments, if the text that grows there is all of their text."""
        probed = self._dialect.read_call(_with(call.element, inside, _PROBE))
        if probed.arguments != _PROBE:
            self._shows[edit.target] = _nothing
            return
        slot, show = call.slot, self._shown.append
        call.grows = True
        self._shows[edit.target] = lambda text: show(ToolCallDelta(slot, "", "", text))
        if edit.value:
            yield ToolCallDelta(slot=slot, arguments=edit.value)


def _form(path: Path) -> Path:
    """Which of several forms of one text stands at a place: the field that has it, or the list whose elements do."""
    in_list = len(path) > 1 and isinstance(path[-2], int)
    return tuple(step for step in (path[:-1] if in_list else path) if isinstance(step, str))


def _with(element: Any, steps: Path, value: Any) -> Any:
    """A copy of the element that has `value` at the end of `steps`."""
    if not steps:
        return value
    first, *rest = steps
    if isinstance(first, int):  # lists inside a call hold arguments, which are of no interest here
        return element
    inner = element if isinstance(element, dict) else {}
    return {**inner, first: _with(inner.get(first), tuple(rest), value)}
