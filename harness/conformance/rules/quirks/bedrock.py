"""Quirks of Converse: deltas that say nothing, and calls that come whole."""

from __future__ import annotations

from typing import Any

from harness import payload
from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_object
from harness.framing import Frame


class ConverseQuirks:
    """Deltas. That a call came whole is told by its first piece, since pieces that repeat one another are not seen."""

    def __init__(self, court: Court) -> None:
        self._court = court

    def payload(self, frame: Frame, value: Any) -> None:
        if frame.name != "contentBlockDelta" or not isinstance(value, dict):
            return
        delta = as_object(value.get("delta"))
        arguments = as_object(delta.get("toolUse")).get("input")
        if delta.get("text") == "":
            self._court.note("text/empty", "a delta whose text is empty", "/delta/text")
        if arguments == "":
            self._court.note("text/empty", "a delta whose arguments are empty", "/delta/toolUse/input")
        elif isinstance(arguments, str) and arguments[0] == "{" and payload.is_whole(arguments.encode(errors="replace")):
            message = "the arguments of a call came whole, in one delta"
            self._court.note("tool/arguments-not-incremental", message, "/delta/toolUse/input")

    def end(self, ending: Ending) -> None:
        """Nothing is left to say."""
