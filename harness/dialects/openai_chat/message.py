"""The message of one choice: what each field of a `delta` does to it (wire/openai-chat.md sections 2 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from harness.dialects.base64_text import Base64Text
from harness.dialects.openai_chat.tool_calls import ToolCalls
from harness.dialects.openai_chat.vocabulary import DELTA, REASONING_DETAIL
from harness.dialects.translating import as_path, setting
from harness.edits import METADATA, UNKNOWN, Edit, Op, PartKind, PartRef, Path, Target
from harness.framing import Frame

_TEXTS = {  # concatenated
    "content": PartKind.TEXT,
    "refusal": PartKind.REFUSAL,
    "reasoning_content": PartKind.REASONING,
    "reasoning": PartKind.REASONING,
}
_LISTS = {"annotations", "executed_tools"}  # every element is appended
_STREAM_ONLY = {"index", "token_id"}  # they describe the fragment, not the message
_UNSET = object()


def place_from_end(elements: list[Any], step: str) -> int:
    """Where the element at `step` stands, counted from the end, among those that are objects."""
    return -sum(isinstance(element, dict) for element in elements[int(step) :])


class Message:
    """The message under construction at `path`; `texts` are the places where the next pieces of text go."""

    def __init__(self, choice: int) -> None:
        self.path: Path = ("choices", choice, "message")
        self.texts: dict[str, Target] = {}
        self.calls = ToolCalls(choice, self.path)
        self._choice = choice
        self._set: dict[Any, Any] = {}  # fields that have a value
        self._content: list[str] | None = None  # kinds of the content parts, once content is a list
        self._details: dict[Any, int] = {}
        self._detail_texts: dict[Any, Target] = {}
        self._lengths = dict.fromkeys(_LISTS, 0)
        self._audio: Base64Text | None = None

    def field(self, name: str, value: Any, frame: Frame, at: str) -> Iterator[Edit]:
        """What a field of a delta changes, unless it is the next piece of a text whose place is known."""
        at = f"{at}/{name}"
        if name == "content" and (isinstance(value, list) or self._content is not None):
            yield from self._content_parts(value, frame, at)
        elif name in _TEXTS and isinstance(value, str):
            yield from self._text(name, value, frame, at)
        elif name in self.texts and value is not None:
            yield Edit(Target(Op.SET, (*self.path, name), UNKNOWN, at), value, frame.index)  # it does not replace the text
        elif name in _FIELDS:
            if value or isinstance(value, list):
                yield from _FIELDS[name](self, value, frame, at)
        elif name in _LISTS and isinstance(value, list):
            self._lengths[name] += len(value)
            for element in value:
                yield Edit(Target(Op.APPEND, (*self.path, name), self._part(PartKind.OTHER), at), element, frame.index)
        elif name in DELTA.names and name not in _STREAM_ONLY:
            known = self._set.get(name, _UNSET)
            if known is _UNSET or (value is not None and value != known):
                self._set[name] = value
                yield setting((*self.path, name), value, frame, self._part(_TEXTS.get(name, PartKind.METADATA)), at)

    def place(self, steps: list[str], wire: dict[str, Any]) -> Path:
        """Where a field that the vocabulary lacks belongs; `steps` lead to it in the delta `wire`.

        The elements of a delta's list are not those of the message's.
        """
        name, *inner = steps
        if len(inner) < 2:
            return (*self.path, *as_path(steps))
        element = wire[name][int(inner[0])]
        base: Path = (*self.path, name, int(inner[0]))
        if name == "tool_calls":
            base = self.calls.place(element.get("index"))
        elif name == "reasoning_details":
            base = (*self.path, name, self._detail_of(element, new=False))
        elif name == "content":
            base = (*self.path, name, max(len(self._content or ()) - 1, 0))
        elif name in self._lengths:
            base = (*self.path, name, self._lengths[name] + place_from_end(wire[name], inner[0]))
        return (*base, *as_path(inner[1:]))

    def close(self) -> Iterator[Edit]:
        if self._audio is not None:
            yield from self._audio.close(-1)

    def _part(self, kind: PartKind) -> PartRef:
        return PartRef(kind, (self._choice,))

    def _first(self, key: Any) -> bool:
        """Whether this is the first time that `key` is asked for."""
        if key in self._set:
            return False
        self._set[key] = True
        return True

    def _text(self, name: str, value: str, frame: Frame, at: str) -> Iterator[Edit]:
        """The first piece of a text, which may be empty, and the first that is not: from then on its place is known."""
        if value or self._set.get(name) is None:
            self._set[name] = value
            target = Target(Op.CONCAT, (*self.path, name), self._part(_TEXTS[name]), at)
            if value:
                self.texts[name] = target
            yield Edit(target, value, frame.index)

    def _role(self, value: Any, frame: Frame, at: str) -> Iterator[Edit]:
        if value and self._first("role"):
            yield setting((*self.path, "role"), value, frame, METADATA, at)

    def _tool_calls(self, fragments: list[dict[str, Any]], frame: Frame, at: str) -> Iterator[Edit]:
        for position, fragment in enumerate(fragments):
            yield from self.calls.edits(fragment, frame, f"{at}/{position}")

    def _content_parts(self, value: Any, frame: Frame, at: str) -> Iterator[Edit]:
        """Mistral's reasoning models send content as a list of parts; neighbours of one kind are one part."""
        path = (*self.path, "content")
        if self._content is None:
            self._content = []
            if self.texts.pop("content", None) is None:
                yield setting(path, [], frame, METADATA, at)
            else:
                self._content.append("text")
                yield Edit(Target(Op.MOVE, path, self._part(PartKind.TEXT), at), (*path, 0, "text"), frame.index)
                yield setting((*path, 0, "type"), "text", frame, METADATA, at)
        parts = [{"type": "text", "text": value}] if isinstance(value, str) and value else value
        for part in parts if isinstance(parts, list) else ():
            kind = part.get("type")
            field = "thinking" if kind == "thinking" else "text"
            piece = part.get(field)
            grows = kind in ("text", "thinking") and isinstance(piece, str if field == "text" else (str, list))
            if not grows or self._content[-1:] != [kind]:
                self._content.append(str(kind) if grows else "")
                empty = {field: type(piece)()} if grows else {}
                yield setting((*path, len(self._content) - 1), {**part, **empty}, frame, METADATA, at)
            place: Path = (*path, len(self._content) - 1)
            if grows and isinstance(piece, str):
                kind_of = PartKind.TEXT if field == "text" else PartKind.REASONING
                yield Edit(Target(Op.CONCAT, (*place, field), self._part(kind_of), at), piece, frame.index)
            elif grows:
                for thought in piece:
                    yield from self._thought((*place, "thinking", 0), thought, frame, at)

    def _thought(self, path: Path, thought: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        part = self._part(PartKind.REASONING)
        if self._first(path):
            yield setting(path, {**thought, "text": ""}, frame, part, at)
        if isinstance(thought.get("text"), str):
            yield Edit(Target(Op.CONCAT, (*path, "text"), part, at), thought["text"], frame.index)

    def _reasoning_details(self, details: list[dict[str, Any]], frame: Frame, at: str) -> Iterator[Edit]:
        """Entries of one index and type are fragments of one block (wire/openrouter.md)."""
        base = (*self.path, "reasoning_details")
        if self._first("reasoning_details"):
            yield setting(base, [], frame, METADATA, at)
        for position, detail in enumerate(details):
            number = self._detail_of(detail)
            for name, value in detail.items():
                key = (number, name)
                known = self._set.get(key, _UNSET)
                if name not in REASONING_DETAIL.names or (known is not _UNSET and value in (None, "")):
                    continue
                target = self._detail_texts.get(key)
                grows = name in ("text", "summary", "data") and isinstance(value, str)
                if target is None or not grows:
                    kind = PartKind.SIGNATURE if name in ("signature", "data") else PartKind.REASONING
                    source = f"{at}/{position}/{name}"
                    target = Target(Op.CONCAT if grows else Op.SET, (*base, number, name), self._part(kind), source)
                if grows:
                    self._detail_texts[key] = target
                if grows or value != known:
                    self._set[key] = value
                    yield Edit(target, value, frame.index)

    def _detail_of(self, detail: dict[str, Any], new: bool = True) -> int:
        """The number of the block that a detail is a fragment of; one without an index is a block of its own."""
        index = detail.get("index")
        if index is None:
            key: Any = len(self._details) - (not new)
        else:
            key = (str(index), str(detail.get("type")))
        return self._details.setdefault(key, len(self._details))

    def _function_call(self, body: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        """The deprecated form of a single call."""
        part, base = self._part(PartKind.TOOL_CALL), (*self.path, "function_call")
        if self._first("function_call"):
            yield setting(base, {"name": "", "arguments": ""}, frame, part, at)
        name, arguments = body.get("name"), body.get("arguments")
        if isinstance(name, str) and name and self._first("function_call.name"):
            yield setting((*base, "name"), name, frame, part, f"{at}/name")
        if isinstance(arguments, str):
            yield Edit(Target(Op.CONCAT, (*base, "arguments"), part, f"{at}/arguments"), arguments, frame.index)

    def _speech(self, body: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        part, base = self._part(PartKind.OTHER), (*self.path, "audio")
        for name, value in body.items():
            if name == "data" and isinstance(value, str):
                self._audio = self._audio or Base64Text((*base, "data"), part, f"{at}/data")
                yield from self._audio.edits(value, frame.index)
            elif name == "transcript" and isinstance(value, str):
                yield Edit(Target(Op.CONCAT, (*base, name), part, f"{at}/{name}"), value, frame.index)
            elif value is not None and (name != "id" or self._first("audio.id")):
                yield setting((*base, name), value, frame, part, f"{at}/{name}")


_FIELDS: dict[str, Callable[[Message, Any, Frame, str], Iterator[Edit]]] = {
    "role": Message._role,
    "tool_calls": Message._tool_calls,
    "reasoning_details": Message._reasoning_details,
    "function_call": Message._function_call,
    "audio": Message._speech,
}
