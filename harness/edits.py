"""Edits: what one payload changes in the native, non-streaming body.

A dialect turns every payload into edits, the collector applies them, the loop shows them. The verbs:

    set      the value at `path` is this one
    concat   the text at `path` grows by this fragment
    append   the list at `path` grows by this element
    parse    the text that gathers at `path` is JSON: the body holds its value, or this one while nothing came
    settle   the API repeats what has gathered at `path`: compare, and take the repeated value
    move     only now it is known where in the body this belongs: what has gathered at `path` stands at the path in `value`
    note     nothing changes; the dialect met something that a reader of the verdict must hear about (a `Finding`)
    fail     the turn failed in band; the value is an `ApiError`

(`style.md` has the first five. Bedrock opens a block of cited text as if it were plain, hence the sixth; a failure and a
remark are effects of a payload as well, and travel the same way.)
An edit of a part of kind `unknown` is of a field or event that the dialect does not know: it is kept in the body and listed.

Most edits of a stream go to the same few places, so the place is told once: an `Edit` is small and refers to a `Target`
that its dialect made at the first fragment. Neither is frozen, since a frozen pair for every event costs more than all the
rest of the work; nobody changes them after they were returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from harness import payload
from harness.errors import Where

Path = tuple[str | int, ...]
"""A place in the native body. A string names a field; a number is the key of a list element, not its position: elements
stand in the order of their keys, and keys may leave holes."""


class Op(StrEnum):
    SET = "set"
    CONCAT = "concat"
    APPEND = "append"
    PARSE = "parse"
    SETTLE = "settle"
    MOVE = "move"
    NOTE = "note"
    FAIL = "fail"


class PartKind(StrEnum):
    """What an edit is about, in the words of every API (product contract, section 3: kinds of deltas)."""

    TEXT = "text"
    REASONING = "reasoning"
    SIGNATURE = "reasoning_signature"
    TOOL_CALL = "tool_call"
    REFUSAL = "refusal"
    OTHER = "other"
    USAGE = "usage"
    FINISH = "finish"
    METADATA = "metadata"
    ERROR = "error"
    UNKNOWN = "unknown"


class PartRef(NamedTuple):
    """Which part of the turn: its kind, and its key among the parts (choice or candidate, then block)."""

    kind: PartKind
    key: tuple[int, ...] = ()


METADATA = PartRef(PartKind.METADATA)
USAGE = PartRef(PartKind.USAGE)
FINISH = PartRef(PartKind.FINISH)
UNKNOWN = PartRef(PartKind.UNKNOWN)
ERROR = PartRef(PartKind.ERROR)


class Target:
    """A place in the native body and what happens there: compared by identity, and used again by its dialect.

    `source` is the JSON pointer of the value in the payload, with the indexes of the payload that made the target.
    """

    __slots__ = ("op", "part", "path", "source")

    def __init__(self, op: Op, path: Path = (), part: PartRef = METADATA, source: str = "") -> None:
        self.op = op
        self.path = path
        self.part = part
        self.source = source

    def __repr__(self) -> str:
        return f"Target({self.op.value}, {self.path!r}, {self.part.kind.value})"


class Edit:
    """One change of the native body: `op` and `value` at `path`, caused by the frame numbered `frame`."""

    __slots__ = ("frame", "target", "value")

    def __init__(self, target: Target, value: Any, frame: int) -> None:
        self.target = target
        self.value = value
        self.frame = frame

    @property
    def op(self) -> Op:
        return self.target.op

    @property
    def path(self) -> Path:
        return self.target.path

    @property
    def part(self) -> PartRef:
        return self.target.part

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Edit):
            return NotImplemented
        mine = (self.op, self.path, self.part, self.frame, self.value)
        return mine == (other.op, other.path, other.part, other.frame, other.value)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Edit({self.op.value} {pointer(self.path)} = {self.value!r}, {self.part.kind.value}, frame {self.frame})"


class LateEdit(Edit):
    """An edit whose value is decoded when somebody asks for it, each time anew: most snapshots are set and never looked at.

    `data` is one JSON value.
    """

    __slots__ = ("data",)

    def __init__(self, target: Target, data: bytes, frame: int) -> None:
        self.target = target
        self.data = data
        self.frame = frame

    @property
    def value(self) -> Any:
        return payload.strict(self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A field or event that the dialect does not know. `where.path` is a JSON pointer into the payload, or `event:NAME`."""

    where: Where
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """The API repeated a value, or changed its type, and this differs from what had gathered at `where.path` of the body."""

    where: Where
    gathered: Any
    repeated: Any


def pointer(path: Path) -> str:
    """The path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
