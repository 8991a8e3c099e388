"""How an event of a step is told: stamped, shown to the callbacks in order, then to the subscribers (semantics.md 2.4).

Callbacks are synchronous and see every event, whatever becomes of the turn. What a callback emits is told after the event that
it was called for (row L32). A callback that raises keeps nobody else from seeing the event; the first exception is raised once
all have.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from harness.loop.artifacts import ArtifactKind
from harness.loop.events import ArtifactEvent, Event
from harness.loop.fanout import NOTHING, FanOut, Pressure

OnEmit = Callable[[Event], None]
E = TypeVar("E", bound=Event)


class Teller:
    """Numbers the events of one step and tells them. `turn` is the number of the turn that runs, 0 between turns."""

    def __init__(self, on_emit: Iterable[OnEmit], clock: Callable[[], float]) -> None:
        self.fanout = FanOut()
        self.on_emit: list[OnEmit] = list(on_emit)
        self.turn = 0
        self.context: Mapping[str, str] = {}
        self._clock = clock
        self._seq = 0
        self._waiting: deque[Event] = deque()
        self._telling = False

    def stamped(self, event: E, turn: int | None = None) -> E:
        """The event with its turn (the one that runs), its number, its time, and the context unless it has its own."""
        self._seq += 1
        turn = self.turn if turn is None else turn
        return replace(event, turn=turn, seq=self._seq, at=self._clock(), context=event.context or self.context)

    def emit(self, event: Event, turn: int | None = None) -> Pressure:
        """Stamp and tell."""
        return self.tell(self.stamped(event, turn))

    def artifact(self, kind: ArtifactKind, value: object) -> Pressure:
        """Tell of a fragment, a part or a side channel: the same as `emit`, in one go, since there are many."""
        self._seq += 1
        event = ArtifactEvent(turn=self.turn, seq=self._seq, at=self._clock(), context=self.context, artifact=kind, value=value)
        return self.tell(event) if self.on_emit else self.fanout.put(event)

    def tell(self, event: Event) -> Pressure:
        """Tell an event that is stamped. From within a callback: after the event that is being told."""
        self._waiting.append(event)
        if self._telling:
            return NOTHING
        pressure = NOTHING
        failed: BaseException | None = None
        self._telling = True
        try:
            while self._waiting:
                event = self._waiting.popleft()
                for callback in tuple(self.on_emit):
                    try:
                        callback(event)
                    except BaseException as raised:  # an interrupt too waits until all have seen it
                        failed = failed or raised
                pressure += self.fanout.put(event)
        finally:
            self._telling = False
        if failed is not None:
            raise failed
        return pressure
