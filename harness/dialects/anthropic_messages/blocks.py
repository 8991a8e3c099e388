"""The content blocks of a message: what their start and their deltas do (wire/anthropic-messages.md sections 2 to 4 and 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.anthropic_messages.vocabulary import DELTAS
from harness.dialects.translating import UNKNOWN_EVENTS, as_json, as_path, note, setting, unknown_event
from harness.edits import UNKNOWN, Edit, Op, PartKind, PartRef, Path, Target
from harness.framing import Frame

_KINDS = {  # of blocks; all others are hosted tools and the like
    "text": PartKind.TEXT,
    "thinking": PartKind.REASONING,
    "redacted_thinking": PartKind.SIGNATURE,
    "tool_use": PartKind.TOOL_CALL,
}
_GROWING = {  # deltas that are pieces of a text: their field, and where it goes in the block
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("partial_json", "input"),
}
_OF = {  # the block that a delta belongs to, should its start be missing
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "tool_use",
    "compaction_delta": "compaction",
}
_GROWN = ("text", "thinking")  # fields of a start that later deltas continue
_NAMES = {"type", "text", "thinking", "signature", "partial_json"}  # scalars: an object in their place is kept apart


class _Block:
    """A block under construction."""

    __slots__ = ("base", "citations", "key", "open", "part", "start", "targets", "type")

    def __init__(self, key: int, kind: str, start: dict[str, Any]) -> None:
        self.key = key
        self.base: Path = ("content", key)
        self.type = kind
        self.start = start
        self.part = PartRef(_KINDS.get(kind, PartKind.OTHER), (key,))
        self.targets: dict[str, Target] = {}
        self.citations = 0
        self.open = True

    def part_of(self, name: str) -> PartRef:
        return PartRef(PartKind.SIGNATURE, (self.key,)) if name in ("signature", "data") else self.part

    def target(self, name: str, source: str) -> Target:
        """The place where the text `name` grows."""
        target = self.targets[name] = Target(Op.CONCAT, (*self.base, name), self.part, source)
        return target


class Blocks:
    """The blocks of one message, by the wire's `index`."""

    def __init__(self) -> None:
        self._by_index: dict[int, _Block] = {}
        self._keys: set[int] = set()
        self._next = 0  # the first key after all of them
        self._last: _Block | None = None

    def start(self, index: Any, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """`content_block_start`: everything the block has from the beginning, and room for what will grow."""
        kind, identity = body.get("type"), body.get("id")
        known = self._by_index.get(index) if type(index) is int else None
        if known is not None:
            before = known.start.get("id")
            if known.open and (body == known.start or (identity and identity == before)):
                self._last = known
                return  # the same start once more
            if identity and before and identity != before:
                message = f"index {index} is used for {before!r} and again for {identity!r}; they are two calls"
                yield note("tool/index-reused", message, frame, "/index", expected=before, got=identity)
        block = self._open(index, kind if isinstance(kind, str) else "", body)
        at = "/content_block"
        yield setting(block.base, {"type": kind} if "type" in body else {}, frame, block.part, at)
        if "tool_use" in block.type and "input" not in body:  # llama.cpp leaves it out; it is still JSON that will gather
            body = {**body, "input": {}}
        for name, value in body.items():
            place, source = (*block.base, name), f"{at}/{name}"
            if name == "input":
                yield Edit(Target(Op.PARSE, place, block.part, source), value, frame.index)
            elif name in _GROWN and isinstance(value, str):
                yield setting(place, "", frame, block.part, source)
                if value:
                    yield Edit(Target(Op.CONCAT, place, block.part, source), value, frame.index)
            elif name != "type":
                yield setting(place, value, frame, block.part_of(name), source)
        citations = body.get("citations")
        block.citations = len(citations) if isinstance(citations, list) else 0

    def delta(self, index: Any, delta: dict[str, Any], frame: Frame, out: list[Edit]) -> None:
        """`content_block_delta`. The places of growing texts are kept, since most payloads are more of the same."""
        kind = delta.get("type")
        if not isinstance(kind, str) or kind not in _OF:
            return
        block = self._by_index.get(index) if type(index) is int else self._last
        if block is None:
            block = self._unannounced(index, _OF[kind], frame, out)
        self._last = block
        growing = _GROWING.get(kind)
        if growing is None:
            out.extend(self._whole(block, delta, frame))
            return
        field, grown = growing
        value = delta.get(field)
        if grown == "input" and value is not None and not isinstance(value, str):
            message = f"partial_json is of type {type(value).__name__}, where a piece of a text is due; encoded as it stands"
            out.append(note("tool/arguments-not-string", message, frame, f"/delta/{field}"))
            value = as_json(value)
        if isinstance(value, str):
            target = block.targets.get(grown) or block.target(grown, f"/delta/{field}")
            out.append(Edit(target, value, frame.index))
        elif value is not None:
            out.append(unknown_event(delta, frame))

    def stop(self, index: Any) -> None:
        block = self._by_index.get(index) if type(index) is int else self._last
        if block is not None:
            block.open = False

    def place(self, rest: list[str]) -> Target:
        """Where a field that the vocabulary lacks belongs: `rest` leads to it in the start or the delta last seen."""
        block = self._last
        if block is None or (rest and rest[0] in _NAMES):
            return Target(Op.APPEND, (UNKNOWN_EVENTS,), UNKNOWN)
        if not rest:  # a block of an unknown type; what its deltas add must not be lost
            return Target(Op.SETTLE, block.base, UNKNOWN)
        if rest[0] == "citation":
            rest = ["citations", str(max(block.citations - 1, 0)), *rest[1:]]
        return Target(Op.SET, (*block.base, *as_path(rest)), UNKNOWN)

    def _open(self, index: Any, kind: str, start: dict[str, Any]) -> _Block:
        key = index if type(index) is int and index >= 0 and index not in self._keys else self._next
        self._keys.add(key)
        self._next = max(self._next, key + 1)
        self._last = block = _Block(key, kind, start)
        if type(index) is int:
            self._by_index[index] = block
        return block

    def _unannounced(self, index: Any, kind: str, frame: Frame, out: list[Edit]) -> _Block:
        """The block of a delta whose index was never opened (semantics.md D2)."""
        if kind == "tool_use":
            if self._last is not None and self._last.open and "tool_use" in self._last.type:
                message = f"a fragment at index {index!r}, which was never opened, continues the call that is open"
                out.append(note("tool/index-drift", message, frame, "/index"))
                return self._last
            message = "a piece of a call's input before any call; it begins a call without a name"
            out.append(note("tool/fragment-orphan", message, frame, "/delta"))
        block = self._open(index, kind, {})
        out.append(setting(block.base, {"type": kind}, frame, block.part, "/delta"))
        if kind == "tool_use":
            out.append(Edit(Target(Op.PARSE, (*block.base, "input"), block.part, "/delta"), {}, frame.index))
        return block

    def _whole(self, block: _Block, delta: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """A delta that is no piece of a text: of signatures the last one counts, citations are added, a compaction is set."""
        for name, value in delta.items():
            if name == "type" or value is None or name not in DELTAS[delta["type"]].names:
                continue
            if name == "citation":
                block.citations += 1
                target = Target(Op.APPEND, (*block.base, "citations"), block.part, "/delta/citation")
                yield Edit(target, value, frame.index)
            else:
                yield setting((*block.base, name), value, frame, block.part_of(name), f"/delta/{name}")
