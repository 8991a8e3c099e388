"""What passes as JSON lines: `type` is `chunk`, `frame`, `edit`, `event` or `end`, which is that of the body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.edits import Edit, Op, pointer
from harness.framing import Frame
from harness.loop.events import as_json
from harness.loop.values import plain
from harness.showing.watching import Arrived, Ended, Passing, Taken


def lines(passing: Passing, exchange: int) -> Iterator[dict[str, Any]]:
    """The lines for one thing that passes; `exchange` counts the attempts of a recording that has several."""
    if isinstance(passing, Arrived):
        yield {"type": "chunk", "exchange": exchange, "number": passing.number, "at": passing.at, "span": list(passing.span)}
    elif isinstance(passing, Taken):
        if passing.frame is not None:
            yield _frame(passing.frame, passing.payload, exchange)
        for edit in passing.edits:
            yield _edit(edit, None if passing.frame is None else passing.frame.index, exchange)
    elif isinstance(passing, Ended):
        yield {"type": "end", "exchange": exchange, "at": passing.at, "ending": passing.ending}
    else:
        yield {"type": "event", "exchange": exchange, **as_json(passing)}


def _frame(frame: Frame, payload: bytes, exchange: int) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "type": "frame",
        "exchange": exchange,
        "index": frame.index,
        "name": frame.name,
        "at": frame.at,
        "span": list(frame.span),
        "data": frame.data.decode(errors="replace"),
    }
    if payload is not frame.data:
        shown["carries"] = payload.decode(errors="replace")
    return shown


def _edit(edit: Edit, frame: int | None, exchange: int) -> dict[str, Any]:
    value = edit.value
    if edit.op is Op.NOTE:
        value = value.as_dict()
    elif edit.op is Op.MOVE:
        value = pointer(value)
    return {
        "type": "edit",
        "exchange": exchange,
        "frame": frame,
        "op": edit.op.value,
        "path": pointer(edit.path),
        "part": edit.part.kind.value,
        "value": plain(value),
    }
