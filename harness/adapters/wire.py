"""The loop's transport over httpx: a live server, or a client whose own transport plays a recording.

    client = httpx.AsyncClient(base_url="https://api.openai.com/v1", timeout=httpx.Timeout(60, connect=5))
    provider = DialectProvider("openai-chat", HttpxTransport(client, headers=key_header("openai-chat", key)))

Keys are the caller's affair and are sent as header fields that the transport is given. `key_header` has the name that
the vendor of an API gives to that field: `x-api-key` for Messages, `x-goog-api-key` for Gemini, `authorization` for all
others. AWS takes a bearer key there as well; whoever signs requests instead gives the client an `auth` of httpx that does.
Paths stand below the base URL: `https://api.openai.com/v1`, `https://api.anthropic.com`,
`https://generativelanguage.googleapis.com/v1beta`, `https://bedrock-runtime.REGION.amazonaws.com`, `http://localhost:11434`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing

import httpx

from harness import dialects
from harness.loop.wire import Chunk, WireError, WireRequest

__all__ = ["HttpxResponse", "HttpxTransport", "key_header"]

_BROKEN = (httpx.TransportError, OSError)  # transports of other makers do not put the system's errors in httpx's words
_ENCODINGS = "gzip, deflate"  # what is undone here; httpx would ask for more where it can do more


class HttpxTransport:
    """Sends requests with `client`, which stays the caller's to close.

    `base_url` is needed where the client has none; `headers` go with every request, under those of the request itself.
    `clock` gives the seconds that the arrival of pieces is told by.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        base_url: str = "",
        headers: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._base = base_url.rstrip("/")
        self._headers = dict(headers or {})
        self._clock = clock

    async def send(self, request: WireRequest) -> HttpxResponse:
        """Send a request and wait for the head of its response. Raises `WireError`."""
        headers = httpx.Headers({"accept-encoding": _ENCODINGS, **self._headers})
        headers.update(dict(request.headers))
        url = self._base + request.path
        outgoing = self._client.build_request(request.method, url, headers=headers, content=request.body)
        began = self._clock()
        try:
            response = await self._client.send(outgoing, stream=True)
        except _BROKEN as error:
            raise wire_error(error) from error
        return HttpxResponse(response, began, self._clock)


class HttpxResponse:
    """A response of httpx whose head has arrived."""

    def __init__(self, response: httpx.Response, began: float, clock: Callable[[], float]) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._began = began
        self._clock = clock

    async def chunks(self) -> AsyncIterator[Chunk]:
        """The pieces as the connection gives them, still encoded. Raises `WireError`."""
        if self._response.is_stream_consumed:  # a transport of somebody's tests made it whole
            yield Chunk(at=self._clock() - self._began, data=self._response.content)
            return
        try:
            async with aclosing(self._response.aiter_raw()) as pieces:  # type: ignore[type-var]
                async for data in pieces:
                    yield Chunk(at=self._clock() - self._began, data=data)
        except _BROKEN as error:
            raise wire_error(error) from error

    async def aclose(self) -> None:
        await self._response.aclose()


def wire_error(error: Exception) -> WireError:
    """What became of a connection, in the loop's words."""
    words = str(error) or type(error).__name__
    if isinstance(error, (httpx.TimeoutException, TimeoutError)):
        return WireError("timeout", f"nothing came for too long: {words}")
    return WireError("network", f"the connection failed: {words}")


def key_header(dialect: str, key: str) -> dict[str, str]:
    """The header field that carries an API key. Raises `UnsupportedDialectError`."""
    name, prefix = dialects.dialect(dialect).key_header
    return {name: prefix + key}
