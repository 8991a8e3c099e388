"""Values that are decoded late: the body holds the last one, and whoever writes into it finds it decoded."""

from __future__ import annotations

from typing import Any

from harness import StreamCollector
from harness.dialects.base import BaseDialect
from harness.edits import Edit, LateEdit, Op, Target
from harness.framing import Frame
from harness.response import Response


class _Scripted(BaseDialect):
    """Plays edits that were written down, one for each frame."""

    name = "scripted"

    def __init__(self, *script: Edit) -> None:
        self._script = iter(script)

    def translator(self, request: Any = None) -> _Scripted:
        return self

    def translate(self, frame: Frame) -> list[Edit]:
        return [next(self._script)]

    def read(self, body: Any) -> Response:
        return Response(raw=body)


def body(*edits: Edit) -> Any:
    bodies = []
    for take in (StreamCollector.extend, lambda c, frames: [c.add(frame) for frame in frames]):
        collector = StreamCollector(_Scripted(*edits))  # type: ignore[arg-type]
        take(collector, (Frame(n, None, b"") for n in range(len(edits))))
        bodies.append(collector.body)
    assert bodies[0] == bodies[1]
    return bodies[0]


COUNTS = Target(Op.SET, ("counts",))
INNER = Target(Op.CONCAT, ("counts", "note"))


def late(data: bytes) -> LateEdit:
    return LateEdit(COUNTS, data, 0)


def test_the_last_one_counts() -> None:
    assert body(late(b'{"a":1}')) == {"counts": {"a": 1}}
    assert body(late(b'{"a":1}'), late(b'{"a":2}'), late(b'{"b":3}')) == {"counts": {"b": 3}}


def test_an_edit_is_what_its_early_twin_is() -> None:
    assert late(b'{"a":1}') == Edit(COUNTS, {"a": 1}, 0)
    one = late(b'{"a":[1]}')
    one.value["a"].append(2)
    assert one.value == {"a": [1]}


def test_early_and_late_ones_take_turns() -> None:
    early = Edit(COUNTS, {"a": [0]}, 0)
    assert body(early, late(b'{"a":1}'), early) == {"counts": {"a": [0]}}
    assert body(late(b'{"a":1}'), early, late(b'{"a":2}')) == {"counts": {"a": 2}}
    assert body(late(b'{"a":1}'), Edit(COUNTS, None, 0), late(b'{"a":2}')) == {"counts": {"a": 2}}


def test_what_is_written_into_one_stays_until_the_next() -> None:
    note = [Edit(INNER, "x", 0), Edit(INNER, "y", 0)]
    assert body(late(b'{"a":1}'), *note) == {"counts": {"a": 1, "note": "xy"}}
    assert body(late(b'{"a":1}'), *note, late(b'{"a":2}'), late(b'{"a":3}')) == {"counts": {"a": 3}}
    assert body(late(b'{"a":1}'), *note, late(b'{"a":2}'), *note) == {"counts": {"a": 2, "note": "xy"}}


def test_one_is_settled_like_any_object() -> None:
    collector = StreamCollector(_Scripted(late(b'{"a":1}'), Edit(Target(Op.SETTLE, ("counts",)), {"a": 2}, 1)))  # type: ignore[arg-type]
    collector.extend(Frame(n, None, b"") for n in range(2))
    assert [(d.where.path, d.gathered, d.repeated) for d in collector.disagreements] == [("/counts/a", 1, 2)]


def test_one_whose_container_is_gone_is_set_anew() -> None:
    inner = Target(Op.SET, ("outer", "counts"))
    first, second = LateEdit(inner, b'{"a":1}', 0), LateEdit(inner, b'{"a":2}', 0)
    outer = Edit(Target(Op.SET, ("outer",)), {"b": 1}, 0)
    assert body(first, second, outer) == {"outer": {"b": 1}}
    assert body(first, second, outer, first) == {"outer": {"b": 1, "counts": {"a": 1}}}
    moved = Edit(Target(Op.MOVE, ("outer",)), ("other",), 0)
    assert body(first, moved, second) == {"other": {"counts": {"a": 1}}, "outer": {"counts": {"a": 2}}}
