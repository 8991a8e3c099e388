"""Plain accounts of streams: one function for each API, each of them a walk over all payloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from harness.conformance.rules.reassembly.accounts.account import Account, Block, Call, Signature, Spot, Told, decoded, unpacked
from harness.conformance.rules.reassembly.accounts.anthropic import anthropic
from harness.conformance.rules.reassembly.accounts.bedrock import converse, invoke
from harness.conformance.rules.reassembly.accounts.chat import chat
from harness.conformance.rules.reassembly.accounts.gemini import gemini
from harness.conformance.rules.reassembly.accounts.ollama import ollama
from harness.conformance.rules.reassembly.accounts.responses import responses
from harness.framing import Frame

__all__ = ["TOLD", "Account", "Block", "Call", "Signature", "Spot", "account", "unpacked"]

_TELLERS: dict[str, Callable[[Iterable[Told | int], Any], Account]] = {
    "openai-chat": chat,
    "openai-responses": responses,
    "gemini": gemini,
    "bedrock-converse": converse,
    "bedrock-invoke": invoke,
    "ollama-chat": ollama,
    "anthropic-messages": anthropic,
}
TOLD = frozenset(_TELLERS)
"""The APIs that somebody gives account of."""


def account(frames: Iterable[Frame], dialect: str, request: Any = None) -> Account:
    """What the frames of a stream of an API in `TOLD` say. `request` is its JSON body. Never raises otherwise."""
    return _TELLERS[dialect](decoded(frames), request)
