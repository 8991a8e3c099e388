"""A recorded stream, run through the loop while somebody watches: pieces, their frames with the edits they cause, and events.

The same code runs as for a live server; only the transport plays a recording. What is seen comes in the order in which it
happens: a piece arrives, its frames are taken, then the consumer is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from harness.adapters.recorded import asked, broken
from harness.cassette.model import Chunk, Ending, Exchange
from harness.dialects import Dialect
from harness.edits import Edit
from harness.framing import Frame
from harness.loop.events import Event
from harness.loop.failures import TurnFailed
from harness.loop.provider import DialectProvider
from harness.loop.state import State
from harness.loop.step import Step
from harness.loop.wire import WireError, WireRequest
from harness.replay import Clock, Player, play


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """A piece of a body came; `span` is where it stands in it."""

    number: int
    at: float
    span: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A frame was taken in and caused edits; without a frame it was the end of the stream that did.

    `payload` is the frame's data, or what that carries in base64.
    """

    frame: Frame | None
    payload: bytes
    edits: Sequence[Edit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The body is over, in order (`eof`) or not."""

    at: float
    ending: Ending


Passing = Arrived | Taken | Ended | Event
Show = Callable[[Passing], None]


async def watch(exchange: Exchange, dialect: Dialect, clock: Clock, show: Show) -> None:
    """Play an exchange through the loop and show what passes; returns when the turn is over, whether or not it failed.

    The times of events are those of the recording. What `show` raises ends the turn and is raised here.
    """
    seen = _Seen(show)
    transport = _Playing(exchange, clock, seen)
    provider = DialectProvider(
        dialect,
        transport,
        build=asked(exchange),
        now=lambda: _answered(exchange),
        watch=lambda frame, edits: seen(_taken(dialect, frame, edits)),
    )
    async with Step(provider, on_emit=[seen], clock=lambda: transport.at) as step:
        try:
            await step.run_turn(State())
        except TurnFailed:
            if seen.error is not None:
                raise seen.error from None


def _answered(exchange: Exchange) -> float:
    """When the recorded answer was given, in seconds since the epoch: what a `Retry-After` with a date is measured by."""
    try:
        return parsedate_to_datetime(exchange.headers.get("date", "")).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _taken(dialect: Dialect, frame: Frame | None, edits: Sequence[Edit]) -> Taken:
    if frame is None:
        return Taken(frame=None, payload=b"", edits=edits)
    carried = dialect.carried(frame)
    return Taken(frame=frame, payload=frame.data if carried is None else carried[0], edits=edits)


class _Seen:
    """Shows what passes until that fails; then the failure is kept, since the loop takes it for one of the turn."""

    def __init__(self, show: Show) -> None:
        self.error: Exception | None = None
        self._show = show

    def __call__(self, passing: Passing) -> None:
        if self.error is None:
            try:
                self._show(passing)
            except Exception as error:
                self.error = error
                raise


class _Playing:
    """A transport of the loop that answers with one exchange. `at` is the time of the last piece."""

    def __init__(self, exchange: Exchange, clock: Clock, show: Show) -> None:
        self.at = 0.0
        self._exchange = exchange
        self._clock = clock
        self._show = show
        self._number = 0
        self._end = 0

    async def send(self, request: WireRequest) -> _Reply:
        if self._exchange.status == 0:
            raise broken(self._exchange) or WireError("network", "no response was recorded")
        return _Reply(self._exchange, play(self._exchange, self._clock), self._arrived, self._ended)

    def _ended(self) -> None:
        self._show(Ended(at=self.at, ending=self._exchange.ending))

    def _arrived(self, chunk: Chunk) -> None:
        start, self._end = self._end, self._end + len(chunk.data)
        self._number += 1
        self.at = max(self.at, chunk.at)
        self._show(Arrived(number=self._number - 1, at=chunk.at, span=(start, self._end)))


class _Reply:
    """The response; it is also the iterator over its pieces."""

    def __init__(self, exchange: Exchange, player: Player, arrived: Callable[[Chunk], None], ended: Callable[[], None]) -> None:
        self.status = exchange.status
        self.headers: Mapping[str, str] = exchange.headers
        self._exchange = exchange
        self._player = player
        self._arrived = arrived
        self._ended = ended

    def chunks(self) -> _Reply:
        return self

    def __aiter__(self) -> _Reply:
        return self

    async def __anext__(self) -> Chunk:
        try:
            chunk = await anext(self._player)
        except StopAsyncIteration:
            self._ended()
            error = broken(self._exchange)
            if error is not None:
                raise error from None
            raise
        self._arrived(chunk)
        return chunk

    async def aclose(self) -> None:
        """There is nothing to let go of."""
