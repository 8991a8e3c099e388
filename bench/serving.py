"""What the replay server costs for an event, beside a bare server that writes the same events: the processor time of either
server's thread, over loopback, with a client that only reads."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from bench.measure import Case
from bench.streams import Stream
from harness.cassette.model import Cassette, Chunk, Exchange, Headers, Request
from harness.serving import serving

_PATH = "/v1/chat/completions"
_ASKS = b'{"stream":true}'
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
_ID = "openai-chat/bench/text"
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Servers:
    """Both servers: what asks each of them for all events, and the processor time that they have used."""

    ours: Case
    bare: Case
    threads: tuple[threading.Thread, ...]

    def used(self) -> float:
        return sum(time.clock_gettime(time.pthread_getcpuclockid(thread.ident or 0)) for thread in self.threads)


@contextmanager
def servers(given: Stream) -> Iterator[Servers]:
    """The replay server and the bare one, each in a thread of its own, an event in each piece."""
    events = [piece + b"\n\n" for piece in given.body.split(b"\n\n") if piece]
    exchange = Exchange(
        request=Request(target=_PATH, body=_ASKS),
        headers=Headers({"content-type": "text/event-stream"}),
        chunks=tuple(Chunk(data=event) for event in events),
    )
    before = set(threading.enumerate())
    with serving([Cassette(id=_ID, dialect="openai-chat", stream=exchange)]) as ours, _bare(events) as bare:
        threads = tuple(set(threading.enumerate()) - before)
        yield Servers(lambda: _ask(ours.url_of(_ID) + _PATH), lambda: _ask(bare + _PATH), threads)


@contextmanager
def _bare(events: list[bytes]) -> Iterator[str]:
    """The least that serves events, one in each write."""
    started, stop = threading.Event(), threading.Event()
    addresses: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(len(_ASKS))
        writer.write(_HEAD)
        for event in events:
            writer.write(b"%x\r\n%b\r\n" % (len(event), event))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            addresses.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
            started.set()
            while not stop.is_set():
                await asyncio.sleep(0.05)

    thread = threading.Thread(target=asyncio.run, args=(run(),), name="bare")
    thread.start()
    started.wait()
    try:
        yield addresses[0]
    finally:
        stop.set()
        thread.join()


def _ask(url: str) -> int:
    """Read all that a server answers; its bytes."""
    address, size = urlsplit(url), 0
    head = f"POST {address.path} HTTP/1.1\r\nhost: here\r\ncontent-length: {len(_ASKS)}\r\nconnection: close\r\n\r\n"
    with socket.create_connection((str(address.hostname), int(address.port or 0))) as line:
        line.sendall(head.encode() + _ASKS)
        while data := line.recv(_BLOCK):
            size += len(data)
    return size
