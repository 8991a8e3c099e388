"""Recorded, replayed and recorded again an exchange is the same: bytes, pieces, end, and the times as far as the clock goes."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness import cassette
from harness.cassette.model import Exchange
from harness.recording import Recorder, RecordingTransport, SyncRecordingTransport
from harness.replay import ReplayTransport, VirtualClock
from tests import chat
from tests.exchanges import CHAT, sse
from tests.exchanges import cassette as case_of
from tests.loop.running import run
from tests.recording.server import Answer, serving

BODY = sse(chat.text("Ebbe – 潮"), chat.text(" und Flut"), chat.stops())
MIDDLE = BODY.index("潮".encode()) + 1
PIECES = {
    "as one": (BODY,),
    "inside a character": (BODY[:MIDDLE], BODY[MIDDLE:]),
    "byte by byte": tuple(BODY[at : at + 1] for at in range(len(BODY))),
    "crlf apart": (b"data: 1\r", b"\n\r", b"\n", b"\x00\xff\xe2\x80\xa8\n\n"),
    "nothing": (),
    "large": (b"data: " + b"x" * 300_000 + b"\n\n", b"data: [DONE]\n\n"),
}
ENDS = {"eof": "eof", "reset": "reset", "stall": "timeout"}


async def read(transport: httpx.AsyncBaseTransport, url: str) -> None:
    async with httpx.AsyncClient(transport=transport, base_url=url, timeout=httpx.Timeout(5, read=0.3)) as client:
        try:
            async with client.stream("POST", CHAT, json={"stream": True}) as response:
                async for _ in response.aiter_raw():
                    pass
        except httpx.TransportError:
            pass


def shape(exchange: Exchange) -> Any:
    return exchange.status, exchange.ending, [chunk.data for chunk in exchange.chunks]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("pieces", PIECES)
def test_record_replay_record(pieces: str, end: str, tmp_path: Path) -> None:
    async def scenario() -> tuple[Exchange, Exchange]:
        recorder = Recorder()
        async with serving(Answer(pieces=PIECES[pieces], ends=end)) as server:
            await read(RecordingTransport(httpx.AsyncHTTPTransport(), recorder), server.url)
        (first,) = recorder.exchanges
        cassette.save(case_of(first), tmp_path / "case.yaml")
        loaded = cassette.load_one(tmp_path / "case.yaml").stream
        assert loaded is not None
        clock = VirtualClock()
        again = Recorder(clock=clock)
        await read(RecordingTransport(ReplayTransport([loaded], clock=clock), again), "http://127.0.0.1")
        return first, again.exchanges[0]

    first, second = run(scenario())
    assert shape(first) == shape(second)
    assert first.ending == ENDS[end]
    assert first.body == b"".join(PIECES[pieces])
    if len(PIECES[pieces]) < 10 and pieces != "large":  # a read of the system may join many, or cut a large one
        assert [chunk.data for chunk in first.chunks] == list(PIECES[pieces])
    assert [chunk.at for chunk in second.chunks] == pytest.approx([chunk.at for chunk in first.chunks], abs=2e-6)


def in_a_thread(server: Answer, use: Any) -> None:
    """Let a client that is not async use a server."""

    async def scenario() -> None:
        async with serving(server) as serves:
            thread = threading.Thread(target=use, args=(serves.url,))
            thread.start()
            while thread.is_alive():
                await asyncio.sleep(0.005)

    asyncio.run(scenario())


@pytest.mark.parametrize("end", ENDS)
def test_a_client_that_is_not_async(end: str) -> None:
    recorder, got = Recorder(), []

    def use(url: str) -> None:
        transport = SyncRecordingTransport(httpx.HTTPTransport(), recorder)
        with httpx.Client(transport=transport, base_url=url, timeout=httpx.Timeout(5, read=0.3)) as client:
            try:
                with client.stream("POST", CHAT, json={"stream": True}) as response:
                    got.extend(response.iter_raw())
            except httpx.TransportError:
                pass

    in_a_thread(Answer(pieces=PIECES["inside a character"], ends=end), use)
    (kept,) = recorder.exchanges
    assert [chunk.data for chunk in kept.chunks] == list(PIECES["inside a character"]) == got or end != "eof"
    assert (kept.body, kept.ending, kept.status) == (BODY, ENDS[end], 200)
    assert kept.request.json == {"stream": True}


def test_a_client_that_is_not_async_and_leaves() -> None:
    recorder = Recorder()

    def use(url: str) -> None:
        with (
            httpx.Client(transport=SyncRecordingTransport(httpx.HTTPTransport(), recorder), base_url=url) as client,
            client.stream("POST", CHAT, json={"stream": True}) as response,
        ):
            next(response.iter_raw())

    in_a_thread(Answer(pieces=(b"data: 1\n\n", b"data: 2\n\n"), holds=1), use)
    (kept,) = recorder.exchanges
    assert (kept.body, kept.ending) == (b"data: 1\n\n", "reset")


def test_a_client_that_is_not_async_and_reaches_nobody() -> None:
    recorder = Recorder()
    client = httpx.Client(transport=SyncRecordingTransport(httpx.HTTPTransport(), recorder))
    with client, pytest.raises(httpx.ConnectError):
        client.post("http://127.0.0.1:1/v1/chat/completions", json={})
    assert (recorder.exchanges[0].status, recorder.exchanges[0].ending) == (0, "reset")


def test_the_first_piece_is_not_held_back() -> None:
    """The client has the first piece while the server still waits to send the second."""

    async def scenario() -> Exchange:
        recorder = Recorder()
        answer = Answer(pieces=(b"data: 1\n\n", b"data: 2\n\n"), holds=1)
        async with serving(answer) as server:
            transport = RecordingTransport(httpx.AsyncHTTPTransport(), recorder)
            async with (
                httpx.AsyncClient(transport=transport, base_url=server.url) as client,
                client.stream("POST", CHAT, json={}) as response,
            ):
                pieces = response.aiter_raw()
                assert await anext(pieces) == b"data: 1\n\n"
                assert recorder.exchanges[0].body == b"data: 1\n\n"  # kept already
                answer.go.set()
                assert await anext(pieces) == b"data: 2\n\n"
                assert [piece async for piece in pieces] == []
        return recorder.exchanges[0]

    assert run(scenario()).ending == "eof"
