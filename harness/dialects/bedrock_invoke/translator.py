"""Frames of InvokeModelWithResponseStream: unpacked, and handed to who knows the model vendor's own events.

Places of findings and of unknown fields are pointers into the vendor's payload, the JSON inside `bytes`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from harness import dialects, payload
from harness.dialects.aws import ASSESSMENT, EXCEPTION, FramesTranslator, failed, failure
from harness.dialects.bedrock_invoke.nova import EVENTS as NOVA_EVENTS
from harness.dialects.bedrock_invoke.nova import NovaTranslator
from harness.dialects.bedrock_invoke.texts import TextsTranslator, form_of
from harness.dialects.repeats import OneText
from harness.dialects.translating import (
    DONE,
    UNKNOWN_EVENTS,
    UNREADABLE,
    BaseTranslator,
    as_object,
    as_objects,
    as_path,
    note,
    setting,
    unknown_event,
)
from harness.edits import METADATA, UNKNOWN, Edit, Op, Target
from harness.framing import Frame
from harness.vocabulary import ByTag, Kind, Many, Map, Shape

Vendor = BaseTranslator | NovaTranslator
_CHUNK = Shape("bytes p")
_USUAL_CHUNK = re.compile(rb'\{"bytes":"([A-Za-z0-9+/]*+={0,2})"(?:,"p":"[A-Za-z0-9]*+")?\}')
_NOTHING = ByTag("", {})  # knows no payload at all: for events of unknown names
_OURS = b'"amazon-bedrock-'
METRICS = "amazon-bedrock-invocationMetrics"
TRACE = "amazon-bedrock-trace"
AMAZON = Shape(
    "amazon-bedrock-guardrailAction",
    **{
        METRICS: Shape(
            "inputTokenCount outputTokenCount invocationLatency firstByteLatency "
            "cacheReadInputTokenCount cacheWriteInputTokenCount"
        ),
        TRACE: Shape(
            guardrail=Shape("actionReason modelOutput", input=Map(ASSESSMENT), outputs=Many(Map(ASSESSMENT))),
        ),
    },
)
"""What Bedrock adds to the vendors' payloads. It stays out of their vocabularies and stands at the top of the body."""


