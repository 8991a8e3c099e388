"""A recording proxy on loopback, for programs in any language: it answers as the server behind it, and records both.

    async with Proxy(routes, recorder) as proxy:
        ...  # a program that is told proxy.url as the base URL of its API

Each route has a first step of the path, and where what is below it goes. Programs speak plain HTTP to the proxy, so that
nothing has to be decrypted; it speaks to the servers as their addresses say. Pieces are passed on as they come. A connection
serves one request: what the client does with it (leaving, above all) is then what it does with the exchange.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import h11
import httpx

from harness.recording.recorder import Recorder
from harness.recording.transport import RecordingTransport

_BLOCK = 64 * 1024
_OF_CONNECTION = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Header fields that are between two neighbours (RFC 9110, section 7.6.1)."""
_READABLE = (b"gzip", b"deflate", b"identity")
_READ, _CONNECT = 600.0, 10.0
_ONE_EACH = httpx.Limits(max_keepalive_connections=0)
"""A connection for each exchange: one that the server just closed would be recorded as its reset."""


class Proxy(AbstractAsyncContextManager["Proxy"]):
    """Listens on a free port of loopback while the context lasts. `routes`: first step of the path to base URL; the step
    `""` is for everything else."""

    def __init__(
        self, routes: Mapping[str, str], recorder: Recorder, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.recorder = recorder
        self._routes = {step: base.rstrip("/") for step, base in routes.items()}
        inner = RecordingTransport(transport or httpx.AsyncHTTPTransport(limits=_ONE_EACH), recorder)
        self._client = httpx.AsyncClient(transport=inner, timeout=httpx.Timeout(_READ, connect=_CONNECT))
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[Any]] = set()
        self.url = ""

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._client.aclose()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._open.add(task)
            task.add_done_callback(self._open.discard)
        side = _Client(reader, writer)
        try:
            with contextlib.suppress(h11.RemoteProtocolError, OSError, asyncio.CancelledError):  # nobody waits for this task
                asked = await side.request()
                if asked is not None:
                    await self._relayed(side, *asked)
        finally:
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _relayed(self, side: _Client, request: h11.Request, body: bytes) -> None:
        """Relay until the exchange is over, or the client has left."""
        relay = asyncio.ensure_future(self._relay(side, request, body))
        left = asyncio.ensure_future(side.left())
        try:
            await asyncio.wait({relay, left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (relay, left):
                task.cancel()
            await asyncio.gather(relay, left, return_exceptions=True)

    async def _relay(self, side: _Client, request: h11.Request, body: bytes) -> None:
        url = self._behind(request.target.decode("latin-1"))
        if url is None:
            await side.refuse(404, f"no route; there are {', '.join(f'/{step}' for step in self._routes)}")
            return
        outgoing = self._client.build_request(request.method.decode(), url, headers=_asked(request), content=body)
        try:
            response = await self._client.send(outgoing, stream=True)
        except httpx.TransportError as error:
            await side.refuse(502, f"{type(error).__name__}: {error}")
            return
        try:
            await side.head(response)
            async for piece in response.aiter_raw():
                await side.piece(piece)
            await side.end()
        except httpx.TransportError:
            side.abort()  # the client must see that it was no end
        finally:
            await response.aclose()

    def _behind(self, target: str) -> str | None:
        """The address behind the proxy. A target with a host is that of a program that takes us for its HTTP proxy."""
        if not target.startswith("/"):
            return target
        step, _, rest = target[1:].partition("/")
        if step and step in self._routes:
            return f"{self._routes[step]}/{rest}"
        return self._routes[""] + target if "" in self._routes else None


class _Client:
    """The side of the client: one connection, one request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._connection = h11.Connection(h11.SERVER)

    async def request(self) -> tuple[h11.Request, bytes] | None:
        """The request with its body; None if the client left before it was over."""
        request, body = None, bytearray()
        while True:
            event = self._connection.next_event()
            if event is h11.NEED_DATA:
                if self._connection.they_are_waiting_for_100_continue:
                    await self._send(h11.InformationalResponse(status_code=100, headers=[]))
                self._connection.receive_data(await self._reader.read(_BLOCK))
            elif isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and request is not None:
                return request, bytes(body)
            else:
                return None

    async def left(self) -> None:
        """Waits until the client closes its end."""
        with contextlib.suppress(OSError):
            while await self._reader.read(_BLOCK):
                pass

    async def head(self, response: httpx.Response) -> None:
        fields = [(name, value) for name, value in response.headers.raw if name.lower() not in _OF_CONNECTION]
        reason = response.extensions.get("reason_phrase", b"")
        await self._send(
            h11.Response(status_code=response.status_code, reason=reason, headers=[*fields, (b"connection", b"close")])
        )

    async def piece(self, data: bytes) -> None:
        await self._send(h11.Data(data=data))

    async def end(self) -> None:
        await self._send(h11.EndOfMessage())

    async def refuse(self, status: int, words: str) -> None:
        """Answer in place of the server."""
        data = f"streamproof record: {words}\n".encode()
        fields = [("content-type", "text/plain; charset=utf-8"), ("content-length", str(len(data))), ("connection", "close")]
        await self._send(h11.Response(status_code=status, headers=fields))
        await self.piece(data)
        await self.end()

    def abort(self) -> None:
        self._writer.transport.abort()

    async def _send(self, event: Any) -> None:
        self._writer.write(self._connection.send(event) or b"")
        await self._writer.drain()


def _asked(request: h11.Request) -> list[tuple[bytes, bytes]]:
    """The header fields that are passed on. A body is asked for only in encodings that can be searched for secrets."""
    fields = []
    for name, value in request.headers.raw_items():
        lower = name.lower()
        if lower not in _OF_CONNECTION and lower not in (b"host", b"content-length"):
            fields.append((name, _readable(value) if lower == b"accept-encoding" else value))
    return fields


def _readable(encodings: bytes) -> bytes:
    words = [word.strip() for word in encodings.split(b",")]
    return b", ".join(word for word in words if word.partition(b";")[0] in _READABLE) or b"identity"
