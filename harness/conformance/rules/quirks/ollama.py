"""Quirks of Ollama's answers. Those of its streams are rules of the catalogue."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.sights import Ending, Plain
from harness.dialects.translating import as_object, as_objects

_ROUND = 100_000_000  # nanoseconds: clocks do not stop at tenths of seconds, twice


class OllamaQuirks:
    """Counts that are not there, durations that were not measured, arguments that are text."""

    def __init__(self, court: Court) -> None:
        self._court = court

    def end(self, ending: Ending) -> None:
        """Nothing that the rules do not say."""

    def plain(self, answer: Plain) -> None:
        if isinstance(answer.body, dict) and answer.case.exchange.status < 400:
            self._answer(answer.body)

    def _answer(self, body: dict[str, Any]) -> None:
        note = self._court.note
        if "eval_count" in body and "prompt_eval_count" not in body:
            note("usage/input-missing", "the answer counts what was generated, and not what was read")
        durations = [value for name, value in body.items() if name.endswith("_duration") and type(value) is int and value]
        if len(durations) > 1 and all(value % _ROUND == 0 for value in durations):
            note("ollama/duration-made-up", "all durations are whole tenths of seconds: nobody has measured them")
        for number, call in enumerate(as_objects(as_object(body.get("message")).get("tool_calls"))):
            if isinstance(as_object(call.get("function")).get("arguments"), str):
                path = f"/message/tool_calls/{number}/function/arguments"
                note("answer/arguments-text", "the arguments of a call are text, where an object is due", path)
