"""Transports for httpx clients that record what passes through another one. The client sees no difference."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator
from typing import cast

import httpx

from harness.cassette.model import Ending, Headers, Request
from harness.recording.recorder import Recorder, Take


class RecordingTransport(httpx.AsyncBaseTransport):
    """Records into `recorder` what passes through `inner`; several transports may share one recorder.

    Bodies are taken as they come off the connection: after transfer coding and before any content decoding. A piece is what
    the inner transport gives at once, which for httpx's own is one read, or one chunk of a chunked body.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, recorder: Recorder | None = None) -> None:
        self.recorder = recorder if recorder is not None else Recorder()
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        take = self.recorder.take(await _read(request))
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException as error:
            take.end(_ending(error))
            raise
        take.head(response.status_code, _fields(response.headers))
        body = cast("httpx.AsyncByteStream", response.stream)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_Tapped(body, take),
            extensions=response.extensions,
            request=request,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Tapped(httpx.AsyncByteStream):
    """The body of a response, which is recorded while it is read.

    A generator, since recording must cost next to nothing: a class with a coroutine for each piece costs three times as much.
    """

    def __init__(self, stream: httpx.AsyncByteStream, take: Take) -> None:
        self._stream = stream
        self._take = take
        self._reading: AsyncGenerator[bytes, None] | None = None

    def __aiter__(self) -> AsyncIterator[bytes]:
        self._reading = self._read()
        return self._reading

    async def _read(self) -> AsyncGenerator[bytes, None]:
        keep, clock = self._take.taps()
        try:
            async for data in self._stream:
                keep((clock(), data))
                yield data
        except httpx.TransportError as error:
            self._take.end(_ending(error))
            raise
        self._take.end("eof")

    async def aclose(self) -> None:
        self._take.end("reset")  # unless it is over: nobody will see the rest
        if self._reading is not None:
            with contextlib.suppress(RuntimeError):  # somebody else is in the middle of reading, and will see the end
                await self._reading.aclose()
        await self._stream.aclose()


class SyncRecordingTransport(httpx.BaseTransport):
    """The same for a client that is not async."""

    def __init__(self, inner: httpx.BaseTransport, recorder: Recorder | None = None) -> None:
        self.recorder = recorder if recorder is not None else Recorder()
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        take = self.recorder.take(_asked(request, request.read()))
        try:
            response = self._inner.handle_request(request)
        except BaseException as error:
            take.end(_ending(error))
            raise
        take.head(response.status_code, _fields(response.headers))
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_TappedSync(cast("httpx.SyncByteStream", response.stream), take),
            extensions=response.extensions,
            request=request,
        )

    def close(self) -> None:
        self._inner.close()


class _TappedSync(httpx.SyncByteStream):
    """The same for a body that is read without waiting for others."""

    def __init__(self, stream: httpx.SyncByteStream, take: Take) -> None:
        self._stream = stream
        self._take = take

    def __iter__(self) -> Iterator[bytes]:
        keep, clock = self._take.taps()
        try:
            for data in self._stream:
                keep((clock(), data))
                yield data
        except httpx.TransportError as error:
            self._take.end(_ending(error))
            raise
        self._take.end("eof")

    def close(self) -> None:
        self._take.end("reset")
        self._stream.close()


def _ending(error: BaseException) -> Ending:
    return "timeout" if isinstance(error, httpx.TimeoutException) else "reset"


async def _read(request: httpx.Request) -> Request:
    """The request as it is sent. A body that can be sent only once is read here, and can be sent from memory then."""
    stream = request.stream
    if isinstance(stream, AsyncIterable):
        body = await request.aread()
        request.stream = httpx.ByteStream(body)
    else:
        body = request.read()
    return _asked(request, body)


def _asked(request: httpx.Request, body: bytes) -> Request:
    url = request.url
    return Request(
        method=request.method,
        scheme=url.scheme,
        host=url.netloc.decode("ascii"),
        target=url.raw_path.decode("ascii"),
        headers=Headers(_fields(request.headers)),
        body=body,
    )


def _fields(headers: httpx.Headers) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.raw]
