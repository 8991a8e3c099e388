"""The recording proxy: programs of any kind see the server behind it, and what passes is kept."""

from __future__ import annotations

import asyncio
import gzip
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness import cassette
from harness.cassette.model import Exchange
from harness.recording import Recorder
from harness.recording.proxy import Proxy
from tests import chat
from tests.exchanges import CHAT, sse
from tests.loop.running import rounds, run
from tests.recording.server import Answer, Asked, Server, serving
from tests.test_cli import Command, streamproof  # noqa: F401  # a fixture

BODY = sse(chat.text("Ebb"), chat.stops())
TWO = (b"data: 1\n\n", b"data: 2\n\n")
KEY = "breakwater-of-the-old-harbour"
Use = Callable[[httpx.AsyncClient, Server], Awaitable[Any]]


def through(answer: Answer, use: Use, step: str = "tide") -> tuple[list[Exchange], Server]:
    """What is recorded while `use` asks a server through a proxy."""

    async def scenario() -> tuple[list[Exchange], Server]:
        recorder = Recorder()
        async with serving(answer) as server, Proxy({step: f"{server.url}/api"}, recorder) as proxy:
            base = f"{proxy.url}/{step}" if step else proxy.url
            async with httpx.AsyncClient(base_url=base, timeout=5) as client:
                await use(client, server)
            await rounds(20)
        return recorder.exchanges, server

    return run(scenario())


def test_what_passes_is_passed_on_and_kept() -> None:
    async def use(client: httpx.AsyncClient, server: Server) -> None:
        async with client.stream(
            "POST",
            f"{CHAT}?a=%2F",
            json={"stream": True},
            headers={"authorization": f"Bearer {KEY}", "accept-encoding": "br, gzip;q=1"},
        ) as response:
            assert (response.status_code, response.reason_phrase) == (201, "Fine")
            assert response.headers["content-type"] == "text/event-stream"
            assert [piece async for piece in response.aiter_raw()] == [*TWO]

    (kept,), server = through(Answer(pieces=TWO, status=201), use)
    assert server.asked[0].target == f"/api{CHAT}?a=%2F"
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.asked[0].headers["accept-encoding"] == "gzip;q=1"  # what cannot be read is not asked for
    assert server.asked[0].json == {"stream": True}
    assert [chunk.data for chunk in kept.chunks] == [*TWO]
    assert (kept.status, kept.ending, kept.request.json) == (201, "eof", {"stream": True})
    assert kept.request.headers["authorization"] == "Bearer xxxxxxxxxx-xx-xxx-xxx-xxxxxxx"


def test_pieces_are_passed_on_as_they_come() -> None:
    answer = Answer(pieces=TWO, holds=1)

    async def use(client: httpx.AsyncClient, server: Server) -> None:
        async with client.stream("POST", CHAT, json={}) as response:
            pieces = response.aiter_raw()
            assert await anext(pieces) == TWO[0]
            answer.go.set()
            assert await anext(pieces) == TWO[1]

    (kept,), _ = through(answer, use)
    assert kept.body == b"".join(TWO)


def test_a_client_that_leaves() -> None:
    """The server sees it leave, and what had passed is kept."""
    answer = Answer(pieces=TWO, holds=1)

    async def use(client: httpx.AsyncClient, server: Server) -> None:
        async with client.stream("POST", CHAT, json={}) as response:
            await anext(response.aiter_raw())
        while not server.left:
            await rounds(1)

    (kept,), server = through(answer, use)
    assert (kept.body, kept.ending, server.left) == (TWO[0], "reset", 1)


def test_a_server_that_breaks_off() -> None:
    async def use(client: httpx.AsyncClient, server: Server) -> None:
        with pytest.raises(httpx.TransportError):
            await client.post(CHAT, json={})

    (kept,), _ = through(Answer(pieces=TWO, ends="reset"), use)
    assert (kept.body, kept.ending) == (b"".join(TWO), "reset")


def test_compressed_bodies_pass_as_they_are() -> None:
    packed = gzip.compress(BODY, mtime=0)

    async def use(client: httpx.AsyncClient, server: Server) -> None:
        async with client.stream("POST", CHAT, json={}) as response:
            assert b"".join([piece async for piece in response.aiter_raw()]) == packed

    through(Answer(pieces=(packed[:9], packed[9:])), use)


