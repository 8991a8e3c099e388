"""The replay transport: pieces, times and ends as they were recorded, and the answer to the request that is asked."""

from __future__ import annotations

import asyncio
import gzip
import time
from typing import Any

import httpx
import pytest

from harness import cassette
from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.errors import NoRecordingError
from harness.replay import RecordedTime, ReplayTransport, VirtualClock, same_request
from tests import chat
from tests.exchanges import CHAT, document, exchange, sse
from tests.exchanges import cassette as case_of
from tests.loop.running import rounds, run

BODY = sse(chat.text("Ebb"), chat.text("and flow é"), chat.stops())


def pieces(*chunks: tuple[float, bytes], **more: Any) -> Exchange:
    return Exchange(chunks=tuple(Chunk(at=at, data=data) for at, data in chunks), **more)


async def read(client: httpx.AsyncClient, **request: Any) -> tuple[list[bytes], httpx.Response]:
    """The pieces of a response as they come."""
    request = {"method": "POST", "url": CHAT, "json": {"stream": True}, **request}
    async with client.stream(**request) as response:
        return [piece async for piece in response.aiter_raw()], response


async def into(got: list[bytes], response: httpx.Response) -> None:
    """The same into a list that has what came before something went wrong."""
    async for piece in response.aiter_raw():
        got.append(piece)  # noqa: PERF401


def client_of(transport: ReplayTransport, **more: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=transport, base_url="http://replay.invalid", **more)


def all_pieces(transport: ReplayTransport, times: int = 1, **request: Any) -> list[list[bytes]]:
    async def scenario() -> list[list[bytes]]:
        async with client_of(transport) as client:
            return [(await read(client, **request))[0] for _ in range(times)]

    return run(scenario())


# pieces and times


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_pieces_are_those_of_the_recording(size: int) -> None:
    recorded = exchange(BODY, pieces=size)
    assert all_pieces(ReplayTransport([recorded])) == [[chunk.data for chunk in recorded.chunks]]


def test_a_character_that_was_cut_stays_cut() -> None:
    cut = "é".encode()
    assert all_pieces(ReplayTransport([pieces((0.1, b"data: " + cut[:1]), (0.2, cut[1:] + b"\n\n"))])) == [
        [b"data: \xc3", b"\xa9\n\n"]
    ]


def test_pieces_come_at_their_times() -> None:
    transport = ReplayTransport([pieces((0.4, b"a"), (0.9, b"b"), (0.9, b"c"), (60.0, b"d"))])

    async def scenario() -> list[tuple[float, bytes]]:
        async with client_of(transport) as client, client.stream("POST", CHAT) as response:
            return [(transport.clock(), piece) async for piece in response.aiter_raw()]

    assert run(scenario()) == [(0.4, b"a"), (0.9, b"b"), (0.9, b"c"), (60.0, b"d")]


def test_a_minute_takes_no_time() -> None:
    """The goal is 50 ms; the limit leaves room for a busy machine, and is a thousandth of what waiting would take."""
    recorded = pieces(*((0.06 * number, b"data: {}\n\n") for number in range(1, 1001)))
    all_pieces(ReplayTransport([pieces((0.0, b"x"))]))  # what is done once for a process is done by now
    began = time.perf_counter()
    ((*got,),) = all_pieces(ReplayTransport([recorded]))
    assert len(got) == 1000
    assert time.perf_counter() - began < 1.0


def test_recorded_time_on_request() -> None:
    now = [0.0]
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds, 6))
        now[0] += seconds

    clock = RecordedTime(2.0, clock=lambda: now[0], sleep=sleep)
    all_pieces(ReplayTransport([pieces((0.5, b"a"), (1.5, b"b"))], clock=clock))
    assert slept == [0.25, 0.5]


def test_a_late_reader_gets_what_is_overdue_at_once() -> None:
    transport = ReplayTransport([pieces((1.0, b"a"), (2.0, b"b"), (9.0, b"c"))])
    times = []

    async def scenario() -> None:
        async with client_of(transport) as client, client.stream("POST", CHAT) as response:
            async for _ in response.aiter_raw():
                times.append(transport.clock())
                await transport.clock.sleep(5.0)

    run(scenario())
    assert times == [1.0, 6.0, 11.0]


def test_two_turns_at_once_keep_their_times() -> None:
    clock = VirtualClock()
    recorded = [pieces((1.0, b"a"), (3.0, b"b")), pieces((2.0, b"c"), (4.0, b"d"))]
    got: list[tuple[float, bytes]] = []

    async def one(transport: ReplayTransport) -> None:
        async with client_of(transport) as client, client.stream("POST", CHAT) as response:
            got.extend([(clock(), piece) async for piece in response.aiter_raw()])

    async def scenario() -> None:
        await asyncio.gather(*(one(ReplayTransport([e], clock=clock)) for e in recorded))

    run(scenario())
    assert sorted(got) == [(1.0, b"a"), (2.0, b"c"), (3.0, b"b"), (4.0, b"d")]


