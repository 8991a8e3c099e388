"""What recording costs a client: a stream over loopback, read through a recording transport and without one; and what finding
a recorded exchange costs among a thousand."""

from __future__ import annotations

import asyncio
import itertools

import httpx

from bench.measure import Case
from bench.streams import Stream
from harness.cassette.model import Chunk, Exchange, Request
from harness.recording import Recorder, RecordingTransport
from harness.replay import ReplayTransport, same_request

_PATH = "/v1/chat/completions"
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"


def client(given: Stream, *, records: bool) -> Case:
    """Reads the stream, an event in each chunk, as it comes off a connection, and frames it into lines as clients do."""
    events = [piece + b"\n\n" for piece in given.body.split(b"\n\n") if piece]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(_HEAD)
        for event in events:
            writer.write(b"%x\r\n%s\r\n" % (len(event), event))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def read() -> int:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{_PATH}"
        inner = httpx.AsyncHTTPTransport()
        transport = RecordingTransport(inner, Recorder()) if records else inner
        async with server, httpx.AsyncClient(transport=transport) as asks, asks.stream("GET", url) as response:
            return sum([1 async for line in response.aiter_lines() if line])

    return lambda: asyncio.run(read())


def replayed(count: int, asked: int) -> Case:
    """Asks so many times for exchanges of a recording that has `count`."""
    exchanges = [
        Exchange(
            request=Request(target=_PATH, body=b'{"seed":%d,"prompt":"%s"}' % (number, b"tide " * 200)),
            chunks=(Chunk(data=b"{}"),),
        )
        for number in range(count)
    ]
    bodies = list(itertools.islice(itertools.cycle([each.request.body for each in reversed(exchanges)]), asked))

    async def ask() -> None:
        transport = ReplayTransport(exchanges, match=same_request, again=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://replay.invalid") as asks:
            for body in bodies:
                await asks.post(_PATH, content=body)

    return lambda: asyncio.run(ask())
