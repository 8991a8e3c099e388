"""A step with everything that was told of it, for the tests of the step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from harness.loop.events import Event, TurnCompleteEvent
from harness.loop.failures import StepClosedError, TurnFailed
from harness.loop.state import Role, State, Turn
from harness.loop.step import Step
from harness.response import Text, ToolCall

from .running import run
from .scripted import Scripted


def names(events: Iterable[Event]) -> list[str]:
    """The events by topic, lifecycle events by phase."""
    return [str(getattr(event, "phase", event.topic)) for event in events]


def turns(events: Iterable[Event]) -> list[TurnCompleteEvent]:
    return [event for event in events if isinstance(event, TurnCompleteEvent)]


def parts(events: Iterable[Event]) -> tuple[Any, ...]:
    """The parts of the one turn that is complete."""
    (turn,) = turns(events)
    return turn.parts


class Told:
    """A step over `provider` (or a script for one) that is bound to `state`, keeps every event in `events` and then calls
    `then`."""

    def __init__(self, provider: Any, *, on_emit: Iterable[Any] = (), turns: Iterable[Turn] = (), **settings: Any) -> None:
        self.provider = provider if hasattr(provider, "invoke") else Scripted(list(provider))
        self.events: list[Event] = []
        self.then: Callable[[Event], object] = lambda event: None
        self.step = Step(self.provider, on_emit=[self.events.append, self._after, *on_emit], **settings)
        self.state = State(turns)
        self.step.bind_state(self.state)
        self.raised: BaseException | None = None

    def _after(self, event: Event) -> None:
        self.then(event)

    @property
    def names(self) -> list[str]:
        return names(self.events)

    @property
    def roles(self) -> list[str]:
        return [turn.role.value for turn in self.state]

    async def turn(self, **options: Any) -> None:
        """One turn; what it raises is kept."""
        self.raised = None
        try:
            await self.step.run_turn(self.state, **options)
        except (TurnFailed, asyncio.CancelledError, StepClosedError) as raised:
            self.raised = raised


def told(provider: Any, **settings: Any) -> Told:
    """One turn, run to its end."""
    whole = Told(provider, **settings)
    run(whole.turn())
    return whole


class Stuck:
    """A provider that says something and then waits; it ends when `release` is set, and not before, if it is `stubborn`."""

    name = "stuck"

    def __init__(self, *said: Any, stubborn: bool = False) -> None:
        self.said = said
        self.stubborn = stubborn
        self.release = asyncio.Event()
        self.waiting = asyncio.Event()
        self.cancelled = 0
        self.refused: list[BaseException] = []
        self.emit: Any = None

    async def invoke(self, request: Any, emit: Any) -> None:
        self.emit = emit
        for artifact in self.said:
            await emit(artifact)
        self.waiting.set()
        while not self.release.is_set():
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                if not self.stubborn:
                    raise
        for artifact in self.said:
            try:
                await emit(artifact)
            except BaseException as refused:
                self.refused.append(refused)


def call(name: str = "add", number: int = 0, arguments: str = "{}") -> ToolCall:
    return ToolCall(id=f"c{number}", name=name, arguments=arguments)


def text(said: str) -> Text:
    return Text(text=said)


def asked(said: str = "Hello") -> Turn:
    return Turn(role=Role.USER, parts=(Text(text=said),))
