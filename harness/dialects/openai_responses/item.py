"""An item of `output` under construction: what announcing, growing and repeating it changes in the body.

A text is gathered from its deltas, and everything that the API says once more about it is settled against what gathered:
done events, the finished item, the terminal response. So the turn is whole without any of the repetitions, and a repetition
that differs is seen (wire/openai-responses.md section 7).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.openai_responses.growth import CALLS, Growth
from harness.dialects.translating import as_list, as_text, note, setting
from harness.edits import METADATA, Edit, Op, PartKind, PartRef, Path, Target
from harness.framing import Frame

_LISTS = ("content", "summary")
_GROWN = {"text", "refusal", "annotations", "logprobs"}  # what events add to a part
_LASTING = {"id", "type", "role", "call_id", "name", "namespace", "server_label"}  # what an item is does not change
_REASSIGNED = {("tool_search_call", "call_id")}  # but a client's tool search gets a new call_id when it is done (recorded)
_EMPTY: tuple[Any, ...] = (None, "", [], {})


class Item:
    """An item at `key` of the output. `partial`: a resumed stream began in the middle of it, so repetitions say more."""

    def __init__(self, key: int, index: Any, kind: str | None, identity: Any, *, partial: bool = False) -> None:
        self.key = key
        self.index = index  # on the wire
        self.path: Path = ("output", key)
        self.type = kind
        self.id = as_text(identity) or ""
        self.call_id = ""
        self.carried_out = False  # by the provider, though it looks like a call
        self.announced = False
        self.done = False
        self._partial = partial
        self._settle = Op.SET if partial else Op.SETTLE
        self._unstable = False
        self._gathered: set[str | int] = set()  # fields that events have added to
        self._added: Any = None  # the announcement
        self._parts: dict[tuple[Path, int], Any] = {}  # announced elements of lists
        self._last: dict[Path, int] = {}  # the element that is open, by list
        self._next: dict[Path, int] = {}  # the first number without an element
        self._places: dict[Path, Target] = {}
        self._annotations: set[tuple[int, int]] = set()

    @property
    def ref(self) -> PartRef:
        return PartRef(PartKind.TOOL_CALL, (self.key,)) if self.type in CALLS and not self.carried_out else METADATA

    # the item as a whole

    def announce(self, body: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        """The item as `added` has it; what has gathered already is not touched."""
        self._learn(body)
        first = not self.announced and not self._gathered
        self.announced = True
        yield from self._odd_arguments(body, frame, at)
        if not first:
            for name, value in body.items():
                if name not in self._gathered:
                    yield setting((*self.path, name), value, frame, self.ref, f"{at}/{name}")
            return
        self._added = body
        action = body.get("action")
        commands = as_list(action.get("commands")) if isinstance(action, dict) else []
        lists: dict[Path, list[Any]] = {(name,): as_list(body.get(name)) for name in _LISTS}
        for where, elements in {**lists, ("action", "commands"): commands}.items():
            for number, element in enumerate(elements):
                self._hold(where, number, element)
        yield setting(self.path, body, frame, self.ref, at)

    def repeat(self, body: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        """The item once more: in its done event, and in the terminal response."""
        finished, self.done = self.done, True
        if finished and not self._partial:
            yield Edit(Target(Op.SETTLE, self.path, self.ref, at), body, frame.index)
            self._learn(body)
            return
        yield from self._odd_arguments(body, frame, at)
        for name, value in body.items():
            lasting = name in _LASTING and (self.type, name) not in _REASSIGNED
            if self._partial:
                if name in self._gathered and value in _EMPTY:
                    continue
                op = Op.SET
            else:
                op = Op.SETTLE if lasting or name in self._gathered or value in _EMPTY else Op.SET
            yield Edit(Target(op, (*self.path, name), self.ref, f"{at}/{name}"), value, frame.index)
        self._learn(body)

    def check_id(self, identity: Any, frame: Frame, at: str) -> Iterator[Edit]:
        """Report once that events of the item name it differently; the index is the key, so nothing else comes of it."""
        if not self._unstable and isinstance(identity, str) and identity and self.id and identity != self.id:
            self._unstable = True
            message = f"the item announced as {self.id!r} is called {identity!r} here; they are one, since the index is one"
            yield note("responses/item-id-unstable", message, frame, at, expected=self.id, got=identity)

    # its parts and texts

    def open_element(self, where: Path, index: Any, element: Any, frame: Frame, at: str) -> Iterator[Edit]:
        """An element of a list is announced."""
        number = index if type(index) is int else self._next.get(where, 0)
        path = (*self.path, *where, number)
        self._last[where] = number
        self._gathered.add(where[0])
        if (where, number) not in self._parts:
            self._hold(where, number, element)
            yield setting(path, element, frame, METADATA, at)
        elif isinstance(element, dict):  # announced late or twice
            for name, value in element.items():
                if name not in _GROWN:
                    yield setting((*path, name), value, frame, METADATA, f"{at}/{name}")

    def settle_part(self, where: Path, index: Any, part: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """An element of a list is repeated whole, but for log probabilities, which OpenAI leaves empty there."""
        number = self.element(where, index)
        if (where, number) not in self._parts:
            if self.announced:
                yield note("responses/part-not-announced", "a part is done that was never announced", frame, "/part")
            yield from self.open_element(where, number, part, frame, "/part")
            return
        said = {name: value for name, value in part.items() if name != "logprobs" or value}
        yield Edit(Target(self._settle, (*self.path, *where, number), METADATA, "/part"), said, frame.index)

    def settle_element(self, where: Path, number: int, element: Any, frame: Frame, at: str) -> Edit:
        """An element that needs no announcement is repeated whole."""
        self._gathered.add(where[0])
        return Edit(Target(self._settle, (*self.path, *where, number), METADATA, at), element, frame.index)

    def growing(self, growth: Growth, index: Any, frame: Frame) -> tuple[Target, list[Edit]]:
        """Where the next piece of a text goes, and what must change before."""
        number = self.element(growth.list, index)
        place = self._place(growth, number)
        target = self._places.get(place)
        if target is not None:
            return target, []
        before = self._ready(growth, number, frame)
        path = (*self.path, *place)
        if self._said(growth, number):
            message = "the text was announced in full and is then streamed: the pieces count"
            before.append(note("responses/part-prefilled", message, frame, "/delta"))
            before.append(setting(path, "", frame, METADATA, ""))
        target = self._places[place] = Target(Op.CONCAT, path, self._part(growth, number), "/delta")
        self._gathered.add(place[0])
        return target, before

    def settle(self, growth: Growth, index: Any, value: str, frame: Frame, at: str) -> Iterator[Edit]:
        """A text is repeated whole."""
        number = self.element(growth.list, index)
        yield from self._ready(growth, number, frame)
        place = self._place(growth, number)
        self._gathered.add(place[0])
        if self._partial and not value:
            return
        yield Edit(Target(self._settle, (*self.path, *place), self._part(growth, number), at), value, frame.index)

    def annotate(self, growth: Growth, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """An annotation is added to a text."""
        number, index = self.element(growth.list, body.get("content_index")), body.get("annotation_index")
        yield from self._ready(growth, number, frame)
        self._gathered.add(growth.list[0])
        place: Path = (*self.path, *growth.list, number, "annotations")
        op = Op.APPEND
        if type(index) is int and (number, index) not in self._annotations:
            self._annotations.add((number, index))
            op, place = Op.SET, (*place, index)
        target = Target(op, place, PartRef(PartKind.OTHER, (self.key, number)), "/annotation")
        yield Edit(target, body.get("annotation"), frame.index)

    def add_logprobs(self, growth: Growth, index: Any, tokens: list[Any], frame: Frame) -> Iterator[Edit]:
        """The log probabilities of a piece of text."""
        place: Path = (*self.path, *growth.list, self.element(growth.list, index), "logprobs")
        target = Target(Op.APPEND, place, METADATA, "/logprobs")
        return (Edit(target, token, frame.index) for token in tokens)

    def settle_logprobs(self, growth: Growth, index: Any, tokens: list[Any], frame: Frame) -> Edit:
        place: Path = (*self.path, *growth.list, self.element(growth.list, index), "logprobs")
        return Edit(Target(self._settle, place, METADATA, "/logprobs"), tokens, frame.index)

    def element(self, where: Path, index: Any) -> int:
        """The element of a list that an event is about: the one it names, else the one that is open."""
        return index if type(index) is int else self._last.get(where, 0)

    def inner(self, steps: Path) -> Path:
        """Where a place in the item, as a finished item has it, stands in the body: elements have the keys of the wire."""
        if len(steps) > 1 and steps[0] in _LISTS and isinstance(steps[1], int):
            keys = sorted(number for where, number in self._parts if where == (steps[0],))
            if steps[1] < len(keys):
                return (*self.path, steps[0], keys[steps[1]], *steps[2:])
        return (*self.path, *steps)

    def _learn(self, body: dict[str, Any]) -> None:
        self.id = as_text(body.get("id")) or self.id
        self.type = as_text(body.get("type")) or self.type
        self.call_id = as_text(body.get("call_id")) or self.call_id

    def _hold(self, where: Path, number: int, element: Any) -> None:
        self._parts[where, number] = element
        self._next[where] = max(self._next.get(where, 0), number + 1)

    def _place(self, growth: Growth, number: int) -> Path:
        return (*growth.list, number, *growth.field) if growth.list else growth.field

    def _part(self, growth: Growth, number: int) -> PartRef:
        """A message has parts; of any other item all texts are one part of the turn."""
        kind = PartKind.OTHER if self.carried_out else growth.kind
        return PartRef(kind, (self.key, number) if growth.item == "message" else (self.key,))

    def _ready(self, growth: Growth, number: int, frame: Frame) -> list[Edit]:
        """Make the element that a text stands in, if it was never announced."""
        if growth.element is None or (growth.list, number) in self._parts:
            return []
        self._hold(growth.list, number, growth.element)
        self._last[growth.list] = number
        made = setting((*self.path, *growth.list, number), growth.element, frame, METADATA, "")
        if not self.announced:
            return [made]
        message = f"{growth.index} {number} was never announced; the part is taken to be {growth.element['type']!r}"
        return [note("responses/part-not-announced", message, frame), made]

    def _said(self, growth: Growth, number: int) -> bool:
        """Whether the announcement held the text already."""
        said = self._parts.get((growth.list, number)) if growth.list else self._added
        for step in growth.field:
            said = said.get(step) if isinstance(said, dict) else None
        return isinstance(said, str) and bool(said)

    def _odd_arguments(self, body: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        if self.type in CALLS and isinstance(body.get("arguments"), (dict, list)):
            message = "arguments are sent as an object, where a string of JSON is due; kept as they are"
            yield note("tool/arguments-not-string", message, frame, f"{at}/arguments")
