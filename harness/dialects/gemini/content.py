"""The parts of one candidate: which of them join, and which call a piece of arguments belongs to (sections 4, 6 and 7)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from harness.dialects.gemini.streamed_call import StreamedCall
from harness.dialects.translating import note, setting
from harness.edits import METADATA, Edit, Op, PartKind, PartRef, Path, Target
from harness.framing import Frame

Places = dict[tuple[str | int, ...], Path]
"""Where in the body an element of the payload at hand stands, by the steps that lead to it in the payload."""

_MERE_TEXT: dict[bool, set[tuple[str, ...]]] = {False: {("text",)}, True: {("text", "thought"), ("thought", "text")}}
"""The fields of a part that is nothing but the next piece of an answer, or of a thought."""


class Content:
    """The content under construction of the candidate with this index; `places` is told where every part goes."""

    def __init__(self, index: int, places: Places) -> None:
        self.path: Path = ("candidates", index, "content")
        self._index = index
        self._places = places
        self._count = 0  # of parts in the body
        self._role: Any = None
        self._role_sent = False
        self._begun = False
        self._empty_text = False  # whether one was left out
        self._text: Target | None = None  # where the next piece of text goes, if it joins the last part
        self._thought = False  # whether that part is a thought
        self._at = (-1, -1)  # the candidate and the part, in their payload, that the target points to
        self._call: StreamedCall | None = None  # that is still open

    def edits(self, content: dict[str, Any], position: int, frame: Frame, out: list[Edit]) -> None:
        """Add to `out` what the content of the candidate at `position` of a payload changes."""
        parts = content.get("parts")
        role = content.get("role")
        if role is None or role != self._role:
            out.extend(self._named(role, bool(parts), frame, f"/candidates/{position}/content/role"))
        for number, part in enumerate(parts or ()):
            text = part.get("text")
            if (
                self._text is not None
                and text
                and self._at == (position, number)
                and tuple(part) in _MERE_TEXT[self._thought]
                and type(text) is str
                and (not self._thought or part["thought"] is True)
            ):
                out.append(Edit(self._text, text, frame.index))
            else:
                out.extend(self._part(part, position, number, frame))

    def finish(self, frame: Frame) -> Iterator[Edit]:
        """The candidate has finished: that ends an open call, and an empty text is an answer if nothing else came."""
        self._call = None
        if self._empty_text and not self._count:
            yield from self._grow("", False, (0, 0), frame)

    def _new_part(self) -> Path:
        """The place of one more part."""
        self._count += 1
        return (*self.path, "parts", self._count - 1)

    def _named(self, role: Any, has_parts: bool, frame: Frame, at: str) -> Iterator[Edit]:
        """The first role counts; where none is sent beside parts, it is the model's."""
        if role and not self._role_sent:
            self._role_sent, self._role = True, role
            yield setting((*self.path, "role"), role, frame, METADATA, at)
        elif has_parts and self._role is None:
            self._role = "model"
            yield setting((*self.path, "role"), "model", frame)
        elif not self._begun:
            yield setting(self.path, {}, frame)
        self._begun = True

    def _part(self, part: dict[str, Any], position: int, number: int, frame: Frame) -> Iterator[Edit]:
        at = f"/candidates/{position}/content/parts/{number}"
        if _is_mere_text(part):
            yield from self._mere_text(part, (position, number), frame)
        elif isinstance(part.get("functionCall"), dict) and not isinstance(part.get("text"), str):
            yield from self._function_call(part, part["functionCall"], (position, number), frame)
        else:
            yield from self._whole(part, frame, at)
        self._places["candidates", position, "content", "parts", number] = (*self.path, "parts", max(self._count - 1, 0))

    def _mere_text(self, part: dict[str, Any], at: tuple[int, int], frame: Frame) -> Iterator[Edit]:
        """Neighbours of one kind join, until one of them is signed: two signatures must never become one.

        Most often the signature of a text comes with an empty text at the end, where a body that is not streamed has it on
        the text itself: it goes to the part before, if it would join that. An empty text without one says nothing.
        """
        text, signature = part.get("text") or "", part.get("thoughtSignature")
        self._call = None
        if not text and not signature:
            self._empty_text = True
            return
        yield from self._grow(text, part.get("thought") is True, at, frame)
        if signature:
            yield self._signed((*self.path, "parts", self._count - 1), signature, at, frame)
            self._text = None

    def _grow(self, text: str, thought: bool, at: tuple[int, int], frame: Frame) -> Iterator[Edit]:
        begins = self._text is None or thought != self._thought
        if begins:
            self._new_part()
            self._thought = thought
        path: Path = (*self.path, "parts", self._count - 1)
        if begins and thought:
            yield setting((*path, "thought"), True, frame, self._ref(PartKind.REASONING), f"{_pointer(at)}/thought")
        if self._text is None or begins or self._at != at:
            kind = PartKind.REASONING if thought else PartKind.TEXT
            self._text, self._at = Target(Op.CONCAT, (*path, "text"), self._ref(kind), f"{_pointer(at)}/text"), at
        if text or begins:
            yield Edit(self._text, text, frame.index)

    def _whole(self, part: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        """A part that comes in one piece."""
        self._call = self._text = None
        path = self._new_part()
        call = part.get("functionCall")
        if isinstance(call, dict):
            kind = PartKind.TOOL_CALL
        elif isinstance(part.get("text"), str):
            kind = PartKind.REASONING if part.get("thought") else PartKind.TEXT
        else:
            kind = PartKind.OTHER
        yield setting(path, part, frame, self._ref(kind), at)
        if isinstance(call, dict):
            yield from _remarks(call, frame, f"{at}/functionCall")

    def _function_call(self, part: dict[str, Any], call: dict[str, Any], at: tuple[int, int], frame: Frame) -> Iterator[Edit]:
        """A part with a name begins a call, one without belongs to the open call; without an open one, `{}` is nothing."""
        source = _pointer(at)
        pieces, named = call.get("partialArgs"), bool(call.get("name"))
        if not named and self._call is None:
            if pieces:
                message = "a piece of arguments although no call is open; it begins a call without a name"
                yield note("gemini/partial-args-orphan", message, frame, f"{source}/functionCall/partialArgs")
            elif part.keys() <= {"functionCall", "thoughtSignature"} and call.keys() <= {"willContinue"}:
                if part.get("thoughtSignature"):
                    yield from self._mere_text({"thoughtSignature": part["thoughtSignature"]}, at, frame)
                return
        if named or self._call is None:
            if not pieces and not call.get("willContinue"):
                yield from self._whole(part, frame, source)
                return
            yield from self._open(part, call, frame, source)
        else:
            yield from self._beside(part, self._call, at, frame)
        if self._call is not None:
            yield from self._call.edits(call, frame, f"{source}/functionCall")
            if not call.get("willContinue"):
                self._call = None

    def _open(self, part: dict[str, Any], call: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        """The head of a call whose arguments follow: the part as it will be, with no arguments yet."""
        self._text = None
        path = self._new_part()
        head = {name: value for name, value in call.items() if name not in ("partialArgs", "willContinue")}
        self._call = StreamedCall(path, self._ref(PartKind.TOOL_CALL), bool(call.get("id")), bool(part.get("thoughtSignature")))
        yield setting(path, {**part, "functionCall": {**head, "args": {}}}, frame, self._call.part, at)
        yield from _remarks(call, frame, f"{at}/functionCall")

    def _beside(self, part: dict[str, Any], call: StreamedCall, at: tuple[int, int], frame: Frame) -> Iterator[Edit]:
        """What a further part of a call has beside its `functionCall`. A second signature becomes a part of its own."""
        for name, value in part.items():
            if name == "thoughtSignature" and value:
                signed, call.signed = call.signed, True
                yield self._signed(self._new_part() if signed else call.base, value, at, frame)
            elif name not in ("functionCall", "thoughtSignature") and value is not None:
                yield setting((*call.base, name), value, frame, call.part, f"{_pointer(at)}/{name}")

    def _signed(self, path: Path, signature: Any, at: tuple[int, int], frame: Frame) -> Edit:
        source = f"{_pointer(at)}/thoughtSignature"
        return setting((*path, "thoughtSignature"), signature, frame, self._ref(PartKind.SIGNATURE), source)

    def _ref(self, kind: PartKind) -> PartRef:
        return PartRef(kind, (self._index, self._count - 1))


def _pointer(at: tuple[int, int]) -> str:
    return f"/candidates/{at[0]}/content/parts/{at[1]}"


def _is_mere_text(part: dict[str, Any]) -> bool:
    """Whether the part is text, or only a signature, with nothing else about it."""
    return (
        part.keys() <= {"text", "thought", "thoughtSignature"}
        and isinstance(part.get("text"), str | None)
        and isinstance(part.get("thoughtSignature"), str | None)
        and isinstance(part.get("thought"), bool | None)
    )


def _remarks(call: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
    if not call.get("id"):
        yield note("tool/id-synthetic", "a call without an id", frame, at)
    arguments = call.get("args")
    if isinstance(arguments, str):
        try:
            json.loads(arguments)
        except (ValueError, RecursionError):
            message = "the arguments are text, where an object is due, and the text is no JSON"
            yield note("tool/arguments-invalid-json", message, frame, f"{at}/args", got=arguments)
