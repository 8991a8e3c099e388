"""What users say to a run (prompts, steering, follow-ups), and the filters that look at it first (semantics.md U7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace

from harness.loop.hooks import ask
from harness.loop.state import Role, Turn
from harness.response import Text


@dataclass(slots=True, kw_only=True)
class Inbox:
    """What is said while a run is going on: to be heard as soon as possible, or once it has come to its end."""

    steering: list[Turn] = field(default_factory=list)
    follow_ups: list[Turn] = field(default_factory=list)

    def take_steering(self) -> list[Turn]:
        taken, self.steering = self.steering, []
        return taken

    def take_follow_ups(self) -> list[Turn]:
        taken, self.follow_ups = self.follow_ups, []
        return taken


def said(message: str | Turn) -> Turn:
    """A message as a turn: a text is the user's."""
    return message if isinstance(message, Turn) else Turn(role=Role.USER, parts=(Text(text=message),))


@dataclass(frozen=True, slots=True)
class Warn:
    """A filter lets a message pass, and adds this to the last one."""

    says: str


@dataclass(frozen=True, slots=True)
class Reject:
    """A filter does not let a message pass."""

    says: str


Filter = Callable[[Turn], Warn | Reject | Awaitable[Warn | Reject | None] | None]
"""Sees every prompt, steering and follow-up message before it becomes part of the conversation; None lets it pass."""


async def filtered(turns: list[Turn], filters: Iterable[Filter]) -> tuple[list[Turn], tuple[Turn, Reject] | None]:
    """The messages as they pass, and the first that does not, if any: then none of them pass (U7, row P47)."""
    warnings: list[str] = []
    for turn in turns:
        for judge in filters:
            verdict = await ask(judge, turn)
            if isinstance(verdict, Reject):
                return [], (turn, verdict)
            if isinstance(verdict, Warn):
                warnings.append(verdict.says)
    return _warned(turns, warnings), None


def _warned(turns: list[Turn], warnings: list[str]) -> list[Turn]:
    """Warnings stand at the end of the last message of the user."""
    last = max((i for i, turn in enumerate(turns) if turn.role is Role.USER), default=None)
    if not warnings or last is None:
        return turns
    parts = (*turns[last].parts, *(Text(text=says) for says in warnings))
    return [*turns[:last], replace(turns[last], parts=parts), *turns[last + 1 :]]
