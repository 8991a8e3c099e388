"""The same for a transport of the loop: `send` gives a response whose pieces are recorded as they pass.

Rooms at one height do not know each other, so the shapes of the loop's `Transport` are written down here as far as a recorder
needs them; a failure says by its `kind` whether it was a timeout.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

from harness.cassette.model import Chunk, Ending, Headers, Request
from harness.recording.recorder import Recorder, Take


class _Asked(Protocol):
    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def body(self) -> bytes: ...


class _Response(Protocol):
    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def chunks(self) -> AsyncIterator[Chunk]: ...
    async def aclose(self) -> None: ...


class _Transport(Protocol):
    async def send(self, request: Any) -> _Response: ...


class RecordingWire:
    """A transport of the loop that records what passes through another one.

    Its requests name no host; `host` and `scheme` say where they go.
    """

    def __init__(self, inner: _Transport, recorder: Recorder | None = None, *, host: str = "", scheme: str = "https") -> None:
        self.recorder = recorder if recorder is not None else Recorder()
        self._inner = inner
        self._host = host
        self._scheme = scheme

    async def send(self, request: _Asked) -> RecordedResponse:
        take = self.recorder.take(
            Request(
                method=request.method,
                scheme=self._scheme,
                host=self._host,
                target=request.path,
                headers=Headers(request.headers),
                body=request.body,
            )
        )
        try:
            response = await self._inner.send(request)
        except BaseException as error:
            take.end(_ending(error))
            raise
        take.head(response.status, response.headers.items())
        return RecordedResponse(response, take)


class RecordedResponse:
    """A response that is recorded while it is read."""

    def __init__(self, inner: _Response, take: Take) -> None:
        self._inner = inner
        self._take = take

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._inner.headers

    def chunks(self) -> AsyncIterator[Chunk]:
        return _Pieces(self._inner.chunks(), self._take)

    async def aclose(self) -> None:
        self._take.end("reset")
        await self._inner.aclose()


class _Pieces:
    """The pieces of a body, recorded as they are read. (No generator, as in `replay.play`.)"""

    def __init__(self, inner: AsyncIterator[Chunk], take: Take) -> None:
        self._inner = inner
        self._take = take

    def __aiter__(self) -> _Pieces:
        return self

    async def __anext__(self) -> Chunk:
        try:
            chunk = await anext(self._inner)
        except StopAsyncIteration:
            self._take.end("eof")
            raise
        except Exception as error:
            self._take.end(_ending(error))
            raise
        self._take.chunk(chunk.data, chunk.at)
        return chunk

    async def aclose(self) -> None:
        close = getattr(self._inner, "aclose", None)
        if close is not None:
            await close()


def _ending(error: BaseException) -> Ending:
    return "timeout" if getattr(error, "kind", None) == "timeout" else "reset"
