"""Framing: bytes of a response body in, frames out; nothing of language models, nothing of HTTP.

Four framings carry every API (spec, wire/framing.md): `sse`, `ndjson`, `json-array`, `event-stream`. A framer is fed pieces
of any size and returns the frames that are complete, keeping the rest; how the bytes were cut changes nothing but `at`.
What it cannot make a frame of it lists in `findings`, each with its span, and goes on where that is possible.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import InputError
from harness.framing.event_stream import EventStreamFramer
from harness.framing.frame import Frame, Framer
from harness.framing.json_array import JSONArrayFramer
from harness.framing.ndjson import NDJSONFramer
from harness.framing.sse import SSEFramer

__all__ = ["Frame", "Framer", "blocks", "framer", "framing_of"]

_BLOCK = 64 * 1024  # bytes
_FRAMERS: dict[str, type[Framer]] = {
    "sse": SSEFramer,
    "ndjson": NDJSONFramer,
    "json-array": JSONArrayFramer,
    "event-stream": EventStreamFramer,
}


def framer(framing: str) -> Framer:
    """A new framer for `framing`. Raises `InputError` for a framing that does not exist."""
    if framing not in _FRAMERS:
        raise InputError(f"no framing is called {framing!r}", hint=f"there are {', '.join(_FRAMERS)}")
    return _FRAMERS[framing]()


def blocks(data: bytes) -> Iterator[bytes]:
    """The data in pieces for a framer, so that not all of its frames are there at once."""
    if len(data) <= 2 * _BLOCK:
        yield data
        return
    for start in range(0, len(data), _BLOCK):
        yield data[start : start + _BLOCK]


def framing_of(framings: tuple[str, ...], head: bytes) -> str:
    """Which of an API's framings a body that begins with `head` has: the usual one, which comes first, or by its first byte
    where a JSON array is possible."""
    return "json-array" if "json-array" in framings and head.lstrip()[:1] == b"[" else framings[0]
