"""Recording: what passes is kept byte for byte with its times, and neither client nor server sees a difference."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness import cassette, checking, inputs
from harness.adapters import Ours
from harness.cassette.model import Chunk, Exchange, Headers
from harness.errors import CassetteError
from harness.loop.wire import WireError, WireRequest
from harness.recording import Recorder, RecordingTransport, RecordingWire
from harness.replay import ReplayTransport, VirtualClock, each, joined, randomly, recut
from tests import chat
from tests.exchanges import CHAT, document, exchange, sse
from tests.loop.running import rounds, run
from tests.shared import SHARED

TURN = sse(chat.text("Ebb"), chat.text(" and flow"), chat.stops())


def recorded_again(*exchanges: Exchange, reads: int | None = None) -> tuple[list[bytes], Recorder]:
    """What a client got of the exchanges, and what was recorded meanwhile. It reads so many pieces of each."""
    clock = VirtualClock()
    recorder = Recorder(clock=clock, by="a test", today=lambda: date(2026, 12, 1))
    replay = ReplayTransport(exchanges, clock=clock)
    got: list[bytes] = []

    async def scenario() -> None:
        async with httpx.AsyncClient(
            transport=RecordingTransport(replay, recorder), base_url="https://api.tide.invalid"
        ) as client:
            for recorded in exchanges:
                await one(client, recorded)

    async def one(client: httpx.AsyncClient, recorded: Exchange) -> None:
        request = recorded.request
        try:
            async with client.stream(request.method, request.target, content=request.body) as response:
                async for number, piece in numbered(response):
                    got.append(piece)
                    if number == reads:
                        break
        except httpx.TransportError:
            pass

    run(scenario())
    assert replay.open == 0
    assert recorder.open == 0
    return got, recorder


async def numbered(response: httpx.Response) -> AsyncIterator[tuple[int, bytes]]:
    numbers = itertools.count(1)
    async for piece in response.aiter_raw():
        yield next(numbers), piece


# BR-062


def scenario() -> Exchange:
    (given,) = inputs.load(SHARED / "spec" / "bug-inputs" / "BR-062.json")
    return given.exchanges[0]


def test_br_062_a_recording_keeps_the_reads(tmp_path: Path) -> None:
    """Recorded, saved, loaded and played, the stream has the pieces that it had."""
    original = scenario()
    _, recorder = recorded_again(replace(original, request=exchange(b"").request))  # scenarios have none
    (case,) = recorder.cassettes("openai-chat/here/border")
    cassette.save(case, tmp_path / "border.yaml")
    loaded = cassette.load_one(tmp_path / "border.yaml").stream
    assert loaded is not None
    replayed, _ = recorded_again(loaded)
    assert [len(piece) for piece in replayed] == [len(chunk.data) for chunk in original.chunks]
    assert len(replayed) == json.loads((SHARED / "spec" / "bug-inputs" / "BR-062.expected.json").read_text())["reads"]
    assert replayed == [chunk.data for chunk in original.chunks]


@pytest.mark.parametrize("cut", [each(1), randomly(62), randomly(7, 200), joined()], ids=["bytes", "random", "large", "joined"])
def test_br_062_other_cuts_give_the_same_turn(cut: Any) -> None:
    got, recorder = recorded_again(recut(scenario(), cut))
    seen = Ours().observe(recorder.exchanges[0], "openai-chat")
    assert b"".join(got) == scenario().body
    assert seen.complete
    assert seen.response is not None
    assert (seen.response.text, seen.response.raw_finish_reason) == ("border", "stop")
    (given,) = inputs.load(SHARED / "spec" / "bug-inputs" / "BR-062.json")
    assert checking.check(given).as_dict()["response"] == seen.response.as_dict()


# what is kept


def test_bytes_and_times_are_kept() -> None:
    original = exchange(TURN, pieces=50)
    got, recorder = recorded_again(original)
    (kept,) = recorder.exchanges
    assert got == [chunk.data for chunk in original.chunks]
    assert [(c.data, c.at) for c in kept.chunks] == [(c.data, pytest.approx(c.at)) for c in original.chunks]
    assert (kept.status, kept.ending, kept.wire) == (200, "eof", "original")
    assert kept.request.json == {"stream": True}
    assert (kept.request.method, kept.request.host, kept.request.target) == ("POST", "api.tide.invalid", CHAT)
    assert kept.headers["content-type"] == "text/event-stream"


@pytest.mark.parametrize("ending", ["reset", "timeout"])
def test_ends_are_kept(ending: Any) -> None:
    _, recorder = recorded_again(exchange(TURN[:40], ending=ending))
    (kept,) = recorder.exchanges
    assert (kept.ending, kept.body) == (ending, TURN[:40])


@pytest.mark.parametrize("ending", ["reset", "timeout"])
def test_no_response_is_kept(ending: Any) -> None:
    _, recorder = recorded_again(Exchange(status=0, ending=ending))
    (kept,) = recorder.exchanges
    assert (kept.status, kept.ending, kept.chunks) == (0, ending, ())


def test_a_body_that_was_left_is_kept_as_far_as_it_came() -> None:
    got, recorder = recorded_again(exchange(TURN, pieces=20), reads=3)
    (kept,) = recorder.exchanges
    assert (kept.body, kept.ending, len(got)) == (TURN[:60], "reset", 3)


def test_a_refusal_is_kept() -> None:
    _, recorder = recorded_again(document({"error": {"message": "slow down"}}, status=429, retry_after="7"))
    (kept,) = recorder.exchanges
    assert (kept.status, kept.headers["retry-after"]) == (429, "7")
    assert kept.json == {"error": {"message": "slow down"}}


def test_a_cancelled_turn_is_kept_as_far_as_it_came() -> None:
    clock = VirtualClock()
    recorder = Recorder(clock=clock)
    replay = ReplayTransport([exchange(TURN, pieces=20)], clock=clock)

    async def turn() -> None:
        async with httpx.AsyncClient(transport=RecordingTransport(replay, recorder)) as client:
            await client.post("https://api.tide.invalid/v1/chat/completions", json={"stream": True})

    async def scenario() -> None:
        task = asyncio.create_task(turn())
        await clock.sleep(5.0)
        assert recorder.open == 1
        task.cancel()
        await asyncio.wait([task])
        await rounds(2)

    run(scenario())
    (kept,) = recorder.exchanges
    assert (kept.ending, kept.body) == ("reset", TURN[: len(kept.body)])
    assert 0 < len(kept.body) < len(TURN)
    assert (recorder.open, replay.open) == (0, 0)


def test_a_request_body_that_comes_in_pieces_is_sent_and_kept() -> None:
    recorder = Recorder()
    replay = ReplayTransport([exchange(TURN)])

    async def body() -> AsyncIterator[bytes]:
        yield b'{"stream":'
        yield b" true}"

    async def scenario() -> None:
        async with httpx.AsyncClient(transport=RecordingTransport(replay, recorder)) as client:
            await client.post("https://api.tide.invalid/v1/chat/completions", content=body())

    run(scenario())
    assert recorder.exchanges[0].request.body == replay.asked[0].body == b'{"stream": true}'


# cassettes


def test_a_stream_and_its_twin_make_a_cassette(tmp_path: Path) -> None:
    body = {"choices": [], "object": "chat.completion"}
    _, recorder = recorded_again(exchange(TURN, pieces=30), document(body))
    (case,) = recorder.cassettes("openai-chat/tide/text", provider="tide")
    assert (case.dialect, case.provider, case.pair_kind) == ("openai-chat", "tide", "exact")
    assert (case.provenance.kind, case.provenance.on, case.provenance.by) == ("recorded", "2026-12-01", "a test")
    assert case.stream is not None
    assert case.reference is not None
    cassette.save(case, tmp_path / "text.yaml")
    loaded = cassette.load_one(tmp_path / "text.yaml")
    assert loaded.stream is not None
    assert loaded.stream.chunks == case.stream.chunks
    assert loaded.provenance == case.provenance


def test_retries_are_cassettes_of_their_own() -> None:
    _, recorder = recorded_again(document({"error": {}}, status=429), exchange(TURN))
    assert [case.id for case in recorder.cassettes("turn")] == ["turn#0", "turn#1"]


def test_nothing_of_a_known_api() -> None:
    _, recorder = recorded_again(exchange(TURN, path="/somewhere", request={}))
    with pytest.raises(CassetteError, match="nothing was recorded that is of a known API"):
        recorder.cassettes("turn")


# secrets


def test_secrets_in_the_head_are_masked() -> None:
    sent = {
        "authorization": "Bearer sk-secret",
        "x-api-key": "sk-secret",
        "cookie": "session=secret",
        "x-of-our-own": "secret",
        "anthropic-version": "2023-06-01",
    }
    told = {
        "set-cookie": "session=secret",
        "openai-organization": "org-secret",
        "x-ratelimit-remaining-tokens": "17",
        "retry-after": "7",
        "location": "https://me:secret@tide.invalid/next?alt=sse&token=secret#top",
        "link": '<https://tide.invalid/?page=2&X-Amz-Signature=secret>; rel="next"',
        "x-session-id": "secret",
    }
    recorder = Recorder()
    answer = Exchange(headers=Headers(told), chunks=(Chunk(data=TURN),))

    async def scenario() -> httpx.Response:
        async with httpx.AsyncClient(transport=RecordingTransport(ReplayTransport([answer]), recorder)) as client:
            address = "https://me:secret@tide.invalid/v1/chat/completions?alt=sse&key=secret&api%5Fkey=secret&maxTokens=3"
            return await client.post(address, headers=sent, json={"stream": True})

    answered = run(scenario())
    assert answered.headers["set-cookie"] == "session=secret"  # the client has what it was sent
    (kept,) = recorder.exchanges
    assert "secret" not in repr(kept)
    assert kept.request.target == "/v1/chat/completions?alt=sse&key=xxxxxx&api%5Fkey=xxxxxx&maxTokens=3"
    assert kept.request.headers["authorization"] == "Basic xXX0x0XxxxX0"  # of the address
    assert kept.request.headers["anthropic-version"] == "2023-06-01"
    assert (kept.headers["set-cookie"], kept.headers["openai-organization"]) == ("xxxxxxx=xxxxxx", "xxx-xxxxxx")
    assert (kept.headers["x-ratelimit-remaining-tokens"], kept.headers["retry-after"]) == ("17", "7")
    assert kept.headers["location"] == "https://xx:xxxxxx@tide.invalid/next?alt=sse&token=xxxxxx#top"
    assert kept.headers["link"] == '<https://tide.invalid/?page=2&X-Amz-Signature=xxxxxx>; rel="next"'
    assert kept.body == TURN


# a transport of the loop


class Wire:
    """Answers with pieces, then fails if it is told to."""

    def __init__(self, *pieces: Chunk, fails: WireError | None = None, refuses: WireError | None = None) -> None:
        self.pieces = pieces
        self.fails = fails
        self.refuses = refuses
        self.closed = False
        self.status = 200
        self.headers = {"content-type": "text/event-stream"}

    async def send(self, request: WireRequest) -> Wire:
        if self.refuses is not None:
            raise self.refuses
        return self

    async def chunks(self) -> AsyncIterator[Chunk]:
        for piece in self.pieces:
            yield piece
        if self.fails is not None:
            raise self.fails

    async def aclose(self) -> None:
        self.closed = True


def through_wire(inner: Wire, reads: int = 99) -> tuple[list[Chunk], Exchange]:
    wire = RecordingWire(inner, host="api.tide.invalid")
    got: list[Chunk] = []

    async def scenario() -> None:
        request = WireRequest(path=CHAT, headers={"authorization": "Bearer secret"}, body=b'{"stream": true}')
        try:
            response = await wire.send(request)
        except WireError:
            return
        pieces = response.chunks()
        try:
            while len(got) < reads:
                got.append(await anext(pieces))
        except (WireError, StopAsyncIteration):
            pass
        await pieces.aclose()  # type: ignore[attr-defined]
        await response.aclose()

    run(scenario())
    (kept,) = wire.recorder.exchanges
    return got, kept


PIECES = (Chunk(at=0.5, data=TURN[:9]), Chunk(at=1.5, data=TURN[9:]))


def test_a_wire_is_recorded_with_the_times_that_it_tells() -> None:
    inner = Wire(*PIECES)
    got, kept = through_wire(inner)
    assert tuple(got) == kept.chunks == PIECES
    assert (kept.status, kept.ending, kept.content_type) == (200, "eof", "text/event-stream")
    assert (kept.request.host, kept.request.target) == ("api.tide.invalid", CHAT)
    assert kept.request.headers["authorization"] == "Bearer xxxxxx"
    assert inner.closed


@pytest.mark.parametrize(("kind", "ending"), [("network", "reset"), ("timeout", "timeout")])
def test_a_wire_that_fails(kind: Any, ending: str) -> None:
    _, kept = through_wire(Wire(*PIECES, fails=WireError(kind, "it broke")))
    assert (kept.ending, kept.chunks) == (ending, PIECES)
    _, kept = through_wire(Wire(refuses=WireError(kind, "it broke")))
    assert (kept.status, kept.ending) == (0, ending)


def test_a_wire_that_is_left() -> None:
    inner = Wire(*PIECES)
    _, kept = through_wire(inner, reads=1)
    assert (kept.ending, kept.chunks) == ("reset", PIECES[:1])
    assert inner.closed


@pytest.mark.parametrize("value", [b"Havn\xc3\xa6s", b"Havn\xe6s", b"ebb, flow"])
def test_a_header_is_played_again_byte_for_byte(value: bytes) -> None:
    """Names and values of header fields are bytes, whatever they mean."""

    class Once(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, headers=[(b"x-port", value)], stream=httpx.ByteStream(TURN))

    async def asked(transport: httpx.AsyncBaseTransport) -> list[tuple[bytes, bytes]]:
        async with httpx.AsyncClient(transport=transport) as client:
            return (await client.post("https://api.tide.invalid/", json={})).headers.raw

    recorder = Recorder()
    assert run(asked(RecordingTransport(Once(), recorder))) == run(asked(ReplayTransport(recorder.exchanges)))
