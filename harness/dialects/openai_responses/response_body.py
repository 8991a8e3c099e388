"""The `response` object that the first events announce and the last one settles (wire/openai-responses.md section 7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.openai_responses.item import Item
from harness.dialects.openai_responses.output import Output
from harness.dialects.translating import note, setting
from harness.edits import FINISH, METADATA, USAGE, Edit, Op, PartRef, Path, Target
from harness.framing import Frame

BEGINNINGS = ("response.created", "response.queued", "response.in_progress")
ENDS = {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}
"""The events that end a turn, and the status that each of them stands for."""

_STATE = {  # earlier events say what is known by then, the last one has their values (recorded); all others must not change
    "status",
    "completed_at",
    "usage",
    "error",
    "incomplete_details",
    "service_tier",
    "moderation",
    "content_filters",
    "reasoning",  # OpenRouter
}


class ResponseBody:
    """The fields of the response beside its `output`, and the output as the first and last events repeat it."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._set: set[str] = set()
        self._items: list[Item] = []  # by their place in the last event

    def begin(self, response: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """The response is created, queued or in progress."""
        self._output.resumed = False
        yield from self._fields(response, frame, METADATA)
        if "output" not in self._set:
            self._set.add("output")
            yield setting(("output",), [], frame, METADATA, "/response/output")
        bodies = response.get("output") or []
        for place, (body, known) in enumerate(zip(bodies, self._output.match(bodies), strict=True)):
            if known is None:
                yield from self._output.announce(place, body, frame, f"/response/output/{place}")[1]

    def end(self, response: dict[str, Any], word: str, frame: Frame) -> Iterator[Edit]:
        """The turn is over with the status `word`, unless the response says another."""
        yield from self._fields({**response, "status": response.get("status") or word}, frame, FINISH)
        bodies = response.get("output") or []
        streamed = len(self._output.items)
        if len(bodies) != streamed and word != "failed" and not self._output.resumed:
            message = f"the terminal output has {len(bodies)} items, {streamed} were streamed"
            yield note("responses/completed-output-mismatch", message, frame, "/response/output")
        for place, (body, known) in enumerate(zip(bodies, self._output.match(bodies), strict=True)):
            at = f"/response/output/{place}"
            if known is None:
                item, edits = self._output.add(place, body, frame, at)
            else:
                item, edits = known, [*known.check_id(body.get("id"), frame, f"{at}/id"), *known.repeat(body, frame, at)]
            yield from edits
            self._items.append(item)

    def inner(self, path: Path) -> Path:
        """Where a place in the terminal response stands in the body: items have the keys of the wire."""
        if len(path) > 1 and path[0] == "output" and isinstance(path[1], int) and path[1] < len(self._items):
            return self._items[path[1]].inner(path[2:])
        return path

    def _fields(self, response: dict[str, Any], frame: Frame, finish: PartRef) -> Iterator[Edit]:
        parts = {"usage": USAGE, "status": finish}
        for name, value in response.items():
            if name != "output":
                op = Op.SETTLE if name in self._set and name not in _STATE else Op.SET
                self._set.add(name)
                part = METADATA if value is None else parts.get(name, METADATA)
                yield Edit(Target(op, (name,), part, f"/response/{name}"), value, frame.index)
