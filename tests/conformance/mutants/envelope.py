"""Mutants of the rules about HTTP and about the four framings."""

from __future__ import annotations

import struct
from zlib import crc32

from harness.replay.faults import (
    Asked,
    Bytes,
    Compress,
    Cut,
    Header,
    Insert,
    InsertBytes,
    Lose,
    Move,
    Relabel,
    Repeat,
    Status,
    Write,
)
from harness.replay.reel import message
from tests.conformance.mutants import Mutant

CHAT = "openai-chat/llamacpp/text"
REFUSED = "openai-chat/llamacpp/error-no-key"
ARRAY = "gemini/google/array-text"
LINES = "ollama-chat/ollama/text"
FRAMES = "bedrock-converse/bedrock/text"
FAILED = "bedrock-converse/bedrock/error-in-stream"
ERROR = {"error": {"message": "overloaded", "type": "server_error", "code": "overloaded"}}


def header(name: bytes, value: bytes, kind: int = 7) -> bytes:
    """A header of a frame, with a text as its value."""
    return bytes([len(name)]) + name + bytes([kind]) + struct.pack("!H", len(value)) + value


def prelude(total: int, length: int) -> bytes:
    """The prelude of a frame of `total` bytes with `length` bytes of headers, and its checksum."""
    numbers = struct.pack("!II", total, length)
    return numbers + struct.pack("!I", crc32(numbers))


HTTP = [
    Mutant(rule="HTTP-001", cassette=CHAT, faults=(Header("content-type", "application/json"),)),
    Mutant(rule="HTTP-002", cassette=REFUSED, faults=(Header("content-type", "text/event-stream"),)),
    Mutant(rule="HTTP-003", cassette=CHAT, faults=(Asked("/stream", False),)),
    Mutant(
        rule="HTTP-004",
        cassette=REFUSED,
        before=(Header("retry-after", "20"),),
        faults=(Header("retry-after", "soon"),),
    ),
    Mutant(
        rule="HTTP-005",
        cassette=REFUSED,
        before=(Header("retry-after", "20"),),
        faults=(Header("retry-after", "3600"),),
    ),
    Mutant(rule="HTTP-006", cassette=CHAT, before=(Compress(),), faults=(Compress(None),)),
    Mutant(rule="HTTP-007", cassette=REFUSED, before=(Status(503),), faults=(Write(0, b"<html>Bad gateway</html>"),)),
    Mutant(
        rule="HTTP-008",
        cassette=REFUSED,
        before=(Header("x-should-retry", "false"),),
        faults=(Header("x-should-retry", "true"),),
    ),
    Mutant(rule="HTTP-009", cassette=CHAT, faults=(Cut(0),)),
    Mutant(rule="HTTP-010", cassette=CHAT, faults=(Insert(-1, ERROR),)),
]

SSE = [
    Mutant(rule="SSE-001", cassette=CHAT, faults=(Bytes(3, b'"content":"', b'"content":"\xc3'),)),
    Mutant(rule="SSE-003", cassette=CHAT, faults=(InsertBytes(0, b"\xef\xbb\xbf"),)),
    Mutant(rule="SSE-005", cassette=CHAT, faults=(InsertBytes(2, b": still here\r\n\r\n"),)),
    Mutant(rule="SSE-008", cassette=CHAT, faults=(Bytes(1, b"data: ", b"data:"),)),
    Mutant(rule="SSE-009", cassette=CHAT, faults=(Lose(-1), Bytes(-1, b"\n\n", b"\n")), also=("OAI-C-001",)),
    Mutant(rule="SSE-011", cassette=CHAT, faults=(InsertBytes(1, b"event: ping\n\n"),)),
    Mutant(rule="SSE-012", cassette=CHAT, faults=(InsertBytes(1, b"status: busy\n\n"),)),
    Mutant(rule="SSE-013", cassette=CHAT, faults=(InsertBytes(1, b"id: 17\n"),)),
    Mutant(rule="SSE-014", cassette=CHAT, faults=(InsertBytes(1, b"retry: 3s\n"),)),
    Mutant(rule="SSE-015", cassette=CHAT, faults=(InsertBytes(1, b'data: {"id":\n\n'),)),
    Mutant(rule="SSE-016", cassette=CHAT, faults=(Repeat(1, to=-1), InsertBytes(-2, b"data: [DONE]\n\n"))),
    Mutant(rule="SSE-017", cassette=CHAT, faults=(Write(-1, b" [DONE] "),)),
    Mutant(rule="SSE-019", cassette=CHAT, faults=(Bytes(-1, b"\n\n", b"\n"),)),
]

LINES_AND_ARRAYS = [
    Mutant(rule="NDJ-001", cassette=LINES, faults=(InsertBytes(1, b"busy\n"),)),
    Mutant(rule="NDJ-003", cassette=LINES, faults=(Cut(-1, keep=9),), also=("OLL-001",)),
    Mutant(rule="NDJ-004", cassette=LINES, faults=(InsertBytes(1, b"\n"),)),
    Mutant(rule="NDJ-005", cassette=LINES, faults=(Repeat(-1),)),
    Mutant(rule="JSA-001", cassette=ARRAY, faults=(Bytes(0, b",", b" "),)),
    Mutant(rule="JSA-002", cassette=ARRAY, faults=(Bytes(-1, b"\n]", b"\n"),)),
    Mutant(rule="JSA-004", cassette=ARRAY, faults=(InsertBytes(-1, b" null", after=True),)),
]

KIND = header(b":message-type", b"event")


def follows(*data: bytes) -> tuple[InsertBytes]:
    """Bytes after the last frame, so that nothing but themselves is damaged."""
    return (InsertBytes(-1, b"".join(data), after=True),)


WHOLE = message(KIND, b"{}")
EVENT_STREAM = [
    Mutant(rule="EVS-001", cassette=FRAMES, faults=follows(prelude(15, 0), WHOLE)),
    Mutant(rule="EVS-002", cassette=FRAMES, faults=follows(WHOLE[:8], b"\0\0\0\0", WHOLE[12:])),
    Mutant(rule="EVS-003", cassette=FRAMES, faults=follows(WHOLE[:-4], b"\0\0\0\0")),
    Mutant(rule="EVS-004", cassette=FRAMES, faults=follows(prelude(400_000, 200_000), WHOLE)),
    Mutant(rule="EVS-005", cassette=FRAMES, faults=follows(message(KIND + KIND, b"{}"))),
    Mutant(rule="EVS-006", cassette=FRAMES, faults=follows(message(header(b":message-type", b"event", 12), b"{}"))),
    Mutant(rule="EVS-007", cassette=FRAMES, faults=(Relabel(2, b"message-type", b"massage-type"),)),
    Mutant(rule="EVS-008", cassette=FRAMES, faults=(Relabel(2, b"event-type", b"evens-type"),)),
    Mutant(rule="EVS-009", cassette=FRAMES, faults=(Relabel(2, b"application/json", b"application/cbor"),)),
    Mutant(rule="EVS-010", cassette=FRAMES, faults=follows(WHOLE[:11])),
    Mutant(rule="EVS-012", cassette=FAILED, faults=(Repeat(0, to=-1), Move(-1, -2))),
]

MUTANTS = [*HTTP, *SSE, *LINES_AND_ARRAYS, *EVENT_STREAM]
