"""Streams of every dialect, made up and always the same: text deltas, then tool calls, then the ends and the usage."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from zlib import crc32

from bench import payloads
from bench.payloads import Event, Turn, as_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A streamed turn: its bytes, how many events they are, and the text that they say."""

    dialect: str
    framing: str
    body: bytes
    events: int
    text: str

    def pieces(self, size: int | None) -> Iterator[bytes]:
        """The bytes in pieces of `size`; None: in one."""
        if size is None:
            yield self.body
        else:
            for start in range(0, len(self.body), size):
                yield self.body[start : start + size]


def stream(dialect: str, *, deltas: int = 2000, calls: int = 2, fragments: int = 200) -> Stream:
    """The stream of `deltas` text deltas and `calls` tool calls of `fragments` argument deltas each."""
    framing, tell, write = _DIALECTS[dialect]
    turn = Turn(deltas, calls, fragments)
    events = [write(name, as_json(payload)) for name, payload in tell(turn)]
    if dialect == "openai-chat":
        events.append(b"data: [DONE]\n\n")
    text = "".join(turn.texts)
    return Stream(dialect=dialect, framing=framing, body=b"".join(events), events=len(events), text=text)


def _data(name: str, payload: bytes) -> bytes:
    return b"data: %b\n\n" % payload


def _data_crlf(name: str, payload: bytes) -> bytes:
    return b"data: %b\r\n\r\n" % payload


def _named(name: str, payload: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), payload)


def _line(name: str, payload: bytes) -> bytes:
    return payload + b"\n"


def _binary(name: str, payload: bytes) -> bytes:
    """A message of an AWS event stream: prelude, its checksum, headers, payload, checksum of everything before it."""
    headers = b""
    for key, value in ((b":event-type", name.encode()), (b":content-type", b"application/json"), (b":message-type", b"event")):
        headers += struct.pack("!B", len(key)) + key + b"\x07" + struct.pack("!H", len(value)) + value
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack("!I", crc32(prelude)) + headers + payload
    return message + struct.pack("!I", crc32(message))


_DIALECTS: dict[str, tuple[str, Callable[[Turn], Iterator[Event]], Callable[[str, bytes], bytes]]] = {
    "openai-chat": ("sse", payloads.openai_chat, _data),
    "openai-responses": ("sse", payloads.openai_responses, _named),
    "gemini": ("sse", payloads.gemini, _data_crlf),
    "bedrock-converse": ("event-stream", payloads.bedrock_converse, _binary),
    "bedrock-invoke": ("event-stream", payloads.bedrock_invoke, _binary),
    "ollama-chat": ("ndjson", payloads.ollama_chat, _line),
    "anthropic-messages": ("sse", payloads.anthropic_messages, _named),
}

NAMES = tuple(_DIALECTS)
