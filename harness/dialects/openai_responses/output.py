"""Which item an event is about (semantics.md D2, wire/openai-responses.md section 5).

The wire's key is `output_index`, for proxies give an item a new `item_id` in every event. The id decides where there is no
index, or where one index has several items. Neither of the two: the item that is open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from harness.dialects.openai_responses.growth import SKELETONS, carried_out
from harness.dialects.openai_responses.item import Item
from harness.dialects.translating import as_text, note, setting
from harness.edits import Edit
from harness.framing import Frame

_FAMILY = {kind: kind for kind in SKELETONS} | {"custom_tool_call": "function_call", "mcp_call": "function_call"}


class Output:
    """The items of one response. `resumed` streams begin in the middle: what they lack was announced before."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.resumed = True  # until a response is created
        self.tools: Any = None  # as the response has them
        self._at: dict[int, list[Item]] = {}
        self._by_id: dict[str, Item] = {}
        self._keys: set[int] = set()
        self._next = 0

    def find(self, index: Any, identity: Any, kind: str | None = None) -> Item | None:
        """The item that an event with this index and id is about, which only fits items of some kinds."""
        named = self._by_id.get(identity) if isinstance(identity, str) else None
        if named is not None and not _fits(named, kind):
            named = None
        if type(index) is int:
            if named is not None and named.index == index:
                return named
            return next((item for item in reversed(self._at.get(index, ())) if _fits(item, kind)), named)
        if named is None and self.items and _fits(self.items[-1], kind) and not self.items[-1].done:
            return self.items[-1]
        return named

    def of_event(self, body: dict[str, Any], kind: str, frame: Frame) -> tuple[Item, list[Edit]]:
        """The same for an event of an item's text or part; an item that was never announced is begun."""
        index, identity = body.get("output_index"), body.get("item_id")
        item = self.find(index, identity, kind)
        if item is not None:
            return item, list(item.check_id(identity, frame, "/item_id"))
        item, edits = self._begin(index, kind, identity, frame, partial=self.resumed)
        edits += self._not_announced(kind, frame)
        named = {"id": identity} if isinstance(identity, str) else {}
        edits.append(setting(item.path, {**named, "type": kind, **SKELETONS.get(kind, {})}, frame, item.ref, ""))
        return item, edits

    def announce(self, index: Any, body: dict[str, Any], frame: Frame, at: str = "/item") -> tuple[Item, list[Edit]]:
        """The item of an `added` event: a new one, or one whose events came before it."""
        item = self._claimed(index, body)
        edits: list[Edit] = []
        if item is None:
            item, edits = self._begin(index, as_text(body.get("type")), body.get("id"), frame)
        elif item.announced:
            message = f"the item {item.id!r} is announced twice; it is taken to be one"
            edits = [note("responses/index-collision", message, frame, at)]
        item.carried_out = carried_out(body, self.tools)
        edits += item.announce(body, frame, at)
        self._know(item)
        return item, edits

    def finish(self, index: Any, body: dict[str, Any], frame: Frame, at: str = "/item") -> tuple[Item, list[Edit]]:
        """The item of a `done` event."""
        kind, identity = as_text(body.get("type")), body.get("id")
        item = self.find(index, identity, kind)
        if item is None:
            item, edits = self._begin(index, kind, identity, frame)
            item.carried_out = carried_out(body, self.tools)
            edits += self._not_announced(kind, frame)
            edits += item.announce(body, frame, at)
            item.done = True
        else:
            edits = [*item.check_id(identity, frame, f"{at}/id"), *item.repeat(body, frame, at)]
        self._know(item)
        return item, edits

    def match(self, bodies: list[dict[str, Any]]) -> list[Item | None]:
        """The gathered item of each item of the terminal response: by id, then by index, then the next of its type."""
        matched = [self._by_id.get(identity) if (identity := as_text(body.get("id"))) else None for body in bodies]
        used: set[int] = set()
        for place, item in enumerate(matched):
            if item is not None and item.key in used:
                matched[place] = None
            elif item is not None:
                used.add(item.key)
        waiting: dict[str | None, deque[Item]] = {}
        for item in sorted(self.items, key=lambda item: item.key):
            waiting.setdefault(item.type, deque()).append(item)
        for place, body in enumerate(bodies):
            if matched[place] is None:
                kind = as_text(body.get("type"))
                found = self._unused(place, kind, waiting.get(kind, deque()), used)
                if found is not None:
                    matched[place] = found
                    used.add(found.key)
        return matched

    def add(self, place: int, body: dict[str, Any], frame: Frame, at: str) -> tuple[Item, list[Edit]]:
        """An item of the terminal response that was never streamed."""
        item, edits = self._begin(place if place not in self._keys else None, as_text(body.get("type")), body.get("id"), frame)
        edits += item.announce(body, frame, at)
        item.done = True
        self._know(item)
        return item, edits

    def _unused(self, place: int, kind: str | None, waiting: deque[Item], used: set[int]) -> Item | None:
        for item in self._at.get(place, ()):
            if item.type == kind and item.key not in used:
                return item
        while waiting and waiting[0].key in used:
            waiting.popleft()
        return waiting.popleft() if waiting else None

    def _claimed(self, index: Any, body: dict[str, Any]) -> Item | None:
        """The item that an announcement is about, if there is one: begun by its events, or announced before (row C18)."""
        identity, call, kind = as_text(body.get("id")), as_text(body.get("call_id")), as_text(body.get("type"))
        named = self._by_id.get(identity) if identity else None
        if type(index) is not int or (named is not None and named.index == index):
            return named
        here = self._at.get(index)
        if not here:
            return None
        last = here[-1]
        alike = (call and call == last.call_id) or (not identity and not last.id and kind == last.type)
        return last if alike or (not last.announced and _fits(last, kind)) else None

    def _begin(
        self, index: Any, kind: str | None, identity: Any, frame: Frame, *, partial: bool = False
    ) -> tuple[Item, list[Edit]]:
        free = type(index) is int and index >= 0 and index not in self._keys
        key = index if free else self._next
        self._keys.add(key)
        self._next = max(self._next, key + 1)
        item = Item(key, index, kind, identity, partial=partial)
        edits = []
        if type(index) is int:
            here = self._at.setdefault(index, [])
            here.append(item)
            if len(here) > 1:
                message = f"a second item at output index {index}; their ids tell them apart"
                edits.append(note("responses/index-collision", message, frame, "/output_index"))
        self.items.append(item)
        self._know(item)
        return item, edits

    def _not_announced(self, kind: str | None, frame: Frame) -> Iterator[Edit]:
        if not self.resumed:
            yield note("responses/item-not-announced", f"an event of an item ({kind}) that was never added", frame)

    def _know(self, item: Item) -> None:
        if item.id:
            self._by_id.setdefault(item.id, item)


def _fits(item: Item, kind: str | None) -> bool:
    """Whether an event of this kind of item may be about the item: a call's arguments are not about a message."""
    mine, its = _FAMILY.get(item.type or ""), _FAMILY.get(kind or "")
    return mine is None or its is None or mine == its
