"""One interpreter of edits: builds the body that the API would have returned without streaming.

The body is a tree of plain objects. Where fragments gather there is a `Text`, where a list grows an `Elements` whose keys
are the wire's own indexes; both become plain values only when somebody asks for `body`. A text keeps its characters in one
growing buffer, so that memory is bounded by the response and a fragment costs the same at the end as at the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from harness import dialects
from harness.api_error import ApiError
from harness.dialects.repeats import OneText
from harness.dialects.translating import UNKNOWN_EVENTS, BaseTranslator
from harness.edits import Disagreement, Edit, LateEdit, Op, PartKind, Path, Target, Unknown, pointer
from harness.errors import UnsupportedDialectError, Where
from harness.findings import Finding
from harness.framing import Frame
from harness.nodes import EMPTY, Elements, JSONText, Text, built, completed, owned, same
from harness.response import Response, ToolCall, aggregate_costs

__all__ = ["Collected", "Listener", "StreamCollector", "aggregate_costs", "same"]

_MOST_OF_A_PLACE = 100  # unknown fields that are remembered
_MOST_PLACES = 1000
_NUMBER = re.compile(r"/\d+(?=/|$)")
_Repeating = tuple[Callable[[Frame], str | None] | None, Callable[[str], object], Callable[[str], object] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a stream came to.

    `complete` says whether the API's own end condition was met without an error; `missing` says what it lacked. `notes` are
    the findings of translation, `unknown` and `disagreements` what laws 2 and 8 ask for.
    """

    dialect: str
    body: Any
    response: Response
    complete: bool
    missing: str | None
    error: ApiError | None
    unknown: tuple[Unknown, ...]
    disagreements: tuple[Disagreement, ...]
    notes: tuple[Finding, ...]
    frames: int


class Listener(Protocol):
    """Hears what a collector takes in (`StreamCollector.extend`)."""

    def edits(self, edits: list[Edit]) -> object:
        """The edits of a frame."""

    def texts(self, target: Target) -> Callable[[str], object] | None:
        """What hears the texts that go to `target`, for which no edits are made then; None: they are heard of as edits."""


