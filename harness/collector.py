"""One interpreter of edits: builds the body that the API would have returned without streaming.

The body is a tree of plain objects. Where fragments gather there is a `_Text`, where a list grows an `_Elements` whose keys
are the wire's own indexes; both become plain values only when somebody asks for `body`. A text keeps its characters in one
growing buffer, so that memory is bounded by the response and a fragment costs the same at the end as at the beginning.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from harness import dialects
from harness.api_error import ApiError
from harness.edits import Disagreement, Edit, LateEdit, Op, PartKind, Path, Target, Unknown, pointer
from harness.errors import Where
from harness.findings import Finding
from harness.framing import Frame
from harness.response import Response, ToolCall, aggregate_costs

__all__ = ["Collected", "StreamCollector", "aggregate_costs"]


class _Text:
    """A text that grows."""

    __slots__ = ("_buffer", "write")

    def __init__(self, text: str = "") -> None:
        self._buffer = io.StringIO(newline="")
        self._buffer.readline()  # until it is read from it keeps every fragment as an object of its own (Python 3.11)
        self.write: Callable[[str], object] = self._buffer.write
        if text:
            self.write(text)

    def value(self) -> Any:
        return self._buffer.getvalue()


class _JSONText(_Text):
    """A text that grows and is JSON: its value is what it says, `initial` while it is empty, the text if it does not parse."""

    __slots__ = ("_initial",)

    def __init__(self, initial: Any) -> None:
        super().__init__()
        self._initial = initial

    def value(self) -> Any:
        text = self._buffer.getvalue()
        if not text.strip():
            return self._initial
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text


class _Elements(dict[int, Any]):
    """A list that grows: its elements in the order of their keys. `end` is the key after the greatest one."""

    def __init__(self, elements: Iterable[Any] = ()) -> None:
        super().__init__(enumerate(elements))
        self.end = len(self)

    def __setitem__(self, key: int, value: Any) -> None:
        super().__setitem__(key, value)
        if key >= self.end:
            self.end = key + 1


_EMPTY: tuple[Any, ...] = (None, "", [], {})


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


class StreamCollector:
    """Collects the frames of one streamed turn (semantics.md sections 1, 4 and 5.1).

    `dialect` is a name, an alias or a `Dialect`; `request` is the JSON body of the request, where it is known. Raises
    `UnsupportedDialectError`. All views may be read at any time, in mid-stream too, and change nothing.
    """

    def __init__(self, dialect: str | dialects.Dialect, request: Any = None) -> None:
        self.dialect = dialects.dialect(dialect) if isinstance(dialect, str) else dialect
        self._translator = self.dialect.translator(request)
        self._root: dict[str, Any] = {}
        self._writers: dict[Target, Callable[[str], object]] = {}
        self._set_last: Target | None = None
        self._late: dict[Target, tuple[dict[Any, Any], str | int]] = {}  # where undecoded edits stand, and only they
        self._unknown: list[Unknown] = []
        self._disagreements: list[Disagreement] = []
        self._notes: list[Finding] = []
        self._error: ApiError | None = None
        self._tool_turn = False
        self._frames = 0
        self._closed = False

    # taking frames in

    def add(self, frame: Frame) -> list[Edit]:
        """Take the next frame; returns the edits it caused."""
        edits = self._translator.translate(frame)
        self._frames += 1
        writers = self._writers
        for edit in edits:
            write = writers.get(edit.target)
            if write is None:
                self._apply(edit, frame)
            else:
                write(edit.value)
        return edits

    def extend(self, frames: Iterable[Frame]) -> None:
        """Take several frames."""
        translate, writers, late = self._translator.translate, self._writers, self._late
        for frame in frames:
            self._frames += 1
            for edit in translate(frame):
                write = writers.get(edit.target)
                if write is not None:
                    write(edit.value)
                elif type(edit) is LateEdit and (place := late.get(edit.target)) is not None:
                    place[0][place[1]] = edit
                else:
                    self._apply(edit, frame)

    def close(self) -> Collected:
        """The stream has ended: take the dialect's last words and return everything. May be called again."""
        if not self._closed:
            self._closed = True
            for edit in self._translator.close():
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
        return _built(self._root)

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
        """Fields and events that the dialect does not know; they are kept in the body (law 2)."""
        return list(self._unknown)

    @property
    def disagreements(self) -> list[Disagreement]:
        """Repetitions that differ from what had gathered, outside the dialect's `volatile` places (law 8)."""
        return list(self._disagreements)

    @property
    def notes(self) -> list[Finding]:
        """What the dialect had to decide while it translated."""
        return list(self._notes)

    # applying edits

    def _apply(self, edit: Edit, frame: Frame | None) -> None:
        target = edit.target
        where = Where() if frame is None else Where(frame=frame.index, span=frame.span)
        kind = target.part.kind
        if kind is PartKind.UNKNOWN:
            self._unknown.append(Unknown(where=Where(path=target.source).within(where), value=edit.value))
        elif kind is PartKind.TOOL_CALL:
            self._tool_turn = True
        match target.op:
            case Op.NOTE:
                self._notes.append(edit.value.within(where))
            case Op.FAIL:
                self._error = self._error or edit.value
            case Op.SET:
                self._take(edit)
            case Op.CONCAT:
                self._concat(target, edit.value, where)
            case Op.APPEND:
                elements = self._elements(target.path)
                elements[elements.end] = _owned(edit.value)
            case Op.PARSE:
                container, key = self._place(target.path)
                container[key] = _JSONText(_owned(edit.value))
            case Op.SETTLE:
                self._settle(target.path, edit.value, where)
            case Op.MOVE:
                self._move(target.path, edit.value)

    def _take(self, edit: Edit) -> None:
        """Set a value; one that was not decoded yet stays so, since most often another takes its place."""
        target = edit.target
        if type(edit) is LateEdit and target.part.kind is not PartKind.UNKNOWN:
            self._late[target] = self._put(target.path, edit)
            return
        value = edit.value
        self._set(target.path, value)
        if target is self._set_last and target.part.kind is not PartKind.UNKNOWN and not isinstance(value, (dict, list)):
            self._writers[target] = self._setter(target.path)
        self._set_last = target

    def _set(self, path: Path, value: Any) -> None:
        self._put(path, _owned(value))

    def _put(self, path: Path, node: Any) -> tuple[dict[Any, Any], str | int]:
        """Put a node at `path`; returns its container and its key there."""
        container, key = self._place(path)
        if isinstance(container.get(key), (_Text, LateEdit, dict, list)):
            self._forget()
        container[key] = node
        return container, key

    def _forget(self) -> None:
        """What writers write to may be gone."""
        self._writers.clear()
        self._late.clear()

    def _setter(self, path: Path) -> Callable[[Any], object]:
        """What sets the value at `path` when its target comes again: a text in the place of a text is all that happens."""
        container, key = self._place(path)

        def write(value: Any) -> None:
            if type(value) is str and type(container.get(key)) is str:
                container[key] = value
            else:
                self._set(path, value)

        return write

    def _concat(self, target: Target, fragment: str, where: Where) -> None:
        container, key = self._place(target.path)
        text = container.get(key)
        if not isinstance(text, _Text):
            if text is not None and not isinstance(text, str):
                self._disagree(target.path, where, _built(text), fragment)
            text = container[key] = _Text(text if isinstance(text, str) else "")
        self._writers[target] = text.write
        text.write(fragment)

    def _move(self, path: Path, to: Path) -> None:
        container, key = self._place(path)
        if key in container:
            node = container.pop(key)
            container, key = self._place(to)
            container[key] = node
            self._forget()  # a target that goes to `path` begins anew

    def _settle(self, path: Path, repeated: Any, where: Where) -> None:
        """Compare with what the API repeats; its value wins, unless it repeats nothing at all or leaves parts out."""
        container, key = self._place(path)
        node = self._decoded(container, key)
        if key not in container or node is None:
            self._set(path, repeated)
            return
        if isinstance(node, (_Elements, list)) and isinstance(repeated, list):
            self._settle_elements(path, repeated, where)
            return
        if type(node) is dict and isinstance(repeated, dict):
            for name, value in repeated.items():
                self._settle((*path, name), value, where)
            return
        gathered = _built(node)
        if same(gathered, repeated):
            return
        if gathered not in _EMPTY:
            self._disagree(path, where, gathered, repeated)
            if repeated in _EMPTY:
                return
        self._set(path, repeated)

    def _settle_elements(self, path: Path, repeated: list[Any], where: Where) -> None:
        elements = self._elements(path)
        if not repeated and not elements:
            return
        keys = sorted(elements)
        if len(keys) != len(repeated) and keys:
            self._disagree(path, where, _built(elements), repeated)
        if len(keys) > len(repeated):
            return
        for position, value in enumerate(repeated):
            known = position < len(keys)
            number = keys[position] if known else elements.end
            self._settle((*path, number), value, where)

    def _disagree(self, path: Path, where: Where, gathered: Any, repeated: Any) -> None:
        if not self.dialect.volatile.covers(path):
            place = Where(path=pointer(path)).within(where)
            self._disagreements.append(Disagreement(where=place, gathered=gathered, repeated=repeated))

    def _place(self, path: Path) -> tuple[dict[Any, Any], str | int]:
        """The container that the last step of `path` is a key of; made on the way if it is not there."""
        node: dict[Any, Any] = self._root
        for step, following in pairwise(path):
            child = self._decoded(node, step)
            if isinstance(following, int):
                if not isinstance(child, _Elements):
                    child = node[step] = _Elements(child if isinstance(child, list) else ())
            elif type(child) is not dict:
                child = node[step] = {}
            node = child
        return node, path[-1]

    def _decoded(self, container: dict[Any, Any], key: str | int) -> Any:
        """The node at `key`, ready to be changed."""
        node = container.get(key)
        if type(node) is LateEdit:
            node = container[key] = _owned(node.value)
            self._late.clear()
        return node

    def _elements(self, path: Path) -> _Elements:
        container, key = self._place(path)
        elements = container.get(key)
        if not isinstance(elements, _Elements):
            elements = container[key] = _Elements(elements if isinstance(elements, list) else ())
        return elements


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal and of the same types: 1, 1.0 and true are three values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or (isinstance(one, float) and math.isnan(one) and math.isnan(other))


def _owned(value: Any) -> Any:
    """A copy whose containers are the collector's own."""
    if isinstance(value, dict):
        return {name: _owned(field) for name, field in value.items()}
    if isinstance(value, list):
        return [_owned(element) for element in value]
    return value


def _built(node: Any) -> Any:
    """The plain value of a node."""
    if isinstance(node, LateEdit):
        return node.value
    if isinstance(node, _Text):
        return node.value()
    if isinstance(node, _Elements):
        return [_built(node[key]) for key in sorted(node)]
    if isinstance(node, dict):
        return {name: _built(child) for name, child in node.items()}
    if isinstance(node, list):
        return [_built(element) for element in node]
    return node
