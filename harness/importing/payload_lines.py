"""Payloads line by line, as the logs of applications hold them: JSON, with `data:` in front or without, after a timestamp or
inside a field of a log record. The stream around them is put together anew.

A turn ends where its API says so; the next payload begins the next one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness import dialects
from harness.cassette.metadata import whole
from harness.cassette.model import Exchange, Headers
from harness.collector import StreamCollector
from harness.detection import detect
from harness.dialects import Dialect
from harness.framing import Frame
from harness.importing import event_frames
from harness.importing.bodies import asking
from harness.importing.found import ENDING, HEAD, PIECES, REQUEST, TIMES, Found, Told
from harness.importing.source import Source

_DONE = b"[DONE]"
_DATA = re.compile(rb"(?:^|[\s'\"\]>|=])data: ?(?=[\[{])")
_PASSED = (b"event:", b"id:", b"retry:", b":")
_ENOUGH = 24
_MEDIA = {"sse": "text/event-stream", "ndjson": "application/x-ndjson", "event-stream": event_frames.MEDIA}
_AFTER = "stream/data-after-done"


@dataclass(slots=True)
class _Lines:
    """The payloads of a file, and how many lines hold none, or something in front of one."""

    payloads: list[bytes] = field(default_factory=list)
    other: int = 0
    prefixed: int = 0


def holds_payloads(head: bytes) -> bool:
    """Whether most lines of the head of a file hold a payload."""
    lines = [line for line in head.splitlines()[:-1] or head.splitlines() if line.strip()][: 2 * _ENOUGH]
    found = sum(_payload(line.strip()) is not None for line in lines)
    passed = sum(line.startswith(_PASSED) for line in lines)
    return found > 0 and 2 * found >= len(lines) - passed


def read(source: Source, told: Told) -> Iterator[Found]:
    """The turns in order. Raises `InputError`, also if the payloads are of no known API."""
    lines = _gathered(source)
    if not lines.payloads:
        raise source.error("no line holds a payload")
    api, payloads, unwrapped = _api(source, told, lines.payloads)
    lost = [REQUEST, HEAD, TIMES, PIECES, ENDING, "the framing of the payloads"]
    lost += [f"lines that hold no payload ({lines.other})"] if lines.other else []
    lost += ["what stands beside payloads in their lines"] if lines.prefixed or unwrapped else []
    for turn in _turns(api, payloads):
        exchange = Exchange(
            headers=Headers([("content-type", _MEDIA[api.framings[0]])]),
            chunks=whole(_framed(turn, api.framings[0])),
            wire="reconstructed",
        )
        yield asking(Found(exchange=exchange, lost=tuple(lost), dialect=api.name), source, told)


def _gathered(source: Source) -> _Lines:
    out = _Lines()
    for line in source.lines():
        stripped = line.strip()
        if not stripped or stripped.startswith(_PASSED):
            continue
        payload = _payload(stripped)
        if payload is None:
            out.other += 1
        else:
            out.payloads.append(payload)
            out.prefixed += not stripped.startswith((b"data:", b"{", _DONE))
    return out


def _payload(line: bytes) -> bytes | None:
    """The payload of a line: the line itself, what stands after `data:`, or from the first brace on."""
    if line.startswith(b"{") and _object(line) is not None:
        return line
    data = _DATA.search(line)
    start = data.end() if data else 0 if line.startswith(_DONE) else line.find(b"{")
    if start < 0:
        return None
    payload = line[start:].rstrip(b" \t'\"")
    return payload if payload == _DONE or _object(payload) is not None else None


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _api(source: Source, told: Told, payloads: list[bytes]) -> tuple[Dialect, list[bytes], bool]:
    """The API, and the payloads: those found, or those inside a field of each record."""
    if told.dialect is not None:
        return dialects.dialect(told.dialect), payloads, False
    for candidate, unwrapped in ((payloads, False), *((inner, True) for inner in _inside(payloads))):
        for framing in _MEDIA:
            body = _framed(candidate[:_ENOUGH], framing)
            api = detect(body, framing) if body else None
            if api is not None and api.framings[0] == framing:
                return api, candidate, unwrapped
    hint = f"say which API it is with --dialect ({', '.join(dialects.names())})"
    raise source.error("the payloads are of no known API", hint=hint)


def _inside(payloads: list[bytes]) -> Iterator[list[bytes]]:
    """Payloads inside records: for each field of the first one that holds an object, or a text of one, those of all records."""
    for name in _object(payloads[0]) or ():
        found = []
        for record in payloads:
            value = (_object(record) or {}).get(name)
            inner = _payload(value.strip().encode()) if isinstance(value, str) else None
            if isinstance(value, dict):
                inner = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
            found += [inner] if inner is not None else []
        if found:
            yield found


def _turns(api: Dialect, payloads: Sequence[bytes]) -> Iterator[list[bytes]]:
    turn: list[bytes] = []
    collector = StreamCollector(api)
    for payload in payloads:
        frame = _frame(payload, len(turn), api)
        collector.add(frame)
        if any(note.kind == _AFTER for note in collector.notes) and turn:
            yield turn
            turn, collector = [], StreamCollector(api)
            collector.add(_frame(payload, 0, api))
        turn.append(payload)
    if turn:
        yield turn


def _frame(payload: bytes, index: int, api: Dialect) -> Frame:
    if api.framings[0] != "event-stream":
        return Frame(index, None, payload)
    name, data = event_frames.split(payload)
    return Frame(index, name, data)


def _framed(payloads: Sequence[bytes], framing: str) -> bytes:
    """A body of these payloads; empty where they cannot be framed so."""
    if framing == "sse":
        return b"".join(_event(payload) + b"data: " + payload + b"\n\n" for payload in payloads)
    if framing == "ndjson":
        return b"".join(payload + b"\n" for payload in payloads if payload != _DONE)
    try:
        return b"".join(event_frames.frame(*event_frames.split(payload)) for payload in payloads)
    except ValueError:
        return b""


def _event(payload: bytes) -> bytes:
    """APIs that name their events name them as their payloads do."""
    kind = (_object(payload) or {}).get("type")
    return f"event: {kind}\n".encode() if isinstance(kind, str) and kind.isprintable() else b""
