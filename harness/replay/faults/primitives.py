"""Faults as data: small changes to an exchange, each of which can be said in one line.

A fault says where (`at`: the number of a frame, negative from the end, or a `Pick`) and what. `faulty` applies several in a
row. They are the proof that a rule can fail, and what a client under test has to live with.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

from harness.cassette.model import Exchange
from harness.dialects import Dialect
from harness.errors import HarnessError
from harness.replay.reel import Piece, Reel, relabelled

PRESENT = object()
"""Any value at all, as long as there is one."""


class FaultError(HarnessError):
    """A fault cannot be applied to this exchange."""

    usual_hint = "choose a cassette that has what the fault is about, or another place"


@dataclass(frozen=True, slots=True)
class Pick:
    """Frames whose payload has `value` at the pointer `path`; `nth` of them (None: all). The path `event` means the name of the
    frame's event, the path `data` its bytes as text."""

    path: str
    value: Any = PRESENT
    nth: int | None = 0

    def positions(self, reel: Reel) -> list[int]:
        found = [n for n, piece in enumerate(reel.pieces) if self._matches(reel, piece)]
        if self.nth is None:
            return found
        return found[self.nth : self.nth + 1 or None]

    def _matches(self, reel: Reel, piece: Piece) -> bool:
        if self.path in ("event", "data"):
            got: Any = piece.frame.name if self.path == "event" else piece.frame.data.decode(errors="replace")
        else:
            try:
                got = _follow(reel.payload(piece), self.path)
            except LookupError:
                return False
        return self.value is PRESENT or bool(self.value(got) if callable(self.value) else got == self.value)


def first(path: str, value: Any = PRESENT) -> Pick:
    return Pick(path, value)


def last(path: str, value: Any = PRESENT) -> Pick:
    return Pick(path, value, -1)


def every(path: str, value: Any = PRESENT) -> Pick:
    return Pick(path, value, None)


At = int | Pick
EACH = Pick("data", PRESENT, None)


class Fault(Protocol):
    """Something that can go wrong with an exchange."""

    def apply(self, reel: Reel) -> None:
        """Change the reel. Raises `FaultError` where there is nothing to change."""


# payloads


@dataclass(frozen=True, slots=True)
class Set:
    """Another value at a pointer into the payload; containers on the way are made where they lack. `-` appends to a list. A
    callable gets the old value (None: there was none) and returns the new one."""

    at: At
    path: str
    value: Any

    def apply(self, reel: Reel) -> None:
        for piece in _picked(reel, self.at):
            reel.write(piece, _with(reel.payload(piece), self.path, self.value))


@dataclass(frozen=True, slots=True)
class Drop:
    """A field or an element that is not there."""

    at: At
    path: str

    def apply(self, reel: Reel) -> None:
        for piece in _picked(reel, self.at):
            reel.write(piece, _without(reel.payload(piece), self.path))


@dataclass(frozen=True, slots=True)
class Write:
    """Another payload: a JSON value, or raw bytes. `name` is the name of the event."""

    at: At
    payload: Any
    name: str | None = None

    def apply(self, reel: Reel) -> None:
        for piece in _picked(reel, self.at):
            if self.name is not None:
                reel.write_data(piece, piece.frame.data, self.name)
            _write(reel, piece, self.payload)


@dataclass(frozen=True, slots=True)
class Bytes:
    """Other bytes in the place of some, in a frame or around it; checksums are not mended."""

    at: At
    old: bytes
    new: bytes

    def apply(self, reel: Reel) -> None:
        for piece in _picked(reel, self.at):
            if self.old not in piece.raw:
                raise FaultError(f"the bytes {self.old!r} are not in frame {piece.frame.index}")
            piece.raw = piece.raw.replace(self.old, self.new, 1)


@dataclass(frozen=True, slots=True)
class Splice:
    """Other bytes in the place of as many, `offset` bytes into the frame, negative from its end; checksums are not mended."""

    at: At
    offset: int
    data: bytes

    def apply(self, reel: Reel) -> None:
        for piece in _picked(reel, self.at):
            start = self.offset + (piece.start if self.offset >= 0 else piece.end)
            piece.raw = piece.raw[:start] + self.data + piece.raw[start + len(self.data) :]


@dataclass(frozen=True, slots=True)
class Relabel:
    """Other bytes in the headers of an event-stream frame, with the right checksums."""

    at: At
    old: bytes
    new: bytes

    def apply(self, reel: Reel) -> None:
        for piece in _picked(reel, self.at):
            inner = relabelled(piece.raw[piece.start : piece.end], self.old, self.new)
            if inner == piece.raw[piece.start : piece.end]:
                raise FaultError(f"the bytes {self.old!r} are not in the headers of frame {piece.frame.index}")
            piece.raw = piece.raw[: piece.start] + inner + piece.raw[piece.end :]
            piece.end = piece.start + len(inner)


# frames


@dataclass(frozen=True, slots=True)
class Lose:
    """Frames that never come."""

    at: At

    def apply(self, reel: Reel) -> None:
        for piece in _picked(reel, self.at):
            reel.pieces.remove(piece)


@dataclass(frozen=True, slots=True)
class Repeat:
    """Frames that come twice; the copy comes at once, or before the frame `to`."""

    at: At
    to: At | None = None

    def apply(self, reel: Reel) -> None:
        for piece in _picked(reel, self.at):
            place = reel.pieces.index(piece) + 1 if self.to is None else _places(reel, self.to)[0]
            reel.pieces.insert(place, reel.copy(piece))


