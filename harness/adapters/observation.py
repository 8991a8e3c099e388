"""What a system under test made of one exchange."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from harness.api_error import ApiError
from harness.edits import Disagreement, Unknown
from harness.findings import Finding
from harness.framing import Frame
from harness.loop.events import Event
from harness.response import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """`response` is what was reassembled, the partial content when the turn failed, None if no payload was decoded; `body`
    its native body, from adapters that build one. `error` says how the turn failed; None is success.

    `findings` are what was met on the way, `complete` whether the API's end condition was met, `frames` how many there were.
    `events` are what the loop told of the turn, from adapters that have a loop and were asked to run it.
    """

    adapter: str
    response: Response | None = None
    body: Any = None
    error: ApiError | None = None
    complete: bool = False
    findings: tuple[Finding, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    frames: int = 0
    events: tuple[Event, ...] | None = None


class Watch(Protocol):
    """Whoever looks on while our pipeline reads a stream."""

    def piece(self, data: bytes) -> None:
        """The next piece of the body, its content coding undone."""

    def frames(self, frames: list[Frame]) -> None:
        """The frames that this piece completed."""

    def payload(self, frame: Frame, value: Any, strict: bool) -> None:
        """A payload that is not a mere repetition of the one before (`BaseTranslator.watch`)."""
