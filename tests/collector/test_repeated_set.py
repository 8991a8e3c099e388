"""A target that is set again and again is set by a short way, which must do what the long one does."""

from __future__ import annotations

from typing import Any

from harness import StreamCollector
from harness.dialects.base import BaseDialect
from harness.edits import UNKNOWN, Edit, Op, Target
from harness.framing import Frame
from harness.response import Response


class _Scripted(BaseDialect):
    """Plays edits that were written down, one list for each frame."""

    name = "scripted"

    def __init__(self, script: list[list[Edit]]) -> None:
        self._script = iter(script)

    def translator(self, request: Any = None) -> _Scripted:
        return self

    def translate(self, frame: Frame) -> list[Edit]:
        return next(self._script)

    def read(self, body: Any) -> Response:
        return Response(raw=body)


def played(*edits: Edit) -> StreamCollector:
    collector = StreamCollector(_Scripted([[edit] for edit in edits]))  # type: ignore[arg-type]
    collector.extend(Frame(n, None, b"") for n in range(len(edits)))
    return collector


def test_every_kind_of_value_can_follow_every_other() -> None:
    values = ["a", "b", "c", {"d": ["e"]}, "f", None, "g", "h", 1, "i"]
    for n in range(1, len(values) + 1):
        target = Target(Op.SET, ("top", "field"))
        assert played(*(Edit(target, value, 0) for value in values[:n])).body == {"top": {"field": values[n - 1]}}


def test_a_value_is_the_collectors_own() -> None:
    target, value = Target(Op.SET, ("field",)), {"a": 1}
    collector = played(*(Edit(target, each, 0) for each in ("x", "y", "z", value)))
    value["a"] = 2
    assert collector.body == {"field": {"a": 1}}


def test_what_stood_there_is_replaced_by_others_too() -> None:
    """An object that took the place of the text, and a text inside it that grows, give way to the next text."""
    field, inner = Target(Op.SET, ("field",)), Target(Op.CONCAT, ("field", "text"))
    edits = [Edit(field, "a", 0), Edit(field, "b", 0), Edit(inner, "x", 0), Edit(inner, "y", 0)]
    assert played(*edits).body == {"field": {"text": "xy"}}
    assert played(*edits, Edit(field, "c", 0)).body == {"field": "c"}
    assert played(*edits, Edit(field, "c", 0), Edit(inner, "z", 0)).body == {"field": {"text": "z"}}


def test_an_unknown_field_is_listed_every_time() -> None:
    target = Target(Op.SET, ("new",), UNKNOWN, "/new")
    assert len(played(*(Edit(target, value, 0) for value in "abc")).unknown) == 3
