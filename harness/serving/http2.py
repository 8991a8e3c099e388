"""HTTP/2 by h2, without TLS for clients that know beforehand, or with it: several exchanges at once on one connection.

Each piece is one DATA frame in one write, as long as the client's window and its largest frame allow it. A reset is a reset of
the stream. The AWS SDK for JavaScript speaks nothing else by default.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from harness.cassette.model import Headers, Request
from harness.errors import MissingExtraError
from harness.serving.goodbyes import Goodbyes
from harness.serving.limits import Budget, Limits, TooMuch
from harness.serving.playing import Fields

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_BLOCK = 64 * 1024
_LEAVING = 1.0  # seconds until all have seen that the client has left
_FAILED, _CALM = 2, 11  # INTERNAL_ERROR, ENHANCE_YOUR_CALM
Serve = Callable[[Request, "Stream"], Awaitable[object]]


class Http2:
    """One connection. `serve` is called with each request and its stream."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: Limits, budget: Budget, serve: Serve
    ) -> None:
        try:
            import h2.config
            import h2.connection
        except ImportError:
            raise MissingExtraError("HTTP/2 needs the package h2", hint="pip install h2") from None
        config = h2.config.H2Configuration(client_side=False, header_encoding="latin-1")
        self._http = h2.connection.H2Connection(config=config)
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._budget = budget
        self._serve = serve
        self._streams: dict[int, Stream] = {}
        self._tasks: set[asyncio.Task[object]] = set()
        self._goodbyes = Goodbyes()

    async def run(self, data: bytes) -> None:
        """Serve until the client leaves; `data` was read already."""
        self._http.initiate_connection()
        try:
            await self._talk(data)
            await self._left()
        finally:
            await self._over()

    async def _talk(self, data: bytes) -> None:
        import h2.exceptions

        try:
            while data:
                for event in self._http.receive_data(self._goodbyes.feed(data)):
                    self._take(event)
                await self.flush()
                data = await self._more()
        except (h2.exceptions.ProtocolError, TimeoutError, OSError):
            with contextlib.suppress(OSError):
                await self.flush()

    async def _left(self) -> None:
        """The client has left: let those who serve it see that."""
        for stream in list(self._streams.values()):
            stream.gone.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LEAVING)

    async def flush(self) -> None:
        data = self._http.data_to_send()
        if self._writer.transport.is_closing():
            raise ConnectionResetError("the client has left")
        if data:
            self._writer.write(data)
            if self._writer.transport.get_write_buffer_size():
                async with asyncio.timeout(self._limits.reading):
                    await self._writer.drain()

    async def _more(self) -> bytes:
        """What the client sends next; nothing if it is idle for too long."""
        while True:
            try:
                async with asyncio.timeout(self._limits.idle):
                    return await self._reader.read(_BLOCK)
            except TimeoutError:
                if not self._tasks:
                    return b""

    def _take(self, event: Any) -> None:
        """What the client said."""
        name, number = type(event).__name__, getattr(event, "stream_id", None)
        stream = self._streams.get(number or 0)
        if name == "RequestReceived":
            self._streams[event.stream_id] = Stream(self, self._http, event.stream_id, event.headers)
        elif name == "DataReceived" and stream is not None:
            self._gather(stream, event)
        elif name == "StreamEnded" and stream is not None:
            task = asyncio.ensure_future(self._serve(stream.request(), stream))
            self._tasks.add(task)
            task.add_done_callback(lambda done: self._done(done, stream))
        elif name == "StreamReset" and stream is not None:
            stream.gone.set()
        elif name in ("WindowUpdated", "RemoteSettingsChanged"):
            for waiting in self._streams.values() if not number else [stream] if stream is not None else []:
                waiting.room.set()

    def _gather(self, stream: Stream, event: Any) -> None:
        size = len(event.data)
        try:
            if len(stream.body) + size > self._limits.body:
                raise TooMuch("the request is too large")
            self._budget.take(size)
        except TooMuch:
            self._http.reset_stream(stream.number, _CALM)
            self._forget(stream)
            return
        stream.body += event.data
        self._http.acknowledge_received_data(event.flow_controlled_length, stream.number)

    def _done(self, task: asyncio.Task[object], stream: Stream) -> None:
        self._tasks.discard(task)
        self._forget(stream)
        if not task.cancelled():
            task.exception()

    def _forget(self, stream: Stream) -> None:
        if self._streams.pop(stream.number, None) is not None:
            self._budget.give(len(stream.body))

    async def _over(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for stream in list(self._streams.values()):
            self._forget(stream)


class Stream:
    """One request and the client's side of its answer, a `Wire`."""

    protocol = "h2"

    def __init__(self, connection: Http2, http: Any, number: int, fields: list[tuple[str, str]]) -> None:
        self.number = number
        self.body = bytearray()
        self.gone = asyncio.Event()
        self.room = asyncio.Event()
        self._connection = connection
        self._http = http
        self._fields = fields

    def request(self) -> Request:
        told = dict(self._fields)
        return Request(
            method=told.get(":method", "GET"),
            scheme=told.get(":scheme", "http"),
            host=told.get(":authority", ""),
            target=told.get(":path", "/"),
            headers=Headers([(name, value) for name, value in self._fields if not name.startswith(":")]),
            body=bytes(self.body),
        )

    async def left(self) -> None:
        """Waits until the client has no interest any more."""
        await self.gone.wait()

    async def head(self, status: int, fields: Fields) -> None:
        pairs = [(name.decode("latin-1"), value.decode("latin-1").strip()) for name, value in fields]
        await self._done(partial(self._http.send_headers, self.number, [(":status", str(status)), *pairs]))

    async def piece(self, data: bytes) -> None:
        while data:
            room = min(self._http.local_flow_control_window(self.number), self._http.max_outbound_frame_size)
            if room <= 0:
                self.room.clear()
                await self.room.wait()
                continue
            part, data = data[:room], data[room:]
            await self._done(partial(self._http.send_data, self.number, part))

    async def end(self) -> None:
        await self._done(partial(self._http.end_stream, self.number))

    async def reset(self) -> None:
        await self._done(partial(self._http.reset_stream, self.number, _FAILED))

    async def _done(self, send: Callable[[], None]) -> None:
        import h2.exceptions

        try:
            send()
        except h2.exceptions.ProtocolError as error:
            raise ConnectionResetError(str(error)) from error
        await self._connection.flush()
