"""Recordings as a transport of the loop: what comes, when, how it ends, and what is left open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.adapters.recorded import Recorded, asked, events_of
from harness.cassette.model import Chunk, Exchange
from harness.dialects import dialect
from harness.errors import NoRecordingError
from harness.loop.wire import WireError, WireRequest
from harness.replay import VirtualClock
from harness.request import TurnRequest
from tests import chat
from tests.exchanges import exchange, sse
from tests.loop.running import run

BODY = sse(chat.text("Hello"), chat.stops())


async def read(transport: Recorded) -> list[Chunk]:
    reply = await transport.send(WireRequest())
    try:
        return [chunk async for chunk in reply.chunks()]
    finally:
        await reply.aclose()


def test_pieces_come_as_they_were_recorded() -> None:
    recorded = exchange(BODY, pieces=10)
    transport = Recorded(recorded)
    assert run(read(transport)) == list(recorded.chunks)
    assert (len(transport.sent), transport.open, transport.replies[0].read) == (1, 0, len(recorded.chunks))


def test_pieces_come_when_they_are_due() -> None:
    clock = VirtualClock()
    transport = Recorded(exchange(BODY, pieces=10), clock=clock)
    last = run(read(transport))[-1]
    assert clock() == pytest.approx(last.at)


@pytest.mark.parametrize(("ending", "kind"), [("reset", "network"), ("timeout", "timeout")])
@pytest.mark.parametrize("status", [200, 0])
def test_a_connection_that_broke(ending: str, kind: str, status: int) -> None:
    transport = Recorded(replace(exchange(BODY), ending=ending, status=status))  # type: ignore[arg-type]
    with pytest.raises(WireError) as caught:
        run(read(transport))
    assert caught.value.kind == kind
    assert transport.open == 0


def test_no_response_and_no_reason() -> None:
    with pytest.raises(WireError, match="no response was recorded"):
        run(read(Recorded(Exchange(status=0))))


def test_what_was_not_let_go_of_is_open() -> None:
    transport = Recorded(exchange(BODY), exchange(BODY))

    async def twice() -> None:
        await transport.send(WireRequest())
        await transport.send(WireRequest())
        await transport.replies[0].aclose()

    run(twice())
    assert transport.open == 1


def test_a_request_too_many() -> None:
    transport = Recorded(exchange(BODY))
    run(read(transport))
    with pytest.raises(NoRecordingError, match="1 exchanges are recorded"):
        run(read(transport))


def test_the_request_is_the_recorded_one() -> None:
    recorded = exchange(BODY, path="/v1/chat/completions?a=b", request={"stream": True, "model": "m"})
    parts = asked(recorded)(TurnRequest(model="other"))
    assert (parts.path, parts.body) == ("/v1/chat/completions?a=b", {"stream": True, "model": "m"})
    assert asked(Exchange())(TurnRequest()).body == {}


def test_a_turn_is_told_from_its_beginning_to_its_end() -> None:
    events = events_of(exchange(BODY), dialect("openai-chat"))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.terminal for event in events].index(True) == len(events) - 1
