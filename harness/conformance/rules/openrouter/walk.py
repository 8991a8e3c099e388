"""What there is to be seen in OpenRouter's streams beside what all of Chat has: keep-alives, and details of reasoning."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from harness.conformance.rules.inspecting import Court, Walk
from harness.conformance.rules.rule import Rules
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_list, as_object, as_objects
from harness.framing import Frame

OPENROUTER = Rules("ORT", dialects=["openai-chat"], providers=["openrouter"])
KEEP_ALIVE = b"OPENROUTER PROCESSING"
_COMMENT = b": " + KEEP_ALIVE


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """A comment that says that the connection lives."""


@dataclass(frozen=True, slots=True)
class Detail:
    """One element of a delta's `reasoning_details`, at `path`; `signed` says that its block has a signature already."""

    raw: dict[str, Any]
    path: str
    signed: bool

    @property
    def type(self) -> Any:
        return self.raw.get("type")

    @property
    def signature(self) -> str:
        found = self.raw.get("signature")
        return found if isinstance(found, str) else ""


@dataclass(frozen=True, slots=True)
class Events:
    """How a stream of Responses is framed: how many of its events have a name, and whether a marker ended it."""

    named: int
    unnamed: int
    marked: bool


class ChatWalk:
    """The walk of `openai-chat` at OpenRouter."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._tail = b""
        self._signatures: Counter[str] = Counter()

    def piece(self, data: bytes) -> None:
        """Comments are in no frame; one that is cut by a read is found when the rest of it comes."""
        if _COMMENT in self._tail + data:
            self._court.see(KeepAlive())
            self._tail = b""
        else:
            self._tail = (self._tail + data)[-len(_COMMENT) :]

    def payload(self, frame: Frame, value: Any) -> None:
        for number, element in enumerate(as_list(as_object(value).get("choices"))):
            choice = as_object(element)
            details = as_list(as_object(choice.get("delta")).get("reasoning_details"))
            for position, raw in enumerate(details):
                path = f"/choices/{number}/delta/reasoning_details/{position}"
                self._detail(as_object(raw), path, choice.get("index"))

    def end(self, ending: Ending) -> None:
        """All that is remembered was shown."""

    def _detail(self, raw: dict[str, Any], path: str, choice: Any) -> None:
        index = raw.get("index")
        block = "" if index is None else repr((choice, index, raw.get("type")))  # without an index each is a block of its own
        detail = Detail(raw, path, bool(block) and self._signatures[block] > 0)
        self._court.see(detail)
        if block and detail.signature:
            self._signatures[block] += 1


class ResponsesWalk:
    """The walk of `openai-responses` at OpenRouter."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._named = self._unnamed = 0
        self._marked = False

    def payload(self, frame: Frame, value: Any) -> None:
        self._named += frame.name is not None
        self._unnamed += frame.name is None

    def marker(self, frame: Frame) -> None:
        self._marked = True

    def end(self, ending: Ending) -> None:
        self._court.see(Events(self._named, self._unnamed, self._marked))


class _Nobody:
    """The walk of everybody else's streams: there is nothing to be seen."""

    def end(self, ending: Ending) -> None:
        """Nothing was seen."""


def chat_walk(court: Court) -> Walk:
    return ChatWalk(court) if court.case.provider == "openrouter" else _Nobody()


def responses_walk(court: Court) -> Walk:
    return ResponsesWalk(court) if court.case.provider == "openrouter" else _Nobody()


def joined(details: Any) -> str | None:
    """The texts and summaries in `reasoning_details`, one after the other; None if there are none."""
    texts = [text for raw in as_objects(details) for name in ("text", "summary") if isinstance(text := raw.get(name), str)]
    return "".join(texts) if texts else None
