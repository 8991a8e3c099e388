"""The loop over an HTTP client whose transport is a recording is told what it is told without one, in no time at all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from harness import cassette
from harness.adapters.recorded import Recorded, asked
from harness.adapters.wire import HttpxTransport
from harness.cassette.model import Cassette, Exchange
from harness.loop.events import ErrorEvent, Event
from harness.loop.failures import TurnFailed
from harness.loop.provider import DialectProvider
from harness.loop.state import State
from harness.loop.step import Step
from harness.loop.wire import Transport
from harness.replay import ReplayTransport, VirtualClock
from tests import chat
from tests.exchanges import sse
from tests.loop.running import run
from tests.showing.test_watching import pieces

SHIPPED = list(cassette.load(cassette.shipped()))


async def turn(recorded: Exchange, dialect: str, transport: Transport, clock: Callable[[], float]) -> list[Event]:
    told: list[Event] = []
    provider = DialectProvider(dialect, transport, build=asked(recorded))
    async with Step(provider, on_emit=[told.append], clock=clock) as step:
        try:
            await step.run_turn(State())
        except TurnFailed:
            assert isinstance(told[-1], ErrorEvent)
    return told


async def over_http(recorded: Exchange, dialect: str, clock: VirtualClock) -> list[Event]:
    replay = ReplayTransport([recorded], clock=clock)
    async with httpx.AsyncClient(transport=replay, base_url="http://replay.invalid") as client:
        told = await turn(recorded, dialect, HttpxTransport(client, clock=clock), clock)
    assert replay.open == 0
    return told


def shown(events: list[Event]) -> list[Any]:
    """Without the times, and without how a connection says that it broke."""
    return [
        (event.kind, event.stage, getattr(event.error, "kind", None))
        if isinstance(event, ErrorEvent)
        else replace(event, at=0.0)
        for event in events
    ]


@pytest.mark.parametrize("case", SHIPPED, ids=lambda case: case.id)
def test_the_same_turn(case: Cassette) -> None:
    side = case.stream or case.reference
    assert side is not None
    clock = VirtualClock()
    told = run(over_http(side, case.dialect, clock))
    assert clock() == pytest.approx(max((chunk.at for chunk in side.chunks), default=0.0))
    assert shown(told) == shown(run(turn(side, case.dialect, Recorded(side), lambda: 0.0)))


def test_a_minute_through_the_whole_loop_takes_no_time() -> None:
    """The goal is 50 ms; the limit leaves room for a busy machine."""
    words = ((0.06 * number, sse(chat.text(f"word {number} "), end=False)) for number in range(1, 1000))
    recorded = pieces(*words, (60.0, sse(chat.stops())))
    began = time.perf_counter()
    told = run(over_http(recorded, "openai-chat", VirtualClock()))
    assert time.perf_counter() - began < 2.0
    assert (told[-1].at, len(told)) == (60.0, 999 + 6)


def test_many_turns_at_once_lose_nothing() -> None:
    (case,) = (case for case in SHIPPED if case.id == "openai-chat/llamacpp/unicode")
    recorded = case.stream
    assert recorded is not None
    clock = VirtualClock()

    async def scenario() -> list[list[Event]]:
        return await asyncio.gather(*(over_http(recorded, "openai-chat", clock) for _ in range(100)))

    alone = run(over_http(recorded, "openai-chat", VirtualClock()))
    assert all(told == alone for told in run(scenario()))
    assert clock.sleeping == 0
