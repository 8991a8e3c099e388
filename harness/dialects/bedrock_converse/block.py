"""One content block under construction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.base64_text import Base64Text
from harness.edits import Edit, Op, PartKind, PartRef, Path, Target
from harness.framing import Frame

CONTENT: Path = ("output", "message", "content")
_PARTS = {
    "text": PartKind.TEXT,
    "reasoningContent": PartKind.REASONING,
    "redactedContent": PartKind.SIGNATURE,
    "toolUse": PartKind.TOOL_CALL,
}


class Block:
    """A block; its `kind` is its member in the native body, where redacted reasoning stands under reasoning."""

    __slots__ = ("base", "bytes", "citations", "grows", "id", "key", "kind", "part", "results")

    def __init__(self, key: int, kind: str) -> None:
        self.key = key
        self.kind = kind
        self.base: Path = (*CONTENT, key)
        self.part = PartRef(_PARTS.get(kind, PartKind.OTHER), (key,))
        self.id: Any = None
        self.grows: Target | None = None  # where its next piece of text goes
        self.citations = 0
        self.results: list[str] = []  # kinds of a tool result's parts
        self.bytes: Base64Text | None = None

    def more(self, text: str, path: Path, source: str, frame: Frame) -> Edit:
        """The next piece of the text at `path`, below the block."""
        if self.grows is None:
            self.grows = Target(Op.CONCAT, (*self.base, *path), self.part, source)
        return Edit(self.grows, text, frame.index)

    def more_bytes(self, text: str, path: Path, source: str, frame: Frame) -> Iterator[Edit]:
        self.bytes = self.bytes or Base64Text((*self.base, *path), self.part, source)
        return self.bytes.edits(text, frame.index)

    def rest(self, frame: int) -> Iterator[Edit]:
        return self.bytes.close(frame) if self.bytes is not None else iter(())
