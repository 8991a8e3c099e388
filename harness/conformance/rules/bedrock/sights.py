"""What rules about Bedrock look at, and what is remembered of a stream as it goes on.

A sight is shown to the rules before the facts take it in: a rule compares what comes with what was there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.conformance.rules.bedrock.order import BLOCK_STOPPED
from harness.conformance.rules.order import Machine
from harness.conformance.rules.rule import Breach
from harness.conformance.rules.sights import Case, Ending
from harness.dialects.translating import as_object
from harness.framing import Frame

ANNOUNCED = ("toolUse", "toolResult", "image")
"""Kinds of blocks that begin with contentBlockStart; the others begin with their first delta."""


@dataclass(slots=True)
class BlockFacts:
    """One block as far as it has come. `head` is the member of its start, `kind` what it consists of."""

    index: int
    order: Machine
    started: bool = False
    head: str | None = None
    kind: str | None = None
    server: bool = False
    plain: bool = False
    """Whether it has reasoning that can be read, or its signature."""
    signed: bool = False
    redacted: bool = False


@dataclass(slots=True)
class ConverseFacts:
    """What is remembered of the message. Blocks that have stopped are only counted: Nova makes one of every piece of a text."""

    open: dict[int, BlockFacts] = field(default_factory=dict)
    next: int = 0
    last: int | None = None
    """The index that the last event of a block had."""
    calls: int = 0
    """Blocks with a call for the client."""
    ids: dict[str, tuple[Frame, str]] = field(default_factory=dict)
    """Where each call began, by its id."""
    texts: bool = False
    padded: bool = False
    _stopped: int = 0
    _others: set[int] = field(default_factory=set)

    @property
    def any_stopped(self) -> bool:
        return bool(self._stopped or self._others)

    def has_stopped(self, index: int) -> bool:
        return 0 <= index < self._stopped or index in self._others

    def stop(self, index: int) -> None:
        """All blocks below a number have stopped, in a stream that is in order, and no others."""
        self.open.pop(index, None)
        self._others.add(index)
        while self._stopped in self._others:
            self._others.remove(self._stopped)
            self._stopped += 1


@dataclass(frozen=True, slots=True)
class Event:
    """An event of Converse, at `path` in its payload: that is "" unless it is wrapped in its name, as Nova's are in Invoke
    (`nova`). `wrapped` says that it was wrapped where nothing wraps it."""

    name: str
    raw: dict[str, Any]
    path: str
    frame: Frame
    facts: ConverseFacts
    case: Case
    nova: bool = False
    wrapped: bool = False

    @property
    def usage(self) -> dict[str, Any]:
        return as_object(self.raw.get("usage"))


@dataclass(frozen=True, slots=True)
class _OfBlock:
    """An event of a block; `block` is what was there of it, `opens` whether it is the first event with this index."""

    event: Event
    block: BlockFacts
    opens: bool

    @property
    def index(self) -> Any:
        return self.event.raw.get("contentBlockIndex")

    @property
    def facts(self) -> ConverseFacts:
        return self.event.facts

    @property
    def late(self) -> bool:
        """Whether its block has stopped: then nothing more is known of that."""
        return self.block.order.state == BLOCK_STOPPED

    def _members(self, name: str) -> dict[str, Any]:
        members = as_object(self.event.raw.get(name))
        return {member: value for member, value in members.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Start(_OfBlock):
    """contentBlockStart."""

    @property
    def path(self) -> str:
        return f"{self.event.path}/start"

    @property
    def members(self) -> dict[str, Any]:
        return self._members("start")

    @property
    def head(self) -> str | None:
        return next((name for name in self.members if name in ANNOUNCED), None)

    @property
    def call(self) -> dict[str, Any] | None:
        """The head of a call."""
        call = self.members.get("toolUse")
        return call if isinstance(call, dict) else None


@dataclass(frozen=True, slots=True)
class Delta(_OfBlock):
    """contentBlockDelta."""

    @property
    def path(self) -> str:
        return f"{self.event.path}/delta"

    @property
    def members(self) -> dict[str, Any]:
        return self._members("delta")

    @property
    def kind(self) -> str | None:
        """What the block consists of, as far as this delta tells; a citation belongs to a text."""
        kind = next(iter(self.members), None)
        return "text" if kind == "citation" else kind

    @property
    def reasoning(self) -> dict[str, Any]:
        return as_object(self.members.get("reasoningContent"))


@dataclass(frozen=True, slots=True)
class Stop(_OfBlock):
    """contentBlockStop."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A frame that says that the turn has failed."""

    frame: Frame
    raw: dict[str, Any]
    case: Case
    path: str = ""
    name: str | None = None

    @property
    def modelled(self) -> bool:
        """Whether it is an exception of the API's model, and not an error outside it."""
        return (self.frame.headers or {}).get(":message-type") != "error"


@dataclass(frozen=True, slots=True)
class Chunk:
    """What a chunk of Invoke carries: the vendor's payload, and Bedrock's own fields in it."""

    value: Any
    frame: Frame


@dataclass(frozen=True, slots=True)
class Packing:
    """A frame of Invoke that carries nothing that could be unpacked."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of the stream. `facts` are those of the message, if it was one of Converse or of Nova; `measured` is the frame
    that had Invoke's metrics."""

    ending: Ending
    facts: ConverseFacts | None
    measured: int | None = None

    def breaches(self, *kinds: str) -> list[Breach]:
        return self.ending.breaches(*kinds)
