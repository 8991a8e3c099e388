"""What a stream says, told plainly: the measure of whoever reads it.

An account is made in the simplest way that there is: all payloads are decoded, one function for each API walks over them and
writes down what it meets, in its order. It has neither memory of repeats nor edits nor a native body, and takes nothing from
the collector, so that the two can be held against each other.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness import payload
from harness.dialects.translating import as_count, as_json
from harness.framing import Frame

DONE = b"[DONE]"


class Told(NamedTuple):
    """A payload: the number and the name of its frame, and its value, an object. `broken` says that the frame is a failure."""

    frame: int
    name: str | None
    value: dict[str, Any]
    broken: bool = False


class Spot(NamedTuple):
    """A place in a stream: the number of a frame and a JSON pointer into its payload."""

    frame: int
    path: str


@dataclass(slots=True)
class Block:
    """One text: its fragments in the order in which they arrived, where each of them stands, and where the whole text is
    repeated."""

    fragments: list[str] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    repeats: list[Spot] = field(default_factory=list)
    whole: str | None = None
    """What the API says at the end that the text is; None if it does not."""

    @property
    def text(self) -> str:
        return self.whole or payload.whole("".join(self.fragments))


@dataclass(slots=True)
class Call:
    """One call of a tool: the first id and name that say something, and its arguments, as fragments of text or as a value."""

    key: int = 0
    id: str = ""
    name: str = ""
    fragments: list[str] = field(default_factory=list)
    value: Any = None
    heads: list[Spot] = field(default_factory=list)
    """Where each of its fragments stands."""
    index: Any = None

    @property
    def arguments(self) -> str:
        """Their text; `{}` for a value that is none, and the value's own text for one that is there."""
        return "".join(self.fragments) or ("" if self.value is None else as_json(self.value))

    @property
    def meant(self) -> Any:
        """The value that the arguments are: nothing at all means no arguments; a text that does not parse stays a text."""
        try:
            return payload.from_text(self.arguments) if self.arguments.strip() else {}
        except ValueError:
            return self.arguments


class Signature(NamedTuple):
    """A signature or an encrypted blob, as it was streamed; `alone` says that its part has no text beside it."""

    value: str
    alone: bool = False


Blocks = dict[Hashable, Block]


@dataclass(slots=True)
class Account:
    """All that is told of the first choice. Texts are kept by their keys, calls in the order of theirs."""

    texts: Blocks = field(default_factory=dict)
    thoughts: Blocks = field(default_factory=dict)
    refusals: Blocks = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    signatures: list[Signature] = field(default_factory=list)
    citations: list[Any] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    """The tokens of the log probabilities."""
    usage: dict[str, int] = field(default_factory=dict)
    counted: int | None = None
    """The frame of the last report of usage."""
    id: str | None = None
    model: str | None = None
    role: str | None = None
    roles: list[Spot] = field(default_factory=list)
    finish: str | None = None
    finishes: list[Spot] = field(default_factory=list)
    ended: bool = False
    """Whether the API's end condition was met, errors aside."""
    marked: int | None = None
    """The frame of the terminal marker, after which clients stop."""
    failed: int | None = None
    """The frame of the first error inside the stream."""
    repeats: list[Spot] = field(default_factory=list)
    """Where the API repeats the turn as a whole."""
    payloads: int = 0

    @property
    def text(self) -> str:
        return joined(self.texts)

    @property
    def thought(self) -> str:
        return joined(self.thoughts)

    @property
    def refusal(self) -> str:
        return joined(self.refusals)

    def say(self, blocks: Blocks, key: Hashable, text: Any, frame: int = -1, path: str = "") -> None:
        """Another fragment of a text, if it is one."""
        if isinstance(text, str):
            block = blocks.setdefault(key, Block())
            block.fragments.append(text)
            block.spots.append(Spot(frame, path))

    def count(self, frame: int, **counts: Any) -> None:
        """A report of usage: what it says takes the place of what was said before, count by count."""
        known = {name: number for name, value in counts.items() if (number := as_count(value)) is not None}
        if known:
            self.usage |= known
            self.counted = frame

    def name(self, given: Mapping[str, Any], id: str = "id", model: str = "model") -> None:
        """The first id and model that say something."""
        self.id = self.id or words(given.get(id))
        self.model = self.model or words(given.get(model))

    def sign(self, value: Any, *, alone: bool = False) -> None:
        if isinstance(value, str) and value:
            self.signatures.append(Signature(value, alone))

    def fail(self, frame: int) -> None:
        if self.failed is None:
            self.failed = frame


def joined(blocks: Blocks) -> str:
    return "".join(block.text for block in blocks.values())


def ordered(blocks: Blocks) -> Blocks:
    """The blocks in the order of their keys, which are numbers."""
    return dict(sorted(blocks.items(), key=lambda item: as_key(item[0])))


def as_key(key: Hashable) -> tuple[int, ...]:
    parts = key if isinstance(key, tuple) else (key,)
    return tuple(part if isinstance(part, int) else 0 for part in parts)


def words(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def number(value: Any, otherwise: int = 0) -> int:
    return value if type(value) is int else otherwise


def unpacked(value: Any) -> bytes | None:
    """The bytes of a text in base64; None if it is none."""
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else None
    except (binascii.Error, ValueError):
        return None


def decoded(frames: Iterable[Frame]) -> Iterator[Told | int]:
    """The payloads that are objects, and for each `[DONE]` the number of its frame."""
    for frame in frames:
        kind = (frame.headers or {}).get(":message-type")
        broken = kind in ("exception", "error") or (frame.name or "").endswith("Exception")
        if frame.data.strip() == DONE:
            yield frame.index
            continue
        try:
            value: Any = payload.tolerant(frame.data)[0]
        except payload.NotJSON:
            value = None
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict) or broken:
            yield Told(frame.index, frame.name, value if isinstance(value, dict) else {}, broken)
