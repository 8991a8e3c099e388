"""What the walk remembers of a Responses stream: the response, its items, their parts and texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.conformance.rules.order import Machine
from harness.framing import Frame


class Spot(NamedTuple):
    """A frame that a rule points at later."""

    frame: int
    span: tuple[int, int]


def spot(frame: Frame) -> Spot:
    return Spot(frame.index, frame.span)


class Annotated(NamedTuple):
    """An annotation as its event had it."""

    index: Any
    annotation: Any
    at: Spot


@dataclass(slots=True)
class TextFacts:
    """A text of an item, and the part that holds it, if one does.

    `family` is the name of its events without their last word, `place` the list of the part and its index there. `announced` is
    what the part was added with, `deltas` how many pieces were seen: repetitions are not. `done` is what the text's done event
    says, `closed` the part as its own has it.
    """

    family: str
    place: tuple[str, int]
    machine: Machine | None = None
    announced: Any = None
    deltas: int = 0
    done: Any = None
    done_at: Spot | None = None
    closed: dict[str, Any] | None = None
    annotations: list[Annotated] = field(default_factory=list)


@dataclass(slots=True)
class ItemFacts:
    """An item; `position` says as which one it opened, `added` and `done` what it was announced and finished as.

    `texts` has its texts by list and index; a text of the item itself, such as arguments, by the name of its events.
    """

    index: Any
    position: int
    type: Any
    id: Any
    machine: Machine
    added: dict[str, Any] | None = None
    done: dict[str, Any] | None = None
    at: Spot | None = None
    call: Machine | None = None
    tools: dict[str, Machine] = field(default_factory=dict)
    texts: dict[tuple[str, int], TextFacts] = field(default_factory=dict)
    opened: dict[str, int] = field(default_factory=dict)
    """The index of the part that was announced last, by list."""

    def parts(self, where: str) -> Iterator[TextFacts]:
        """What is in a list, by index."""
        return (self.texts[place] for place in sorted(place for place in self.texts if place[0] == where))


@dataclass(slots=True)
class ResponseFacts:
    """What is remembered of the stream. `head` are fields that must not change, as they were first sent."""

    resumed: bool = False
    events: int = 0
    head: dict[str, Any] = field(default_factory=dict)
    items: list[ItemFacts] = field(default_factory=list)
    indexes: int = 0
    """How many output indexes were opened."""
    reasoning: dict[str, None] = field(default_factory=dict)
    """The names under which raw reasoning came."""
    failed: bool = False
    """Whether an error came, in an event of its own."""
    over: str | None = None
    over_at: Spot | None = None
    done: int = 0
    """How many `[DONE]` there were."""

    @property
    def in_order(self) -> list[ItemFacts]:
        """The items by output index; those without one stand where they came. One that was only announced as null is none."""
        there = (item for item in self.items if item.added is not None or item.done is not None or item.texts)
        return sorted(there, key=lambda item: item.index if type(item.index) is int else item.position)
