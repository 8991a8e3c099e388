"""What there is to be seen in a Responses stream. A sight is shown before the facts take it in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.conformance.rules.openai_responses.facts import ItemFacts, ResponseFacts, Spot, TextFacts
from harness.conformance.rules.sights import Case
from harness.edits import Disagreement
from harness.framing import Frame


@dataclass(frozen=True, slots=True)
class Event:
    """A payload with a `type`."""

    raw: dict[str, Any]
    kind: str
    frame: Frame
    facts: ResponseFacts
    case: Case


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An error in the stream, with a type or without: `raw` has its fields, which stand at `path`; it may be no object."""

    raw: Any
    path: str


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """An event that carries the response; `word` says which: created, queued, in_progress, or one of those that end it."""

    raw: dict[str, Any]
    word: str
    event: Event


@dataclass(frozen=True, slots=True)
class Terminal(Lifecycle):
    """The event that ends the response."""


@dataclass(frozen=True, slots=True)
class ItemEvent:
    """Any event that is about an item, after its announcement; `id` is what it calls the item, at `path`."""

    item: ItemFacts
    id: Any
    path: str
    event: Event


@dataclass(frozen=True, slots=True)
class ItemAdded:
    """An item is announced, if `raw` is an object. `expected` is the output index that it should have, if it has a new one."""

    raw: Any
    expected: int | None
    event: Event

    @property
    def index(self) -> Any:
        return self.event.raw.get("output_index")


@dataclass(frozen=True, slots=True)
class ItemDone:
    """An item is done; `item` is what came of it before."""

    raw: Any
    item: ItemFacts | None
    event: Event


@dataclass(frozen=True, slots=True)
class PartAdded:
    """A part is announced in the list `where` of an item; `last` is the index of the one before it, None if it is the first."""

    raw: dict[str, Any]
    where: str
    index: Any
    field: str
    last: int | None
    event: Event


@dataclass(frozen=True, slots=True)
class PartDone:
    """A part is done; `text` is what came of it before."""

    raw: dict[str, Any]
    text: TextFacts
    event: Event


@dataclass(frozen=True, slots=True)
class TextBegins:
    """The first piece of a text; `announced` is what its part was added with, None if it was not."""

    announced: Any
    event: Event


@dataclass(frozen=True, slots=True)
class TextDone:
    """A text is done: `value` is what the event says it is."""

    value: Any
    field: str
    text: TextFacts
    event: Event


@dataclass(frozen=True, slots=True)
class Summed:
    """A text that came in pieces and was repeated whole, at the end of the stream: `unlike` if the sum differs."""

    text: TextFacts
    unlike: Disagreement | None


@dataclass(frozen=True, slots=True)
class Annotations:
    """The annotations that were streamed for a part, and those that it has in the end; None if it was never closed."""

    text: TextFacts
    final: list[Any] | None


@dataclass(frozen=True, slots=True)
class Gap:
    """A sequence number that does not follow the one before it."""

    before: int
    after: int
    at: Spot


@dataclass(slots=True)
class Numbering:
    """The sequence numbers of a stream, at its end; `bare` are the typed events without one. The first gaps are enough."""

    resumed: bool = False
    first: int | None = None
    first_at: Spot | None = None
    numbered: int = 0
    bare: int = 0
    bare_at: Spot | None = None
    followed: int = 0
    broken: int = 0
    gaps: list[Gap] = field(default_factory=list)
