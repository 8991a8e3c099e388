"""Rules about OpenRouter's `reasoning_details`."""

from __future__ import annotations

from harness.conformance.rules.openai_chat.sights import turns
from harness.conformance.rules.openrouter.walk import OPENROUTER, Detail, joined
from harness.conformance.rules.rule import Breach, Said
from harness.conformance.rules.sights import Ending
from harness.findings import Level

_FIELDS = {
    "reasoning.text": ("text", "signature"),
    "reasoning.summary": ("summary",),
    "reasoning.encrypted": ("data",),
    "reasoning.server_tool_call": ("tool_name",),
}


@OPENROUTER.rule(
    7,
    Level.MUST,
    "`reasoning` is the joined text and summary of `reasoning_details`, where both are sent",
    at=Ending,
    kind="openrouter/reasoning-differs",
    source="OpenRouter documentation, reasoning tokens; recordings, 262 chunks of 262",
    why="Clients show the one and send back the other: the model is told that it thought something else.",
    bad='"reasoning":"Count","reasoning_details":[{"type":"reasoning.text","text":"Cou"}]',
    good='"reasoning":"Count","reasoning_details":[{"type":"reasoning.text","text":"Count"}]',
)
def reasoning_is_its_details(it: Ending) -> Said:
    both = [
        (turn, turn.message["reasoning"], details)
        for turn in turns(it)
        if isinstance(turn.message.get("reasoning"), str)
        and (details := joined(turn.message.get("reasoning_details"))) is not None
    ]
    if not both:
        return None
    message = "the text of `reasoning` is not that of `reasoning_details`"
    broken = [(turn, shown, details) for turn, shown, details in both if shown != details]
    return [Breach(message, f"{turn.path}/message/reasoning", details, shown) for turn, shown, details in broken] or True


@OPENROUTER.rule(
    8,
    Level.MUST,
    "each of the `reasoning_details` has a known type, and the field that the type is for",
    at=Detail,
    kind="openrouter/detail-form",
    source="OpenRouter SDK types; wire/openrouter.md, reasoning_details",
    why="Details are sent back as they came: one that has nothing in it is refused with the next turn.",
    bad='{"type":"reasoning.text","index":0}',
    good='{"type":"reasoning.text","text":"Count","index":0}',
)
def detail_has_its_field(it: Detail) -> Said:
    fields = _FIELDS.get(it.type) if isinstance(it.type, str) else None
    if fields is None:
        return Breach(
            f"a detail of the type {it.type!r}, none of {', '.join(_FIELDS)}", f"{it.path}/type", list(_FIELDS), it.type
        )
    if any(isinstance(it.raw.get(name), str) for name in fields):
        return True
    return Breach(f"a detail of the type {it.type} without {' or '.join(fields)}", it.path, got=it.raw)


@OPENROUTER.rule(
    9,
    Level.MUST,
    "a block of `reasoning.text` has one signature at most",
    at=Detail,
    kind="reasoning/signature",
    source="OpenRouter documentation: details of one index are one block; recordings, 2 of 2",
    why="Of two signatures one is lost, or both are joined: the model refuses the block when it is sent back.",
    bad='"signature":"a" and "signature":"b" at index 0',
    good='"signature":"a" at index 0 once, after its text',
)
def block_is_signed_once(it: Detail) -> Said:
    if it.type != "reasoning.text" or not it.signature:
        return None
    return (
        Breach("a second signature for one block of reasoning", f"{it.path}/signature", got=it.signature) if it.signed else True
    )
