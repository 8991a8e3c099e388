"""A provider that answers as it is told to, a clock that costs no time, and one turn with everything that was told of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from harness.api_error import ApiError, api_error
from harness.loop.artifacts import ArtifactKind, Emit, Settled, Side, TextDelta
from harness.loop.context import RunContext, StreamConfig
from harness.loop.events import Event
from harness.loop.provider import ProviderFailure
from harness.loop.retry import RetryPolicy
from harness.loop.state import Role, Turn
from harness.loop.stream_response import Reply, stream_response
from harness.request import TurnRequest
from harness.response import FinishReason, Response, Text

from .running import run


class Scripted:
    """Each attempt goes as its script says: artifacts are emitted, exceptions raised, functions awaited. The last script serves
    for all further attempts."""

    name = "scripted"

    def __init__(self, *attempts: Iterable[Any]) -> None:
        self.attempts = [list(attempt) for attempt in attempts]
        self.requests: list[TurnRequest] = []

    async def invoke(self, request: TurnRequest, emit: Emit) -> None:
        self.requests.append(request)
        for item in self.attempts[min(len(self.requests), len(self.attempts)) - 1]:
            if isinstance(item, BaseException):
                raise item
            if callable(item):
                await item()
            else:
                await emit(item)


class Waits(list[float]):
    """A sleep that only remembers how long it was to be."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@dataclass
class Asked:
    """A turn: how it came out, and what was told, asked and waited for."""

    reply: Reply
    events: list[Event]
    provider: Any
    waits: Waits

    @property
    def told(self) -> list[str]:
        """The events by topic, lifecycle events by phase."""
        return [getattr(event, "phase", None) or event.topic for event in self.events]

    def of(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.kind == kind]


def ask(
    provider: Any,
    context: RunContext | None = None,
    config: StreamConfig | None = None,
    *,
    retry: RetryPolicy | None = None,
    emit: Callable[[Event], None] | None = None,
    **options: Any,
) -> Asked:
    """One turn, run to its end; `emit` sees each event after it was noted."""
    events: list[Event] = []
    waits = options.pop("sleep", None) or Waits()

    def seen(event: Event) -> None:
        events.append(event)
        if emit is not None:
            emit(event)

    going = stream_response(
        context or RunContext(turns=(user("Hello"),)),
        config or StreamConfig(model="m-1"),
        seen,
        provider=provider,
        retry=retry,
        sleep=waits,
        random=options.pop("random", lambda: 0.5),
        **options,
    )
    return Asked(run(going), events, provider, waits)


def user(text: str, at: float = 0.0) -> Turn:
    return Turn(role=Role.USER, parts=(Text(text=text),), at=at)


def answer(text: str) -> list[Any]:
    """A turn of one text, in two pieces."""
    whole = Response(parts=(Text(text=text),), finish_reason=FinishReason.STOP, raw_finish_reason="stop", model="m-1-exact")
    half = len(text) // 2
    finish = Side(ArtifactKind.FINISH, whole.finish_reason)
    return [TextDelta(text[:half]), TextDelta(text[half:]), Settled(whole.parts, whole), finish]


def failure(message: str = "slow down", **known: Any) -> ProviderFailure:
    """What a provider raises; a rate limit unless `known` says something else."""
    return ProviderFailure(error(message, **known))


def error(message: str = "slow down", **known: Any) -> ApiError:
    return api_error(message, **{"status": 429, **known})


def text_of(turn: Turn) -> str:
    return "".join(part.text for part in turn.parts if isinstance(part, Text))
