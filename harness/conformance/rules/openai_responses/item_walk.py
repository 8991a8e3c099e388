"""The part of the walk that follows items, their parts and their texts."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.openai_responses.facts import Annotated, ItemFacts, ResponseFacts, TextFacts, spot
from harness.conformance.rules.openai_responses.names import ARGUMENTS, family, status_of, text_field
from harness.conformance.rules.openai_responses.order import CALL, ITEM, PART, SUMMARY, TOOL
from harness.conformance.rules.openai_responses.sights import (
    Annotations,
    Event,
    ItemAdded,
    ItemDone,
    ItemEvent,
    PartAdded,
    PartDone,
    Summed,
    TextBegins,
    TextDone,
)
from harness.conformance.rules.order import Machine, Table
from harness.conformance.rules.rule import Breach
from harness.conformance.rules.sights import Ending
from harness.dialects.openai_responses.growth import DELTAS, DONES, PARTS, Growth
from harness.dialects.translating import as_list, as_object, as_objects


class Machines:
    """The machines of one stream; what they find broken begins with the name of the event that broke it."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self.event = ""

    def __call__(self, table: Table) -> Machine:
        return Machine(table, self._court.holds, self._breach)

    def _breach(self, rule: str, breach: Breach) -> None:
        breach.message = f"{self.event}: {breach.message}" if self.event else breach.message
        self._court.breach(rule, breach)


_LISTS = ("content", "summary")


