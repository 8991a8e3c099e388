"""How payloads are put on the wire, and how the bytes arrive.

Arrival is made up but always the same: it varies between cassettes, so that events come alone, several at once, in slices
that respect nothing, and cut inside a character.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Iterable, Sequence
from itertools import accumulate, cycle
from typing import Any, Literal
from zlib import crc32

from harness.cassette import Chunk

Cut = Literal["each", "threes", "slices", "characters"]

_SLICE = 61
_FIRST, _GAPS = 0.384, (0.021, 0.034, 0.018, 0.027, 0.019)  # seconds
_CHARACTER = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")
_PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def googles(value: Any, *, indent: int | None = None) -> str:
    """JSON as Google writes it."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=(",", ": "))
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def gos(value: Any) -> str:
    """JSON as Go's encoder writes it: nothing in it can end a line or a script."""
    text = compact(value)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def sse(data: str, name: str | None = None, eol: str = "\n") -> bytes:
    lines = ([f"event: {name}"] if name else []) + [f"data: {data}", "", ""]
    return eol.join(lines).encode()


def json_array(elements: Sequence[Any]) -> list[bytes]:
    """A JSON array as Google sends it, an element at a time."""
    texts = [googles(element, indent=2) for element in elements]
    return [f"{before}{text}\n".encode() for before, text in zip(["[", *[",\r\n"] * len(texts)], texts, strict=False)] + [b"]"]


def frame(payload: Any, headers: dict[str, str]) -> bytes:
    """A frame of AWS's event stream, whose headers are all texts."""
    fields = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value.encode())) + value.encode()
        for name, value in headers.items()
    )
    data = compact(payload).encode()
    prelude = struct.pack("!II", 16 + len(fields) + len(data), len(fields))
    message = prelude + struct.pack("!I", crc32(prelude)) + fields + data
    return message + struct.pack("!I", crc32(message))


def event(name: str, payload: dict[str, Any], number: int) -> bytes:
    """An event of Bedrock, the `number`th of its stream; its length is hidden with letters."""
    padding = _PADDING[: (number * 17 + len(name) * 5) % 61 + 1]
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return frame({**payload, "p": padding}, headers)


def exception(name: str, payload: dict[str, Any]) -> bytes:
    return frame(payload, {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"})


def inner(payload: Any) -> dict[str, Any]:
    """A model vendor's own payload inside an event of Invoke."""
    return {"bytes": base64.b64encode(compact(payload).encode()).decode()}


def arriving(events: Sequence[bytes], cut: Cut = "each") -> tuple[Chunk, ...]:
    """The chunks in which these events arrive."""
    pieces = [piece for piece in _CUTS[cut](list(events)) if piece]
    gaps = cycle(_GAPS)
    times = accumulate((next(gaps) for _ in pieces[1:]), initial=_FIRST)
    return tuple(Chunk(data=data, at=round(at, 3)) for data, at in zip(pieces, times, strict=True))


def _threes(events: list[bytes]) -> list[bytes]:
    return [b"".join(events[n : n + 3]) for n in range(0, len(events), 3)]


def _slices(events: list[bytes]) -> list[bytes]:
    body = b"".join(events)
    return [body[n : n + _SLICE] for n in range(0, len(body), _SLICE)]


def _in_characters(events: list[bytes]) -> list[bytes]:
    """Every event is cut after the first byte of the first character that has several; of an event without one, nothing is."""
    return [piece for event in events for piece in _halves(event)]


def _halves(event: bytes) -> Iterable[bytes]:
    found = _CHARACTER.search(event, max(event.find(b"{"), 0))
    place = found.start() + 1 if found else len(event)
    return event[:place], event[place:]


_CUTS = {"each": list, "threes": _threes, "slices": _slices, "characters": _in_characters}
