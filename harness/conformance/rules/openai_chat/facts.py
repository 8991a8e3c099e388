"""What is remembered of a Chat stream as it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.conformance.rules.order import Machine
from harness.framing import Frame


@dataclass(slots=True)
class CallFacts:
    """One call as far as it has come: what its fragments said of it first, and how many there were."""

    id: str = ""
    name: str = ""
    fragments: int = 0
    first_arguments: Any = None


@dataclass(slots=True)
class CallsFacts:
    """The calls of one choice: all of them, by the index that is theirs now, and the one that is open."""

    all: list[CallFacts] = field(default_factory=list)
    by_index: dict[int, CallFacts] = field(default_factory=dict)
    open: CallFacts | None = None
    highest: int = -1


@dataclass(slots=True)
class ChoiceFacts:
    """One choice as far as it has come, and where it is in the order of its events."""

    index: Any
    order: Machine
    chunks: int = 0
    roles: int = 0
    finish: str | None = None
    content: bool = False
    reasoning: bool = False
    calls: CallsFacts = field(default_factory=CallsFacts)


@dataclass(slots=True)
class UsageFacts:
    """Which chunks reported usage: how many, how many of them without choices, the first one with choices, the first one under
    Groq's own field. Of a long row of them only the first few are seen."""

    chunks: int = 0
    alone: int = 0
    beside: Frame | None = None
    x_groq: Frame | None = None
    first: Frame | None = None
    last: Frame | None = None
    followed_by: Frame | None = None


@dataclass(slots=True)
class ChatFacts:
    """What is remembered of the stream; `first` are the first values of fields that should not change."""

    chunks: int = 0
    choices: dict[Any, ChoiceFacts] = field(default_factory=dict)
    unfinished: int = 0
    errors: int = 0
    done: bool = False
    first: dict[str, Any] = field(default_factory=dict)
    usage: UsageFacts = field(default_factory=UsageFacts)

    @property
    def finished(self) -> bool:
        """Whether every choice that began has its finish reason."""
        return bool(self.choices) and not self.unfinished
