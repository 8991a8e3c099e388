"""What rules of `generateContent` look at: chunks, candidates, parts, calls, pieces of arguments, and what came before them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.conformance.rules.sights import Case
from harness.dialects.translating import as_list, as_object
from harness.framing import Frame


@dataclass(slots=True)
class CandidateFacts:
    """One candidate as far as it has come."""

    calls: int = 0
    unindexed: bool = False
    empty: bool = False
    ungrounded: bool = False


@dataclass(slots=True)
class StreamFacts:
    """What is remembered of the stream."""

    candidates: dict[int, CandidateFacts] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    blocked: bool = False
    bare_usage: bool = False
    pieces: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A payload that is an object, or a list of one, and carries no error."""

    raw: dict[str, Any]
    facts: StreamFacts
    case: Case


@dataclass(frozen=True, slots=True)
class ErrorChunk:
    """A payload with a field `error`."""

    raw: dict[str, Any]
    case: Case


@dataclass(frozen=True, slots=True)
class Candidate:
    """One element of `candidates`, at `path`; `facts` is what came of this candidate before."""

    raw: dict[str, Any]
    path: str
    facts: CandidateFacts
    chunk: Chunk

    @property
    def content(self) -> dict[str, Any]:
        return as_object(self.raw.get("content"))

    @property
    def finish(self) -> Any:
        """The finish reason, under either of its names."""
        reason = self.raw.get("finishReason")
        return self.raw.get("finish_reason") if reason is None else reason


@dataclass(frozen=True, slots=True)
class Part:
    """One element of `parts`, at `path`."""

    raw: dict[str, Any]
    path: str
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Call:
    """A `functionCall`, at `path`; `goes_on` says that it belongs to a call that is still open."""

    raw: dict[str, Any]
    path: str
    part: Part
    goes_on: bool

    @property
    def name(self) -> Any:
        return self.raw.get("name")


@dataclass(frozen=True, slots=True)
class Piece:
    """One element of `partialArgs`, at `path`."""

    raw: dict[str, Any]
    path: str
    case: Case


@dataclass(frozen=True, slots=True)
class Total:
    """A `totalTokenCount` and the one before it: the first pair of a stream, and every one that shrinks."""

    frame: Frame
    before: int
    now: int


def is_bare(usage: Any) -> bool:
    """Whether this usage names the sort of traffic and counts nothing."""
    return isinstance(usage, dict) and {name for name, value in usage.items() if value is not None} == {"trafficType"}


def objects(value: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The elements of a list that are objects, each with its pointer."""
    for position, element in enumerate(as_list(value)):
        if isinstance(element, dict):
            yield f"{path}/{position}", element
