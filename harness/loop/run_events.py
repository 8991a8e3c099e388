"""What a run of several turns tells beside the events of its turns (semantics.md 3.7), and how it came out.

A run is bracketed by `run_start` and `run_end`, each of its turns by `turn_start` and `turn_end`, each tool that runs by
`tool_start` and `tool_end`: whatever happens, what was begun is ended, and `run_end` is the last. They are told between the
turns of the step, with which they share one sequence of numbers; `index` is the turn of the run that they belong to, from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from harness.api_error import ApiError
from harness.loop import values
from harness.loop.events import Event, Readers
from harness.loop.state import Role, ToolResult, Turn, TurnPart
from harness.response import CostInfo, FinishReason, Text, ToolCall, Usage


class Trigger(StrEnum):
    """Why a turn is taken."""

    PROMPT = "prompt"
    RESUME = "resume"
    TOOLS = "tools"
    STEERING = "steering"
    FOLLOW_UP = "follow_up"


class Ending(StrEnum):
    """How a run ended. `stopped`: a hook did not want it, or its next turn; `halted`: nobody read its events any more."""

    DONE = "done"
    ERROR = "error"
    CANCELLED = "cancelled"
    HALTED = "halted"
    LIMIT = "limit"
    STOPPED = "stopped"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    """How a run came out; after a limit, an error or a cancellation, what there was of it.

    `turns` are all that it added to the conversation. `usage` and `cost` are summed over the turns that said them (None if
    none did), `costs` has them one by one.
    """

    ending: Ending
    reason: str | None = None
    error: ApiError | BaseException | None = None
    turns: tuple[Turn, ...] = ()
    usage: Usage | None = None
    cost: CostInfo | None = None
    costs: tuple[CostInfo, ...] = ()

    @classmethod
    def read(cls, shown: dict[str, Any]) -> AgentResult:
        """The result that was made plain in a record of events."""
        error = shown.get("error")
        return cls(
            ending=Ending(shown["ending"]),
            reason=shown.get("reason"),
            error=None if error is None else values.read_error(error),
            turns=values.read_all(shown.get("turns", ())),
            usage=values.read(shown.get("usage")),
            cost=values.read(shown.get("cost")),
            costs=values.read_all(shown.get("costs", ())),
        )

    @property
    def ok(self) -> bool:
        return self.ending is Ending.DONE

    @property
    def answers(self) -> tuple[Turn, ...]:
        """The model's turns."""
        return tuple(turn for turn in self.turns if turn.role is Role.ASSISTANT)

    @property
    def text(self) -> str | None:
        """The text of the last turn of the model, which is the answer if the run is done: nothing of the turns before it."""
        last = self.answers[-1:]
        texts = [part.text for turn in last for part in turn.parts if isinstance(part, Text)]
        return "".join(texts) if texts else None

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for turn in self.answers for part in turn.parts if isinstance(part, ToolCall))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStartEvent(Event):
    kind: ClassVar[str] = "run_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStartEvent(Event):
    kind: ClassVar[str] = "turn_start"
    readers: ClassVar[Readers] = {"trigger": Trigger}
    index: int
    trigger: Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStartEvent(Event):
    """A tool begins to run. Calls that never get so far (unknown, refused, skipped, bad arguments) have a result only."""

    kind: ClassVar[str] = "tool_start"
    readers: ClassVar[Readers] = {"call": values.read}
    index: int
    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUpdateEvent(Event):
    """What a tool says of its progress."""

    kind: ClassVar[str] = "tool_update"
    index: int
    call_id: str
    name: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEndEvent(Event):
    kind: ClassVar[str] = "tool_end"
    readers: ClassVar[Readers] = {"result": values.read}
    index: int
    result: ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEndEvent(Event):
    """A turn of the run is over: what the model said (nothing if it failed), what it used, the results of its calls."""

    kind: ClassVar[str] = "turn_end"
    readers: ClassVar[Readers] = {
        "parts": values.read_all,
        "stop": lambda value: None if value is None else FinishReason(value),
        "usage": values.read,
        "cost": values.read,
        "results": values.read_all,
    }
    index: int
    parts: tuple[TurnPart, ...] = ()
    stop: FinishReason | None = None
    usage: Usage | None = None
    cost: CostInfo | None = None
    results: tuple[ToolResult, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRejectedEvent(Event):
    """A filter did not let a message through: it is not part of the conversation."""

    kind: ClassVar[str] = "input_rejected"
    readers: ClassVar[Readers] = {"parts": values.read_all}
    parts: tuple[TurnPart, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEndEvent(Event):
    """The end of a run: the last of its events, and there is one whatever happens."""

    kind: ClassVar[str] = "run_end"
    readers: ClassVar[Readers] = {"result": AgentResult.read}
    result: AgentResult

    @property
    def terminal(self) -> bool:
        return True
