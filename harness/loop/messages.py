"""The message view: the events of a step as messages that start, grow and end (semantics.md 4.4, rows P24 to P32).

A projection and nothing else: it keeps no clock and asks nobody. A message starts with the first thing that the model says,
and ends with its turn, or with the error or the cancellation that ends it; starts and ends come in pairs, whatever happens.
Turns of others start and end at once, after the message that is open, so that pairs never cross.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from harness.api_error import ApiError
from harness.loop.artifacts import DELTAS, PARTS, Key
from harness.loop.events import (
    ArtifactEvent,
    ErrorEvent,
    Event,
    LifecycleEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    Phase,
    TurnCompleteEvent,
)
from harness.loop.gathering import Entry, Snapshot
from harness.loop.state import Role
from harness.response import FinishReason


@dataclass(slots=True)
class _Message:
    """The message that is open: what was said of it, and which of its blocks are."""

    turn: int
    log: list[Entry] = field(default_factory=list)
    blocks: dict[Key, None] = field(default_factory=dict)

    def add(self, said: Any) -> bool:
        """Take a fragment or a whole part. Returns whether it says anything new: a block that is whole does not."""
        self.log.append(said)
        if isinstance(said, DELTAS):
            self.blocks.setdefault(said.key)
        elif self.blocks:
            self.blocks.pop(next(iter(self.blocks)))
            return False
        return True


class MessageProjection:
    """Step events in, message events out."""

    def __init__(self) -> None:
        self._open: _Message | None = None
        self._told = 0  # the last turn whose message was told
        self._later: list[Event] = []

    def add(self, event: Event) -> tuple[Event, ...]:
        """The message events that a step's event is; they have its turn, number, time and context."""
        told: list[Event] = []
        if self._open is not None and event.turn not in (0, self._open.turn):  # its end was lost on a slow subscriber
            told += self._ended(event, "error", "the end of this message was not seen")
        if isinstance(event, ArtifactEvent):
            told += self._said(event)
        elif isinstance(event, TurnCompleteEvent):
            told += self._whole(event)
        elif isinstance(event, ErrorEvent):
            told += self._failed(event, FinishReason.ERROR, error_text(event.error))
        elif isinstance(event, LifecycleEvent) and event.phase is Phase.CANCELLED:
            if self._open is not None or self._told != event.turn:
                told += self._failed(event, FinishReason.CANCELLED, None)
        elif event.terminal and self._open is not None:
            told += self._ended(event, None, None)
        return tuple(told)

    def _said(self, event: ArtifactEvent) -> list[Event]:
        told = []
        if self._open is None:
            self._open = _Message(event.turn)
            self._told = event.turn
            told.append(_start(event, Role.ASSISTANT))
        value = event.value
        if (event.artifact in PARTS or isinstance(value, DELTAS)) and self._open.add(value):
            told.append(MessageUpdateEvent(**_place(event), parts=Snapshot(self._open.log), delta=value))
        return told

    def _whole(self, event: TurnCompleteEvent) -> list[Event]:
        if event.role is not Role.ASSISTANT or (self._open is not None and self._open.turn != event.turn):
            pair: list[Event] = [_start(event, event.role), _end(event, event.role, event.parts, _stop(event))]
            if self._open is None:
                return pair
            self._later += pair
            return []
        told = [] if self._open is not None else [_start(event, Role.ASSISTANT)]
        self._told = max(self._told, event.turn)
        return [*told, _end(event, Role.ASSISTANT, event.parts, _stop(event)), *self._closed()]

    def _failed(self, event: Event, stop: FinishReason, error: str | None) -> list[Event]:
        """The message ends badly; one that has not started does both (rows P26, P28)."""
        told = []
        if self._open is None:
            self._open = _Message(event.turn)
            told.append(_start(event, Role.ASSISTANT, error))
        return told + self._ended(event, stop.value, error)

    def _ended(self, event: Event, stop: str | None, error: str | None) -> list[Event]:
        """The open message ends without its turn having come to its end: with what has gathered."""
        parts = tuple(Snapshot(self._open.log)) if self._open is not None else ()
        return [_end(event, Role.ASSISTANT, parts, stop, error), *self._closed()]

    def _closed(self) -> list[Event]:
        self._open = None
        later, self._later = self._later, []
        return later


async def messages(events: AsyncIterable[Event]) -> AsyncIterator[Event]:
    """The message view of a subscription."""
    projection = MessageProjection()
    async for event in events:
        for told in projection.add(event):
            yield told


def error_text(error: ApiError | BaseException) -> str:
    """What an error says, in one line."""
    return error.message if isinstance(error, ApiError) else f"{type(error).__name__}: {error}"


def _stop(event: TurnCompleteEvent) -> str | None:
    return event.finish.reason.value if event.finish is not None and event.finish.reason is not None else None


def _place(event: Event) -> dict[str, Any]:
    return {"turn": event.turn, "seq": event.seq, "at": event.at, "context": event.context}


def _start(event: Event, role: Role, error: str | None = None) -> Event:
    return MessageStartEvent(**_place(event), role=role, error=error)


def _end(event: Event, role: Role, parts: tuple[Any, ...], stop: str | None, error: str | None = None) -> Event:
    return MessageEndEvent(**_place(event), role=role, parts=parts, stop=stop, error=error)