class InvokeTranslator(FramesTranslator):
    """Which vendor's events they are, the first one tells: the request does not name the model, only its path does.

    Who watches is told of what a chunk carries, not of the chunk: the vendor's payload with Bedrock's own fields in it (their
    names are in `AMAZON`), in a frame that has the chunk's number and span and no name, as the vendor would have sent it.
    Failures, and frames that carry nothing that could be unpacked, are told as they are, under the name that they have; so is
    one that is no JSON, strictly read, before what it carries.
    """

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._vendor: Vendor | None = None
        self._metrics = False

    def translate(self, frame: Frame) -> list[Edit]:
        """What repeats is inside, so that the memory of repeats is the vendor's."""
        try:
            value = payload.strict(frame.data)
        except ValueError:
            return self._odd(frame)
        self._empty = False
        if self.watch is not None and (failed(frame) or _carried(value, frame) is None):
            self.watch(frame, value, True)
        return self.edits(value, frame) if self.shape_of(frame).knows(value) else self._strange(value, frame)

    def one_text(self) -> OneText | None:
        """The vendor's, inside the chunk."""
        inner = self._vendor.one_text() if isinstance(self._vendor, BaseTranslator) and not self._metrics else None
        return None if inner is None else OneText(inner.target, _inside(inner.find))

    def shape_of(self, frame: Frame) -> Kind:
        if failed(frame):
            return EXCEPTION
        return _CHUNK if frame.name in ("chunk", None) else _NOTHING

    def missing(self) -> str | None:
        return "no chunk of a known vendor was sent" if self._vendor is None else self._vendor.missing()

    def close(self) -> list[Edit]:
        if self._vendor is None:
            return super().close()
        if isinstance(self._vendor, TextsTranslator | NovaTranslator) or self._vendor.missing() is not None:
            out = self._vendor.close()
        else:  # no [DONE] here, which those who speak Chat wait for
            out = [*self._unseen(self._vendor, Frame(-1, None, DONE)), *self._vendor.close()]
        return [edit for edit in out if edit.op is not Op.NOTE] if self.failed else out

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        if failed(frame):
            return [self.fail(failure(frame, body), frame)]
        if frame.name not in ("chunk", None):
            return []
        data = _carried(body, frame)
        if data is None:
            message = f"`bytes` is no base64: {payload.quote(frame.data)}"
            return [note("framing/non-json-data", message, frame, "/bytes"), unknown_event(body, frame)]
        inner = Frame(frame.index, None, data, frame.at, frame.span)
        if self._metrics:
            self._decoded(inner)  # for those who watch
            return [note("stream/data-after-done", "a chunk after the invocation metrics; it was not used", frame)]
        if self._vendor is None or _OURS in data:
            return self._carefully(inner)
        return self._vendor.translate(inner)

    def place(self, steps: list[str], body: dict[str, Any]) -> Target:
        return Target(Op.APPEND, (UNKNOWN_EVENTS,), UNKNOWN)

    def _carefully(self, inner: Frame) -> list[Edit]:
        """The first chunk, and those with something of Bedrock's own beside the vendor's fields."""
        value, kind, why = self._decoded(inner)
        if why is not None:
            return [note(why.kind, f"the payload {payload.quote(inner.data)} cannot be read: {why}", inner)]
        if not isinstance(value, dict):
            message = f"expected a JSON object, got {payload.quote(inner.data)}"
            return [note("framing/not-an-object", message, inner), unknown_event(value, inner)]
        ours = {name: field for name, field in value.items() if name in AMAZON.names}
        out = list(self._ours(ours, inner))
        if kind and ours:  # else the vendor's translator says so
            out.append(note(kind, payload.tolerated(inner.data), inner))
        theirs = {name: field for name, field in value.items() if name not in ours}
        if theirs:
            self._vendor = self._vendor or self._translator_of(theirs)
            if self._vendor is None:
                return [unknown_event(theirs, inner), *out]
            data = json.dumps(theirs).encode() if ours else inner.data
            out = [*self._unseen(self._vendor, Frame(inner.index, None, data, inner.at, inner.span)), *out]
        if isinstance(self._vendor, TextsTranslator) and (METRICS in ours or TRACE in ours):
            self._vendor.end()  # a text that a guardrail blocked has no reason of the vendor's
        return out

    def _decoded(self, inner: Frame) -> tuple[Any, str | None, payload.NotJSON | None]:
        """What a chunk carries, as it is told to those who watch: its value, the kind of finding that it deserves, or why it
        cannot be read."""
        tell = self.watch or (lambda *_: None)
        try:
            value = payload.strict(inner.data)
        except ValueError:
            try:
                value, kind = payload.tolerant(inner.data)
            except payload.NotJSON as error:
                tell(inner, UNREADABLE, False)
                return None, None, error
            tell(inner, value, False)
            return value, kind, None
        tell(inner, value, True)
        return value, None, None

    def _unseen(self, vendor: Vendor, inner: Frame) -> list[Edit]:
        """What the vendor's translator makes of a payload of which those who watch know already, or need not know."""
        vendor.watch = None
        edits = vendor.translate(inner)
        vendor.watch = self.watch
        return edits

    def _ours(self, fields: dict[str, Any], inner: Frame) -> Iterator[Edit]:
        self._metrics = METRICS in fields
        for name, value in AMAZON.mended(fields).items():
            yield setting((name,), value, inner, METADATA)
        for at, stranger in AMAZON.strangers(fields, ""):
            steps = [step.replace("~1", "/").replace("~0", "~") for step in at.split("/")[1:]]
            yield Edit(Target(Op.SET, as_path(steps), UNKNOWN, at), stranger, inner.index)

    def _translator_of(self, body: dict[str, Any]) -> Vendor | None:
        """Who translates payloads like this one."""
        if body.get("type") != "completion" and isinstance(body.get("type"), str):
            return self._of("anthropic-messages")
        if any(name in body for name in NOVA_EVENTS):
            return NovaTranslator(dialects.dialect("bedrock-converse").translator(self.request))
        choices = as_objects(body.get("choices"))
        if "choices" in body and not any("text" in as_object(choice) for choice in choices):
            return self._of("openai-chat")
        form = form_of(body)
        return None if form is None else TextsTranslator(form, self.request)

    def _of(self, dialect: str) -> BaseTranslator | None:
        translator = dialects.dialect(dialect).translator(self.request)
        return translator if isinstance(translator, BaseTranslator) else None


def _carried(body: Any, frame: Frame) -> bytes | None:
    """What a chunk has in `bytes`; None if the frame is no chunk, or that is no base64."""
    if frame.name not in ("chunk", None) or not isinstance(body, dict):
        return None
    try:
        return base64.b64decode(body.get("bytes") or b"", validate=True)
    except (binascii.Error, ValueError, TypeError):
        return None


def _inside(find: Callable[[Frame], str | None]) -> Callable[[Frame], str | None]:
    """What finds in a chunk the text that `find` finds in the vendor's payload."""
    sound: object = None  # the headers of the last frame: the framer gives equal ones as one object

    def find_inside(frame: Frame) -> str | None:
        nonlocal sound
        chunk = _USUAL_CHUNK.fullmatch(frame.data)
        if chunk is None or frame.name != "chunk":
            return None
        if frame.headers is not sound:
            if failed(frame):
                return None
            sound = frame.headers
        try:
            data = binascii.a2b_base64(chunk[1], strict_mode=True)
        except binascii.Error:
            return None
        return None if _OURS in data else find(Frame(frame.index, None, data))

    return find_inside
