"""What a provider says, piece by piece: fragments that gather, and whole parts (semantics.md 2.1, 2.2).

A *delta* is a fragment. It has a key; fragments of one key gather into one block, in the order in which keys were first seen. A
*complete* artifact is a part of the turn, or one of the side channels (usage, finish reason, signature), which never cut a
text in two (decision D6, row L06).

Deltas are slotted and not frozen, like edits, since there is one for every event; nobody changes them once they were emitted.
Who makes many for one part makes the key once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from harness.loop.state import Image, ToolResult
from harness.response import FinishReason, Other, Reasoning, Refusal, Response, Text, ToolCall, Usage

Key = tuple[Any, ...]
"""Names a block. Keys, and the slots of calls, are made of texts, numbers and tuples of them."""


class ArtifactKind(StrEnum):
    TEXT_DELTA = "text_delta"
    REASONING_DELTA = "reasoning_delta"
    TOOL_CALL_DELTA = "tool_call_delta"
    REFUSAL_DELTA = "refusal_delta"
    TEXT = "text"
    REASONING = "reasoning"
    REASONING_SIGNATURE = "reasoning_signature"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    REFUSAL = "refusal"
    IMAGE = "image"
    OTHER = "other"
    USAGE = "usage"
    FINISH = "finish"
    METADATA = "metadata"
    UNKNOWN = "unknown"


_TEXT: Key = ("text",)
_REASONING: Key = ("reasoning",)
_REFUSAL: Key = ("refusal",)


@dataclass(slots=True)
class TextDelta:
    text: str
    key: Key = _TEXT
    kind: ClassVar[ArtifactKind] = ArtifactKind.TEXT_DELTA


@dataclass(slots=True)
class ReasoningDelta:
    text: str
    key: Key = _REASONING
    kind: ClassVar[ArtifactKind] = ArtifactKind.REASONING_DELTA


@dataclass(slots=True)
class RefusalDelta:
    text: str
    key: Key = _REFUSAL
    kind: ClassVar[ArtifactKind] = ArtifactKind.REFUSAL_DELTA


@dataclass(slots=True)
class ToolCallDelta:
    """A piece of a call: `slot` says of which (D2). Identity is write-once: the first id and name that are not empty (D3)."""

    slot: Any
    id: str = ""
    name: str = ""
    arguments: str = ""
    complete: bool = False
    kind: ClassVar[ArtifactKind] = ArtifactKind.TOOL_CALL_DELTA

    @property
    def key(self) -> Key:
        return ("tool_call", self.slot)


Delta = TextDelta | ReasoningDelta | RefusalDelta | ToolCallDelta
DELTAS = (TextDelta, ReasoningDelta, RefusalDelta, ToolCallDelta)


@dataclass(frozen=True, slots=True)
class Finish:
    """Why the model stopped: in our words and in the API's (D6)."""

    reason: FinishReason | None = None
    raw: str | None = None

    @property
    def said(self) -> bool:
        """Whether there is a reason at all."""
        return self.reason is not None or self.raw is not None


@dataclass(frozen=True, slots=True)
class Complete:
    """A whole part: it closes the blocks that are open (semantics.md M3)."""

    part: Any

    @property
    def kind(self) -> ArtifactKind:
        return kind_of(self.part)


@dataclass(frozen=True, slots=True)
class Side:
    """A side channel: it says something about the turn and cuts nothing.

    The value of `USAGE` is a `Usage`, of `FINISH` a `Finish` (or its reason alone), of `REASONING_SIGNATURE` a text that is
    put on the reasoning that is gathering; of all others any JSON value.
    """

    kind: ArtifactKind
    value: Any


@dataclass(frozen=True, slots=True)
class Settled:
    """The provider knows the whole turn: its parts take the place of what has gathered, in its order (law 5).

    `response` is where they come from: its `raw` body is kept with the turn.
    """

    parts: tuple[Any, ...]
    response: Response | None = None


Artifact = Delta | Complete | Side | Settled
Emit = Callable[[Artifact], Awaitable[None]]
"""Takes what a provider says. To be awaited every time: back-pressure and cancellation come through it."""

_KINDS: dict[type, ArtifactKind] = {
    Text: ArtifactKind.TEXT,
    Reasoning: ArtifactKind.REASONING,
    ToolCall: ArtifactKind.TOOL_CALL,
    ToolResult: ArtifactKind.TOOL_RESULT,
    Refusal: ArtifactKind.REFUSAL,
    Image: ArtifactKind.IMAGE,
    Other: ArtifactKind.OTHER,
    Usage: ArtifactKind.USAGE,
    Finish: ArtifactKind.FINISH,
}

PARTS = frozenset(
    {
        ArtifactKind.TEXT,
        ArtifactKind.REASONING,
        ArtifactKind.TOOL_CALL,
        ArtifactKind.TOOL_RESULT,
        ArtifactKind.REFUSAL,
        ArtifactKind.IMAGE,
        ArtifactKind.OTHER,
    }
)
"""The kinds of whole parts: what a turn consists of."""

SIDES = frozenset(
    {
        ArtifactKind.REASONING_SIGNATURE,
        ArtifactKind.USAGE,
        ArtifactKind.FINISH,
        ArtifactKind.METADATA,
        ArtifactKind.UNKNOWN,
    }
)
"""The kinds of side channels."""


def kind_of(part: Any) -> ArtifactKind:
    return _KINDS.get(type(part), ArtifactKind.OTHER)
