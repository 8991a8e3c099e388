"""The part of translating that every dialect shares: payloads out of frames, strangers out of payloads."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from harness import payload
from harness.api_error import ApiError
from harness.dialects.repeats import OneText, Repeats
from harness.edits import ERROR, METADATA, UNKNOWN, Edit, Op, PartRef, Path, Target, pointer
from harness.errors import Where
from harness.findings import Finding
from harness.framing import Frame
from harness.vocabulary import Kind

DONE = b"[DONE]"
UNREADABLE = object()
"""What a payload is that no reader can read, to those who watch (`BaseTranslator.watch`)."""
_NOTE = Target(Op.NOTE)
_FAIL = Target(Op.FAIL, part=ERROR)
UNKNOWN_EVENTS = "unknown_events"
"""Where events that the dialect does not know are kept in the body (law 2)."""


class BaseTranslator:
    """Decodes each frame, checks it against the vocabulary and hands it to `edits`; subclasses tell the API."""

    shape: Kind

    noise: tuple[str, ...] = ()
    """Top-level fields of a payload that change from one to the next and mean nothing."""

    watch: Callable[[Frame, Any, bool], object] | None = None
    """Told of each payload that is not a mere repetition: its frame, its JSON value (or `DONE`, or `UNREADABLE`), and whether
    the strict reader took it."""

    def __init__(self, request: Any = None) -> None:
        self.request = request if isinstance(request, dict) else {}
        self.failed = False
        self._empty = True
        self._repeats = Repeats(self.noise)

    def translate(self, frame: Frame) -> list[Edit]:
        memory = self._repeats.memory
        if memory is not None:
            repeated = memory.edits(frame)
            if repeated is not None:
                return repeated
        try:
            value = payload.strict(frame.data)
        except ValueError:
            value, edits = None, self._odd(frame)
        else:
            self._empty = False
            if self.watch is not None:
                self.watch(frame, value, True)
            edits = self.edits(value, frame) if self.shape_of(frame).knows(value) else self._strange(value, frame)
        self._repeats.careful(value, edits, frame)
        return edits

    def one_text(self) -> OneText | None:
        """Where the text of the next payload goes and how it is found, if that repeats the last one and adds one text.

        It may be asked for after every frame; whoever takes a text this way does not have that frame translated.
        """
        memory = self._repeats.memory
        return None if memory is None else memory.one_text

    def missing(self) -> str | None:
        raise NotImplementedError

    def end_marked(self) -> bool:
        """Whether an end marker came, for an API whose stream can end in order without its turn being complete."""
        return False

    def close(self) -> list[Edit]:
        """How the stream ended (law 6)."""
        missing = self.missing()
        if missing is None or self.failed:
            return []
        if self._empty:
            return [note("stream/empty", "the stream has no payload at all")]
        if self.end_marked():
            return [note("stream/finish-missing", f"the end marker came, but {missing}")]
        return [note("stream/truncated", f"the stream ends before the turn: {missing}")]

    def fail(self, error: ApiError, frame: Frame) -> Edit:
        """An edit that ends the turn with an error of the provider."""
        self.failed = True
        return Edit(_FAIL, error, frame.index)

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        """What a payload changes. Its containers are of the right types; scalars and absences are the subclass's to check."""
        raise NotImplementedError

    def done(self, frame: Frame) -> list[Edit]:
        """The sentinel `[DONE]`; by default a payload that means nothing to the API."""
        return []

    def shape_of(self, frame: Frame) -> Kind:
        """What a payload is checked against; for an API whose payloads do not tell what they are, but their frames do."""
        return self.shape

    def place(self, steps: list[str], body: dict[str, Any]) -> Target:
        """Where a field that the vocabulary lacks belongs: `steps` lead to it in the payload `body`."""
        return Target(Op.SET, as_path(steps), UNKNOWN)

    def _odd(self, frame: Frame) -> list[Edit]:
        """A payload that the strict reader refuses."""
        tell = self.watch or (lambda *_: None)
        if frame.data.strip() == DONE:
            tell(frame, DONE, True)
            return self.done(frame)
        try:
            value, kind = payload.tolerant(frame.data)
        except payload.NotJSON as error:
            tell(frame, UNREADABLE, False)
            said = payload.several(frame.data) or f"the payload {payload.quote(frame.data)} cannot be read: {error}"
            return [note(error.kind, said, frame)]
        self._empty = False
        tell(frame, value, False)
        remarks = [note(kind, payload.tolerated(frame.data), frame)] if kind else []
        known = self.shape_of(frame).knows(value)
        return remarks + (self.edits(value, frame) if known else self._strange(value, frame))

    def _strange(self, value: Any, frame: Frame) -> list[Edit]:
        """A payload with something outside the vocabulary: it is translated as far as it is known, the rest is kept."""
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            value = value[0]  # `[{"error": …}]` and the like
        if not isinstance(value, dict):
            message = f"expected a JSON object, got {payload.quote(frame.data)}"
            return [note("framing/not-an-object", message, frame), unknown_event(value, frame)]
        shape = self.shape_of(frame)
        edits = self.edits(shape.mended(value), frame)
        for at, stranger in shape.strangers(value, ""):
            steps = [s.replace("~1", "/").replace("~0", "~") for s in at.split("/")[1:]]
            if not steps:
                edits.append(unknown_event(value, frame))
                continue
            target = self.place(steps, value)
            target.source = at
            edits.append(Edit(target, stranger, frame.index))
        return edits


def note(kind: str, message: str, frame: Frame | None = None, path: str | None = None, **values: Any) -> Edit:
    """An edit that reports a finding at `frame`; `path` is a pointer into its payload."""
    finding = Finding(kind=kind, message=message, where=Where(path=path), **values)
    return Edit(_NOTE, finding, -1 if frame is None else frame.index)


def unknown_event(value: Any, frame: Frame) -> Edit:
    """An event that the dialect does not know, kept in the body and listed."""
    target = Target(Op.APPEND, (UNKNOWN_EVENTS,), UNKNOWN, f"event:{frame.name or ''}")
    return Edit(target, value, frame.index)


def setting(path: Path, value: Any, frame: Frame, part: PartRef = METADATA, source: str | None = None) -> Edit:
    """An edit that sets a value; by default it stands at the same place in the payload."""
    return Edit(Target(Op.SET, path, part, pointer(path) if source is None else source), value, frame.index)


def as_path(steps: list[str]) -> Path:
    """The path that the steps of a JSON pointer lead along."""
    return tuple(int(step) if step.isdigit() else step for step in steps)


def as_object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one: for readers of bodies of any kind."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_objects(value: Any) -> list[dict[str, Any]]:
    return [element for element in as_list(value) if isinstance(element, dict)]


def as_json(value: Any) -> str:
    """The value as compact JSON, its keys in their order (semantics.md D4): arguments of an API that sends objects."""
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    except RecursionError:  # deeper than any text of it could be read; the value stands in the native body
        return ""


def as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_count(value: Any) -> int | None:
    """A number of tokens; some servers send floats, or digits in a string (proto JSON)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return int(value) if math.isfinite(value) else None
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20 else None
