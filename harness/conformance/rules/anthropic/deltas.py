"""Rules about the deltas of blocks: whether they fit the block, and what its start has to announce."""

from __future__ import annotations

from harness.conformance.rules.anthropic.order import ANTHROPIC
from harness.conformance.rules.anthropic.sights import TOOLS, Delta
from harness.conformance.rules.rule import Breach, Said
from harness.findings import Level

_FITS = {
    "text_delta": ("text",),
    "citations_delta": ("text",),
    "thinking_delta": ("thinking",),
    "signature_delta": ("thinking",),
    "input_json_delta": TOOLS,
    "compaction_delta": ("compaction",),
}
_KNOWN = frozenset(kind for kinds in _FITS.values() for kind in kinds)


@ANTHROPIC.rule(
    8,
    Level.MUST,
    "a delta fits its block: text and citations a text, thinking and signature thinking, input_json a call",
    at=Delta,
    kind="anthropic/delta-misfit",
    source="SDK-ANT, accumulate_event: misfits are ignored without a word; recordings, 3,400 of 3,400",
    why="The SDK drops the piece in silence: the text of the answer has a hole.",
    bad="text_delta on a tool_use block",
    good="input_json_delta on a tool_use block",
)
def delta_fits_its_block(it: Delta) -> Said:
    fits = _FITS.get(it.type)
    if fits is None or it.block is None or it.block.type not in _KNOWN:
        return None
    if it.block.type in fits:
        return True
    message = f"a {it.type} for a block of the type {it.block.type}; clients drop it"
    return Breach(message, "/delta/type", list(fits), it.block.type)


@ANTHROPIC.rule(
    23,
    Level.MUST,
    "citations_delta only comes for a block whose start has a list of citations",
    at=Delta,
    kind="anthropic/citation-unannounced",
    source="recordings, 30 of 30; wire/anthropic-messages.md section 6",
    why="Clients append to the list of the start, and fail where there is none.",
    bad='{"type":"text","text":""}, then citations_delta',
    good='{"type":"text","text":"","citations":[]}, then citations_delta',
    seen="proxies that drop empty lists",
)
def citations_are_announced(it: Delta) -> Said:
    if it.type != "citations_delta" or it.block is None:
        return None
    return True if it.block.cites else Breach("a citation for a block that started without a list of citations", "/delta")
