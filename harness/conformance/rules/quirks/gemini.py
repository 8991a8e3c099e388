"""Quirks of `generateContent`, streamed or not."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.gemini.sights import objects
from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.sights import Ending, Plain
from harness.dialects.gemini.vocabulary import CHUNK
from harness.dialects.translating import as_list, as_object
from harness.framing import Frame


class GeminiQuirks:
    """Candidates, and what is in them."""

    def __init__(self, court: Court) -> None:
        self._court = court

    def payload(self, frame: Frame, value: Any) -> None:
        if isinstance(value, dict):
            self._response(value, streamed=True)

    def end(self, ending: Ending) -> None:
        """Nothing is left to say."""

    def plain(self, answer: Plain) -> None:
        body = answer.body
        if not isinstance(body, dict) or answer.case.exchange.status >= 400:
            return
        self._response(body, streamed=False)
        if not as_list(body.get("candidates")):
            self._court.note("gemini/without-candidates", "an answer without any candidate", "/candidates")
        for name in sorted(body.keys() - CHUNK.names):
            self._court.note("field/foreign", f"`{name}` is no field of a response", f"/{name}")

    def _response(self, value: dict[str, Any], *, streamed: bool) -> None:
        for path, candidate in objects(value.get("candidates"), "/candidates"):
            content = candidate.get("content")
            if not streamed and not as_list(as_object(content).get("parts")):
                self._court.note("gemini/content-absent", "a candidate without content or without parts", path)
            if isinstance(content, dict):
                self._content(content, f"{path}/content", streamed=streamed)

    def _content(self, content: dict[str, Any], path: str, *, streamed: bool) -> None:
        note = self._court.note
        if not content.get("role"):
            note("gemini/role-absent", "content without a role", path)
        if streamed and len(as_list(content.get("parts"))) > 1:
            note("gemini/several-parts", "one chunk brings several parts", f"{path}/parts")
        for place, part in objects(content.get("parts"), f"{path}/parts"):
            if part.get("text") == "":
                note("text/empty", "a part whose text is empty", f"{place}/text")
            call = as_object(part.get("functionCall"))
            if streamed and ("partialArgs" in call or "willContinue" in call):
                message = "a call in pieces: only the first has a name, none has all arguments"
                note("gemini/call-in-pieces", message, f"{place}/functionCall")
