"""Rules about the output as the terminal event has it, and about the calls in it."""

from __future__ import annotations

from collections.abc import Iterator

from harness import payload
from harness.conformance.rules.openai_responses.facts import ItemFacts, ResponseFacts, Spot
from harness.conformance.rules.openai_responses.sights import Terminal
from harness.conformance.rules.openai_responses.values import shown, text, unlike
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_list, as_object, as_objects
from harness.findings import Level

OUTPUT = Rules("RSP", dialects=["openai-responses"])
_ANEW = {"encrypted_content", "fingerprint", "id"}
"""Fields that the terminal event may have otherwise: encrypted anew; the id has a rule of its own."""


@OUTPUT.rule(
    31,
    Level.MUST,
    "the arguments of every call of a completed response are JSON",
    at=Ending,
    kind="tool/arguments-invalid-json",
    source="OpenAI's guide to function calling; bug report BR-079",
    why="The call cannot be run; clients that parse without care fail.",
    bad='"arguments":"{\\"port\\":\\"Kie" in a completed response',
    good='"arguments":"{\\"port\\":\\"Kiel\\"}"',
    seen="local servers",
)
def arguments_are_json(it: Ending) -> Said:
    facts = it.facts
    if not isinstance(facts, ResponseFacts) or facts.over != "completed" or facts.over_at is None:
        return None
    calls = [item for item in as_objects(as_object(it.seen.body).get("output")) if item.get("type") == "function_call"]
    given = [(call, arguments) for call in calls if isinstance(arguments := call.get("arguments"), str) and arguments]
    broken = []
    for call, arguments in given:
        try:
            payload.from_text(arguments)
        except ValueError as error:
            at = _spot(facts, call.get("id")) or facts.over_at
            message = f"the arguments of {shown(call.get('name'))} are {shown(arguments)}: {error}"
            broken.append(Breach(message, got=arguments, frame=at.frame, span=at.span))
    return broken or (True if given else None)


def _spot(facts: ResponseFacts, identity: object) -> Spot | None:
    """Where the item of this id was done."""
    return next((item.at for item in facts.items if item.at is not None and item.id == identity), None)


@OUTPUT.rule(
    32,
    Level.MUST,
    "the terminal output is the list of done items by output_index, but for ids and what is encrypted anew",
    at=Terminal,
    kind="responses/completed-output-mismatch",
    source="openai-responses.md section 7: 63 of 79 are fully equal, the others differ by what is excepted; BR-068, BR-069",
    why="Clients take the final output for the answer: what it lacks is lost, however well it was streamed.",
    bad='an item was done, and response.completed has "output":[]',
    good='response.completed with "output":[ the item ]',
)
def output_is_what_was_done(it: Terminal) -> Said:
    items = it.event.facts.in_order
    if it.word == "failed" or it.event.facts.resumed or (not items and not it.raw.get("output")):
        return None
    output = as_list(it.raw.get("output"))
    if len(output) != len(items):
        message = f"the final output has {len(output)} items, and {len(items)} were streamed"
        return Breach(message, "/response/output", expected=len(items), got=len(output))
    return list(_unlike_items(output, items)) or True


def _unlike_items(output: list[object], items: list[ItemFacts]) -> Iterator[Breach]:
    for place, (final, item) in enumerate(zip(output, items, strict=True)):
        found = unlike(item.done, final, _ANEW) if item.done is not None else None
        if found is not None:
            message = f"the item of the final output has {shown(found.other)}, and was done with {shown(found.one)}"
            yield Breach(message, f"/response/output/{place}{found.path}", expected=found.one, got=found.other)


@OUTPUT.rule(
    33,
    Level.INFO,
    "encrypted_content is the same in added, done and terminal items (OpenAI encrypts anew each time)",
    at=Terminal,
    kind="responses/encrypted-anew",
    source="openai-responses.md section 7; it differs in 18 of 18 recordings of OpenAI",
    why="It is legal; whoever compares the three as texts finds a difference that means nothing.",
    bad='"encrypted_content":"gAAA…1" when done, "gAAA…2" in the end',
    good='"encrypted_content":"gAAA…1" in both',
    seen="OpenAI",
)
def encrypted_once(it: Terminal) -> Said:
    output, items = as_list(it.raw.get("output")), it.event.facts.in_order
    if len(output) != len(items):
        return None
    broken, held = [], False
    for place, (final, item) in enumerate(zip(output, items, strict=True)):
        said = [as_object(raw).get("encrypted_content") for raw in (item.added, item.done, final)]
        different = dict.fromkeys(value for value in said if isinstance(value, str) and value)
        if len(different) > 1:
            message = f"encrypted_content has {len(different)} different values in added, done and terminal item"
            broken.append(Breach(message, f"/response/output/{place}/encrypted_content"))
        held = held or sum(map(text, said)) > 1
    return broken or held or None


@OUTPUT.rule(
    39,
    Level.MUST,
    "an incomplete item is the last one, and its response is incomplete",
    at=Terminal,
    kind="responses/item-incomplete",
    source="OR-SPEC; openai-responses.md section 8",
    why="Clients that ask the model to go on do so after the last item; this one is never finished.",
    bad='the first of two items has "status":"incomplete", the response "completed"',
    good='the last item has "status":"incomplete", and so has the response',
)
def incomplete_is_last(it: Terminal) -> Said:
    output = as_objects(it.raw.get("output"))
    cut = [place for place, item in enumerate(output) if item.get("status") == "incomplete"]
    if not cut:
        return None
    broken = [
        Breach(f"item {place} of {len(output)} is incomplete, and is not the last", f"/response/output/{place}/status")
        for place in cut
        if place != len(output) - 1
    ]
    if it.word == "completed":
        broken.append(Breach("an item is incomplete, and the response is completed", f"/response/output/{cut[-1]}/status"))
    return broken or True
