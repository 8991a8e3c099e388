"""A dialect that plays edits which a test has written down, and the ways of playing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness import StreamCollector
from harness.api_error import ApiError, api_error
from harness.dialects.base import BaseDialect
from harness.dialects.protocol import PathSet
from harness.edits import METADATA, Edit, Op, PartRef, Path, Target
from harness.framing import Frame
from harness.response import Response

Step = tuple[Op, Path, Any]
"""A verb, a place, a value."""


class Scripted(BaseDialect):
    """One list of edits for each frame; `last` are the edits of the end."""

    name = "scripted"
    restated = PathSet({"restated": "this test says so"})

    def __init__(self, script: Iterable[list[Edit]], last: Iterable[Edit] = (), lacks: str | None = None) -> None:
        self._script = iter(script)
        self._last = list(last)
        self.lacks = lacks

    def matches(self, method: str, path: str, body: Any) -> bool:
        return False

    def translator(self, request: Any = None) -> Scripted:
        return self

    def translate(self, frame: Frame) -> list[Edit]:
        return next(self._script)

    def close(self) -> list[Edit]:
        return self._last

    def missing(self) -> str | None:
        return self.lacks

    def read(self, body: Any) -> Response:
        return Response(raw=body)

    def read_error(self, status: int, headers: Mapping[str, str], body: Any) -> ApiError:
        return api_error(body, status=status)


def edit(op: Op, path: Path, value: Any, part: PartRef = METADATA, source: str = "", frame: int = 0) -> Edit:
    return Edit(Target(op, path, part, source), value, frame)


def with_targets(steps: Iterable[Step], shared: bool) -> list[Edit]:
    """Edits for the steps; `shared`: those of one verb and place have one target, as dialects make them."""
    targets: dict[tuple[Op, Path], Target] = {}
    edits = []
    for op, path, value in steps:
        target = targets.setdefault((op, path), Target(op, path)) if shared else Target(op, path)
        edits.append(Edit(target, value, 0))
    return edits


def by_add(collector: StreamCollector, frames: list[Frame]) -> None:
    for frame in frames:
        collector.add(frame)


def by_extend(collector: StreamCollector, frames: list[Frame]) -> None:
    collector.extend(frames)


def reading_in_between(collector: StreamCollector, frames: list[Frame]) -> None:
    """Every view is read, twice, after each frame."""
    for frame in frames:
        collector.add(frame)
        for _ in range(2):
            _ = collector.body, collector.response, collector.unknown, collector.disagreements, collector.complete


WAYS: dict[str, Callable[[StreamCollector, list[Frame]], None]] = {
    "add": by_add,
    "extend": by_extend,
    "reading": reading_in_between,
}


def play(script: list[list[Edit]], way: str = "add", **more: Any) -> StreamCollector:
    """A collector that has taken one frame for each list of edits."""
    collector = StreamCollector(Scripted(script, **more))
    WAYS[way](collector, [Frame(n, None, b"", span=(10 * n, 10 * n + 5)) for n in range(len(script))])
    return collector
