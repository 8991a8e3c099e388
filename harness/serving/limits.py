"""How much a client may cost: sizes, times, and how many there may be."""

from __future__ import annotations

from dataclasses import dataclass


class TooMuch(Exception):
    """A client asks for more than there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bytes of a request's head and body and of all bodies at once; connections at once; seconds that a client may be idle,
    may take for the next part of its request and for all of it, and may leave unread what was sent."""

    head: int = 64 * 1024
    body: int = 64 * 1024 * 1024
    bodies: int = 256 * 1024 * 1024
    connections: int = 1024
    idle: float = 75.0
    request: float = 15.0
    whole: float = 60.0
    reading: float = 120.0


class Budget:
    """Bytes that all connections hold together."""

    def __init__(self, most: int) -> None:
        self._left = most

    def take(self, size: int) -> None:
        """Raises `TooMuch` if there is no room."""
        if size > self._left:
            raise TooMuch("the server holds too many large requests")
        self._left -= size

    def give(self, size: int) -> None:
        self._left += size
