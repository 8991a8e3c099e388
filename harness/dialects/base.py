"""What most dialects have in common beside translator and reader: nothing to excuse, objects that tell their type."""

from __future__ import annotations

from typing import Any

from harness.dialects.protocol import PathSet
from harness.edits import Path
from harness.errors import UnsupportedRequestError
from harness.framing import Frame
from harness.request import RequestParts, TurnRequest
from harness.response import ToolCall


class BaseDialect:
    """Defaults of the `Dialect` protocol."""

    name = ""
    framings: tuple[str, ...] = ("sse",)
    flushes_at_eof = False
    vendors: frozenset[str] = frozenset()
    volatile = PathSet()
    restated = PathSet()
    text_repeated_otherwise = "repeat/differs"
    echoed = PathSet()
    unsent = PathSet()
    padding = PathSet()
    enumerations = PathSet()
    parts = PathSet()
    nullable = PathSet()
    free = PathSet()
    choices: frozenset[str] = frozenset()
    key_header = ("authorization", "Bearer ")

    def kind(self, path: Path, element: dict[str, Any]) -> str | None:
        """The `type` of an object that has one."""
        kind = element.get("type")
        return kind if isinstance(kind, str) else None

    def carried(self, frame: Frame) -> tuple[bytes, tuple[int, int]] | None:
        return None

    def not_asked(self, request: Any) -> PathSet:
        return PathSet()

    def streams(self, path: str, body: Any) -> bool:
        return isinstance(body, dict) and body.get("stream") is True

    def read_call(self, element: dict[str, Any]) -> ToolCall:
        return ToolCall(id="", name="", arguments="", synthetic_id=True)

    def build_request(self, request: TurnRequest, *, stream: bool = True) -> RequestParts:
        raise UnsupportedRequestError(
            f"the dialect {self.name!r} builds no requests", hint="give the provider a `build` of its own"
        )
