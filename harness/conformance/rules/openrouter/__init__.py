"""Rules of OpenRouter: what it adds to Chat Completions and to Responses (wire/openrouter.md)."""

from __future__ import annotations

from harness.conformance.rules.openrouter import ends, reasoning
from harness.conformance.rules.openrouter.walk import OPENROUTER, chat_walk, responses_walk

__all__ = ["ends", "reasoning"]

GROUPS = (OPENROUTER,)
WALKS = {"openai-chat": chat_walk, "openai-responses": responses_walk}
