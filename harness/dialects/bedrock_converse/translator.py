"""Events to edits of a Converse reply (wire/bedrock-converse.md section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.api_error import api_error
from harness.dialects.aws import EXCEPTION, FramesTranslator, failed, failure
from harness.dialects.bedrock_converse.block import CONTENT
from harness.dialects.bedrock_converse.blocks import Blocks
from harness.dialects.bedrock_converse.vocabulary import EVENTS, METADATA, USAGE
from harness.dialects.translating import UNKNOWN_EVENTS, as_path, note, setting
from harness.edits import FINISH, UNKNOWN, Edit, Op, PartRef, Path, Target
from harness.edits import METADATA as METADATA_PART
from harness.edits import USAGE as USAGE_PART
from harness.framing import Frame
from harness.vocabulary import ByTag, Kind

_NOTHING = ByTag("", {})  # knows no payload at all: for events of unknown names
_ABNORMAL = {"malformed_model_output", "malformed_tool_use"}
_OF_BLOCKS = {"contentBlockStart", "contentBlockDelta", "contentBlockStop"}


class ConverseTranslator(FramesTranslator):
    """What a payload is stands in the frame's name alone."""

    noise = ("p",)

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._blocks = Blocks()
        self._event: str | None = None
        self._started = False
        self._stopped = False
        self._stop_reason: Any = None
        self._metadata: dict[str, Any] = {}

    def shape_of(self, frame: Frame) -> Kind:
        return EXCEPTION if failed(frame) else EVENTS.get(frame.name or "", _NOTHING)

    def missing(self) -> str | None:
        return None if self._stopped else "messageStop was not sent"

    def close(self) -> list[Edit]:
        out = [*self._blocks.close(), *super().close()]
        if self._stopped and not self.failed:
            if self._stop_reason is None:
                out.append(note("stream/finish-missing", "messageStop came without a stopReason"))
            if not self._metadata:
                out.append(note("stream/trailer-missing", "messageStop came, but no metadata: the usage is not known"))
        return out

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        self._event = name = frame.name
        self._blocks.forget()
        out: list[Edit] = []
        if failed(frame):
            out.append(self.fail(failure(frame, body), frame))
        elif self._stopped and name in EVENTS and name != "metadata":
            out.append(note("stream/data-after-done", f"a {name} after messageStop; it was not used", frame))
        elif name == "contentBlockDelta":
            self._blocks.delta(body.get("contentBlockIndex"), body.get("delta") or {}, frame, out)
        elif name == "contentBlockStart":
            out.extend(self._blocks.start(body.get("contentBlockIndex"), body.get("start") or {}, frame))
        elif name == "contentBlockStop":
            out.extend(self._blocks.stop(body.get("contentBlockIndex"), frame.index))
        elif name == "messageStart":
            out.extend(self._start(body, frame))
        elif name == "messageStop":
            out.extend(self._stop(body, frame))
        elif name == "metadata":
            out.extend(self._trailer(body, frame))
        return out

    def place(self, steps: list[str], body: dict[str, Any]) -> Target:
        if self._event in _OF_BLOCKS:
            return self._blocks.place(steps)
        if self._event not in EVENTS:  # an exception
            return Target(Op.APPEND, (UNKNOWN_EVENTS,), UNKNOWN)
        path = as_path(steps)
        return Target(Op.SET, (*CONTENT[:-1], *path) if self._event == "messageStart" else path, UNKNOWN)

    def _start(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        if self._started:
            return  # gateways may send it twice; nothing begins anew
        self._started = True
        if "role" in body:
            yield setting((*CONTENT[:-1], "role"), body["role"], frame, METADATA_PART, "/role")
        if self._blocks.none_yet:
            yield setting(CONTENT, [], frame, METADATA_PART, "")

    def _stop(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        self._stopped = True
        self._stop_reason = reason = body.get("stopReason")
        for name, part in (("stopReason", FINISH), ("additionalModelResponseFields", METADATA_PART)):
            if name in body:
                yield setting((name,), body[name], frame, part)
        if isinstance(reason, str) and reason in _ABNORMAL:
            message = f"the stop reason {reason!r} says that the model's output could not be used"
            yield note("finish/abnormal", message, frame, "/stopReason", got=reason)
            if not self.failed:
                yield self.fail(api_error(message, type=reason), frame)

    def _trailer(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        for name, value in body.items():
            if name == "usage" and value is not None:
                if not isinstance(self._metadata.get("usage"), dict):
                    self._metadata["usage"] = {}
                    yield setting(("usage",), {}, frame, USAGE_PART)
                for count, number in value.items():
                    if count in USAGE.names:
                        yield from self._last(("usage", count), number, self._metadata["usage"], frame, USAGE_PART)
            elif name != "p" and name in METADATA.names:
                yield from self._last((name,), value, self._metadata, frame, METADATA_PART)

    def _last(self, path: Path, value: Any, known: dict[str, Any], frame: Frame, part: PartRef) -> Iterator[Edit]:
        """The last value counts, but a null erases nothing (semantics.md D6)."""
        name = str(path[-1])
        if value is not None or name not in known:
            known[name] = value
            yield setting(path, value, frame, part)
