"""What rules about Messages look at: events, the starts and deltas of blocks, and the message that they came to; and what is
remembered of each as the stream goes on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from harness.conformance.rules.rule import Breach
from harness.conformance.rules.sights import Case, Ending
from harness.dialects.translating import as_object
from harness.framing import Frame

TOOLS = ("tool_use", "server_tool_use", "mcp_tool_use")
CUT_SHORT = ("max_tokens", "model_context_window_exceeded", "refusal")
"""Stop reasons of a message that breaks off in the middle of a block."""


@dataclass(slots=True)
class BlockFacts:
    """One block as far as it has come, and the frame of its start. `cites` says that this has a list of citations."""

    index: Any
    type: str
    frame: Frame
    cites: bool = False
    fragments: int = 0
    signatures: int = 0
    thought_after_signature: bool = False

    @property
    def whole(self) -> bool:
        """Whether such a block has everything in its start."""
        return self.type == "redacted_thinking" or self.type.endswith("tool_result")


@dataclass(slots=True)
class MessageFacts:
    """What is remembered of the message. `usage` is that of message_start, `ending` the frame that gave the reason."""

    blocks: list[BlockFacts] = field(default_factory=list)
    by_index: dict[int, BlockFacts] = field(default_factory=dict)
    open: BlockFacts | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    stop_reason: Any = None
    ending: Frame | None = None
    stopped: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """A payload that says its type."""

    type: str
    frame: Frame
    case: Case


@dataclass(frozen=True, slots=True)
class Start:
    """`message_start`."""

    message: dict[str, Any]


@dataclass(frozen=True, slots=True)
class BlockStart:
    """`content_block_start`; `facts` are those of the blocks before it."""

    index: Any
    raw: dict[str, Any]
    block: BlockFacts
    facts: MessageFacts


@dataclass(frozen=True, slots=True)
class Delta:
    """`content_block_delta`, and the block that it names, if there is one."""

    raw: dict[str, Any]
    block: BlockFacts | None

    @property
    def type(self) -> str:
        kind = self.raw.get("type")
        return kind if isinstance(kind, str) else ""


@dataclass(frozen=True, slots=True)
class MessageDelta:
    """`message_delta`."""

    raw: dict[str, Any]
    facts: MessageFacts

    @property
    def delta(self) -> dict[str, Any]:
        return as_object(self.raw.get("delta"))

    @property
    def usage(self) -> dict[str, Any]:
        return as_object(self.raw.get("usage"))


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """A payload that says that the turn has failed."""

    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """The message at the end of the stream."""

    ending: Ending
    facts: MessageFacts

    @property
    def whole(self) -> bool:
        """Whether it came to its end."""
        return self.facts.stopped and not self.facts.failed


def placed(breach: Breach, frame: Frame | None) -> Breach:
    """The same breach, at this frame."""
    return breach if frame is None else replace(breach, frame=frame.index, span=frame.span)
