"""What a consumer is told about a turn, in the order in which it happens (semantics.md 2.3, 4.2 D7, D8, D12).

Every event says its kind, the turn that it belongs to (0: none), its number in the step's sequence, the time, and the context
that was set for the turn. All are frozen; `as_json` and `from_json` are inverse.

One successful turn: submitted, streaming (with the first artifact), artifacts, turn complete, whatever handlers emit, done.
Every started turn ends with exactly one terminal event: `done`, an error, or `cancelled` (law 9).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from harness.api_error import ApiError
from harness.loop import values
from harness.loop.artifacts import ArtifactKind, Finish
from harness.loop.event_base import Event, Readers, as_json, from_json
from harness.loop.gathering import Snapshot
from harness.loop.state import Role, TurnPart
from harness.request import TurnRequest
from harness.response import Response, Usage

_VERBATIM = frozenset({ArtifactKind.REASONING_SIGNATURE, ArtifactKind.METADATA, ArtifactKind.UNKNOWN})
"""Artifacts that are JSON as they are."""


__all__ = [
    "ArtifactEvent",
    "ErrorEvent",
    "Event",
    "LifecycleEvent",
    "MessageEndEvent",
    "MessageStartEvent",
    "MessageUpdateEvent",
    "NoticeEvent",
    "Phase",
    "PropertiesEvent",
    "Readers",
    "RequestEvent",
    "Stage",
    "TurnCompleteEvent",
    "as_json",
    "from_json",
]


class Phase(StrEnum):
    SUBMITTED = "submitted"
    STREAMING = "streaming"
    DONE = "done"
    CANCELLED = "cancelled"


class Stage(StrEnum):
    """What was going on when a turn failed."""

    TRANSFORM = "transform"
    PROVIDER = "provider"
    HANDLER = "handler"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleEvent(Event):
    kind: ClassVar[str] = "lifecycle"
    readers: ClassVar[Readers] = {"phase": Phase}
    phase: Phase

    @property
    def terminal(self) -> bool:
        return self.phase in (Phase.DONE, Phase.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactEvent(Event):
    """A fragment as it arrives, a whole part, or a side channel."""

    kind: ClassVar[str] = "artifact"
    artifact: ArtifactKind
    value: Any

    @property
    def topic(self) -> str:
        topic: str = self.artifact._value_  # `value` costs more than all that subscriptions do with it
        return topic

    @classmethod
    def readers_of(cls, shown: Mapping[str, Any]) -> Readers:
        verbatim = shown["artifact"] in _VERBATIM
        return {"artifact": ArtifactKind, "value": (lambda value: value) if verbatim else values.read}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCompleteEvent(Event):
    """A turn is whole: this is what is persisted."""

    kind: ClassVar[str] = "turn_complete"
    readers: ClassVar[Readers] = {
        "role": Role,
        "parts": values.read_all,
        "usage": values.read,
        "finish": values.read,
    }
    role: Role
    parts: tuple[TurnPart, ...]
    usage: Usage | None = None
    finish: Finish | None = None
    response: Response | None = field(default=None, compare=False, repr=False)
    """What an answer was made of: its `raw` body is kept with the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent(Event):
    """The turn failed at `stage`; `error` is what an API said, or the exception of a transform or handler."""

    kind: ClassVar[str] = "error"
    readers: ClassVar[Readers] = {"stage": Stage, "error": values.read_error}
    stage: Stage
    error: ApiError | BaseException

    @property
    def terminal(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertiesEvent(Event):
    """Named values of the session; None deletes one (V4, D7)."""

    kind: ClassVar[str] = "properties"
    properties: Mapping[str, str | None]

    def applied(self, before: Mapping[str, str]) -> dict[str, str]:
        """The properties after this event; deleting an absent one changes nothing."""
        after = {**before, **self.properties}
        return {name: value for name, value in after.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeEvent(Event):
    """Something that a watcher should know and that changes nothing: a retry (D12). `delay` is in seconds."""

    kind: ClassVar[str] = "notice"
    readers: ClassVar[Readers] = {"error": values.read_error}
    level: str = "warning"
    message: str
    attempt: int
    max_attempts: int
    delay: float
    error: ApiError


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestEvent(Event):
    """What the provider is asked, exactly (row P10), and for each turn of it where it comes from; once a turn, however often
    it is asked."""

    kind: ClassVar[str] = "request"
    readers: ClassVar[Readers] = {"request": values.read, "origins": tuple}
    request: TurnRequest
    origins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStartEvent(Event):
    """The message view: a message begins, with nothing in it yet."""

    kind: ClassVar[str] = "message_start"
    readers: ClassVar[Readers] = {"role": Role, "parts": values.read_all}
    role: Role
    parts: tuple[TurnPart, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageUpdateEvent(Event):
    """Something came: `delta` is a fragment, or a part that came whole. `parts` is what has gathered so far, it included; it is
    put together when somebody looks, so that whoever does not pays nothing."""

    kind: ClassVar[str] = "message_update"
    readers: ClassVar[Readers] = {"parts": Snapshot.read, "delta": values.read}
    parts: Snapshot
    delta: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEndEvent(Event):
    """The message is whole, or failed: starts and ends come in pairs."""

    kind: ClassVar[str] = "message_end"
    readers: ClassVar[Readers] = {"role": Role, "parts": values.read_all}
    role: Role
    parts: tuple[TurnPart, ...]
    stop: str | None = None
    error: str | None = None
