"""Every recording through the loop: one end, which is the recorded one; what was told folds back; nothing is left behind.

Cancellation is checked by counting, not by waiting: tasks, open responses, and events after the last one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest

from harness.adapters import Ours
from harness.adapters.recorded import Recorded, asked
from harness.cassette.model import Chunk, Exchange, Headers
from harness.conformance.events import end, told
from harness.dialects import Dialect
from harness.loop.events import Event, as_json, from_json
from harness.loop.failures import TurnFailed
from harness.loop.messages import MessageProjection
from harness.loop.provider import DialectProvider
from harness.loop.sequence import faults, message_faults
from harness.loop.state import State
from harness.loop.step import Step
from tests.laws.cases import SAMPLE, SHIPPED, Stream, each_sample, each_shipped, each_stream
from tests.loop.running import others, run

_CUTS = 16  # of a long stream of others, and as many at its end
_LAST = 4


@dataclass
class Played:
    """A turn of the loop: everything that was told of it, to a callback and to a subscriber."""

    exchange: Exchange
    dialect: Dialect
    events: list[Event] = field(default_factory=list)
    heard: list[Event] = field(default_factory=list)
    open: int = 0
    left: int = 0

    async def play(self, on_emit: Callable[[Event], None] = lambda _: None) -> Played:
        transport = Recorded(self.exchange)
        provider = DialectProvider(self.dialect, transport, build=asked(self.exchange))
        async with Step(provider, on_emit=[self.events.append, on_emit]) as step:
            listener = step.subscribe(buffer=1_000_000)
            task = asyncio.create_task(step.run_turn(State()))
            self._task = task
            with suppress(TurnFailed, asyncio.CancelledError):
                await task
            self.heard = listener.take()
            self.open = transport.open
            self.left = len(others())
            assert step.abandoned == 0
        return self

    async def cancelled_at(self, number: int) -> Played:
        """Cancel whoever awaits the turn, as its event number `number` is told."""

        def cancel(event: Event) -> None:
            if event.seq == number:
                self._task.cancel()

        return await self.play(cancel)

    @property
    def ends(self) -> int:
        return sum(event.terminal for event in self.events)


@each_stream
def test_every_recording_has_one_end_and_folds_back(stream: Stream) -> None:
    """Laws 5 and 9; with the order of events, and what a subscriber hears."""
    played = run(Played(stream.exchange, stream.dialect).play())
    seen = replace(Ours().observe(stream.exchange, stream.dialect), events=tuple(played.events))
    assert list(told(seen)) == []
    assert (played.ends, played.open, played.left) == (1, 0, 0)
    assert played.heard == played.events
    projection = MessageProjection()
    assert list(message_faults([message for event in played.events for message in projection.add(event)])) == []


@each_shipped
def test_events_are_json_and_back(stream: Stream) -> None:
    played = run(Played(stream.exchange, stream.dialect).play())
    for event in played.events:
        again = from_json(as_json(event))
        assert as_json(again) == as_json(event)
        assert type(again) is type(event)


@pytest.mark.parametrize("stream", [s for s in SHIPPED if s.case.reference is not None], ids=repr)
def test_every_plain_answer_is_a_turn_as_well(stream: Stream) -> None:
    assert stream.case.reference is not None
    played = run(Played(stream.case.reference, stream.dialect).play())
    assert (played.ends, played.open, played.left) == (1, 0, 0)
    assert list(faults(played.events)) == []


@each_stream
def test_no_cut_is_told_as_done(stream: Stream) -> None:
    """Cut after a frame, a turn is done only if the API's end condition was met before (law 6), or the stream closed in order
    without a finish reason, as the whole of it may do."""
    collector = stream.collector()
    complete = []
    for frame in stream.frames:
        collector.add(frame)
        complete.append(collector.complete)
    for number, played in run(_each_cut(stream)).items():
        assert list(faults(played.events)) == []
        if end(played.events) == "done":
            assert complete[number] or _closed_in_order(played.exchange, stream.dialect), f"after frame {number}"


async def _each_cut(stream: Stream) -> dict[int, Played]:
    return {number: await Played(_cut(stream, number), stream.dialect).play() for number in _cuts(stream)}


def _closed_in_order(cut: Exchange, dialect: Dialect) -> bool:
    seen = Ours().observe(cut, dialect)
    return seen.error is None and "stream/finish-missing" in {finding.kind for finding in seen.findings}


def _cuts(stream: Stream) -> Iterator[int]:
    """The frames after which a stream is cut: all of them, of a long one of the corpus, or not in the sample, some."""
    size = len(stream.frames)
    if stream in SAMPLE or size <= _CUTS:
        yield from range(size)
        return
    yield from sorted({*range(0, size, -(-size // _CUTS)), *range(size - _LAST, size)})


def _cut(stream: Stream, number: int) -> Exchange:
    """The exchange as far as a frame, its content coding undone."""
    fields = [(name, value) for name, value in stream.exchange.headers.fields if name.lower() != "content-encoding"]
    body = stream.body[: stream.frames[number].span[1]]
    return replace(stream.exchange, headers=Headers(fields), chunks=(Chunk(data=body),))


@each_sample
def test_cancellation_at_every_event_leaves_nothing(stream: Stream) -> None:
    """No task, no open response, one terminal event and nothing after it."""
    whole, each = run(_each_cancelled(stream))
    for number, played in enumerate(each, 1):
        assert (played.ends, played.open, played.left) == (1, 0, 0), f"at event {number}"
        assert list(faults(played.events)) == [], f"at event {number}"
        assert played.heard == played.events
        assert played.events[-1].terminal
        if number < len(whole.events):
            assert end(played.events) == "cancelled", f"at event {number}"


async def _each_cancelled(stream: Stream) -> tuple[Played, list[Played]]:
    whole = await Played(stream.exchange, stream.dialect).play()
    numbers = range(1, len(whole.events) + 1)
    return whole, [await Played(stream.exchange, stream.dialect).cancelled_at(number) for number in numbers]