@dataclass(frozen=True, slots=True)
class Move:
    """A frame that comes before the frame `to` instead of in its turn."""

    at: At
    to: At

    def apply(self, reel: Reel) -> None:
        (piece,) = _picked(reel, self.at)[:1]
        target = _picked(reel, self.to)[0]
        if piece is target:
            raise FaultError(f"frame {piece.frame.index} stands there already")
        reel.pieces.remove(piece)
        reel.pieces.insert(reel.pieces.index(target), piece)


@dataclass(frozen=True, slots=True)
class Insert:
    """A frame that nobody expects, before the frame `at`, or after it if `after`; it is written like that one."""

    at: At
    payload: Any
    name: str | None = None
    after: bool = False

    def apply(self, reel: Reel) -> None:
        place = _places(reel, self.at)[0]
        piece = reel.copy(reel.pieces[place])
        if self.name is not None:
            reel.write_data(piece, piece.frame.data, self.name)
        _write(reel, piece, self.payload)
        reel.pieces.insert(place + self.after, piece)


@dataclass(frozen=True, slots=True)
class InsertBytes:
    """Bytes before the frame `at`, or after it: a comment, a blank line, the beginning of a frame."""

    at: At
    data: bytes
    after: bool = False

    def apply(self, reel: Reel) -> None:
        piece = reel.pieces[_places(reel, self.at)[0]]
        if self.after:
            piece.raw += self.data
        else:
            piece.raw = self.data + piece.raw
            piece.start, piece.end = piece.start + len(self.data), piece.end + len(self.data)


@dataclass(frozen=True, slots=True)
class Cut:
    """The body ends before the frame `at`, or after so many bytes of it."""

    at: At
    keep: int = 0

    def apply(self, reel: Reel) -> None:
        place = _places(reel, self.at)[0]
        piece = reel.pieces[place]
        del reel.pieces[place + (self.keep > 0) :]
        if self.keep:
            piece.raw = piece.raw[: piece.start + self.keep]


# around the stream


@dataclass(frozen=True, slots=True)
class Header:
    """Another value of a response header; None takes it away."""

    name: str
    value: str | None

    def apply(self, reel: Reel) -> None:
        for name in [n for n in reel.headers if n.lower() == self.name.lower()]:
            del reel.headers[name]
        if self.value is not None:
            reel.headers[self.name] = self.value


@dataclass(frozen=True, slots=True)
class Compress:
    """The body is compressed with gzip, and `content-encoding` says `says`, or nothing."""

    says: str | None = "gzip"

    def apply(self, reel: Reel) -> None:
        reel.compressed = True
        Header("content-encoding", self.says).apply(reel)


@dataclass(frozen=True, slots=True)
class Status:
    """Another status."""

    status: int

    def apply(self, reel: Reel) -> None:
        reel.status = self.status


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that had another value at a pointer into its body; `value` None takes the field away."""

    path: str
    value: Any

    def apply(self, reel: Reel) -> None:
        body = reel.request.json or {}
        body = _without(body, self.path) if self.value is None else _with(body, self.path, self.value)
        reel.request = replace(reel.request, body=json.dumps(body).encode())


@dataclass(frozen=True, slots=True)
class Target:
    """A request that went to another path."""

    target: str

    def apply(self, reel: Reel) -> None:
        reel.request = replace(reel.request, target=self.target)


def faulty(exchange: Exchange, dialect: str | Dialect, *faults: Fault) -> Exchange:
    """The exchange with all faults, applied one after the other. Raises `FaultError` where one finds nothing to change."""
    reel = Reel(exchange, dialect)
    for fault in faults:
        fault.apply(reel)
    return reel.exchange()


def _places(reel: Reel, at: At) -> list[int]:
    if isinstance(at, Pick):
        places = at.positions(reel)
    else:
        places = [at % len(reel.pieces)] if -len(reel.pieces) <= at < len(reel.pieces) else []
    if not places:
        raise FaultError(f"the stream of {len(reel.pieces)} frames has none at {at!r}")
    return places


def _picked(reel: Reel, at: At) -> list[Piece]:
    return [reel.pieces[place] for place in _places(reel, at)]


def _write(reel: Reel, piece: Piece, payload: Any) -> None:
    if isinstance(payload, bytes):
        reel.write_data(piece, payload)
    else:
        reel.write(piece, payload)


# pointers


def _steps(path: str) -> Iterator[str]:
    for step in path.split("/")[1:]:
        yield step.replace("~1", "/").replace("~0", "~")


def _follow(value: Any, path: str) -> Any:
    for step in _steps(path):
        if isinstance(value, list):
            if not step.lstrip("-").isdigit():
                raise KeyError(step)
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value[step]
        else:
            raise KeyError(step)
    return value


def _with(value: Any, path: str, new: Any) -> Any:
    whole = copy.deepcopy(value)
    holder, steps = [whole], ["0", *_steps(path)]
    node: Any = holder
    for step, following in pairwise(steps):
        key = _key(node, step)
        if isinstance(node, dict) and not isinstance(node.get(key), (dict, list)):
            node[key] = [] if following == "-" or following.isdigit() else {}
        node = node[key]
    key = _key(node, steps[-1])
    old = node[key] if (isinstance(node, list) and key < len(node)) or (isinstance(node, dict) and key in node) else None
    fresh = new(old) if isinstance(new, Callable) else new  # type: ignore[arg-type]
    if isinstance(node, list) and key == len(node):
        node.append(fresh)
    else:
        node[key] = fresh
    return holder[0]


def _without(value: Any, path: str) -> Any:
    whole = copy.deepcopy(value)
    *way, final = _steps(path)
    node = whole
    for step in way:
        node = node[_key(node, step)]
    try:
        del node[_key(node, final)]
    except (LookupError, TypeError):
        raise FaultError(f"there is nothing at {path}") from None
    return whole


def _key(node: Any, step: str) -> Any:
    if not isinstance(node, list):
        return step
    return len(node) if step == "-" else int(step)
