"""Rules about the blocks of a message: their indexes, their starts, and what the pieces come to."""

from __future__ import annotations

from collections.abc import Iterator

from harness.conformance.rules.anthropic.order import ANTHROPIC
from harness.conformance.rules.anthropic.sights import CUT_SHORT, TOOLS, BlockFacts, BlockStart, Delta, Message, placed
from harness.conformance.rules.rule import Blame, Breach, Said
from harness.dialects.translating import as_object, as_objects
from harness.findings import Level


@ANTHROPIC.rule(
    5,
    Level.MUST,
    "blocks have the indexes 0, 1, 2 and so on",
    at=BlockStart,
    kind="anthropic/block-index",
    source="SDK-ANT: the index is a place in the list of content; recordings, 99 of 99",
    why="The SDK appends a block and then looks for it at its index: with another one it raises, or changes the wrong block.",
    bad='the first content_block_start with "index":1',
    good='the first content_block_start with "index":0',
    seen="gateways that count hidden blocks",
)
def indexes_count_up(it: BlockStart) -> Said:
    due = len(it.facts.blocks)
    if type(it.index) is int and it.index == due:
        return True
    return Breach(f"a block with the index {it.index!r}; {due} was expected", "/index", due, it.index)


@ANTHROPIC.rule(
    9,
    Level.MUST,
    "the joined partial_json of a block is JSON or empty, unless the stop_reason says that the message was cut",
    at=Message,
    kind="tool/arguments-invalid-json",
    source="SDK-ANT: parsed at every piece; recordings, 38 of 38. Cut: max_tokens, refusal, model_context_window_exceeded",
    why="The call cannot be made; clients that parse while they read raise in the middle of the stream.",
    bad='partial_json {"port":"Bre, then stop_reason tool_use',
    good='partial_json {"port":"Brest"}, then stop_reason tool_use',
    seen="LiteLLM over Gemini (two calls in one block); fine-grained tool streaming at max_tokens, which is allowed",
)
def inputs_are_json(it: Message) -> Said:
    facts = it.facts
    if not it.whole or facts.stop_reason in CUT_SHORT or not any(block.fragments for block in facts.blocks):
        return None
    content = as_objects(as_object(it.ending.seen.body).get("content"))
    broken = []
    for n, block in enumerate(content):
        if block.get("type") in TOOLS and isinstance(block.get("input"), str):  # what does not parse stays a text
            breach = Breach(
                "the pieces of a call's input are no JSON when joined", "/content_block/input", "JSON", block["input"]
            )
            begun = facts.by_index.get(n)
            broken.append(placed(breach, begun.frame if begun is not None else None))
    return broken or True


@ANTHROPIC.rule(
    10,
    Level.MUST,
    "the start of a call has id, name and an object input",
    at=BlockStart,
    kind="anthropic/call-incomplete",
    source="SDK-ANT, ToolUseBlock: all three are required; recordings, 63 of 63",
    why="Typed clients fail on the start; others call a tool without a name, or cannot send its result back.",
    bad='{"type":"tool_use","id":"toolu_1","name":"tide"}',
    good='{"type":"tool_use","id":"toolu_1","name":"tide","input":{}}',
    seen="llama.cpp (no input)",
)
def call_is_announced_in_full(it: BlockStart) -> Said:
    if it.block.type not in TOOLS:
        return None
    lacks = [name for name in ("id", "name") if not isinstance(it.raw.get(name), str) or not it.raw[name]]
    lacks += [] if isinstance(it.raw.get("input"), dict) else ["input"]
    if not lacks:
        return True
    return Breach(f"a call that starts without {', '.join(lacks)}; an empty input is {{}}", "/content_block", got=it.raw)


@ANTHROPIC.rule(
    11,
    Level.INFO,
    "the input of a call comes in pieces, and is {} in its start",
    at=BlockStart,
    kind="anthropic/input-in-start",
    source="wire/anthropic-messages.md section 4: programmatic calls carry the whole input in the start, and no pieces follow",
    why="Clients that begin with an empty text and only read the pieces call the tool with nothing.",
    bad='"input":{"port":"Brest"} in the start',
    good='"input":{} in the start, then input_json_delta',
    seen="programmatic tool calls",
    blame=Blame.NOBODY,
)
def input_comes_in_pieces(it: BlockStart) -> Said:
    given = it.raw.get("input")
    if it.block.type not in TOOLS or not isinstance(given, dict):
        return None
    return Breach("the start of a call has its whole input", "/content_block/input", {}, given) if given else True


@ANTHROPIC.rule(
    12,
    Level.MUST,
    "a thinking block has one signature_delta, after its thinking, unless max_tokens or the like cut the message",
    at=Message,
    kind="reasoning/signature",
    source="recordings, 19 of 19; wire/anthropic-messages.md section 6: the last signature counts",
    why="Thinking is only taken back with its signature: without it, or with a part of it, the next turn is refused.",
    bad="thinking_delta, content_block_stop",
    good="thinking_delta, signature_delta, content_block_stop",
    seen="gateways that drop what they do not know",
)
def thinking_is_signed(it: Message) -> Said:
    thinking = [block for block in it.facts.blocks if block.type == "thinking"]
    if not thinking or not it.whole or it.facts.stop_reason in CUT_SHORT:
        return None
    return list(_unsigned(thinking)) or True


def _unsigned(thinking: list[BlockFacts]) -> Iterator[Breach]:
    for block in thinking:
        if block.signatures != 1:
            message = f"the thinking block {block.index!r} has {block.signatures} signature deltas; one was expected"
            yield placed(Breach(message, expected=1, got=block.signatures), block.frame)
        elif block.thought_after_signature:
            yield placed(Breach(f"the thinking block {block.index!r} goes on after its signature"), block.frame)


@ANTHROPIC.rule(
    21,
    Level.MUST,
    "blocks of redacted thinking and of tools' results come whole: they have no deltas",
    at=(BlockStart, Delta),
    kind="anthropic/block-with-delta",
    source="recordings: 2 of redacted thinking, 28 of results; wire/anthropic-messages.md section 2",
    why="Clients have no rule to merge such a piece: it is lost, or the block is broken when it is sent back.",
    bad="text_delta on a web_search_tool_result",
    good="content_block_start with the whole result, then content_block_stop",
)
def whole_blocks_have_no_deltas(it: BlockStart | Delta) -> Said:
    if it.block is None or not it.block.whole:
        return None
    if isinstance(it, BlockStart):
        return True
    return Breach(f"a {it.type or 'delta'} for a block of the type {it.block.type}, which comes whole", "/delta")
