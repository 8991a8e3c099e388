"""What rules about Chat Completions look at: chunks, their choices, the fragments of calls in those, error events; and
the choices that it all came to.

A sight is shown to the rules before the facts take it in: a rule compares what comes with what was there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.conformance.rules.openai_chat.facts import CallFacts, ChatFacts, ChoiceFacts
from harness.conformance.rules.rule import Rules
from harness.conformance.rules.sights import Case, Ending
from harness.dialects.translating import as_list, as_object, as_objects
from harness.framing import Frame

__all__ = [
    "FILTER_FIELDS",
    "Call",
    "ChatFacts",
    "Choice",
    "Chunk",
    "ErrorEvent",
    "Fragment",
    "Turn",
    "integer",
    "is_verdict",
    "key",
    "request",
    "rules",
    "string",
    "turns",
]

FILTER_FIELDS = ("prompt_filter_results", "content_filter_results", "content_filter_offsets", "content_filter_result")


def rules() -> Rules:
    """A file's share of the group."""
    return Rules("OAI-C", dialects=["openai-chat"])


@dataclass(frozen=True, slots=True)
class Chunk:
    """A payload that is an object and carries no error."""

    raw: dict[str, Any]
    frame: Frame
    facts: ChatFacts
    case: Case

    @property
    def choices(self) -> list[Any]:
        return as_list(self.raw.get("choices"))

    @property
    def filters(self) -> bool:
        """Whether it is one of Azure's filter chunks, which belong to no choice: what is there is a verdict, and no delta."""
        raw, choices = self.raw, as_objects(self.raw.get("choices"))
        if not choices:
            return any(name in raw for name in FILTER_FIELDS)
        return all(is_verdict(choice) for choice in choices)


@dataclass(frozen=True, slots=True)
class Choice:
    """One element of `choices`, at `path`; `facts` is what came of this choice before."""

    raw: dict[str, Any]
    path: str
    facts: ChoiceFacts
    chunk: Chunk

    @property
    def delta(self) -> dict[str, Any]:
        return as_object(self.raw.get("delta"))

    @property
    def finish(self) -> str | None:
        """Its finish reason, if it says one: an empty string does not."""
        reason = self.raw.get("finish_reason")
        return reason if isinstance(reason, str) and reason else None

    @property
    def fragments(self) -> list[dict[str, Any]]:
        return as_objects(self.delta.get("tool_calls"))

    @property
    def case(self) -> Case:
        return self.chunk.case


@dataclass(frozen=True, slots=True)
class Fragment:
    """One element of `delta.tool_calls`, at `path`.

    `call` is the call that it continues (None: it opens one), `held` the one that had its index until now.
    """

    raw: dict[str, Any]
    path: str
    call: CallFacts | None
    held: CallFacts | None
    choice: Choice

    @property
    def index(self) -> int | None:
        return integer(self.raw.get("index"))

    @property
    def id(self) -> str:
        return string(self.raw.get("id"))

    @property
    def function(self) -> dict[str, Any]:
        return as_object(self.raw.get("function"))

    @property
    def custom(self) -> dict[str, Any]:
        return as_object(self.raw.get("custom"))

    @property
    def name(self) -> str:
        return string(self.function.get("name")) or string(self.custom.get("name"))


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """A payload that says that the turn has failed."""

    raw: dict[str, Any]
    frame: Frame


@dataclass(frozen=True, slots=True)
class Turn:
    """A choice as it was gathered: `body` is the native one, `path` leads to it there."""

    body: dict[str, Any]
    path: str
    finish: str | None

    @property
    def message(self) -> dict[str, Any]:
        return as_object(self.body.get("message"))

    @property
    def calls(self) -> list[Call]:
        """Its calls of functions, the deprecated one included."""
        elements = as_objects(self.message.get("tool_calls"))
        calls = [
            Call(head, element.get("id"), f"{self.path}/message/tool_calls/{position}")
            for position, element in enumerate(elements)
            if (head := as_object(element.get("function")))
        ]
        if legacy := as_object(self.message.get("function_call")):
            calls.append(Call(legacy, None, f"{self.path}/message/function_call"))
        return calls


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it was gathered."""

    function: dict[str, Any]
    id: Any
    path: str

    @property
    def name(self) -> str:
        return string(self.function.get("name"))

    @property
    def arguments(self) -> str:
        return string(self.function.get("arguments"))


def turns(it: Ending) -> Iterator[Turn]:
    """The choices that the stream came to."""
    for position, body in enumerate(as_objects(as_object(it.seen.body).get("choices"))):
        yield Turn(body, f"/choices/{position}", string(body.get("finish_reason")) or None)


def request(case: Case) -> Mapping[str, Any] | None:
    """The request, if it was recorded: some keepers of recordings leave nothing of it but `stream`."""
    return case.asked if case.asked is not None and "messages" in case.asked else None


def is_verdict(choice: dict[str, Any]) -> bool:
    """Whether it is what Azure's asynchronous filter says of a choice, instead of a part of it."""
    return "delta" not in choice and any(name in choice for name in FILTER_FIELDS)


def key(value: Any) -> Any:
    """An index as a key: whatever cannot be one is told apart by its text."""
    return value if isinstance(value, (int, str)) or value is None else str(value)


def integer(value: Any) -> int | None:
    return value if type(value) is int else None


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""
