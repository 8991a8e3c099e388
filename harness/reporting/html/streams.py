"""The recordings behind what fails: frames with their times and bytes, and the edits that each caused. As many as there is room
for, those without a fault first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from harness import dialects
from harness.adapters.ours import framing_of
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Cassette, Exchange
from harness.conformance.verdict import Grade
from harness.dialects import Dialect
from harness.edits import Edit, pointer
from harness.errors import HarnessError
from harness.framing import Frame, framer
from harness.replay.faults import catalogue
from harness.reporting.results import Line, VerdictLine

_ROOM = 3 << 20  # bytes of all streams together
_FRAMES, _BYTES, _VALUE = 300, 1500, 160  # frames of a stream, characters of a frame, of a value
_SAME = "byte-by-byte"  # it changes boundaries and no byte: its frames are those of the cassette


def streams(lines: Sequence[Line], cassettes: Iterable[Cassette]) -> tuple[dict[str, Any], int]:
    """What the page may show of recordings, by `cassette fault`; and how many there was no room for."""
    there = {case.id: case for case in cassettes}
    wanted = dict.fromkeys(
        (line.cassette, None if line.fault == _SAME else line.fault)
        for line in lines
        if isinstance(line, VerdictLine) and line.known is None and line.grade not in (Grade.PASS, Grade.UNSUPPORTED)
    )
    held: dict[str, Any] = {}
    size = left = 0
    for name, fault in sorted(wanted, key=lambda key: (key[1] is not None, key)):
        case = there.get(name)
        told = _stream(case, fault) if case is not None and size < _ROOM else None
        if told is None:
            left += 1
            continue
        held[f"{name} {fault or 'none'}"] = told
        size += len(json.dumps(told, default=str))
    return held, left


def _stream(case: Cassette, fault: str | None) -> dict[str, Any] | None:
    if case.stream is None:
        return None
    dialect = dialects.dialect(case.dialect)
    try:
        exchange = catalogue.attempts(case.stream, dialect, fault.split("+") if fault else ())[-1]
    except HarnessError:
        return None
    frames = list(islice(_frames(exchange, dialect), _FRAMES + 1))
    told = {"frames": frames[:_FRAMES], "status": exchange.status, "ending": exchange.ending}
    return {**told, "more": True} if len(frames) > _FRAMES else told


def _frames(exchange: Exchange, dialect: Dialect) -> Iterator[list[Any]]:
    """index, arrival in milliseconds, size, kind, text, span, edits."""
    chunks = list(DecodedBody(exchange))
    head = b"".join(chunk.data for chunk in chunks[:4]).lstrip()
    cutter, translator = framer(framing_of(dialect, head)), dialect.translator(exchange.request.json)
    came = [frame for chunk in chunks for frame in cutter.feed(chunk.data, chunk.at)]
    for frame in [*came, *cutter.close(chunks[-1].at if chunks else 0.0)]:
        edits = list(map(_edit, translator.translate(frame)))
        text = frame.data.decode("utf-8", "replace")
        text = text if len(text) <= _BYTES else text[:_BYTES] + "…"
        yield [
            frame.index,
            round(frame.at * 1000, 1),
            frame.span[1] - frame.span[0],
            _kind(frame),
            text,
            list(frame.span),
            edits,
        ]


def _kind(frame: Frame) -> str:
    return frame.name or ""


def _edit(edit: Edit) -> list[Any]:
    value = edit.value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return [edit.op.value, pointer(edit.path), text if len(text) <= _VALUE else text[:_VALUE] + "…"]
