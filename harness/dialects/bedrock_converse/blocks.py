"""The content blocks of a message: what their start and their deltas do (wire/bedrock-converse.md sections 3, 4 and 6).

A native block has one member, so that deltas of different kinds under one index become different blocks. Text and
reasoning have no start: they open with their first delta.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.bedrock_converse.block import Block
from harness.dialects.bedrock_converse.vocabulary import DELTA, HEADS, RESULT
from harness.dialects.translating import UNKNOWN_EVENTS, as_json, as_path, note, setting, unknown_event
from harness.edits import METADATA, UNKNOWN, Edit, Op, PartKind, PartRef, Path, Target
from harness.framing import Frame

_KINDS = ("text", "reasoningContent", "redactedContent", "toolUse", "toolResult", "image")
_CITED: Path = ("citationsContent", "content", 0, "text")
_SCALARS = {"text", "input", "signature", "redactedContent"}  # an object in their place is kept apart


class Blocks:
    """The blocks of one message, by the wire's `contentBlockIndex` and by kind."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[Any, str], Block] = {}
        self._keys: set[int] = set()
        self._next = 0  # the first key after all of them
        self._tool: Block | None = None  # the call whose block is open
        self._index: Any = None  # of the block that is open
        self._touched: Block | None = None
        self._places: list[int] = []  # where the parts of the tool result last seen stand
        self._empty: dict[Any, Frame] = {}  # blocks that had nothing but an empty text so far

    @property
    def none_yet(self) -> bool:
        return not self._keys

    def start(self, index: Any, start: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """`contentBlockStart`: the head of a call, of a tool's result, or of an image."""
        self._index = index
        if not start:
            message = "contentBlockStart without a member in `start`; the first delta tells what the block is"
            yield note("bedrock/empty-start-union", message, frame, "/start")
        for kind, head in start.items():
            if kind not in HEADS:
                self._block(index, kind)
            elif head is not None:
                yield from self._head(index, kind, head, frame)

    def delta(self, index: Any, delta: dict[str, Any], frame: Frame, out: list[Edit]) -> None:
        """`contentBlockDelta`; by far the most are the next piece of a text."""
        index = self._index if index is None else index
        for kind, value in delta.items():
            if kind == "text" and isinstance(value, str):
                self._text(index, value, frame, out)
            elif kind == "toolUse" and value is not None:
                out.extend(self._input(index, value.get("input"), frame))
            elif kind == "reasoningContent":
                out.extend(self._reasoning(index, value or {}, frame))
            elif kind == "citation" and value is not None:
                out.extend(self._citation(index, value, frame))
            elif kind == "toolResult":
                out.extend(self._result(index, value or [], frame))
            elif kind == "image":
                out.extend(self._image(index, value or {}, frame))
            elif kind not in DELTA.names:
                self._block(index, kind)
            elif value is not None:
                out.append(unknown_event(delta, frame))

    def stop(self, index: Any, frame: int) -> Iterator[Edit]:
        index = self._index if index is None else index
        for kind in _KINDS:
            block = self._blocks.get((index if type(index) is int else None, kind))
            if block is not None:
                yield from block.rest(frame)
                self._tool = None if block is self._tool else self._tool
                self._touched = block

    def close(self) -> Iterator[Edit]:
        """What is left at the end: bytes without a group of their own, and blocks that had nothing but an empty text.

        A body that is not streamed has no such blocks (recorded for gpt-oss), unless there is nothing else to show.
        """
        for block in self._blocks.values():
            yield from block.rest(-1)
        for index, frame in self._empty.items():
            if self.none_yet:
                yield self._block(index, "text").more("", ("text",), "/delta/text", frame)
            else:
                message = "a block whose only text is empty; left out, as bodies that are not streamed have none"
                yield note("bedrock/empty-text", message, frame, "/delta/text")

    def forget(self) -> None:
        """A new payload: no block is touched yet."""
        self._touched = None

    def place(self, steps: list[str]) -> Target:
        """Where a field that the vocabulary lacks belongs: `steps` lead to it in the payload last seen."""
        block = self._touched
        rest = steps[1:] if steps[0] in ("start", "delta") else steps
        if block is None or not rest or rest[-1] in _SCALARS:
            return Target(Op.APPEND, (UNKNOWN_EVENTS,), UNKNOWN)
        path = as_path(rest)
        if rest[0] == "citation":
            path = ("citationsContent", "citations", max(block.citations - 1, 0), *path[1:])
        elif rest[0] == "toolResult" and steps[0] == "delta" and len(rest) > 1 and rest[1].isdigit():
            position = int(rest[1])
            place = self._places[position] if position < len(self._places) else len(block.results)
            path = ("toolResult", "content", place, *path[2:])
        return Target(Op.SET, (*block.base, *path), UNKNOWN)

    def _block(self, index: Any, kind: str) -> Block:
        """The block of this kind at an index, new or not. The first one there is ordered by the index, others come last."""
        key = (index if type(index) is int else None, kind)
        block = self._blocks.get(key)
        if block is None:
            number = index if type(index) is int and index >= 0 and index not in self._keys else self._next
            self._keys.add(number)
            self._next = max(self._next, number + 1)
            block = self._blocks[key] = Block(number, kind)
        self._index = index
        self._touched = block
        return block

    def _head(self, index: Any, kind: str, head: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        known = self._blocks.get((index if type(index) is int else None, kind))
        identity = head.get("toolUseId")
        if known is not None and known.id is not None and known.id != identity:
            message = f"index {index!r} is used for {known.id!r} and again for {identity!r}; they are two blocks"
            yield note("tool/index-reused", message, frame, "/contentBlockIndex", expected=known.id, got=identity)
            del self._blocks[index if type(index) is int else None, kind]
        elif known is not None and (known.id is not None or identity is None):
            return  # the same start once more
        block = self._block(index, kind)
        block.id = identity
        if kind == "toolUse":
            self._tool = block
            if head.get("type") == "server_tool_use":
                block.part = PartRef(PartKind.OTHER, (block.key,))
        if known is not block:
            yield setting(block.base, {kind: {}}, frame, block.part, "/start")
        for name, value in head.items():
            if name in HEADS[kind].names:
                yield setting((*block.base, kind, name), value, frame, block.part, f"/start/{kind}/{name}")
        if known is block:  # a piece of its input was there before its head
            return
        if kind == "toolUse":
            yield Edit(Target(Op.PARSE, (*block.base, kind, "input"), block.part, "/start"), {}, frame.index)
        elif kind == "toolResult":
            yield setting((*block.base, kind, "content"), [], frame, block.part, "/start")

    def _text(self, index: Any, text: str, frame: Frame, out: list[Edit]) -> None:
        block = self._blocks.get((index, "text")) if type(index) is int else None
        if block is None:
            if not text:
                self._index = index
                self._empty.setdefault(index if type(index) is int else None, frame)
                return
            self._empty.pop(index if type(index) is int else None, None)
            block = self._block(index, "text")
        self._touched = block
        out.append(block.more(text, _CITED if block.citations else ("text",), "/delta/text", frame))

    def _citation(self, index: Any, citation: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """The first citation makes a block of cited text of what may have begun as plain text."""
        block = self._block(index, "text")
        self._empty.pop(index if type(index) is int else None, None)
        if block.grows is not None and not block.citations:
            yield Edit(Target(Op.MOVE, (*block.base, "text"), METADATA, "/delta/citation"), (*block.base, *_CITED), frame.index)
            block.grows = None
        block.citations += 1
        target = Target(Op.APPEND, (*block.base, "citationsContent", "citations"), block.part, "/delta/citation")
        yield Edit(target, citation, frame.index)

    def _input(self, index: Any, text: Any, frame: Frame) -> Iterator[Edit]:
        block = self._blocks.get((index, "toolUse")) if type(index) is int else self._tool
        if block is None:
            if self._tool is not None:
                message = f"a fragment at index {index}, where no call was opened, continues the call that is open"
                yield note("tool/index-drift", message, frame, "/contentBlockIndex")
                block = self._tool
            else:
                message = "a piece of a call's input before any call; it begins a call without a name"
                yield note("tool/fragment-orphan", message, frame, "/delta/toolUse")
                yield from self._head(index, "toolUse", {}, frame)
                block = self._blocks[index if type(index) is int else None, "toolUse"]
        self._touched = block
        if text is not None and not isinstance(text, str):
            message = f"input is of type {type(text).__name__}, where a piece of a text is due; encoded as it stands"
            yield note("tool/arguments-not-string", message, frame, "/delta/toolUse/input")
            text = as_json(text)
        if text is not None:
            yield block.more(text, ("toolUse", "input"), "/delta/toolUse/input", frame)

    def _reasoning(self, index: Any, delta: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """Members of one union on the wire; in the body text and signature stand together one level deeper."""
        for name, value in delta.items():
            source = f"/delta/reasoningContent/{name}"
            if name == "redactedContent" and isinstance(value, str):
                block = self._block(index, name)
                yield from block.more_bytes(value, ("reasoningContent", name), source, frame)
                continue
            block = self._block(index, "reasoningContent")
            path: Path = ("reasoningContent", "reasoningText", name)
            if name == "text" and isinstance(value, str):
                yield block.more(value, path, source, frame)
            elif name == "signature" and value is not None:
                yield setting((*block.base, *path), value, frame, PartRef(PartKind.SIGNATURE, (block.key,)), source)
            elif name in _SCALARS and value is not None:
                yield unknown_event(delta, frame)

    def _result(self, index: Any, parts: list[dict[str, Any]], frame: Frame) -> Iterator[Edit]:
        """Parts of a tool's result; neighbouring texts are pieces of one part."""
        block = self._block(index, "toolResult")
        self._places = []
        for position, part in enumerate(parts):
            kind = next(iter(part), "")
            source = f"/delta/toolResult/{position}"
            grows = kind == "text" and isinstance(part["text"], str)
            if not grows or block.results[-1:] != ["text"]:
                block.results.append("text" if grows else kind)
                block.grows = None
            place: Path = ("toolResult", "content", len(block.results) - 1)
            self._places.append(len(block.results) - 1)
            if grows:
                yield block.more(part["text"], (*place, "text"), f"{source}/text", frame)
            else:
                known = {name: value for name, value in part.items() if name in RESULT.names}
                yield setting((*block.base, *place), known, frame, block.part, source)

    def _image(self, index: Any, delta: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        block = self._block(index, "image")
        source = delta.get("source") or {}
        for name, value in source.items():
            at = f"/delta/image/source/{name}"
            if name == "bytes" and isinstance(value, str):
                yield from block.more_bytes(value, ("image", "source", name), at, frame)
            elif value is not None:
                yield setting((*block.base, "image", "source", name), value, frame, block.part, at)
        if delta.get("error") is not None:
            yield setting((*block.base, "image", "error"), delta["error"], frame, block.part, "/delta/image/error")
