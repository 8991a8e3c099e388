"""The transport over httpx: one code for a live server and for a recording."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from harness import dialects
from harness.adapters.wire import HttpxTransport, key_header
from harness.api_error import ErrorKind
from harness.loop.artifacts import Artifact, Settled
from harness.loop.provider import DialectProvider, ProviderFailure
from harness.loop.wire import Chunk, WireError, WireRequest
from harness.replay.transport import ReplayTransport
from harness.request import TurnRequest
from harness.response import Text
from tests.chat import DONE, stops, text
from tests.exchanges import exchange, sse
from tests.laws.cases import each_dialect
from tests.loop.running import run

BODY = sse(text("Hav"), text("næs"), stops(), DONE)


class Pieces(httpx.AsyncByteStream):
    def __init__(self, *pieces: bytes | Exception) -> None:
        self.pieces = pieces
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    async def aclose(self) -> None:
        self.closed = True


def client(answer: Any, **options: Any) -> httpx.AsyncClient:
    """A client that is answered by `answer`: a response, an exception, or a function of the request."""

    def handler(request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    return httpx.AsyncClient(transport=httpx.MockTransport(handler), **options)


async def fetched(transport: HttpxTransport, request: WireRequest) -> list[Chunk]:
    reply = await transport.send(request)
    chunks = [chunk async for chunk in reply.chunks()]
    await reply.aclose()
    return chunks


def test_pieces_come_as_they_are_with_their_times() -> None:
    clock = iter([10.0, 10.5, 11.25]).__next__
    transport = HttpxTransport(client(httpx.Response(200, stream=Pieces(b"one", b"two"))), base_url="http://here", clock=clock)
    assert run(fetched(transport, WireRequest())) == [Chunk(at=0.5, data=b"one"), Chunk(at=1.25, data=b"two")]


def test_a_request_goes_below_the_base_url_with_all_headers() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200)

    request = WireRequest(path="/model/a%3A0/converse?x=1", headers={"content-type": "application/json"}, body=b"{}")
    for transport in (
        HttpxTransport(client(answer), base_url="http://here/v1/", headers={"x-api-key": "k"}),
        HttpxTransport(client(answer, base_url="http://here/v1/"), headers={"x-api-key": "k"}),
    ):
        run(fetched(transport, request))
        assert str(seen[-1].url) == "http://here/v1/model/a%3A0/converse?x=1"
        assert seen[-1].headers["x-api-key"] == "k"
        assert seen[-1].headers["content-type"] == "application/json"
        assert seen[-1].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx.ConnectError("refused"), "network"),
        (httpx.ConnectTimeout("slow"), "timeout"),
        (httpx.ReadError("reset"), "network"),
        (httpx.ReadTimeout(""), "timeout"),
        (httpx.RemoteProtocolError("incomplete"), "network"),
    ],
)
def test_what_becomes_of_a_connection(error: Exception, kind: str) -> None:
    before = HttpxTransport(client(error), base_url="http://here")
    within = HttpxTransport(client(httpx.Response(200, stream=Pieces(b"x", error))), base_url="http://here")
    for transport in (before, within):
        with pytest.raises(WireError) as caught:
            run(fetched(transport, WireRequest()))
        assert caught.value.kind == kind
        assert (str(error) or type(error).__name__) in caught.value.message


def test_a_response_that_was_made_whole_is_one_piece() -> None:
    transport = HttpxTransport(client(httpx.Response(200, content=b"all of it")), base_url="http://here")
    assert [chunk.data for chunk in run(fetched(transport, WireRequest()))] == [b"all of it"]


def test_a_response_that_nobody_reads_to_its_end_is_closed() -> None:
    stream = Pieces(*[b"x"] * 9)

    async def scene() -> None:
        reply = await HttpxTransport(client(httpx.Response(200, stream=stream)), base_url="http://here").send(WireRequest())
        await reply.aclose()
        await reply.aclose()

    run(scene())
    assert stream.closed


def turn(transport: ReplayTransport) -> list[Artifact]:
    told: list[Artifact] = []

    async def emit(artifact: Artifact) -> None:
        told.append(artifact)

    async def scene() -> None:
        async with httpx.AsyncClient(transport=transport, base_url="http://replay/v1") as http:
            await DialectProvider("openai-chat", HttpxTransport(http)).invoke(TurnRequest(model="m"), emit)

    run(scene())
    return told


def test_a_recording_answers_like_a_server() -> None:
    transport = ReplayTransport([exchange(BODY, pieces=11)])
    settled = next(artifact for artifact in turn(transport) if isinstance(artifact, Settled))
    assert settled.parts == (Text(text="Havnæs"),)
    assert transport.open == 0


def test_a_recording_that_was_reset_within_a_character_is_a_failed_turn() -> None:
    transport = ReplayTransport([exchange(BODY[: BODY.index("æ".encode()) + 1], pieces=11, ending="reset")])
    with pytest.raises(ProviderFailure) as failed:
        turn(transport)
    assert failed.value.error.kind is ErrorKind.TRUNCATED
    assert failed.value.response is not None
    assert failed.value.response.text == "Hav"
    assert transport.open == 0


NAMES = {"anthropic-messages": {"x-api-key": "k"}, "gemini": {"x-goog-api-key": "k"}}


@each_dialect
def test_keys_have_the_name_that_the_vendor_gives_them(dialect: str) -> None:
    assert key_header(dialect, "k") == NAMES.get(dialect, {"authorization": "Bearer k"})
    assert dialects.dialect(dialect).key_header[0].islower()


@pytest.mark.parametrize(
    ("error", "kind"),
    [(ConnectionResetError("gone"), "network"), (OSError(5, "gone"), "network"), (TimeoutError("gone"), "timeout")],
)
def test_the_errors_of_the_system_are_those_of_the_connection(error: OSError, kind: str) -> None:
    """Not every transport puts them in httpx's words."""
    for answer in (error, httpx.Response(200, stream=Pieces(BODY[:20], error))):
        with pytest.raises(WireError, match="gone") as caught:
            run(fetched(HttpxTransport(client(answer), base_url="http://here"), WireRequest()))
        assert caught.value.kind == kind
