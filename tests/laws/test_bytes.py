"""Law 7: never a crash. Any bytes give a result with findings or one of our own errors, and reports of it can be written."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import checking, dialects
from harness.adapters import Ours
from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.framing import Frame
from harness.inputs import Input
from harness.reporting import results
from tests.laws.cases import SHIPPED, Stream, each_dialect, each_sample, of

ROUNDS = 60
ODD = [None, True, 0, -1, 1.5, 10**40, "", "x", "\ud83d", [], [None], [[]], {}, {"a": {}}, {"type": 5}, {"type": "text"}]


def _observed(api: str, body: bytes, headers: dict[str, str] | None = None, status: int = 200) -> None:
    exchange = Exchange(
        request=Request(target="", body=b'{"stream": true}'),
        status=status,
        headers=Headers(headers or {}),
        chunks=(Chunk(data=body),),
    )
    dialect = dialects.dialect(api)
    checked = checking.check(Input(name="x", dialect=dialect, detected=False, exchanges=(exchange,)))
    json.loads(results.dumped(checked.as_dict()))


@each_sample
def test_damaged_bytes(stream: Stream) -> None:
    chance = random.Random(stream.case.id)
    for _ in range(ROUNDS):
        _observed(stream.case.dialect, _damaged(stream.body, chance))


@each_dialect
def test_odd_values_in_the_place_of_known_ones(dialect: str) -> None:
    """Every field of every payload takes every odd value once in a while; whatever comes next must be taken too."""
    chance = random.Random(dialect)
    for stream in of(dialect)[:30]:
        for _ in range(6):
            collector = stream.collector()
            for frame in _odd_frames(stream, chance):
                collector.add(frame)
            collected = collector.close()
            results.dumped(collected.response.as_dict())
            stream.dialect.read(collected.body)


@each_dialect
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    body=st.binary(max_size=300),
    status=st.sampled_from([200, 400, 404, 429, 500]),
    media=st.sampled_from(["text/event-stream", "text/html", ""]),
)
def test_any_bytes(dialect: str, body: bytes, status: int, media: str) -> None:
    _observed(dialect, body, {"content-type": media}, status)


@each_dialect
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n\n",
        b"<!doctype html><title>Sign in</title>",
        b"data: " + b"[" * 100_000,
        b"data: " + b'{"a":' * 900 + b"1" + b"}" * 900 + b"\n\n",
        b'{"error": {"message": "no"}}',
        b'[{"error": {"message": "no"}}]',
        b"\x1f\x8b\x08\x00garbage",
        b'data: null\n\ndata: 5\n\ndata: []\n\ndata: "x"\n\ndata: {}\n\n',
        b'null\n5\n[]\n"x"\n{}\n',
        b'[null, 5, [], "x", {}]',
        b"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff",
    ],
    ids=lambda body: repr(body[:24]),
)
@pytest.mark.parametrize("encoding", ["", "gzip", "br", "deflate"])
def test_bodies_that_are_no_stream(dialect: str, body: bytes, encoding: str) -> None:
    _observed(dialect, body, {"content-encoding": encoding})


@each_dialect
def test_any_body_can_be_read(dialect: str) -> None:
    api = dialects.dialect(dialect)
    for stream in of(dialect)[:20]:
        for body in _odd_bodies(stream.collected().body, random.Random(stream.case.id)):
            api.read(body).as_dict()
            api.read_error(500, Headers(), body)
    for odd in ODD:
        api.read(odd)
        api.read_error(400, Headers(), odd)


def test_ours_takes_every_shipped_exchange() -> None:
    for stream in SHIPPED:
        for status in (0, 200, 204, 301, 400, 503):
            Ours().observe(Exchange(status=status, chunks=stream.exchange.chunks), stream.dialect)


def _damaged(body: bytes, chance: random.Random) -> bytes:
    data = bytearray(body)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0:
                data[place:place] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 6)))
            case 1:
                del data[place : place + chance.randint(1, 40)]
            case 2 if place < len(data):
                data[place] ^= 1 << chance.randrange(8)
            case 3:
                data[place:place] = data[max(0, place - 200) : place]
            case _:
                data[place : place + 1] = chance.choice([b'"', b"{", b"}", b"\n", b"\r", b"\n\n", b"\\", b"\x00", b"data: "])
    return bytes(data)


def _odd_frames(stream: Stream, chance: random.Random) -> Iterator[Frame]:
    for frame in stream.frames:
        try:
            value = json.loads(frame.data)
        except ValueError:
            yield frame
            continue
        if chance.random() < 0.3:
            value = _odd(value, chance)
        name = chance.choice([frame.name, frame.name, frame.name, None, "error", "odd"])
        yield Frame(frame.index, name, json.dumps(value).encode(), frame.at, frame.span, frame.headers)


def _odd_bodies(body: object, chance: random.Random) -> Iterator[object]:
    for _ in range(20):
        yield _odd(json.loads(json.dumps(body)), chance)


def _odd(value: object, chance: random.Random) -> object:
    """The value with one place in it changed to something odd, dropped or doubled."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(list(value))
        if chance.random() < 0.1:
            del value[name]
        else:
            value[name] = _odd(value[name], chance)
        return value
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        value[place] = _odd(value[place], chance)
        return value if chance.random() < 0.9 else value * 2
    return chance.choice(ODD)
