"""Fragments and whole parts become a turn (semantics.md 2.2, decisions D3, D5, D6).

`Gathering` is what a step keeps of the turn that is running. `Snapshot` is what a watcher saw of it at some event: it refers
to a log that all snapshots of the turn share and is put together when somebody reads it, so that a thousand updates of a
long text do not cost a thousand long texts. `folded` is law 5: the turn, from what was told of it and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, overload

from harness import payload
from harness.loop import values
from harness.loop.artifacts import (
    DELTAS,
    PARTS,
    ArtifactKind,
    Delta,
    Finish,
    Key,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
)
from harness.loop.state import TurnPart
from harness.response import FinishReason, Part, Reasoning, Refusal, Text, ToolCall, Usage


class Accumulator:
    """Gathers deltas into blocks. Keys are remembered in the order in which they were first seen (M1, M2)."""

    def __init__(self) -> None:
        self._blocks: dict[Key, list[Delta]] = {}
        self._last: Key | None = None  # the very key of the last fragment, and how its block grows
        self._grow: Callable[[Delta], object] = self.add
        self._signatures: dict[Key, str] = {}

    def add(self, delta: Delta) -> None:
        key = delta.key
        if key is self._last:
            self._grow(delta)
            return
        block = self._blocks.setdefault(key, [])
        block.append(delta)
        self._last, self._grow = key, block.append

    def sign(self, signature: str) -> None:
        """Put a signature on the reasoning that began last; without any it stands for reasoning that was not shown."""
        begun = [key for key, block in self._blocks.items() if isinstance(block[0], ReasoningDelta)]
        if not begun:
            self.add(ReasoningDelta(""))
            begun = list(self._blocks)
        self._signatures[begun[-1]] = signature

    def flush(self, calls: int = 0) -> list[Part]:
        """The blocks so far, whole; nothing stays open. `calls` is the number of calls that came before them."""
        blocks: list[Part] = []
        for key, deltas in self._blocks.items():
            part = joined(deltas, calls, self._signatures.get(key))
            calls += isinstance(part, ToolCall)
            blocks.append(part)
        self.discard()
        return blocks

    def discard(self) -> None:
        self._blocks.clear()
        self._signatures.clear()
        self._last = None


def joined(deltas: list[Delta], calls: int = 0, signature: str | None = None) -> Part:
    """One block of all its fragments; joined once, so that a long text costs its length."""
    first = deltas[0]
    if isinstance(first, TextDelta):
        return Text(text=_text(deltas))
    if isinstance(first, ReasoningDelta):
        return Reasoning(text=_text(deltas) or None, signature=signature)
    if isinstance(first, RefusalDelta):
        return Refusal(text=_text(deltas))
    pieces = [d for d in deltas if isinstance(d, ToolCallDelta)]
    identity = next((d.id for d in pieces if d.id), "")
    return ToolCall(
        id=identity or f"call_{calls}",
        name=next((d.name for d in pieces if d.name), ""),
        arguments=payload.whole("".join([d.arguments for d in pieces])),
        synthetic_id=not identity,
    )


def _text(deltas: list[Delta]) -> str:
    return payload.whole("".join([d.text for d in deltas if not isinstance(d, ToolCallDelta)]))


class Gathering:
    """A turn as far as it has come: the parts that are whole, the blocks that are open, usage and finish reason."""

    def __init__(self) -> None:
        self.parts: list[TurnPart] = []
        self.usage: Usage | None = None
        self._finish = Finish()
        self._open = Accumulator()
        self.add: Callable[[Delta], None] = self._open.add

    def flush(self) -> list[Part]:
        """The open blocks become parts of the turn (M4); returns them."""
        blocks = self._open.flush(sum(isinstance(part, ToolCall) for part in self.parts))
        self.parts += blocks
        return blocks

    def whole(self, part: Any) -> None:
        """A part that came whole; the blocks before it are flushed already (M3)."""
        self.parts.append(part)

    def side(self, kind: ArtifactKind, value: Any) -> Any:
        """Take a side channel; returns its value as events tell it."""
        if kind is ArtifactKind.USAGE and isinstance(value, Usage):
            self.usage = merged(self.usage, value)
        elif kind is ArtifactKind.FINISH:
            value = value if isinstance(value, Finish) else Finish(reason=value)
            self._finish = value if value.said else self._finish
        elif kind is ArtifactKind.REASONING_SIGNATURE:
            self._open.sign(value)
        return value

    def settle(self, parts: Iterable[TurnPart]) -> list[TurnPart]:
        """The whole turn is known: what was open is forgotten. Returns the parts that were not told as whole ones before."""
        self._open.discard()
        told, self.parts = self.parts, list(parts)
        fresh = []
        for part in self.parts:
            if part in told:
                told.remove(part)
            else:
                fresh.append(part)
        return fresh

    @property
    def finish(self) -> Finish | None:
        """The last reason that was given; a model that stops with calls stopped for them (D6)."""
        finish = self._finish
        if finish.reason is FinishReason.STOP and any(isinstance(part, ToolCall) for part in self.parts):
            finish = replace(finish, reason=FinishReason.TOOL_CALLS)
        return finish if finish.said else None


def merged(before: Usage | None, after: Usage) -> Usage:
    """Two reports of one turn: the later one counts, field by field, where it says something (D6)."""
    if before is None:
        return after
    known = {f.name: value for f in fields(after) if (value := getattr(after, f.name)) is not None}
    return replace(before, **known)


Entry = Delta | TurnPart


class Snapshot(Sequence[TurnPart]):
    """The parts that had gathered at some point: the first `length` entries of a log of fragments and whole parts.

    They are put together anew each time somebody looks; `tuple(snapshot)` keeps them.
    """

    __slots__ = ("_length", "_log")

    def __init__(self, log: list[Entry], length: int | None = None) -> None:
        self._log = log
        self._length = len(log) if length is None else length

    @classmethod
    def read(cls, shown: Any) -> Snapshot:
        """A snapshot from its JSON, which is that of its parts."""
        return cls(list(values.read_all(shown)))

    def as_plain(self) -> Any:
        """Its JSON."""
        return values.plain(self._parts())

    def _parts(self) -> list[TurnPart]:
        return gathered(self._log[: self._length])

    def __iter__(self) -> Iterator[TurnPart]:
        return iter(self._parts())

    def __len__(self) -> int:
        return len(self._parts())

    @overload
    def __getitem__(self, index: int) -> TurnPart: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TurnPart]: ...
    def __getitem__(self, index: int | slice) -> TurnPart | Sequence[TurnPart]:
        return self._parts()[index]

    def __eq__(self, other: object) -> bool:
        return self._parts() == list(other) if isinstance(other, (Snapshot, tuple)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Snapshot({self._parts()!r})"


def gathered(entries: Iterable[Entry]) -> list[TurnPart]:
    """The parts that fragments and whole parts make, in the order in which they began.

    A step flushes all open blocks before it tells of another whole part; hence a whole part stands for the first block that
    is open, as long as there is one.
    """
    begun: list[Key | TurnPart] = []
    blocks: dict[Key, tuple[int, list[Delta]]] = {}
    for entry in entries:
        if isinstance(entry, DELTAS):
            if entry.key not in blocks:
                blocks[entry.key] = (len(begun), [])
                begun.append(entry.key)
            blocks[entry.key][1].append(entry)
        elif blocks:
            position, _ = blocks.pop(next(iter(blocks)))
            begun[position] = entry
        else:
            begun.append(entry)
    parts: list[TurnPart] = []
    for item in begun:
        whole = joined(blocks[item][1], _calls(parts)) if isinstance(item, tuple) else item
        parts.append(whole)
    return parts


def _calls(parts: list[TurnPart]) -> int:
    return sum(isinstance(part, ToolCall) for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A turn as the events told it."""

    parts: tuple[TurnPart, ...] = ()
    usage: Usage | None = None
    finish: Finish | None = None


def folded(events: Iterable[Any]) -> Folded:
    """The assistant's turn, from the artifact events of one turn alone (law 5): every part is told whole once it is."""
    gathering = Gathering()
    for event in events:
        if event.kind != "artifact":
            continue
        if event.artifact in PARTS:
            gathering.whole(event.value)
        elif event.artifact in (ArtifactKind.USAGE, ArtifactKind.FINISH):
            gathering.side(event.artifact, event.value)
    return Folded(parts=tuple(gathering.parts), usage=gathering.usage, finish=gathering.finish)
