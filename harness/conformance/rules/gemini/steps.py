"""What happens in a candidate, as symbols of the tables in `order`."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.gemini.order import CALL, CANDIDATE, CODE, PATH, THOUGHTS
from harness.conformance.rules.gemini.sights import Call, Part
from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.order import END, Machine
from harness.dialects.gemini.reader import kind_of_part
from harness.dialects.translating import as_list, as_object


class Steps:
    """Where one candidate is in the tables of order."""

    def __init__(self, court: Court) -> None:
        self.candidate = court.machine(CANDIDATE)
        self.call = court.machine(CALL)
        self._thoughts = court.machine(THOUGHTS)
        self._code = court.machine(CODE)
        self._code_id: Any = None
        self._court = court
        self._text = self._new_text()

    def part(self, part: Part) -> None:
        kind = kind_of_part(part.raw)
        if kind not in ("text", "thought"):
            self._thoughts.step("a step", part.path)
        elif part.raw.get("text"):
            self._thoughts.step("thought" if kind == "thought" else "answer", part.path)
        else:
            return  # an empty text is nothing between two parts
        if kind == "executableCode":
            self._code_id = as_object(part.raw[kind]).get("id")
            self._code.step("code", part.path)
        elif kind == "codeExecutionResult":
            identity = as_object(part.raw[kind]).get("id")
            other = self._code.state == "code waits" and identity and self._code_id and identity != self._code_id
            self._code.step("result of other code" if other else "result", part.path)

    def end(self) -> None:
        """The stream has ended."""
        self.candidate.step(END)
        self._thoughts.step(END)

    def call_ends(self, symbol: str, path: str) -> None:
        """Something that ends a call, if one is open."""
        if self.call.state == "a call is open":
            self.call.step(symbol, path)

    def called(self, call: Call) -> None:
        symbol = _symbol(call)
        if call.name:
            self._text = self._new_text()
        if symbol == "another part":
            self.call_ends(symbol, call.path)
        elif symbol is not None:
            self.call.step(symbol, call.path)

    def piece(self, piece: dict[str, Any], path: str) -> None:
        where, goes_on = piece.get("jsonPath"), piece.get("willContinue") is True
        machine, before = self._text
        if before is not None and where != before:
            machine.step("another path", f"{path}/jsonPath")
        if goes_on:
            machine.step("text goes on", path)
        elif machine.state == "a text is open":
            machine.step("text ends", path)
        self._text = (machine, where if goes_on else None)

    def _new_text(self) -> tuple[Machine, Any]:
        """The texts of a call, and the path of the one that is open."""
        return self._court.machine(PATH), None


def _symbol(call: Call) -> str | None:
    """What a `functionCall` is in the table of calls; None for one that belongs to no call and says more than nothing."""
    goes_on, pieces = call.raw.get("willContinue") is True, bool(as_list(call.raw.get("partialArgs")))
    if call.name:
        if goes_on:
            return "name, more to come"
        return "name and pieces, no more" if pieces else "another part"
    says = any(value not in (None, False) for name, value in call.raw.items() if name != "willContinue")
    if goes_on and (pieces or call.goes_on or not says):
        return "pieces, more to come" if pieces else "more to come"
    if not says:
        return "empty"
    return "last pieces" if pieces or call.goes_on else None
