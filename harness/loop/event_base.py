"""What all events have, and their JSON. The events themselves stand in `events`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from harness.errors import InputError
from harness.loop import values

Readers = Mapping[str, Callable[[Any], Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What all events have. `at` is in seconds of the step's clock."""

    kind: ClassVar[str] = "event"
    readers: ClassVar[Readers] = {}
    """How `from_json` reads the fields that are not plain values."""

    turn: int = 0
    seq: int = 0
    at: float = 0.0
    context: Mapping[str, str] = field(default_factory=dict)

    @property
    def topic(self) -> str:
        """What subscriptions filter by: the kind, of artifacts the artifact's."""
        return self.kind

    @property
    def terminal(self) -> bool:
        """Whether this is how a turn ends."""
        return False

    @classmethod
    def readers_of(cls, _shown: Mapping[str, Any]) -> Readers:
        """The readers for this event as JSON; only artifacts need to look at it."""
        return cls.readers


def as_json(event: Event) -> dict[str, Any]:
    """An event as plain values: `kind` first, `context` only when it is not empty (row L40)."""
    shown: dict[str, Any] = {"kind": event.kind}
    for field_ in dataclasses.fields(event):
        if field_.compare and (field_.name != "context" or event.context):
            shown[field_.name] = values.plain(getattr(event, field_.name))
    return shown


def from_json(shown: Mapping[str, Any]) -> Event:
    """The event that `as_json` made this of; classes of kinds of your own are found once they are defined.

    Exceptions come back as `RecordedError`, values that JSON has no form for as their texts, and `response` does not come back.
    Raises `InputError` for what is no event.
    """
    fields = dict(shown)
    kind = fields.pop("kind", None)
    cls = _kinds(Event).get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise InputError(f"there is no event of the kind {kind!r}", hint="define its class before reading it")
    try:
        readers = cls.readers_of(fields)
        return cls(**{name: readers.get(name, _same)(value) for name, value in fields.items()})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"this is no event of the kind {kind!r}: {error}") from error


def _kinds(cls: type[Event]) -> dict[str, type[Event]]:
    """All kinds of events there are, by name; the latest of a name."""
    found = {cls.kind: cls} if "kind" in vars(cls) else {}
    for inner in cls.__subclasses__():
        found.update(_kinds(inner))
    return found


def _same(value: Any) -> Any:
    return value
