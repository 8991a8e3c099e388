"""What there is to be seen in a stream of Ollama: lines, the calls in them, and the line that says done."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.ollama.order import ORDER
from harness.conformance.rules.order import END
from harness.conformance.rules.sights import Case, Ending
from harness.dialects.translating import as_list, as_object
from harness.framing import Frame

_CREATED = re.compile(rb'"created_at":"([^"\\]{20,40})"')
_FRACTION = re.compile(r"\.\d+")


@dataclass(slots=True)
class OllamaFacts:
    """What is remembered of the stream."""

    lines: int = 0
    model: Any = None
    content: bool = False
    calls: int = 0
    ids: set[str] = field(default_factory=set)
    indexes: set[int] = field(default_factory=set)
    repeated_indexes: bool = False
    done: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the turn. `generate` says that it is one of `/api/generate`."""

    raw: dict[str, Any]
    facts: OllamaFacts
    case: Case

    @property
    def generate(self) -> bool:
        return "message" not in self.raw and "response" in self.raw

    @property
    def message(self) -> dict[str, Any]:
        return self.raw if self.generate else as_object(self.raw.get("message"))

    @property
    def place(self) -> str:
        """Where the content stands."""
        return "/response" if self.generate else "/message/content"

    @property
    def content(self) -> Any:
        return self.raw.get("response") if self.generate else self.message.get("content")

    @property
    def done(self) -> bool:
        return self.raw.get("done") is True

    @property
    def calls(self) -> list[Any]:
        return as_list(self.message.get("tool_calls"))


@dataclass(frozen=True, slots=True)
class Call:
    """One element of `tool_calls`, at `path`."""

    raw: dict[str, Any]
    path: str
    line: Line

    @property
    def function(self) -> dict[str, Any]:
        return as_object(self.raw.get("function"))


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """A line with an error."""

    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Times:
    """When two lines say that they were made, the later line's frame with them."""

    before: str
    after: str
    frame: Frame

    @property
    def backwards(self) -> bool:
        """Whether the later line is the earlier one; texts are compared as times only where they are not in order."""
        if self.after >= self.before:
            return False
        before, after = _time(self.before), _time(self.after)
        if before is None or after is None or (before.tzinfo is None) != (after.tzinfo is None):
            return False
        return after < before


class OllamaWalk:
    """The walk of `ollama-chat`."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._facts = OllamaFacts()
        self._order = court.machine(ORDER)
        self._created = ""

    def frames(self, frames: list[Frame]) -> None:
        """Every line has its own time, those that repeat the one before too."""
        for frame in frames:
            found = _CREATED.search(frame.data)
            if found is None:
                continue
            created = found.group(1).decode(errors="replace")
            if self._created and created < self._created:
                self._court.see(Times(self._created, created, frame))
            self._created = created

    def payload(self, frame: Frame, value: Any) -> None:
        if not isinstance(value, dict):
            return
        if value.get("error"):
            self._order.step("error")
            self._court.see(ErrorLine(value))
            return
        line = Line(value, self._facts, self._court.case)
        self._order.step("done" if line.done else "line")
        self._court.see(line)
        for position, raw in enumerate(line.calls):
            if isinstance(raw, dict):
                where = "/tool_calls" if line.generate else "/message/tool_calls"
                call = Call(raw, f"{where}/{position}", line)
                self._court.see(call)
                _remember_call(call, self._facts)
        _remember(line, self._facts)

    def end(self, ending: Ending) -> OllamaFacts:
        self._order.step(END)
        return self._facts


def _remember(line: Line, facts: OllamaFacts) -> None:
    facts.lines += 1
    facts.model = facts.model or line.raw.get("model")
    facts.content = facts.content or bool(line.content)
    if line.done:
        facts.done = line.raw


def _remember_call(call: Call, facts: OllamaFacts) -> None:
    facts.calls += 1
    identity, index = call.raw.get("id"), call.function.get("index")
    if isinstance(identity, str) and identity:
        facts.ids.add(identity)
    if isinstance(index, int):
        facts.repeated_indexes = facts.repeated_indexes or index in facts.indexes
        facts.indexes.add(index)


def _time(text: str) -> datetime | None:
    """A time of Go's form, whose fraction of a second may have nine digits."""
    fraction = _FRACTION.search(text)
    digits = fraction.group()[1:7].ljust(6, "0") if fraction else "000000"
    try:
        return datetime.fromisoformat(_FRACTION.sub("", text)).replace(microsecond=int(digits))
    except ValueError:
        return None
