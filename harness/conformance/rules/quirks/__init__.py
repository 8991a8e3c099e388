"""What servers do though no rule forbids it, and clients trip over all the same: notes, each of the level *info*.

The catalogue of rules is closed; a quirk is no breach. A walk here says what it sees with `Court.note`, and every note is told
once, of its first place. Compatibility tables are made of them (`tools/provider_docs.py`).
"""

from __future__ import annotations

from harness.conformance.rules.quirks.bedrock import ConverseQuirks
from harness.conformance.rules.quirks.chat import ChatQuirks
from harness.conformance.rules.quirks.gemini import GeminiQuirks
from harness.conformance.rules.quirks.messages import MessagesQuirks
from harness.conformance.rules.quirks.ollama import OllamaQuirks
from harness.conformance.rules.quirks.responses import ResponsesQuirks
from harness.conformance.rules.quirks.wire import WireQuirks
from harness.conformance.rules.rule import Rules

GROUPS: tuple[Rules, ...] = ()
WALKS = {
    **dict.fromkeys(("sse", "ndjson", "json-array", "event-stream"), WireQuirks),
    "openai-chat": ChatQuirks,
    "openai-responses": ResponsesQuirks,
    "gemini": GeminiQuirks,
    "bedrock-converse": ConverseQuirks,
    "bedrock-invoke": MessagesQuirks,
    "ollama-chat": OllamaQuirks,
    "anthropic-messages": MessagesQuirks,
}
