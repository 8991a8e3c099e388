"""The names of events, as far as rules and walk tell them apart (wire/openai-responses.md section 3)."""

from __future__ import annotations

import re
from typing import Any

from harness.dialects.openai_responses.growth import DONES
from harness.dialects.openai_responses.response_body import BEGINNINGS, ENDS
from harness.dialects.openai_responses.vocabulary import EVENTS

LIFECYCLE = {name: name.rpartition(".")[2] for name in (*BEGINNINGS, *ENDS)}
"""Events that carry the whole response, and the word that stands for each."""

OUTSIDE_SDK = frozenset(
    name
    for name in EVENTS
    if name == "keepalive"
    or name.startswith(("response.apply_patch_call_operation_diff.", "response.reasoning_part.", "response.reasoning."))
)
"""Events that servers send and the union of the official SDK (3.57.0) has not."""
SDK_EVENTS = frozenset(EVENTS) - OUTSIDE_SDK
EXTENSION = re.compile(r"[A-Za-z0-9_-]+:\S+").fullmatch
"""`slug:name`, the form that Open Responses gives to events of a server's own."""

_NO_ITEM = ("response.audio.", "error", "keepalive")
ITEM_EVENTS = frozenset(name for name in EVENTS if name not in LIFECYCLE and not name.startswith(_NO_ITEM))
"""Events that are about an output item."""

TEXTS = frozenset({"response.output_text", "response.refusal", "response.reasoning_text", "response.reasoning"})
"""What a part says: the names of such events without their last word."""
SUMMARY = "response.reasoning_summary_text"
ARGUMENTS = "response.function_call_arguments"
GIVEN = frozenset(name.rpartition(".")[0] for name in DONES) - TEXTS - {SUMMARY}
"""What a tool is given: arguments, inputs, code."""
RAW_REASONING = {"response.reasoning_text": "reasoning_text", "response.reasoning": "reasoning"}

_STEPS = {
    "in_progress": "in_progress",
    "searching": "working",
    "interpreting": "working",
    "generating": "working",
    "partial_image": "working",
    "completed": "over",
    "failed": "over",
}


def status_of(kind: str) -> str | None:
    """Which step of a tool's work an event tells: `in_progress`, `working`, `over`; None if it is no such event."""
    return _STEPS.get(kind.rpartition(".")[2]) if kind not in LIFECYCLE and kind.count(".") == 2 else None


def family(kind: str) -> str:
    """The name of an event without its last word: what it is about."""
    return kind.rpartition(".")[0]


_TEXT_OF_PART = {"output_text": "text", "refusal": "refusal", "reasoning_text": "text", "summary_text": "text"}


def text_field(part: dict[str, Any]) -> str | None:
    """The field that holds the text of a part, by the part's type; None if events tell nothing of what it holds."""
    kind = part.get("type")
    return _TEXT_OF_PART.get(kind) if isinstance(kind, str) else None