# ends


def ended(recorded: Exchange, **timeout: Any) -> tuple[list[bytes], Exception | None, ReplayTransport]:
    transport = ReplayTransport([recorded])

    async def scenario() -> tuple[list[bytes], Exception | None]:
        got: list[bytes] = []
        async with client_of(transport, timeout=httpx.Timeout(30.0, **timeout)) as client:
            try:
                async with client.stream("POST", CHAT) as response:
                    await into(got, response)
            except httpx.TransportError as error:
                return got, error
        return got, None

    got, error = run(scenario())
    return got, error, transport


def test_a_reset_is_a_reset() -> None:
    got, error, transport = ended(pieces((0.1, b"data: {"), ending="reset"))
    assert got == [b"data: {"]
    assert type(error) is httpx.ReadError
    assert transport.open == 0


def test_a_stall_lasts_for_as_long_as_the_client_waits() -> None:
    got, error, transport = ended(pieces((0.1, b"a"), ending="timeout"), read=7.0)
    assert got == [b"a"]
    assert type(error) is httpx.ReadTimeout
    assert transport.clock() == pytest.approx(7.1)


def test_a_stall_without_a_limit_ends_too() -> None:
    _, error, _ = ended(pieces(ending="timeout"), read=None)
    assert type(error) is httpx.ReadTimeout


@pytest.mark.parametrize(("ending", "kind"), [("reset", httpx.ConnectError), ("timeout", httpx.ConnectTimeout)])
def test_no_response_at_all(ending: Any, kind: type[Exception]) -> None:
    _, error, transport = ended(Exchange(status=0, ending=ending), connect=3.0)
    assert type(error) is kind
    assert transport.open == 0
    assert transport.clock() == (3.0 if ending == "timeout" else 0.0)


def test_a_body_without_pieces() -> None:
    assert all_pieces(ReplayTransport([Exchange()])) == [[]]


def test_leaving_in_the_middle_leaves_nothing_open() -> None:
    transport = ReplayTransport([exchange(BODY, pieces=5)])

    async def scenario() -> None:
        async with client_of(transport) as client, client.stream("POST", CHAT) as response:
            assert transport.open == 1
            pieces = response.aiter_raw()
            await anext(pieces)
            await pieces.aclose()  # type: ignore[attr-defined]
        assert transport.open == 0

    run(scenario())


@pytest.mark.parametrize("number", range(4))
def test_cancelling_at_any_piece_leaves_nothing_behind(number: int) -> None:
    transport = ReplayTransport([pieces((1.0, b"a"), (2.0, b"b"), (3.0, b"c"))])
    got: list[bytes] = []

    async def turn() -> None:
        async with client_of(transport) as client, client.stream("POST", CHAT) as response:
            await into(got, response)

    async def scenario() -> None:
        task = asyncio.create_task(turn())
        await transport.clock.sleep(number + 0.5)
        task.cancel()
        await asyncio.wait([task])
        await rounds(2)
        assert task.cancelled() == (number < 3)
        assert transport.open == 0
        assert isinstance(transport.clock, VirtualClock)
        assert transport.clock.sleeping == 0

    run(scenario())
    assert b"".join(got) == b"abc"[:number]


# heads


def head(recorded: Exchange, **request: Any) -> httpx.Response:
    async def scenario() -> httpx.Response:
        async with client_of(ReplayTransport([recorded])) as client:
            return await client.post(CHAT, **request)

    return run(scenario())


def test_status_and_headers_are_told() -> None:
    recorded = Exchange(status=429, headers=Headers([("Retry-After", "7"), ("x-note", "a"), ("x-note", "b")]))
    answer = head(recorded)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "7"
    assert answer.headers.get_list("x-note") == ["a", "b"]


def test_a_body_that_is_compressed_is_told_so() -> None:
    packed = gzip.compress(BODY)
    answer = head(exchange(packed, content_encoding="gzip", content_length=str(len(packed))))
    assert answer.content == BODY
    assert answer.headers["content-length"] == str(len(packed))


def test_headers_that_are_not_true_of_the_body_are_left_out() -> None:
    """Recorders undo codings and keep the header."""
    answer = head(exchange(BODY, content_encoding="gzip", content_length="12", transfer_encoding="chunked"))
    assert answer.content == BODY
    assert not {"content-encoding", "content-length", "transfer-encoding"} & set(answer.headers)


