"""Providers: whoever answers a `TurnRequest`. The one here speaks a wire dialect over a transport.

`DialectProvider` is the only place of the loop that knows of requests in an API's words, of frames and of the collector; the
step that runs it sees artifacts and failures. It keeps nothing between turns, so that one may serve many turns at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext, suppress
from dataclasses import replace
from typing import Any, Protocol
from urllib.parse import urlencode

import anyio

from harness import dialects, payload
from harness.api_error import ApiError, ErrorKind, retry_after
from harness.cassette.decoding import Decoder
from harness.dialects import Dialect
from harness.errors import HarnessError, UnsupportedDialectError, UnsupportedRequestError
from harness.loop.artifacts import Emit
from harness.loop.incoming import Incoming, ProviderFailure, Watch
from harness.loop.wire import Chunk, Transport, WireError, WireRequest, WireResponse
from harness.request import RequestParts, ToolDefinition, TurnRequest

__all__ = ["DialectProvider", "Emit", "Provider", "ProviderFailure", "ToolDefinition", "TurnRequest"]

_MOST_OF_AN_ERROR = 1 << 20  # bytes; no error says more


class Provider(Protocol):
    """Answers turns."""

    @property
    def name(self) -> str: ...

    async def invoke(self, request: TurnRequest, emit: Emit) -> None:
        """Ask, and emit what comes in the order in which it arrives; returns when the turn is whole. Raises
        `ProviderFailure`, and whatever `emit` raises."""


class DialectProvider:
    """A provider that speaks `dialect` (a name, an alias, or a `Dialect`) over `transport`.

    `stream` says how to ask; either form of answer is accepted. `build` makes the request instead of the dialect. `now` is the
    time in seconds since the epoch, which a `Retry-After` that is a date is measured by. `watch` is shown the frames and edits
    of all turns as they pass. Raises `UnsupportedDialectError`.
    """

    def __init__(
        self,
        dialect: str | Dialect,
        transport: Transport,
        *,
        name: str | None = None,
        stream: bool = True,
        build: Callable[[TurnRequest], RequestParts] | None = None,
        now: Callable[[], float] = time.time,
        watch: Watch | None = None,
    ) -> None:
        self.dialect = dialects.dialect(dialect) if isinstance(dialect, str) else dialect
        if not hasattr(self.dialect, "translator"):
            raise UnsupportedDialectError(dialect, dialects.names())
        self.name = name or self.dialect.name
        self._transport = transport
        self._build = build or (lambda request: self.dialect.build_request(request, stream=stream))
        self._now = now
        self._watch = watch

    async def invoke(self, request: TurnRequest, emit: Emit) -> None:
        parts, wire = self._asked(request)
        try:
            reply = await self._transport.send(wire)
        except WireError as error:
            raise ProviderFailure(_of_connection(error)) from error
        try:
            if not 200 <= reply.status < 300:
                raise ProviderFailure(await self._refusal(reply))
            await self._take(reply, parts, emit)
        finally:
            # a cancelled turn lets go of its connection too; what came of a turn does not depend on how that goes
            with anyio.CancelScope(shield=True), suppress(Exception):
                await reply.aclose()

    def _asked(self, request: TurnRequest) -> tuple[RequestParts, WireRequest]:
        """The request in the API's words, and as bytes; one that the API has no words for is refused before it is sent."""
        try:
            parts = with_options(self._build(request), request.options)
            return parts, wire_request(parts)
        except HarnessError as error:
            refused = ApiError(kind=ErrorKind.INVALID_REQUEST, message=str(error))
            raise ProviderFailure(refused) from error

    async def _take(self, reply: WireResponse, parts: RequestParts, emit: Emit) -> None:
        streams = self.dialect.streams(parts.path, parts.body)
        incoming = Incoming(self.dialect, parts.body, streams, reply.headers, self._watch)
        broken: WireError | None = None
        chunks = reply.chunks()
        try:
            async with _closing(chunks):
                async for chunk in chunks:
                    for artifact in incoming.feed(chunk):
                        await emit(artifact)
        except WireError as error:
            broken = error
        for artifact in incoming.close(broken):
            await emit(artifact)

    async def _refusal(self, reply: WireResponse) -> ApiError:
        """The error of a response that is no turn; what its headers say of waiting counts where its body says nothing."""
        body = await _whole(reply)
        try:
            value: Any = payload.from_text(body.decode())
        except ValueError:
            value = body.decode(errors="replace")
        error = self.dialect.read_error(reply.status, reply.headers, value)
        if error.retry_after is None:
            error = replace(error, retry_after=retry_after(reply.headers, self._now()))
        return error


def with_options(parts: RequestParts, options: Mapping[str, Any]) -> RequestParts:
    """The request with what `TurnRequest.options` add to it: `extra_body`, `extra_headers`, `extra_query`."""
    query = urlencode(options.get("extra_query") or {})
    sign = "&" if "?" in parts.path else "?"
    return replace(
        parts,
        path=parts.path + (sign + query if query else ""),
        body=_merged(parts.body, options.get("extra_body") or {}),
        headers={**parts.headers, **(options.get("extra_headers") or {})},
    )


def wire_request(parts: RequestParts) -> WireRequest:
    """The request as bytes: compact JSON, the order of the fields kept; half a character, which UTF-8 has no bytes for, as its
    escape. Raises `UnsupportedRequestError` for what JSON has no form for (NaN, objects of Python's, a tower of lists)."""
    try:
        text = json.dumps(parts.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise UnsupportedRequestError(
            f"the request cannot be written as JSON: {error}", hint="see what goes into it"
        ) from error
    headers = {"content-type": "application/json", **parts.headers}
    body = text.encode("utf-8", "backslashreplace")  # in JSON these letters stand in strings only, and so their escapes
    return WireRequest(method=parts.method, path=parts.path, headers=headers, body=body)


def _merged(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(body)
    for name, value in extra.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(merged.get(name), Mapping):
            merged[name] = _merged(merged[name], value)
        else:
            merged[name] = value
    return merged


async def _whole(reply: WireResponse) -> bytes:
    """The body of an error, as far as it comes."""
    decoder = Decoder(reply.headers.get("content-encoding"))
    body = bytearray()
    chunks = reply.chunks()
    try:
        async with _closing(chunks):
            async for chunk in chunks:
                for data in decoder.feed(chunk.data):
                    body += data
                if len(body) > _MOST_OF_AN_ERROR:
                    break
    except WireError:
        pass  # the status has said that it failed
    for data in decoder.close():
        body += data
    return bytes(body)


def _closing(chunks: AsyncIterator[Chunk]) -> AbstractAsyncContextManager[Any]:
    """Closes a generator where it was left."""
    return aclosing(chunks) if hasattr(chunks, "aclose") else nullcontext()


def _of_connection(error: WireError) -> ApiError:
    kind = ErrorKind.TIMEOUT if error.kind == "timeout" else ErrorKind.NETWORK
    return ApiError(kind=kind, message=error.message, retryable=True)
