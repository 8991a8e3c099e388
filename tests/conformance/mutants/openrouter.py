"""Mutants of the rules of OpenRouter: cassettes of others, taken for OpenRouter's once they have what it adds."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.replay.faults import Drop, Insert, InsertBytes, Lose, Set, every, first
from tests.conformance.mutants import Mutant

ROUTED = partial(Mutant, provider="openrouter")
CHAT = "openai-chat/llamacpp/usage"
THINKS = "openai-chat/llamacpp/reasoning"
USAGE = first("/usage")
DETAILS = "/choices/0/delta/reasoning_details"


def choice(reason: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": {}, "finish_reason": reason}


def thought(number: int, text: str, signature: str | None = None) -> Set:
    """The reasoning of a chunk, once as a text and once in details."""
    detail = {"type": "reasoning.text", "text": text, "signature": signature, "index": 0}
    return Set(number, "/choices/0/delta", {"reasoning": text, "reasoning_details": [detail]})


def failed() -> Insert:
    return Insert(-1, {"error": {"code": 502, "message": "busy"}, "choices": [choice("error")]})


THOUGHTS = (Lose(first("/choices/0/delta/reasoning_content")), *(thought(n, t) for n, t in ((1, "Count"), (2, " them"))))

MUTANTS = [
    ROUTED(
        rule="ORT-001",
        cassette=CHAT,
        before=(InsertBytes(1, b": OPENROUTER PROCESSING\n\n"),),
        faults=(InsertBytes(2, b"data: OPENROUTER PROCESSING\n\n"),),
        also=("SSE-015",),
    ),
    ROUTED(rule="ORT-002", cassette=CHAT, faults=(Lose(-1),), also=("OAI-C-001",)),
    ROUTED(
        rule="ORT-003",
        cassette=CHAT,
        before=(Set(every("/choices/0"), "/choices/0/native_finish_reason", None),),
        faults=(Drop(1, "/choices/0/native_finish_reason"),),
    ),
    ROUTED(rule="ORT-004", cassette=CHAT, faults=(Lose(USAGE),), also=("OAI-C-031",)),
    ROUTED(
        rule="ORT-005",
        cassette=CHAT,
        faults=(Set(USAGE, "/choices", [choice(None)]),),
        also=("OAI-C-031", "OAI-C-037", "OAI-C-058"),
    ),
    ROUTED(
        rule="ORT-006",
        cassette=CHAT,
        before=(Set(USAGE, "/choices", [choice(None)]),),
        faults=(Set(USAGE, "/choices/0/finish_reason", "length"),),
        also=("OAI-C-014",),
    ),
    ROUTED(
        rule="ORT-007",
        cassette=THINKS,
        before=THOUGHTS,
        faults=(Set(1, "/choices/0/delta/reasoning", "Coun"),),
    ),
    ROUTED(rule="ORT-008", cassette=THINKS, before=THOUGHTS, faults=(Set(1, f"{DETAILS}/0/type", "reasoning.thought"),)),
    ROUTED(
        rule="ORT-009",
        cassette=THINKS,
        before=(*THOUGHTS, Set(1, f"{DETAILS}/0/signature", "c2Vh")),
        faults=(Set(2, f"{DETAILS}/0/signature", "bGFuZA=="),),
    ),
    ROUTED(rule="ORT-010", cassette=CHAT, before=(failed(),), faults=(Drop(-2, "/error/code"),)),
    ROUTED(rule="ORT-011", cassette=CHAT, before=(failed(),), faults=(Set(-2, "/choices/0/finish_reason", None),)),
    ROUTED(
        rule="ORT-012",
        cassette="openai-responses/openai/length",
        faults=(Insert(-1, b"[DONE]", after=True),),
    ),
]
