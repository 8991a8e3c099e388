"""What the loop knows of a network: a request goes out, a response comes in piece by piece. A `Transport` carries them.

No HTTP client is named here: `harness.adapters.wire` has the transport over httpx, tests have their own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from harness.cassette.model import Chunk

__all__ = ["Chunk", "Transport", "WireError", "WireRequest", "WireResponse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """A request as bytes. `path` stands below the base URL that the transport knows, and has the query."""

    method: str = "POST"
    path: str = "/"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class WireError(Exception):
    """The connection failed, before a response or in the middle of it: it broke, or nothing came for too long."""

    def __init__(self, kind: Literal["network", "timeout"], message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class WireResponse(Protocol):
    """A response whose head has arrived."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Header fields, looked up in lower case."""

    def chunks(self) -> AsyncIterator[Chunk]:
        """The pieces of the body as they arrive, before any content decoding, `at` seconds after the request was sent.
        Raises `WireError` where the connection fails."""

    async def aclose(self) -> None:
        """Let go of the connection, wherever reading stopped. May be called again."""


class Transport(Protocol):
    """Carries requests."""

    async def send(self, request: WireRequest) -> WireResponse:
        """Send a request and wait for the head of its response. Raises `WireError`."""
