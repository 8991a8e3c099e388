"""Quirks of Anthropic Messages, also where Bedrock carries them."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.sights import Ending, Plain
from harness.dialects.translating import as_object
from harness.framing import Frame

_TEXTS = ("text", "partial_json", "thinking")
_IDS = ("msg_", "compl_")


class MessagesQuirks:
    """Deltas that say nothing, ids of other APIs, and errors in their form."""

    def __init__(self, court: Court) -> None:
        self._court = court

    def payload(self, frame: Frame, value: Any) -> None:
        if not isinstance(value, dict):
            return
        if value.get("type") == "message_start":
            self._message(as_object(value.get("message")), "/message/id")
        delta = as_object(value.get("delta"))
        for name in _TEXTS:
            if delta.get(name) == "":
                self._court.note("text/empty", f"a delta whose `{name}` is empty", f"/delta/{name}")

    def end(self, ending: Ending) -> None:
        """Nothing is left to say."""

    def plain(self, answer: Plain) -> None:
        if not isinstance(answer.body, dict) or self._court.case.dialect.name != "anthropic-messages":
            return
        if answer.body.get("type") == "message":
            self._message(answer.body, "/id")
        elif answer.case.exchange.status >= 400 and answer.body.get("type") != "error":
            self._court.note("error/other-form", "an error that is not of the form of this API: `type` is not 'error'")

    def _message(self, message: dict[str, Any], path: str) -> None:
        identity = message.get("id")
        if isinstance(identity, str) and identity and not identity.startswith(_IDS):
            self._court.note("anthropic/id-form", "the id of the message does not begin with `msg_`", path)
