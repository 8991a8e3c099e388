"""A server on loopback that sends what a test tells it, piece by piece, and breaks off where it is told to."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

_LENGTH = b"content-length:"


@dataclass(slots=True, kw_only=True)
class Answer:
    """What is answered. After `holds` pieces the server waits until `go` is set. `ends`: eof, reset, or stall."""

    pieces: tuple[bytes, ...] = ()
    status: int = 200
    media: str = "text/event-stream"
    ends: str = "eof"
    holds: int | None = None
    go: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class Asked:
    """A request that the server got."""

    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """`answer` makes an answer of each request; `asked` are those so far, `left` counts the clients that left early."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        self.asked: list[Asked] = []
        self.left = 0
        self.url = ""
        self._answer = answer
        self._writers: list[asyncio.StreamWriter] = []

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            asked = await _request(reader)
            self.asked.append(asked)
            await self._answered(self._answer(asked), reader, writer)
        writer.close()

    async def _answered(self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gone = asyncio.ensure_future(reader.read(1))
        head = f"HTTP/1.1 {answer.status} Fine\r\ncontent-type: {answer.media}\r\ntransfer-encoding: chunked\r\n\r\n"
        writer.write(head.encode())
        for number, piece in enumerate(answer.pieces):
            if number == answer.holds:
                go = asyncio.ensure_future(answer.go.wait())
                await asyncio.wait({go, gone}, return_when=asyncio.FIRST_COMPLETED)
                go.cancel()
            if gone.done():
                self.left += 1
                return
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        if answer.ends == "eof":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        elif answer.ends == "reset":
            await asyncio.sleep(0.05)  # what was sent is to arrive before the reset does
            writer.transport.abort()
        else:
            await gone
        gone.cancel()

    async def aclose(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


async def _request(reader: asyncio.StreamReader) -> Asked:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, mark, value in (line.partition(":") for line in lines) if mark}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(first.split(" ")[1], headers, body)


@asynccontextmanager
async def serving(answer: Callable[[Asked], Answer] | Answer) -> AsyncIterator[Server]:
    """A server that runs while the context lasts."""
    server = Server(answer if callable(answer) else lambda _: answer)
    listening = await asyncio.start_server(server.connected, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        await server.aclose()