@pytest.mark.parametrize(("step", "path", "status"), [("tide", "/../nowhere", 404), ("", "/nowhere", 200)])
def test_routes(step: str, path: str, status: int) -> None:
    async def use(client: httpx.AsyncClient, server: Server) -> None:
        url = httpx.URL(str(client.base_url)).copy_with(path="/nowhere")
        assert (await client.post(url, json={})).status_code == status

    through(Answer(pieces=TWO), use, step)


def test_nobody_behind_it() -> None:
    async def scenario() -> None:
        recorder = Recorder()
        async with Proxy({"": "http://127.0.0.1:1"}, recorder) as proxy, httpx.AsyncClient() as client:
            response = await client.post(f"{proxy.url}{CHAT}", json={})
        assert response.status_code == 502
        assert "ConnectError" in response.text
        assert (recorder.exchanges[0].status, recorder.exchanges[0].ending) == (0, "reset")

    run(scenario())


def test_bytes_that_are_no_http() -> None:
    async def scenario() -> bytes:
        async with Proxy({}, Recorder()) as proxy:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
            writer.write(b"\x16\x03\x01 hello\r\n\r\n")
            answer = await reader.read()
            writer.close()
            return answer

    assert run(scenario()) == b""


# a command

PROGRAM = """
import json, os, sys, urllib.request
base = os.environ["OPENAI_BASE_URL"]
for stream in (True, False):
    request = urllib.request.Request(
        base + "/chat/completions", json.dumps({"model": "tide-1", "messages": [], "stream": stream}).encode(),
        {"authorization": "Bearer " + os.environ["TIDE_KEY"], "content-type": "application/json"})
    print(urllib.request.urlopen(request).read().decode())
sys.exit(7)
"""


def test_a_command(streamproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Its turns are kept with their twins, its exit status is ours; its key reaches no file, though the server repeats it."""
    ready, over = threading.Event(), threading.Event()
    served: list[Server] = []

    def answer(asked: Asked) -> Answer:
        plain = (
            b'{"choices":[{"index":0,"message":{"role":"assistant","content":"' + KEY.encode() + b'"},"finish_reason":"stop"}]}'
        )
        return Answer(pieces=(BODY,)) if asked.json["stream"] else Answer(pieces=(plain,), media="application/json")

    async def serve() -> None:
        async with serving(answer) as server:
            served.append(server)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        ready.wait(5)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{served[0].url}/v1")
        monkeypatch.setenv("TIDE_KEY", KEY)
        done = streamproof("record", "--provider", "tide", "--to", "kept", "--json", "--", sys.executable, "-c", PROGRAM)
        assert done.status == 7
        again = streamproof("record", "--provider", "tide", "--to", "kept", "--json", "--", sys.executable, "-c", PROGRAM)
        assert again.lines[0]["id"] == "openai-chat/tide/recorded-2"  # nothing is written over
        assert streamproof("cassettes", "--lint", "kept").status == 0
    finally:
        over.set()
        thread.join()
    case = cassette.load_one(tmp_path / "kept" / "openai-chat" / "tide" / "recorded.yaml")
    assert (case.id, case.model, case.provider) == ("openai-chat/tide/recorded", "tide-1", "tide")
    assert case.stream is not None
    assert case.reference is not None
    assert case.stream.body == BODY
    assert case.stream.request.headers["authorization"] == "Bearer xxxxxxxxxx-xx-xxx-xxx-xxxxxxx"
    assert KEY not in (tmp_path / "kept" / "openai-chat" / "tide" / "recorded.yaml").read_text()
    assert case.reference.json["choices"][0]["message"]["content"] == "xxxxxxxxxx-xx-xxx-xxx-xxxxxxx"


def test_a_command_that_does_not_exist(streamproof: Command) -> None:  # noqa: F811
    done = streamproof("record", "--base-url", "http://127.0.0.1:1", "--", "no-such-program-here")
    assert done.status == 2
    assert "cannot be run" in done.err
