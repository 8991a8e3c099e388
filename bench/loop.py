"""Streams through the whole loop: provider, step, fan-out, and a subscriber that reads as events come.

What is told is checked as it is measured: a benchmark of a loop that loses something would be worth nothing.
"""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Coroutine
from functools import cache
from typing import Any

import httpx

from bench.measure import Case
from bench.streams import Stream
from harness.adapters.recorded import Recorded, asked
from harness.adapters.wire import HttpxTransport
from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.loop.events import ArtifactEvent, TurnCompleteEvent
from harness.loop.fanout import Subscription
from harness.loop.provider import DialectProvider
from harness.loop.state import State
from harness.loop.step import Step
from harness.loop.wire import Transport
from harness.replay import ReplayTransport, VirtualClock
from harness.response import Text

PATHS = {
    "gemini": "/v1beta/models/any:streamGenerateContent?alt=sse",
    "bedrock-converse": "/model/any/converse-stream",
    "bedrock-invoke": "/model/any/invoke-with-response-stream",
}
"""APIs that ask for a stream by the path; all others do by the body."""


def exchange(given: Stream, size: int | None, every: float = 0.0) -> Exchange:
    """The stream as an exchange, its body in pieces of `size` that come every so many seconds."""
    request = Request(target=PATHS.get(given.dialect, "/any"), body=b'{"stream": true}')
    pieces = enumerate(given.pieces(size), 1)
    return Exchange(
        request=request,
        headers=Headers({"content-type": "application/octet-stream"}),
        chunks=tuple(Chunk(data=piece, at=number * every) for number, piece in pieces),
    )


def turn(given: Stream, size: int | None = None) -> Case:
    """One turn over the stream. The event loop is there before: it belongs to no turn."""
    recorded = exchange(given, size)
    return lambda: _running(_turn(given, recorded, Recorded(recorded)))


def crowd(given: Stream, turns: int, size: int) -> Case:
    """So many turns at once, each piece of each of them due at its time, through an HTTP client that replays."""
    return lambda: _running(_crowd(given, turns, size))


async def _crowd(given: Stream, turns: int, size: int) -> None:
    recorded = exchange(given, size, every=0.01)
    transport = ReplayTransport([recorded], again=True, clock=VirtualClock())
    async with httpx.AsyncClient(transport=transport, base_url="http://memory") as client:
        wire = HttpxTransport(client)
        async with asyncio.TaskGroup() as group:
            for _ in range(turns):
                group.create_task(_turn(given, recorded, wire))
    if transport.open:
        raise RuntimeError(f"{transport.open} responses were left open")


async def _turn(given: Stream, recorded: Exchange, transport: Transport) -> None:
    provider = DialectProvider(given.dialect, transport, build=asked(recorded))
    async with Step(provider) as step:
        subscription = step.subscribe(on_full="block")
        reader = asyncio.create_task(_read(subscription))
        await step.run_turn(State())
    text, streamed = await reader
    if subscription.dropped or not text == streamed == given.text:
        raise RuntimeError(f"{given.dialect}: the subscriber did not hear the whole turn")


async def _read(subscription: Subscription) -> tuple[str, str]:
    """The text of the turn and that of its fragments."""
    whole = ""
    fragments: list[str] = []
    async for event in subscription:
        if isinstance(event, ArtifactEvent):
            if event.topic == "text_delta":
                fragments.append(event.value.text)
        elif isinstance(event, TurnCompleteEvent):
            whole = "".join(part.text for part in event.parts if isinstance(part, Text))
    return whole, "".join(fragments)


@cache
def _runner() -> asyncio.Runner:
    runner = asyncio.Runner()
    atexit.register(runner.close)
    return runner


def _running(work: Coroutine[Any, Any, None]) -> None:
    _runner().run(work)
