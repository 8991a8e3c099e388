"""Events to edits of a `message` (wire/anthropic-messages.md section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.anthropic_messages.blocks import Blocks
from harness.dialects.anthropic_messages.errors import error_in
from harness.dialects.anthropic_messages.vocabulary import EVENT, MESSAGE, USAGE
from harness.dialects.translating import UNKNOWN_EVENTS, BaseTranslator, as_path, note, setting
from harness.edits import FINISH, METADATA, UNKNOWN, Edit, Op, Target
from harness.edits import USAGE as USAGE_PART
from harness.framing import Frame

_PARTS = {"stop_reason": FINISH, "stop_sequence": FINISH, "stop_details": FINISH}
_INSIDE = {  # the field of an event whose own fields belong to the message or the block
    "message_start": "message",
    "message_delta": "delta",
    "content_block_start": "content_block",
    "content_block_delta": "delta",
}


class MessagesTranslator(BaseTranslator):
    shape = EVENT

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._blocks = Blocks()
        self._set: set[str] = set()  # fields of the message, and of its usage as `usage/NAME`, that stand in the body
        self._stop_reason: Any = None
        self._stopped = False

    def missing(self) -> str | None:
        return None if self._stopped else "message_stop was not sent"

    def close(self) -> list[Edit]:
        out = super().close()
        if self._stopped and self._stop_reason is None and not self.failed:
            out.append(note("stream/finish-missing", "message_stop came, but no message_delta had a stop_reason"))
        return out

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        if self._stopped:
            return [note("stream/data-after-done", "an event after message_stop; it was not used", frame)]
        out: list[Edit] = []
        kind = body.get("type")
        if kind == "content_block_delta":  # by far the most
            self._blocks.delta(body.get("index"), body.get("delta") or {}, frame, out)
        elif kind == "content_block_start":
            block = body.get("content_block") or {}
            out.extend(self._blocks.start(body.get("index"), block, frame) if block else ())
            out.extend(self._relabelled(block, frame))
        elif kind == "content_block_stop":
            self._blocks.stop(body.get("index"))
        elif kind == "message_start":
            out.extend(self._start(body.get("message") or {}, frame))
        elif kind == "message_delta":
            out.extend(self._ending(body, frame))
        elif kind == "message_stop":
            self._stopped = True
        elif kind != "ping" and (error := error_in(body, frame.name)) is not None:
            out.append(self.fail(error, frame))
        return out

    def place(self, steps: list[str], body: dict[str, Any]) -> Target:
        kind = str(body.get("type"))
        rest = steps[1:] if steps[0] == _INSIDE.get(kind) else steps
        if kind == "content_block_start" or (kind == "content_block_delta" and rest):
            return self._blocks.place(rest)
        if not rest:
            return Target(Op.APPEND, (UNKNOWN_EVENTS,), UNKNOWN)
        return Target(Op.SET, as_path(rest), UNKNOWN)

    def _start(self, message: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """`message_start`. Proxies send it twice: what is known then is not set again, least of all the content."""
        if not self._set:
            self._set.add("content")
            yield setting(("content",), message.get("content") or [], frame, METADATA, "/message/content")
        for name, value in message.items():
            if name == "usage":
                yield from self._usage(value, frame, "/message/usage", overwrite=False)
            elif name in MESSAGE.names and name not in self._set:
                self._set.add(name)
                self._stop_reason = value if name == "stop_reason" else self._stop_reason
                yield setting((name,), value, frame, _PARTS.get(name, METADATA), f"/message/{name}")

    def _ending(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """`message_delta`: of several the last one counts, but a null erases nothing (semantics.md D6)."""
        for at, fields in (("/delta", body.get("delta") or {}), ("", body)):
            for name, value in fields.items():
                if name in ("type", "delta", "usage") or name not in MESSAGE.names:
                    continue
                if value is not None or name not in self._set:
                    self._set.add(name)
                    self._stop_reason = value if name == "stop_reason" else self._stop_reason
                    yield setting((name,), value, frame, _PARTS.get(name, METADATA), f"{at}/{name}")
        yield from self._usage(body.get("usage"), frame, "/usage", overwrite=True)

    def _usage(self, usage: dict[str, Any] | None, frame: Frame, at: str, overwrite: bool) -> Iterator[Edit]:
        """Counts are running totals: a later one takes the place of the one before (section 5)."""
        for name, value in (usage or {}).items():
            key = f"usage/{name}"
            if name in USAGE.names and (key not in self._set or (overwrite and value is not None)):
                self._set.add(key)
                yield setting(("usage", name), value, frame, USAGE_PART, f"{at}/{name}")

    def _relabelled(self, block: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """A fallback names the model that goes on; the twin bears its name (recorded; the specification is silent)."""
        served = block.get("to")
        if block.get("type") == "fallback" and isinstance(served, dict) and isinstance(served.get("model"), str):
            yield setting(("model",), served["model"], frame, METADATA, "/content_block/to/model")
