"""Rules about the parts of an item: their indexes, and what closes them."""

from __future__ import annotations

from collections.abc import Iterator

from harness.conformance.rules.openai_responses.names import text_field
from harness.conformance.rules.openai_responses.sights import Annotations, ItemDone, PartAdded, PartDone, TextBegins
from harness.conformance.rules.openai_responses.values import number, shown, unlike
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.dialects.translating import as_list, as_object
from harness.findings import Level

PARTS = Rules("RSP", dialects=["openai-responses"])


@PARTS.rule(
    22,
    Level.MUST,
    "content_index (summary_index of a summary) grows by 1 in an item as parts open",
    at=PartAdded,
    kind="responses/index-order",
    source="SDK-OAI indexes a list; recordings: 42 of 42",
    why="Clients append parts to a list and find them by index: after a gap texts go nowhere.",
    bad="content_part.added at content_index 0, then at 2, or at 0 again",
    good="content_part.added at content_index 0, then at 1",
)
def part_indexes_in_order(it: PartAdded) -> Said:
    if it.last is None or not number(it.index):
        return None
    if it.index == it.last + 1:
        return True
    message = f"a part opens at {it.field} {it.index}; {it.last + 1} was expected"
    return Breach(message, f"/{it.field}", expected=it.last + 1, got=it.index)


@PARTS.rule(
    53,
    Level.SHOULD,
    "the first content_index of an item is 0",
    at=PartAdded,
    kind="responses/index-order",
    source="recordings: 41 of 42; tried: SDK-OAI raises IndexError on the other",
    why="Clients find the part by index in a list that has one element.",
    bad="a message whose first content_part.added has content_index 1",
    good="content_index 0",
    seen="Bedrock mantle with gpt-oss, which counts over the whole response",
)
def first_part_is_zero(it: PartAdded) -> Said:
    if it.where != "content" or it.last is not None or not number(it.index) or it.event.facts.resumed:
        return None
    if it.index == 0:
        return True
    return Breach(f"the first part of the item has content_index {it.index}", "/content_index", expected=0, got=it.index)


@PARTS.rule(
    26,
    Level.MUST,
    "the text in content_part.done is the one in output_text.done",
    at=PartDone,
    kind="responses/done-text-mismatch",
    source="OR-SPEC; openai-responses.md section 7",
    why="Which of the two is shown depends on the event that a client happens to use.",
    bad='output_text.done with "Low tide", content_part.done with "Low tide "',
    good='"Low tide" in both',
)
def part_repeats_its_text(it: PartDone) -> Said:
    field = text_field(it.raw)
    told, got = it.text.done, None if field is None else it.raw.get(field)
    if not isinstance(told, str) or not isinstance(got, str):
        return None
    if told == got:
        return True
    message = f"the part says {shown(got)}, and its text was done as {shown(told)}"
    return Breach(message, f"/part/{field}", expected=told, got=got)


@PARTS.rule(
    27,
    Level.MUST,
    "the content and summary of a done item are the parts that were closed, logprobs aside",
    at=ItemDone,
    kind="responses/item-done-mismatch",
    source="OR-SPEC; openai-responses.md section 7",
    why="What is stored and sent back differs from what was shown.",
    bad="one content_part.done, and two parts in output_item.done",
    good="the same part in both",
)
def item_repeats_its_parts(it: ItemDone) -> Said:
    return list(_unlike_parts(it)) or (True if any(_closed(it, where) for where in ("content", "summary")) else None)


def _closed(it: ItemDone, where: str) -> list[object]:
    """The closed parts of a list; none if one of them is open still, which is another rule's matter."""
    parts = [] if it.item is None else [part.closed for part in it.item.parts(where)]
    return [] if None in parts else list(parts)


def _unlike_parts(it: ItemDone) -> Iterator[Breach]:
    for where in ("content", "summary"):
        closed = _closed(it, where)
        got = as_list(as_object(it.raw).get(where))
        found = unlike(closed, got, {"logprobs"}) if closed else None
        if found is not None:
            message = f"the done item has {shown(found.other)}, and the parts were closed with {shown(found.one)}"
            yield Breach(message, f"/item/{where}{found.path}", expected=found.one, got=found.other)


@PARTS.rule(
    52,
    Level.MUST,
    "text in content_part.added is not sent again as deltas",
    at=TextBegins,
    kind="responses/part-prefilled",
    source="bug report BR-078; recordings: the text of an added part is empty, 42 of 42",
    why="Clients begin with the text of the part and append the deltas: everything is said twice.",
    bad='content_part.added with "text":"Echo", then the delta "Echo"',
    good='content_part.added with "text":"", then the delta "Echo"',
)
def text_is_sent_once(it: TextBegins) -> Said:
    if it.announced is None:
        return None
    if not it.announced:
        return True
    return Breach(f"the part was added with {shown(it.announced)}, and is now streamed", "/delta", "", it.announced)


@PARTS.rule(
    30,
    Level.MUST,
    "annotation_index counts 0, 1, … in a part, and is the annotation's place in the final list",
    at=Annotations,
    kind="responses/annotation-order",
    source="openai-responses.md section 7; recordings of OpenAI",
    why="Clients put citations into a list by index: one is lost, or takes the place of another.",
    bad='"annotation_index":0, then 2',
    good='"annotation_index":0, then 1',
)
def annotations_in_order(it: Annotations) -> Said:
    return list(_misplaced(it)) or True


def _misplaced(it: Annotations) -> Iterator[Breach]:
    for place, found in enumerate(it.text.annotations):
        if found.index != place or not number(found.index):
            message = f"annotation_index is {shown(found.index)}; {place} was expected"
            yield Breach(message, "/annotation_index", place, found.index, frame=found.at.frame, span=found.at.span)
        elif it.final is not None and (place >= len(it.final) or unlike(found.annotation, it.final[place])):
            final = it.final[place] if place < len(it.final) else None
            message = f"the annotation {place} is not the one at this place of the closed part"
            yield Breach(message, "/annotation", final, found.annotation, frame=found.at.frame, span=found.at.span)