def test_headers_may_hold_any_letters() -> None:
    assert head(Exchange(headers=Headers([("x-note", "Zürich – 東京 \udcff")]))).status_code == 200


# which exchange answers


def bodies(*texts: str) -> list[Exchange]:
    return [exchange(text.encode(), request={"stream": True, "ask": text}) for text in texts]


def test_in_order_whatever_is_asked() -> None:
    transport = ReplayTransport(bodies("one", "two"))
    assert all_pieces(transport, times=2) == [[b"one"], [b"two"]]
    assert transport.left == 0
    assert [request.json for request in transport.asked] == [{"stream": True}] * 2
    assert transport.asked[0].target == CHAT


def test_a_request_too_many_says_so() -> None:
    with pytest.raises(NoRecordingError, match="all 1 recorded exchanges were played"):
        all_pieces(ReplayTransport(bodies("one")), times=2)


def test_again_and_again() -> None:
    assert all_pieces(ReplayTransport(bodies("one", "two"), again=True), times=3) == [[b"one"], [b"two"], [b"one"]]


def test_by_what_is_asked() -> None:
    transport = ReplayTransport(bodies("one", "two"), match=same_request)
    assert all_pieces(transport, json={"ask": "two", "stream": True}) == [[b"two"]]
    assert all_pieces(transport, json={"ask": "one", "stream": True}) == [[b"one"]]


def test_the_same_question_again_gets_the_next_answer() -> None:
    same = [exchange(text, request={"ask": 1}) for text in (b"first", b"second")]
    transport = ReplayTransport(same, match=same_request, again=True)
    assert all_pieces(transport, times=3, json={"ask": 1}) == [[b"first"], [b"second"], [b"first"]]


def test_no_answer_says_what_differs() -> None:
    transport = ReplayTransport(bodies("one"), match=same_request)
    with pytest.raises(NoRecordingError, match=r"no recording answers POST .*: of the 1 left, the body differs at /ask"):
        all_pieces(transport, json={"ask": "three", "stream": True})
    assert transport.left == 1


def test_both_sides_of_a_cassette() -> None:
    case = case_of(exchange(BODY), document({"id": "x"}))
    transport = ReplayTransport.of(case)
    assert all_pieces(transport, json={"stream": False}) == [[b'{"id": "x"}']]
    assert all_pieces(transport, json={"stream": True}) == [[BODY]]


@pytest.mark.parametrize(
    ("asked", "recorded", "differs"),
    [
        ({}, {}, None),
        ({"method": "post"}, {}, None),
        ({"method": "GET"}, {}, "the method is POST"),
        ({"target": "/v1/other"}, {}, "the path is /v1/chat"),
        ({"target": "/v1/chat?b=2&a=1"}, {"target": "/v1/chat?a=1&b=2"}, None),
        ({"target": "/v1/chat?alt=sse&key=secret"}, {"target": "/v1/chat?alt=sse&key=***"}, None),
        ({"target": "/v1/chat?alt=sse"}, {}, "the path is /v1/chat"),
        ({"target": "/model/a%3A0/x"}, {"target": "/model/a:0/x"}, None),
        ({}, {"target": ""}, None),
        ({}, {"body": None}, None),
        ({"host": "elsewhere", "headers": Headers({"authorization": "x"})}, {}, None),
        ({"body": b'{"b": 2, "a": [1]}'}, {"body": b'{"a":[1],"b":2}'}, None),
        ({"body": b'{"a": [1, 2]}'}, {"body": b'{"a": [1]}'}, "the body differs at /a/1"),
        ({"body": b'{"a": [1, {"c": true}]}'}, {"body": b'{"a": [1, {"c": 1}]}'}, "the body differs at /a/1/c"),
        ({"body": b'{"a": 1}'}, {"body": b"{}"}, "the body differs at /a"),
        ({"body": b"[]"}, {"body": b"{}"}, "the body differs at its top"),
        ({"body": b"not JSON"}, {"body": b"{}"}, "the body is another one"),
        ({"body": b"not JSON"}, {"body": b"not JSON"}, None),
    ],
)
def test_same_request(asked: dict[str, Any], recorded: dict[str, Any], differs: str | None) -> None:
    usual = {"target": "/v1/chat", "body": b'{"stream": true}'}
    assert same_request(Request(**usual | asked), Request(**usual | recorded)) == differs


def test_every_shipped_cassette_answers_its_own_request() -> None:
    for case in cassette.load(cassette.shipped()):
        transport = ReplayTransport.of(case)
        for side in filter(None, (case.stream, case.reference)):
            if side.ending != "eof":
                continue
            sent = {"method": side.request.method, "url": side.request.target, "content": side.request.body}
            (got,) = all_pieces(transport, json=None, **sent)
            assert got == [chunk.data for chunk in side.chunks]
