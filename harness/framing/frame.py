"""The noun of the room, and the contract of those who make it."""

from __future__ import annotations

from typing import Protocol

from harness.findings import Finding


class Frame:
    """One message of a stream.

    `index` counts from 0, `name` is the SSE event name or the event or exception type of an event-stream frame (else None),
    `data` the payload as bytes, `at` the arrival time in seconds of the piece that completed it, `span` its byte range in
    the body (half open; for SSE from its first field to the end of its last one, for a line without the line end),
    `headers` the headers of an event-stream frame.

    Not frozen: there is one per event on the hot path. Nobody changes a frame.
    """

    __slots__ = ("at", "data", "headers", "index", "name", "span")

    def __init__(
        self,
        index: int,
        name: str | None,
        data: bytes,
        at: float = 0.0,
        span: tuple[int, int] = (0, 0),
        headers: dict[str, object] | None = None,
    ) -> None:
        self.index = index
        self.name = name
        self.data = data
        self.at = at
        self.span = span
        self.headers = headers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frame):
            return NotImplemented
        return all(getattr(self, slot) == getattr(other, slot) for slot in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        data = self.data if len(self.data) <= 60 else self.data[:57] + b"..."
        return f"Frame({self.index}, {self.name!r}, {data!r}, at={self.at}, span={self.span})"


class Framer(Protocol):
    """Cuts a body into frames; one framer per body."""

    findings: list[Finding]

    def feed(self, data: bytes, at: float = 0.0) -> list[Frame]:
        """The frames that `data`, arrived at `at` seconds, completes."""

    def close(self, at: float = 0.0) -> list[Frame]:
        """The end of the body: the frames that only the end completes. Call it once; feed nothing after it."""
