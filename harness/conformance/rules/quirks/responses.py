"""Quirks of Responses. Nearly all of them are rules of the catalogue."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.sights import Ending, Plain
from harness.dialects.translating import as_count, as_object
from harness.framing import Frame

_OF_PARTS = ("response.content_part.", "response.output_text.", "response.refusal.", "response.reasoning_text.")


class ResponsesQuirks:
    """Places that events do not tell, an end marker, and what the limit of tokens did to a response."""

    def __init__(self, court: Court) -> None:
        self._court = court

    def payload(self, frame: Frame, value: Any) -> None:
        kind = value.get("type") if isinstance(value, dict) else None
        if isinstance(kind, str) and kind.startswith(_OF_PARTS) and "content_index" not in value:
            self._court.note("responses/content-index-missing", "events of a part do not say of which: no `content_index`")

    def marker(self, frame: Frame) -> None:
        self._court.note("responses/marker", "[DONE], which OpenAI's own streams of this API do not have")

    def end(self, ending: Ending) -> None:
        self._limit(as_object(ending.seen.body))

    def plain(self, answer: Plain) -> None:
        self._limit(as_object(answer.body))

    def _limit(self, body: dict[str, Any]) -> None:
        most = as_count((self._court.case.asked or {}).get("max_output_tokens"))
        if most and body.get("status") == "completed" and as_object(body.get("usage")).get("output_tokens") == most:
            message = f"as many tokens came as the request allows ({most}), and the response is 'completed'"
            self._court.note("finish/length-lost", message, "/status")
