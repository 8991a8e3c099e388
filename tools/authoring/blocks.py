"""Content blocks, told once for every API that has them: Converse, and Nova and Claude inside Invoke."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


class Text(tuple[str, ...]):
    """A text, in pieces."""

    @property
    def whole(self) -> str:
        return "".join(self)


@dataclass(frozen=True, slots=True)
class Thought:
    pieces: tuple[str, ...]
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class Redacted:
    """Thinking that is only sent encrypted, as base64."""

    data: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call; its arguments are JSON in pieces, perhaps none."""

    id: str
    name: str
    pieces: tuple[str, ...] = ()

    @property
    def arguments(self) -> Any:
        return json.loads("".join(self.pieces) or "{}")


@dataclass(frozen=True, slots=True)
class Cited:
    """A text with its sources."""

    text: Text
    citations: tuple[dict[str, Any], ...]


Block = Text | Thought | Redacted | Call | Cited
