"""How an event of a step is told: stamped, shown to the callbacks in order, then to the subscribers (semantics.md 2.4).

Callbacks are synchronous and see every event, whatever becomes of the turn. What a callback emits is told after the event that
it was called for (row L32). A callback that raises keeps nobody else from seeing the event; the first exception is raised once
all have. So it is with a clock that fails: the event has the last time that is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from harness.loop.artifacts import ArtifactKind
from harness.loop.events import ArtifactEvent, Event
from harness.loop.fanout import NOTHING, FanOut, Pressure

OnEmit = Callable[[Event], None]
E = TypeVar("E", bound=Event)


class _Open(Event):
    """An `ArtifactEvent` while it is filled: to fill one that is frozen already costs three times as much."""

    __slots__ = ("artifact", "value")
    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__
    __init__ = object.__init__


class Teller:
    """Numbers the events of one step and tells them. `turn` is the number of the turn that runs, 0 between turns."""

    def __init__(self, on_emit: Iterable[OnEmit], clock: Callable[[], float]) -> None:
        self.fanout = FanOut()
        self.on_emit: list[OnEmit] = list(on_emit)
        self.turn = 0
        self.context: Mapping[str, str] = {}
        self._clock = clock
        self._at = 0.0  # the last time that is known, but for artifacts
        self._seq = 0
        self._failed: BaseException | None = None  # of the clock; raised once the event was told
        self._waiting: deque[Event] = deque()
        self._telling = False

    def stamped(self, event: E, turn: int | None = None) -> E:
        """The event with its turn (the one that runs), its number, its time, and the context unless it has its own."""
        self._seq += 1
        turn = self.turn if turn is None else turn
        try:
            self._at = self._clock()
        except BaseException as raised:
            self._failed = self._failed or raised
        return replace(event, turn=turn, seq=self._seq, at=self._at, context=event.context or self.context)

    def emit(self, event: Event, turn: int | None = None) -> Pressure:
        """Stamp and tell."""
        return self.tell(self.stamped(event, turn))

    def artifact(self, kind: ArtifactKind, value: object) -> Pressure:
        """Tell of a fragment, a part or a side channel: the same as `emit`, in one go, since there are many."""
        self._seq += 1
        event: Any = _Open()
        event.turn = self.turn
        event.seq = self._seq
        event.at = self._clock()
        event.context = self.context
        event.artifact = kind
        event.value = value
        event.__class__ = ArtifactEvent
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
        failed, self._failed = failed or self._failed, None
        if failed is not None:
            raise failed
        return pressure
