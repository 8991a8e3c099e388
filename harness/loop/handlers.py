"""Handlers: whoever looks at the parts of a turn that is whole, and how they speak (semantics.md 2.5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from harness.errors import HarnessError
from harness.loop.events import Event, TurnCompleteEvent
from harness.loop.failures import TurnOverError
from harness.loop.state import Role, TurnPart
from harness.loop.telling import Teller

Handler = Callable[[TurnPart, "Emitter"], Awaitable[None]]


class Emitter:
    """How a handler speaks, as long as what it was called for goes on (H4)."""

    def __init__(self, teller: Teller, stopped: Callable[[], bool] = lambda: False) -> None:
        self._teller = teller
        self._stopped = stopped
        self._over = False

    def emit(self, event: Event) -> Awaitable[None]:
        """Tell an event; awaited, it waits for slow subscribers. Raises `CancelledError` when the turn was cancelled, and
        `TurnOverError` once it is over."""
        self.go_on()
        if event.terminal:
            raise HarnessError("a handler does not end the turn", hint="raise an exception: the turn then ends with an error")
        return self._teller.emit(event)

    def turn(self, role: Role, *parts: TurnPart) -> Awaitable[None]:
        """Add a turn to the conversation: tell that it is complete, which is what is persisted."""
        return self.emit(TurnCompleteEvent(role=role, parts=parts))

    def go_on(self) -> None:
        """Raises unless the turn goes on."""
        if self._stopped():
            raise asyncio.CancelledError
        if self._over:
            raise TurnOverError("a handler spoke after its turn", hint="a handler emits before it returns")

    def close(self) -> None:
        self._over = True


async def handle(parts: Iterable[TurnPart], handlers: Sequence[Handler], emitter: Emitter) -> None:
    """Every part in order, to every handler in order (H1). The first that raises ends it; so does whoever stops the turn."""
    for part in parts:
        for handler in handlers:
            emitter.go_on()
            await handler(part, emitter)
