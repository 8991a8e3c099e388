"""The replay server: listens on loopback and plays cassettes to any client in any language.

    async with Server(cassettes) as server:
        ...  # a client whose base URL is server.url_of("openai-chat/llamacpp/text") + "/v1"

Everything a request needs to say stands in its path (`address`), so clients need nothing but a base URL. `serving` does the
same in a thread of its own, for programs that are not asynchronous.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import h11

from harness.cassette.model import Cassette, Request
from harness.errors import InputError
from harness.replay.clock import RecordedTime
from harness.serving.address import path_of
from harness.serving.desk import Desk
from harness.serving.entry import Ended, Entry, Log
from harness.serving.http1 import Http1
from harness.serving.http2 import PREFACE, Http2, Stream
from harness.serving.library import Library
from harness.serving.limits import Budget, Limits, TooMuch
from harness.serving.playing import Pace, play
from harness.serving.tls import Authority

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TURNS = 5  # of the event loop, from the acceptance of a connection to its first step
_BACKLOG = 1024
_CLOSING = 5.0  # seconds that a client may take to say goodbye


class Server(AbstractAsyncContextManager["Server"]):
    """Listens while the context lasts.

    `speed` is how many times as fast as it was recorded a stream is played; None: nothing waits. A stall is held for `stall`
    seconds. `log` is told of each exchange when it is over. With `tls` the address is https, and `ca_file` is what clients
    must trust. Where `host` is not loopback others can reach the server: that is the caller's decision.
    """

    def __init__(
        self,
        cassettes: Iterable[Cassette],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        speed: float | None = None,
        stall: float = 60.0,
        log: Callable[[Entry], None] | None = None,
        tls: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self.library = Library(cassettes)
        self.url = ""
        self._log = Log(log)
        self._desk = Desk(self.library, self._log)
        self._pace = Pace(RecordedTime(speed) if speed is not None else None, RecordedTime(), stall)
        self._limits = limits or Limits()
        self._budget = Budget(self._limits.bodies)
        self._host, self._port, self._tls = host, port, tls
        self._authority: Authority | None = None
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[Any]] = set()

    @property
    def ca_file(self) -> Path | None:
        """The certificate that clients must trust; None without TLS."""
        return self._authority.file if self._authority is not None else None

    def url_of(self, cassette: str | None, *faults: str, session: str | None = None) -> str:
        """The base URL at which a cassette is served with these faults; requests of one session are counted together."""
        return self.url + path_of(cassette, *faults, session=session)

    def entries(self, session: str | None = None) -> list[Entry]:
        """The log: every exchange so far, those that run included, oldest first. Threads may ask."""
        return self._log.entries(session)

    def forget(self, session: str) -> None:
        """Let go of the entries of a session, and count its requests from 0 again."""
        self._log.forget(session)
        self._desk.forget(session)

    async def __aenter__(self) -> Server:
        if self._tls:
            self._authority = Authority(*([self._host] if not is_loopback(self._host) else []))
        context = self._authority.context if self._authority is not None else None
        try:
            self._server = await asyncio.start_server(
                self._connected, self._host, self._port, ssl=context, backlog=_BACKLOG, limit=self._limits.head
            )
        except OSError as error:
            self._closed_authority()
            raise InputError(f"cannot listen at {self._host}:{self._port}: {error.strerror or error}") from error
        port = self._server.sockets[0].getsockname()[1]
        host = f"[{self._host}]" if ":" in self._host else self._host
        self.url = f"{'https' if self._tls else 'http'}://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            loop = asyncio.get_running_loop()
            with contextlib.suppress(NotImplementedError):  # loops of Windows
                for listening in self._server.sockets:
                    loop.remove_reader(listening.fileno())
            for _turn in range(
                _TURNS
            ):  # a closed server makes no connection of one that it has accepted, and does not close it
                await asyncio.sleep(0)
            self._server.close()
        while self._open:
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)
        self._closed_authority()

    def _closed_authority(self) -> None:
        if self._authority is not None:
            self._authority.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._open) >= self._limits.connections:
            writer.write(_FULL)
            writer.close()
            return
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        writer.transport.set_write_buffer_limits(high=0)  # so that no two pieces are sent in one write
        try:
            with contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
                await self._spoken(reader, writer)
        finally:
            await _closed(writer)

    async def _spoken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak the protocol that the client begins with."""
        first = b""
        async with asyncio.timeout(self._limits.idle):
            while len(first) < len(PREFACE) and PREFACE.startswith(first):
                data = await reader.read(self._limits.head)
                if not data:
                    return
                first += data
        if first.startswith(PREFACE):
            await Http2(reader, writer, self._limits, self._budget, self._exchange).run(first)
            return
        side = Http1(reader, writer, self._limits, self._budget)
        side.feed(first)
        try:
            await self._in_turns(side)
        finally:
            side.close()

    async def _in_turns(self, side: Http1) -> None:
        while True:
            try:
                request = await side.next_request()
            except TooMuch as error:
                return await side.refuse(413, str(error))
            except TimeoutError:
                return await side.refuse(408, "the request took too long")
            except h11.RemoteProtocolError as error:
                return await side.refuse(error.error_status_hint, str(error))
            if request is None:
                return None
            await self._exchange(request, side)
            if not side.again():
                return None

    async def _exchange(self, request: Request, wire: Http1 | Stream) -> None:
        """Answer one request, until the answer is over or the client has left."""
        entry = self._log.begin(request, wire.protocol, time.time())
        began = time.monotonic()
        played = asyncio.ensure_future(self._played(request, wire, entry))
        left = asyncio.ensure_future(wire.left())
        stopped = True
        try:
            await asyncio.wait({played, left}, return_when=asyncio.FIRST_COMPLETED)
            stopped = False
        finally:
            for task in (played, left):
                task.cancel()
            try:
                await asyncio.gather(played, left, return_exceptions=True)
            finally:  # who stops the server may interrupt even this
                entry.seconds = time.monotonic() - began
                entry.ended = _ended(played, entry, "server stopped" if stopped else "client left")
                self._log.over(entry)

    async def _played(self, request: Request, wire: Http1 | Stream, entry: Entry) -> Ended:
        return await play(self._desk.answer(request, entry), wire, entry, self._pace)


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Let go of a connection. What the client has not taken by now it will not have."""
    if writer.transport.get_write_buffer_size():
        writer.transport.abort()
    writer.close()
    with contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
        async with asyncio.timeout(_CLOSING):
            await writer.wait_closed()
        return
    writer.transport.abort()


def _ended(played: asyncio.Future[Ended], entry: Entry, otherwise: Ended) -> Ended:
    """How an exchange ended; `otherwise` if it was broken off."""
    if not played.done() or played.cancelled():
        return otherwise
    error = played.exception()
    if error is None:
        return played.result()
    if isinstance(error, OSError):  # a timeout as well: the client does not read
        return "client left"
    entry.note = f"{type(error).__name__}: {error}"
    return "failed"


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach a server at this host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
