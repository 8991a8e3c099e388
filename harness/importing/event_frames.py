"""Frames of an AWS event stream, made of payloads as SDKs hand them out: `{"messageStart": {…}}` (spec, wire/framing.md 4)."""

from __future__ import annotations

import json
import struct
from zlib import crc32

MEDIA = "application/vnd.amazon.eventstream"
_STRING = 7
_OVERHEAD = 16


def split(payload: bytes) -> tuple[str, bytes]:
    """The name of an event and its own payload. Raises `ValueError` where a payload is not of that form."""
    value = json.loads(payload)
    events = [*value.items()] if isinstance(value, dict) else []
    if len(events) != 1 or not isinstance(events[0][1], dict):
        raise ValueError("a payload of an event stream is an object with one field, the event")
    name, event = events[0]
    return name, json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def frame(name: str, data: bytes) -> bytes:
    """A frame with the three headers that Bedrock sends."""
    kind = "exception" if name.endswith("Exception") else "event"
    headers = b"".join(
        _header(*field) for field in ((f":{kind}-type", name), (":content-type", "application/json"), (":message-type", kind))
    )
    prelude = struct.pack("!II", _OVERHEAD + len(headers) + len(data), len(headers))
    message = prelude + struct.pack("!I", crc32(prelude)) + headers + data
    return message + struct.pack("!I", crc32(message))


def _header(name: str, value: str) -> bytes:
    encoded = value.encode()
    return struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", _STRING, len(encoded)) + encoded
