"""HTTP/1.1 and 1.0, by h11: requests one after the other on a connection, watched for the client that leaves."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import struct
from collections.abc import Awaitable
from typing import Any

import h11

from harness.cassette.model import Headers, Request
from harness.serving.limits import Budget, Limits, TooMuch
from harness.serving.playing import Fields

BLOCK = 64 * 1024
_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: close with a reset
_GOOD_NAME = re.compile(rb"[-!#$%&'*+.^_`|~0-9a-zA-Z]+")
_BAD_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_CHUNKED = b"\r\ntransfer-encoding: chunked\r\n"
_SENT = (0.0, 0.001, 0.005, 0.02)  # seconds, until what was sent has arrived


class Http1:
    """One connection. `next_request` and the verbs of a `Wire` come in turns."""

    protocol = "http/1.1"

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: Limits, budget: Budget) -> None:
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._budget = budget
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.head)
        self._size = 0
        self._chunked = False
        self._write = writer.transport.write
        self._gone = writer.transport.is_closing
        self._unsent = writer.transport.get_write_buffer_size

    def feed(self, data: bytes) -> None:
        """Bytes that were read already."""
        self._http.receive_data(data)

    async def next_request(self) -> Request | None:
        """The next request; None if there is none, or none for too long. Raises `TooMuch`, `TimeoutError` and
        `h11.RemoteProtocolError`."""
        self.close()
        event = self._http.next_event()
        if event is h11.NEED_DATA:
            try:
                await self._more(self._limits.idle)
            except TimeoutError:  # no word: the client may be sending its next request just now
                return None
            event = self._http.next_event()
        async with asyncio.timeout(self._limits.whole):
            return await self._gathered(event)

    async def _gathered(self, event: Any) -> Request | None:
        head: h11.Request | None = None
        body = bytearray()
        while True:
            if event is h11.NEED_DATA:
                await self._more(self._limits.request)
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                self._take(len(event.data), len(body))
                body += event.data
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return _request(head, bytes(body))
            else:
                return None
            event = self._http.next_event()

    def again(self) -> bool:
        """Whether the connection can serve another request."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            return True
        return False

    async def left(self) -> None:
        """Waits until the client closes its end. What it sends meanwhile is kept for later, up to a bound."""
        early = 0
        with contextlib.suppress(OSError):
            while data := await self._reader.read(BLOCK):
                early += len(data)
                if early > self._limits.head:
                    await asyncio.get_running_loop().create_future()  # let it wait
                self._http.receive_data(data)

    async def head(self, status: int, fields: Fields) -> None:
        good = [(name, _value(value)) for name, value in fields if _GOOD_NAME.fullmatch(name)]
        data = self._http.send(h11.Response(status_code=status, headers=good)) or b""
        self._chunked = _CHUNKED in data.lower()
        await self._sent(data)

    def piece(self, data: bytes) -> Awaitable[None] | None:
        if not self._chunked:
            return self._send(h11.Data(data=data))
        if self._gone():
            raise ConnectionResetError("the client has left")
        self._write(b"%x\r\n%b\r\n" % (len(data), data))  # as h11 would, which takes longer than all the rest
        return self._taken() if self._unsent() else None

    async def end(self) -> None:
        await self._send(h11.EndOfMessage())

    async def reset(self) -> None:
        await arrived(self._writer)
        with contextlib.suppress(OSError):
            self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self._writer.transport.abort()

    async def refuse(self, status: int, words: str) -> None:
        """Answer a request that cannot be understood, and let it be the last."""
        data = f"streamproof serve: {words}\n".encode()
        fields = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(data))]
        with contextlib.suppress(h11.LocalProtocolError, OSError):
            await self.head(status, [*fields, (b"connection", b"close")])
            await self._send(h11.Data(data=data))
            await self.end()

    def close(self) -> None:
        self._budget.give(self._size)
        self._size = 0

    def _take(self, size: int, before: int) -> None:
        if before + size > self._limits.body:
            raise TooMuch(f"the request has more than {self._limits.body} bytes")
        self._budget.take(size)
        self._size += size

    async def _more(self, seconds: float) -> None:
        if self._http.they_are_waiting_for_100_continue:
            await self._send(h11.InformationalResponse(status_code=100, headers=[]))
        async with asyncio.timeout(seconds):
            self._http.receive_data(await self._reader.read(BLOCK))

    async def _send(self, event: Any) -> None:
        await self._sent(self._http.send(event) or b"")

    async def _sent(self, data: bytes) -> None:
        if self._gone():
            raise ConnectionResetError("the client has left")
        if data:
            self._write(data)
            if self._unsent():
                await self._taken()

    async def _taken(self) -> None:
        """Waits until the system has taken all that was written."""
        async with asyncio.timeout(self._limits.reading):
            await self._writer.drain()


async def arrived(writer: asyncio.StreamWriter) -> None:
    """Waits a little until what was sent has arrived: a reset overtakes it otherwise on some systems."""
    for seconds in _SENT:
        if not writer.transport.is_closing() and writer.transport.get_write_buffer_size():
            await writer.drain()
        await asyncio.sleep(seconds)


def _request(head: h11.Request, body: bytes) -> Request:
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers.raw_items()]
    headers = Headers(fields)
    return Request(
        method=head.method.decode("latin-1"),
        scheme="http",
        host=headers.get("host", ""),
        target=head.target.decode("latin-1"),
        headers=headers,
        body=body,
    )


def _value(value: bytes) -> bytes:
    return _BAD_VALUE.sub(b" ", value).strip()