class StreamCollector:
    """Collects the frames of one streamed turn (semantics.md sections 1, 4 and 5.1).

    `dialect` is a name, an alias or a `Dialect`; `request` is the JSON body of the request, where it is known. `watch` is told
    of every payload that is not a mere repetition of the one before (`BaseTranslator.watch`). Raises
    `UnsupportedDialectError`. All views may be read at any time, in mid-stream too, and change nothing.
    """

    def __init__(
        self, dialect: str | dialects.Dialect, request: Any = None, watch: Callable[[Frame, Any, bool], object] | None = None
    ) -> None:
        if isinstance(dialect, str):
            dialect = dialects.dialect(dialect)
        elif not hasattr(dialect, "translator"):
            raise UnsupportedDialectError(dialect, dialects.names())
        self.dialect = dialect
        self._translator = self.dialect.translator(request)
        if watch is not None and isinstance(self._translator, BaseTranslator):
            self._translator.watch = watch
        self._one_text: Callable[[], OneText | None] = getattr(self._translator, "one_text", _nothing)  # not all have it
        self._root: dict[str, Any] = {}
        self._writers: dict[Target, Callable[[str], object]] = {}
        self._set_last: Target | None = None
        self._late: dict[Target, tuple[dict[Any, Any], str | int]] = {}  # where undecoded edits stand, and only they
        self._unknown: list[Unknown] = []
        self._strangers: dict[str, int] = {}  # how many of them were met, by place
        self._foreign: dict[Path, dict[Path, None]] = {}  # places of unknown fields, by what they are inside of
        self._disagreements: list[Disagreement] = []
        self._notes: list[Finding] = []
        self._error: ApiError | None = None
        self._tool_turn = False
        self._frames = 0
        self._closed = False
        self.last: tuple[Edit, ...] = ()
        """The edits that the end of the stream caused."""

    # taking frames in

    def add(self, frame: Frame) -> list[Edit]:
        """Take the next frame; returns the edits it caused."""
        edits = self._translator.translate(frame)
        self._frames += 1
        writers = self._writers
        for edit in edits:
            write = writers.get(edit.target)
            if write is not None:
                write(edit.value)
            elif type(edit) is LateEdit and (place := self._late.get(edit.target)) is not None:
                place[0][place[1]] = edit
            else:
                self._apply(edit, frame)
        return edits

    def extend(self, frames: Iterable[Frame], listener: Listener | None = None) -> None:
        """Take several frames; where one after the other adds a text and nothing else, no edits are made of them."""
        translate, writers, late = self._translator.translate, self._writers, self._late
        find, write, hear = self._repeating(listener)
        for frame in frames:
            self._frames += 1
            text = None if find is None else find(frame)
            if text is not None:
                write(text)
                if hear is not None:
                    hear(text)
                continue
            edits = translate(frame)
            for edit in edits:
                writer = writers.get(edit.target)
                if writer is not None:
                    writer(edit.value)
                elif type(edit) is LateEdit and (place := late.get(edit.target)) is not None:
                    place[0][place[1]] = edit
                else:
                    self._apply(edit, frame)
            if listener is not None:
                listener.edits(edits)
            if len(edits) == 1:
                find, write, hear = self._repeating(listener)
            else:
                find = None

    def _repeating(self, listener: Listener | None) -> _Repeating:
        """What finds the text in the next frame if it repeats the last one, what adds it to those before, and who hears it."""
        one_text = self._one_text()
        write = None if one_text is None else self._writers.get(one_text.target)
        hear = None if one_text is None or listener is None else listener.texts(one_text.target)
        if one_text is None or write is None or (hear is None and listener is not None):
            return None, _nothing, None
        return one_text.find, write, hear

    def close(self) -> Collected:
        """The stream has ended: take the dialect's last words and return everything. May be called again."""
        if not self._closed:
            self._closed = True
            self.last = tuple(self._translator.close())
            for edit in self.last:
                self._apply(edit, None)
        body = self.body
        return Collected(
            dialect=self.dialect.name,
            body=body,
            response=self.dialect.read(body),
            complete=self.complete,
            missing=self.missing,
            error=self._error,
            unknown=tuple(self._unknown),
            disagreements=tuple(self._disagreements),
            notes=tuple(self._notes),
            frames=self._frames,
        )

    # views

    @property
    def body(self) -> Any:
        """The native body so far."""
        return built(self._root)

    @property
    def response(self) -> Response:
        """The neutral response so far."""
        return self.dialect.read(self.body)

    @property
    def text(self) -> str | None:
        return self.response.text

    @property
    def reasoning(self) -> str | None:
        return self.response.reasoning

    @property
    def tool_calls(self) -> list[ToolCall]:
        return self.response.tool_calls

    @property
    def is_tool_turn(self) -> bool:
        """Whether a part of a tool call has been seen (semantics.md Q1)."""
        return self._tool_turn

    @property
    def complete(self) -> bool:
        """Whether the turn has met its API's end condition, and no error ended it (law 6)."""
        return self._error is None and self.missing is None

    @property
    def missing(self) -> str | None:
        """What the end condition still lacks, in words."""
        return self._translator.missing()

    @property
    def error(self) -> ApiError | None:
        """The error that the provider sent inside the stream; the first, if it sent several."""
        return self._error

    @property
    def unknown(self) -> list[Unknown]:
        """Fields and events that the dialect does not know, of each place the first ones; the body keeps all (law 2)."""
        return list(self._unknown)

    @property
    def disagreements(self) -> list[Disagreement]:
        """Repetitions that differ from what had gathered, outside the dialect's `restated` places (law 8)."""
        return list(self._disagreements)

    @property
    def notes(self) -> list[Finding]:
        """What the dialect had to decide while it translated."""
        return list(self._notes)

    def _met(self, stranger: Unknown) -> None:
        """Remember something unknown. A server that has a field of its own sends it with every payload: after the first ones of
        a place nobody learns anything from more of them."""
        place = _NUMBER.sub("/*", stranger.where.path or "")
        met = self._strangers.get(place, 0)
        if met < _MOST_OF_A_PLACE and (met or len(self._strangers) < _MOST_PLACES):
            self._strangers[place] = met + 1
            self._unknown.append(stranger)

    # applying edits

    def _apply(self, edit: Edit, frame: Frame | None) -> None:
        target = edit.target
        where = Where() if frame is None else Where(frame=frame.index, span=frame.span)
        kind = target.part.kind
        if kind is PartKind.UNKNOWN:
            self._met(Unknown(where=Where(path=target.source).within(where), value=edit.value))
        elif kind is PartKind.TOOL_CALL:
            self._tool_turn = True
        match target.op:
            case Op.NOTE:
                self._notes.append(edit.value.within(where))
            case Op.FAIL:
                self._error = self._error or edit.value
            case Op.SET if kind is PartKind.UNKNOWN:
                self._keep(target.path, edit.value)
            case Op.SET:
                self._take(edit, where)
            case Op.CONCAT:
                self._concat(target, edit.value, where)
            case Op.APPEND:
                elements = self._elements(target.path, where)
                elements[elements.end] = owned(edit.value)
            case Op.PARSE:
                self._put(target.path, JSONText(owned(edit.value)), where)
            case Op.SETTLE:
                self._settle(target.path, edit.value, where)
            case Op.MOVE:
                self._move(target.path, edit.value, where)

    def _take(self, edit: Edit, where: Where) -> None:
        """Set a value; one that was not decoded yet stays so, since most often another takes its place."""
        target = edit.target
        if type(edit) is LateEdit:
            self._late[target] = self._put(target.path, edit, where)
            return
        value = edit.value
        self._set(target.path, value, where)
        if target is self._set_last and not isinstance(value, (dict, list)):
            self._writers[target] = self._setter(target.path)
        self._set_last = target

    def _keep(self, path: Path, value: Any) -> None:
        """Set what the dialect does not know. It never takes the place of what is known, and is then kept beside the rest."""
        standing = self._standing(path)
        if path in self._foreign.get(path[:-1], ()):
            self._set(path, completed(standing, value), Where())
        elif standing in EMPTY or same(standing, value):
            self._set(path, value, Where())
            for depth in range(len(path)):
                self._foreign.setdefault(path[:depth], {})[path] = None
        else:
            self._keep_beside(path, value)

    def _keep_beside(self, path: Path, value: Any) -> None:
        elements = self._elements((UNKNOWN_EVENTS,), Where())
        elements[elements.end] = {str(path[-1]): owned(value)}

    def _standing(self, path: Path) -> Any:
        """The value at `path`, or what is in the way to it; None if neither is there."""
        node: Any = self._root
        for step in path:
            node = node.value if type(node) is LateEdit else node
            inside: Any
            if isinstance(step, int):
                inside = dict(enumerate(node)) if type(node) is list else node if type(node) is Elements else None
            else:
                inside = node if type(node) is dict else None
            if inside is None:
                break
            node = inside.get(step)
        return built(node)

    def _set(self, path: Path, value: Any, where: Where) -> None:
        self._put(path, owned(value), where)

    def _put(self, path: Path, node: Any, where: Where) -> tuple[dict[Any, Any], str | int]:
        """Put a node at `path`; returns its container and its key there."""
        container, key = self._place(path, where)
        foreign = [(place, self._standing(place)) for place in self._foreign.get(path, ())]
        self._put_in(container, key, node)
        for place, value in foreign:
            if value not in EMPTY and self._standing(place) in EMPTY:  # what was unknown is not lost with what is replaced
                self._keep_beside(place, value)
        return container, key

    def _put_in(self, container: dict[Any, Any], key: str | int, node: Any) -> None:
        if isinstance(container.get(key), (Text, LateEdit, dict, list)):
            self._forget()
        container[key] = node

    def _forget(self) -> None:
        """What writers write to may be gone."""
        self._writers.clear()
        self._late.clear()

    def _setter(self, path: Path) -> Callable[[Any], object]:
        """What sets the value at `path` when its target comes again: a text in the place of a text is all that happens."""
        container, key = self._place(path, Where())

        def write(value: Any) -> None:
            if type(value) is str and type(container.get(key)) is str:
                container[key] = value
            else:
                self._set(path, value, Where())

        return write

    def _concat(self, target: Target, fragment: str, where: Where) -> None:
        container, key = self._place(target.path, where)
        text = container.get(key)
        if not isinstance(text, Text):
            begun = text if isinstance(text, str) else ""
            text = self._replace(container, key, Text(begun), target.path, where, fragment)
        self._writers[target] = text.write
        text.write(fragment)

    def _move(self, path: Path, to: Path, where: Where) -> None:
        container, key = self._place(path, where)
        if key in container:
            self._put(to, container.pop(key), where)
            self._forget()  # a target that goes to `path` begins anew

    def _settle(self, path: Path, repeated: Any, where: Where) -> None:
        """Compare with what the API repeats; its value wins, unless it repeats nothing at all or leaves parts out."""
        container, key = self._place(path, where)
        node = self._decoded(container, key)
        if key not in container or node is None:
            self._set(path, repeated, where)
            return
        if isinstance(node, (Elements, list)) and isinstance(repeated, list):
            self._settle_elements(path, repeated, where)
            return
        if type(node) is dict and isinstance(repeated, dict):
            for name, value in repeated.items():
                self._settle((*path, name), value, where)
            return
        gathered = built(node)
        if same(gathered, repeated):
            return
        if gathered not in EMPTY:
            self._disagree(path, where, gathered, repeated)
            if repeated in EMPTY:
                return
        self._set(path, repeated, where)

    def _settle_elements(self, path: Path, repeated: list[Any], where: Where) -> None:
        elements = self._elements(path, where)
        if not repeated and not elements:
            return
        keys = sorted(elements)
        if len(keys) != len(repeated) and keys:
            self._disagree(path, where, built(elements), repeated)
        if len(keys) > len(repeated):
            return
        for position, value in enumerate(repeated):
            known = position < len(keys)
            number = keys[position] if known else elements.end
            self._settle((*path, number), value, where)

    def _disagree(self, path: Path, where: Where, gathered: Any, repeated: Any) -> None:
        if not self.dialect.restated.covers(path):
            place = Where(path=pointer(path)).within(where)
            self._disagreements.append(Disagreement(where=place, gathered=gathered, repeated=repeated))

    def _place(self, path: Path, where: Where) -> tuple[dict[Any, Any], str | int]:
        """The container that the last step of `path` is a key of; made on the way if it is not there."""
        node: dict[Any, Any] = self._root
        for number, (step, following) in enumerate(pairwise(path), 1):
            child = self._decoded(node, step)
            if isinstance(following, int):
                if not isinstance(child, Elements):
                    grown = Elements(child if isinstance(child, list) else ())
                    child = self._replace(node, step, grown, path[:number], where)
            elif type(child) is not dict:
                child = self._replace(node, step, {}, path[:number], where)
            node = child
        return node, path[-1]

    def _replace(self, container: dict[Any, Any], key: str | int, node: Any, path: Path, where: Where, came: Any = None) -> Any:
        """Put a node that grows in the place of one that cannot; what it does not take over is reported as a disagreement
        with what came."""
        before, after = built(container.get(key)), built(node)
        if before not in EMPTY and not same(before, after):
            self._disagree(path, where, before, after if came is None else came)
        self._put_in(container, key, node)
        return node

    def _decoded(self, container: dict[Any, Any], key: str | int) -> Any:
        """The node at `key`, ready to be changed."""
        node = container.get(key)
        if type(node) is LateEdit:
            node = container[key] = owned(node.value)
            self._late.clear()
        return node

    def _elements(self, path: Path, where: Where) -> Elements:
        container, key = self._place(path, where)
        elements: Any = self._decoded(container, key)
        if not isinstance(elements, Elements):
            elements = self._replace(container, key, Elements(elements if isinstance(elements, list) else ()), path, where)
        return elements  # type: ignore[no-any-return]


def _nothing(*_: object) -> None:
    """Knows nothing, does nothing."""
