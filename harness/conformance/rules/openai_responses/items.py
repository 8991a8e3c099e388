"""Rules about output items: their indexes, types and ids."""

from __future__ import annotations

from harness.conformance.rules.openai_responses.sights import ItemAdded, ItemDone, ItemEvent, Terminal
from harness.conformance.rules.openai_responses.values import number, shown, text
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.dialects.translating import as_list, as_object
from harness.findings import Level

ITEMS = Rules("RSP", dialects=["openai-responses"])


@ITEMS.rule(
    15,
    Level.MUST,
    "output indexes open as 0, 1, 2 …",
    at=ItemAdded,
    kind="responses/index-order",
    source="OR-SPEC; openai-responses.md section 4",
    why="Clients append items to a list and find them by index: after a gap every text goes to the wrong item.",
    bad="output_item.added at output_index 0, then at 2",
    good="output_item.added at output_index 0, then at 1",
)
def indexes_in_order(it: ItemAdded) -> Said:
    index = it.event.raw.get("output_index")
    if it.expected is None or not number(index):
        return None
    if index == it.expected:
        return True
    message = f"an item opens at output_index {index}; {it.expected} was expected"
    return Breach(message, "/output_index", expected=it.expected, got=index)


@ITEMS.rule(
    16,
    Level.MUST,
    "every added item gets output_item.done before the response is completed (mcp_list_tools excepted)",
    at=Terminal,
    kind="responses/item-unfinished",
    source="OR-SPEC; SDK-OAI raises unless the item is in the final output; bug report BR-079; "
    "corpus: OpenAI leaves mcp_list_tools open, and has it in the final output",
    why="Clients run a call when its item is done: this one never runs.",
    bad="output_item.added of a function_call, then response.completed",
    good="output_item.added, output_item.done, response.completed",
    seen="LiteLLM with Ollama behind it",
)
def items_are_finished(it: Terminal) -> Said:
    if it.word != "completed":
        return None
    added = [item for item in it.event.facts.items if item.added is not None and item.type != "mcp_list_tools"]
    open_ = [item for item in added if item.done is None]
    broken = [Breach(f"the {shown(item.type)} item {shown(item.id)} was added and never done") for item in open_]
    return broken or (True if added else None)


@ITEMS.rule(
    17,
    Level.MUST,
    "item.type is the same in output_item.added and output_item.done",
    at=ItemDone,
    kind="responses/item-type-changed",
    source="SDK-OAI checks the item's identity",
    why="A client that built a message from the first event is given a call by the last.",
    bad='added with "type":"message", done with "type":"function_call"',
    good='"type":"message" in both',
    seen="spliced fixtures",
)
def type_lasts(it: ItemDone) -> Said:
    if it.item is None or it.item.added is None:
        return None
    first, last = it.item.added.get("type"), as_object(it.raw).get("type")
    if isinstance(first, str) and first == last:
        return True
    message = f"the item is {shown(last)} when it is done, and was added as {shown(first)}"
    return Breach(message, "/item/type", expected=first, got=last)


@ITEMS.rule(
    18,
    Level.MUST,
    "an item's id is the same in added, done, and as item_id of its events",
    at=ItemEvent,
    kind="responses/item-id-unstable",
    source="SDK-OAI checks the item's identity; openai-responses.md section 5; bug report BR-073",
    why="Clients that go by id put each event into an item of its own.",
    bad='added with "id":"msg_A", then deltas with "item_id":"msg_B"',
    good='"item_id":"msg_A" throughout',
    seen="the proxy of GitHub Copilot",
)
def id_lasts(it: ItemEvent) -> Said:
    if not text(it.item.id) or not text(it.id):
        return None
    if it.item.id == it.id:
        return True
    message = f"{it.event.kind} calls the item {shown(it.id)}, and it began as {shown(it.item.id)}"
    return Breach(message, it.path, expected=it.item.id, got=it.id)


@ITEMS.rule(
    19,
    Level.MUST,
    "an item's id is the same in output_item.done and in the terminal output",
    at=Terminal,
    kind="responses/item-id-unstable",
    source="openai-responses.md section 5; bug report BR-073; recordings of OpenAI",
    why="A reasoning item that is sent back under the streamed id is refused.",
    bad='done with "id":"rs_a", "id":"rs_b" in the final output',
    good='"id":"rs_a" in both',
    seen="OpenRouter (reasoning)",
)
def id_lasts_to_the_end(it: Terminal) -> Said:
    output, items = as_list(it.raw.get("output")), it.event.facts.in_order
    if len(output) != len(items) or it.event.facts.resumed:
        return None
    broken, held = [], False
    for place, (final, item) in enumerate(zip(output, items, strict=True)):
        last = item.done or item.added or {}
        got, known = as_object(final).get("id"), last.get("id")
        if text(got) and text(known) and as_object(final).get("type") == last.get("type"):
            held = True
            if got != known:
                message = f"the item {shown(known)} is called {shown(got)} in the final output"
                broken.append(Breach(message, f"/response/output/{place}/id", expected=known, got=got))
    return broken or held or None


@ITEMS.rule(
    20,
    Level.MUST,
    "a function_call item has a call_id and a name when it is added",
    at=ItemAdded,
    kind="tool/id-missing",
    source="OR-SPEC (name); SDK-OAI: required",
    why="The name tells which tool runs; the result of the call refers to its call_id.",
    bad='{"type":"function_call","call_id":"call_1","name":"","arguments":""}',
    good='{"type":"function_call","call_id":"call_1","name":"get_tide","arguments":""}',
)
def calls_are_named(it: ItemAdded) -> Said:
    item = as_object(it.raw)
    if item.get("type") != "function_call":
        return None
    kinds = {"call_id": "tool/id-missing", "name": "tool/name-late"}
    return [
        Breach(f"a call is added with {shown(item.get(name))} as {name}", f"/item/{name}", got=item.get(name), kind=kind)
        for name, kind in kinds.items()
        if not text(item.get(name))
    ] or True


@ITEMS.rule(
    43,
    Level.INFO,
    "items come one after the other: no event of an item comes after a later one opened",
    at=ItemEvent,
    kind="responses/items-overlap",
    source="openai-responses.md section 4; in 3 of 79 streams they overlap",
    why="It is legal; clients that keep one open item only mix them up.",
    bad="output_index 0 added, 1 added, then a delta at 0",
    good="0 added and done, then 1 added",
    seen="xAI, OpenAI (MCP), OpenRouter, llama.cpp",
)
def one_item_at_a_time(it: ItemEvent) -> Said:
    later = it.event.facts.items[-1]
    if later is it.item:
        return True
    message = f"{it.event.kind} of the item {shown(it.item.id)}, after the item {shown(later.id)} opened"
    return Breach(message, "/output_index")


@ITEMS.rule(
    51,
    Level.MUST,
    "the item of output_item.added and output_item.done is an object",
    at=(ItemAdded, ItemDone),
    kind="responses/item-null",
    source="bug report BR-075; recordings: 70 of 70; the schema of Open Responses lets it be null",
    why="Clients read its type at once, and raise.",
    bad='{"type":"response.output_item.added","output_index":0,"item":null}',
    good='{"type":"response.output_item.added","output_index":0,"item":{"type":"message",…}}',
    seen="LiteLLM",
)
def item_is_an_object(it: ItemAdded | ItemDone) -> Said:
    if isinstance(it.raw, dict):
        return True
    return Breach(f"{it.event.kind} has {shown(it.raw)} as item; an object was expected", "/item", got=it.raw)
