"""Rules of Ollama's own API."""

from __future__ import annotations

from harness.conformance.rules.ollama import calls, counts, lines
from harness.conformance.rules.ollama.order import OLLAMA, ORDER
from harness.conformance.rules.ollama.walk import OllamaWalk

__all__ = ["calls", "counts", "lines"]

GROUPS = (OLLAMA,)
WALKS = {"ollama-chat": OllamaWalk}
TABLES = (ORDER,)