class ItemsWalk:
    """Follows the items of a response; a text or part belongs to the item of its output index, or of its id without one."""

    def __init__(self, court: Court, facts: ResponseFacts, machines: Machines) -> None:
        self._court = court
        self._machine = machines
        self._facts = facts
        self._at: dict[int, list[ItemFacts]] = {}
        self._by_id: dict[str, ItemFacts] = {}

    def event(self, event: Event) -> None:
        """An event that is about an item."""
        kind = event.kind
        if kind == "response.output_item.added":
            self._added(event)
        elif kind == "response.output_item.done":
            self._done(event)
        else:
            item = self._about(event)
            if kind in DELTAS:
                self._delta(item, DELTAS[kind], event)
            elif kind in DONES:
                self._text_done(item, DONES[kind], event)
            elif family(kind) in PARTS:
                self._part(item, event)
            elif kind == "response.output_text.annotation.added":
                self._annotation(item, event)
            elif (step := status_of(kind)) is not None:
                tool = item.tools.get(family(kind)) or self._machine(TOOL)
                item.tools[family(kind)] = tool
                tool.step(step)

    def end(self, ending: Ending) -> None:
        """The end of the stream: how the sums of the texts came out."""
        texts = [text for item in self._facts.items for text in item.texts.values()]
        unlike = {
            found.where.frame: found
            for found in reversed(ending.seen.disagreements)
            if "/logprobs" not in (found.where.path or "")
        }
        for text in texts:
            if text.done_at is not None:
                self._court.see(Summed(text, unlike.get(text.done_at.frame)))
            if text.annotations:
                self._court.see(Annotations(text, None if text.closed is None else as_list(text.closed.get("annotations"))))

    # items

    def _added(self, event: Event) -> None:
        raw, index = event.raw.get("item"), event.raw.get("output_index")
        here = self._at.get(index, []) if type(index) is int else []
        self._court.see(ItemAdded(raw, None if here or self._facts.resumed else self._facts.indexes, event))
        identity = as_object(raw).get("id")
        item = next((item for item in here if item.added is None or (identity and item.id == identity)), None)
        if item is None:
            for other in here[-1:]:
                other.machine.step("added", "/output_index")
            item = self._new(index, as_object(raw).get("type"), identity)
        if not isinstance(raw, dict):
            item.machine.step("null")
            return
        item.machine.step("added", "/output_index")
        item.type, item.id, item.added = raw.get("type"), raw.get("id"), raw
        self._know(item)
        self._announce_inside(item, raw)

    def _announce_inside(self, item: ItemFacts, raw: dict[str, Any]) -> None:
        """What an item has when it is announced needs no announcement of its own."""
        if item.type == "function_call" and item.call is None:
            item.call = self._machine(CALL)
        for where in _LISTS:
            for index, part in enumerate(as_objects(raw.get(where))):
                self._open(item, where, index, part)

    def _done(self, event: Event) -> None:
        raw = event.raw.get("item")
        if not isinstance(raw, dict):
            self._court.see(ItemDone(raw, None, event))
            return
        index, identity = event.raw.get("output_index"), raw.get("id")
        item = self._find(index, identity) or self._new(index, raw.get("type"), identity)
        self._resume(item)
        self._court.see(ItemDone(raw, item, event))
        self._court.see(ItemEvent(item, identity, "/item/id", event))
        for text in item.texts.values():
            if text.machine is not None:
                text.machine.step("item done", "/item")
        if item.call is not None and raw.get("status") != "incomplete":
            item.call.step("item done", "/item")
        item.machine.step("done", "/item")
        item.done, item.at = raw, spot(event.frame)

    def _about(self, event: Event) -> ItemFacts:
        """The item of an event; one that was never added is begun by it."""
        raw = event.raw
        index, identity = raw.get("output_index"), raw.get("item_id")
        item = self._find(index, identity)
        if item is None:
            growth = DELTAS.get(event.kind) or DONES.get(event.kind)
            item = self._new(index, growth.item if growth else None, identity)
        self._resume(item)
        self._court.see(ItemEvent(item, identity, "/item_id", event))
        item.machine.step("event")
        return item

    def _find(self, index: Any, identity: Any) -> ItemFacts | None:
        named = self._by_id.get(identity) if isinstance(identity, str) else None
        if type(index) is int:
            if named is not None and named.index == index:
                return named
            here = self._at.get(index)
            return here[-1] if here else named
        items = self._facts.items
        return named or (items[-1] if items and items[-1].done is None else None)

    def _new(self, index: Any, kind: Any, identity: Any) -> ItemFacts:
        facts = self._facts
        item = ItemFacts(index, len(facts.items), kind, identity, self._machine(ITEM))
        facts.items.append(item)
        if type(index) is int:
            facts.indexes += index not in self._at
            self._at.setdefault(index, []).append(item)
        self._know(item)
        return item

    def _know(self, item: ItemFacts) -> None:
        if isinstance(item.id, str) and item.id:
            self._by_id.setdefault(item.id, item)

    def _resume(self, item: ItemFacts) -> None:
        if self._facts.resumed and item.added is None:
            item.machine.step("resumed")

    # parts

    def _part(self, item: ItemFacts, event: Event) -> None:
        (where, *_), field = PARTS[family(event.kind)]
        raw, index, last = as_object(event.raw.get("part")), event.raw.get(field), item.opened.get(str(where))
        if event.kind.endswith(".added"):
            self._court.see(PartAdded(raw, str(where), index, field, last, event))
            self._open(item, str(where), index if type(index) is int else 0 if last is None else last + 1, raw)
            return
        text = self._text(item, str(where), index, family(event.kind))
        self._court.see(PartDone(raw, text, event))
        if text.machine is not None and text_field(raw) is not None:
            text.machine.step("done", "/part")
        text.closed = raw

    def _open(self, item: ItemFacts, where: str, index: int, raw: dict[str, Any]) -> None:
        item.opened[where] = index
        text = self._text(item, where, index, "")
        field = text_field(raw)
        if field is None:
            text.machine = None
            return
        text.announced = raw.get(field)
        if text.machine is not None:
            text.machine.step("added with text" if text.announced else "added", "/part")

    def _annotation(self, item: ItemFacts, event: Event) -> None:
        text = self._text(item, "content", event.raw.get("content_index"), "response.output_text")
        raw = event.raw
        text.annotations.append(Annotated(raw.get("annotation_index"), raw.get("annotation"), spot(event.frame)))

    # texts

    def _delta(self, item: ItemFacts, growth: Growth, event: Event) -> None:
        text = self._of(item, growth, event)
        if event.raw.get("delta") in ("", None):
            return
        if not text.deltas and text.machine is not None:
            self._court.see(TextBegins(text.announced, event))
        text.deltas += 1
        if text.machine is not None:
            text.machine.step("delta", "/delta")

    def _text_done(self, item: ItemFacts, growth: Growth, event: Event) -> None:
        text = self._of(item, growth, event)
        text.family = family(event.kind)
        value = event.raw.get(growth.done)
        self._court.see(TextDone(value, growth.done, text, event))
        if text.machine is not None:
            text.machine.step("text done", f"/{growth.done}")
        if item.call is not None and text.family == ARGUMENTS:
            item.call.step("arguments done")
        text.done, text.done_at = value, spot(event.frame)

    def _of(self, item: ItemFacts, growth: Growth, event: Event) -> TextFacts:
        about = family(event.kind)
        where = str(growth.list[0]) if growth.element is not None else about
        return self._text(item, where, event.raw.get(growth.index), about)

    def _text(self, item: ItemFacts, where: str, index: Any, about: str) -> TextFacts:
        place = (where, index if type(index) is int else item.opened.get(where, 0))
        text = item.texts.get(place)
        if text is None:
            text = item.texts[place] = TextFacts(about, place)
            if where in _LISTS:
                text.machine = self._machine(SUMMARY if where == "summary" else PART)
                if self._facts.resumed:
                    text.machine.step("resumed")
        return text
