"""Amazon Nova inside Invoke: the events of Converse, each wrapped in its name.

The recordings show what the specification lacks: every piece of a text comes as a block of its own, with an index and a stop
(all of 10 streams), while the answer that is not streamed has one text. So neighbouring texts are one block here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness import payload
from harness.dialects.protocol import Translator
from harness.dialects.translating import UNREADABLE, as_object, note, unknown_event
from harness.edits import UNKNOWN, Edit, Op, PartKind, Target, pointer
from harness.framing import Frame

EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")


class NovaTranslator:
    """Unwraps the events and hands them to a translator of Converse.

    Who watches (`BaseTranslator.watch`) is told of every payload, since all of them are decoded here.
    """

    def __init__(self, converse: Translator) -> None:
        self.watch: Callable[[Frame, Any, bool], object] | None = None
        self._converse = converse
        self._in_text = False
        self._index: Any = None  # of the block that the text which is open began with

    def translate(self, frame: Frame) -> list[Edit]:
        out: list[Edit] = []
        sound = True
        tell = self.watch or (lambda *_: None)
        try:
            body = payload.strict(frame.data)
        except ValueError:
            sound = False
            try:
                body, kind = payload.tolerant(frame.data)
            except payload.NotJSON as error:
                tell(frame, UNREADABLE, False)
                return [note(error.kind, f"the payload {payload.quote(frame.data)} cannot be read: {error}", frame)]
            out += [note(kind, payload.tolerated(frame.data), frame)] if kind else []
        tell(frame, body, sound)
        if not isinstance(body, dict) or not any(_is_event(name) for name in body):
            return [*out, unknown_event(body, frame)]
        for name, event in body.items():
            if _is_event(name):
                data = _inside(frame.data, name) if sound and len(body) == 1 else None
                out += self._event(name, event, data or json.dumps(event).encode(), frame)
            else:
                out.append(Edit(Target(Op.SET, (name,), UNKNOWN, pointer((name,))), event, frame.index))
        return out

    def close(self) -> list[Edit]:
        return [_placed(edit, "contentBlockDelta") for edit in self._converse.close()]

    def missing(self) -> str | None:
        return self._converse.missing()

    def _event(self, name: str, event: Any, data: bytes, frame: Frame) -> list[Edit]:
        fields = as_object(event)
        index = fields.get("contentBlockIndex")
        if name == "contentBlockDelta" and isinstance(as_object(fields.get("delta")).get("text"), str):
            if not self._in_text:
                self._in_text, self._index = True, index
            elif index != self._index:
                data = json.dumps({**fields, "contentBlockIndex": self._index}).encode()
        elif name == "contentBlockStop" and self._in_text and fields.keys() == {"contentBlockIndex"}:
            return []  # perhaps the text goes on in the next block
        else:
            self._in_text = False
        edits = self._converse.translate(Frame(frame.index, name, data, frame.at, frame.span))
        return [_placed(edit, name) for edit in edits]


def _is_event(name: str) -> bool:
    return name in EVENTS or name.endswith("Exception")


def _inside(data: bytes, name: str) -> bytes | None:
    """The bytes of the value of an object's only field, if they are easily had."""
    head = b'{"%b":' % name.encode()
    return data[len(head) : -1] if data.startswith(head) and data.endswith(b"}") else None


def _placed(edit: Edit, name: str) -> Edit:
    """An edit whose place in the payload, where somebody may look at it, is told from outside the wrapping."""
    if edit.part.kind is PartKind.UNKNOWN and edit.target.source.startswith("/"):
        edit.target.source = f"/{name}{edit.target.source}"
    elif edit.op is Op.NOTE and edit.value.where.path is not None:
        where = replace(edit.value.where, path=f"/{name}{edit.value.where.path}")
        return Edit(edit.target, replace(edit.value, where=where), edit.frame)
    return edit
