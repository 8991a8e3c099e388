"""Which call a fragment of `delta.tool_calls` belongs to (semantics.md D2 and D3, wire/openai-chat.md section 4).

The wire's key is `index`. Servers leave it out, use it twice, let it drift and repeat or blank the identity; each of that has
a rule here and is reported, and none of it welds two calls together or tears one apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from harness.dialects.translating import note, setting
from harness.edits import Edit, Op, PartKind, PartRef, Path, Target
from harness.framing import Frame


class Call:
    """A call under construction. `key` orders it among the calls of its choice."""

    __slots__ = ("arguments", "base", "id", "name", "part", "type")

    def __init__(self, base: Path, part: PartRef, at: str) -> None:
        self.base = base
        self.part = part
        self.id = ""
        self.name = ""
        self.type = ""
        self.arguments = Target(Op.CONCAT, (*base, "function", "arguments"), part, f"{at}/function/arguments")


class ToolCalls:
    """The calls of one choice, whose message stands at `message` in the body."""

    def __init__(self, choice: int, message: Path) -> None:
        self._choice = choice
        self._base = (*message, "tool_calls")
        self._by_index: dict[int, Call] = {}
        self._keys: set[int] = set()
        self._open: Call | None = None

    def edits(self, fragment: dict[str, Any], frame: Frame, at: str) -> Iterable[Edit]:
        """What a fragment changes; `at` is its pointer in the payload."""
        index = fragment.get("index")
        function = fragment.get("function")
        call = self._by_index.get(index) if type(index) is int else None
        if call is not None and function is not None and len(fragment) == 2 and len(function) == 1:
            arguments = function.get("arguments")
            if type(arguments) is str:  # by far the most: the next piece of the arguments
                self._open = call
                return (Edit(call.arguments, arguments, frame.index),)
        return self._carefully(fragment, frame, at)

    def place(self, index: Any) -> Path:
        """Where the call at a wire index stands, or the one that is open."""
        call = self._by_index.get(index) if type(index) is int else None
        call = call or self._open
        return call.base if call is not None else self._base

    def _carefully(self, fragment: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        call, remark = self._resolve(fragment, frame, at)
        if remark is not None:
            yield remark
        if call is None:
            call = self._begin(fragment.get("index"), at)
            yield setting(call.base, _skeleton(fragment), frame, call.part, at)
        self._open = call
        yield from self._identity(call, fragment, frame, at)
        function, custom = fragment.get("function"), fragment.get("custom")
        if function is not None:
            yield from self._arguments(call, function.get("arguments"), frame, at)
        if custom is not None and isinstance(custom.get("input"), str):
            target = Target(Op.CONCAT, (*call.base, "custom", "input"), call.part, f"{at}/custom/input")
            yield Edit(target, custom["input"], frame.index)
        if fragment.get("extra_content") is not None:
            place = (*call.base, "extra_content")
            yield setting(place, fragment["extra_content"], frame, call.part, f"{at}/extra_content")

    def _resolve(self, fragment: dict[str, Any], frame: Frame, at: str) -> tuple[Call | None, Edit | None]:
        """The call that the fragment continues (None: it begins one), and what is to be said of it."""
        index, identity, name = fragment.get("index"), _text(fragment.get("id")), _name(fragment)
        if type(index) is not int:
            call = self._open
            if call is not None and (identity == call.id if identity else not name):
                return call, None
            return None, note("tool/index-missing", "a tool call has no index", frame, at)
        call = self._by_index.get(index)
        if call is None:
            if self._open is not None and not identity and not name:
                message = f"a fragment at index {index}, which was never opened, continues the call that is open"
                return self._open, note("tool/index-drift", message, frame, f"{at}/index")
            if not identity and not name:
                message = "an argument fragment before any call; it begins a call without a name"
                return None, note("tool/fragment-orphan", message, frame, at)
            return None, None
        if identity and call.id and identity != call.id:
            message = f"index {index} is used for {call.id!r} and again for {identity!r}; they are two calls"
            return None, note("tool/index-reused", message, frame, f"{at}/id", expected=call.id, got=identity)
        return call, None

    def _begin(self, index: Any, at: str) -> Call:
        number = index if type(index) is int else None
        key = number if number is not None and number not in self._keys else max(self._keys, default=-1) + 1
        self._keys.add(key)
        call = Call((*self._base, key), PartRef(PartKind.TOOL_CALL, (self._choice, key)), at)
        if number is not None:
            self._by_index[number] = call
        return call

    def _identity(self, call: Call, fragment: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        """The first non-empty id, type and name count; an empty string says nothing."""
        identity, name, kind = _text(fragment.get("id")), _name(fragment), _text(fragment.get("type"))
        if identity and not call.id:
            call.id = identity
            yield setting((*call.base, "id"), identity, frame, call.part, f"{at}/id")
        if kind and not call.type:
            call.type = kind
            yield setting((*call.base, "type"), kind, frame, call.part, f"{at}/type")
        if name and not call.name:
            call.name = name
            field = "function" if fragment.get("function") else "custom"
            yield setting((*call.base, field, "name"), name, frame, call.part, f"{at}/{field}/name")
        elif name and name != call.name:
            message = f"the name changes from {call.name!r} to {name!r}; the first one counts"
            yield note("tool/identity-changed", message, frame, at, expected=call.name, got=name)

    def _arguments(self, call: Call, arguments: Any, frame: Frame, at: str) -> Iterator[Edit]:
        if arguments is None:
            return
        if not isinstance(arguments, str):
            message = f"arguments are of type {type(arguments).__name__}, where a string of JSON is due; encoded as they stand"
            yield note("tool/arguments-not-string", message, frame, f"{at}/function/arguments")
            arguments = json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)
        yield Edit(call.arguments, arguments, frame.index)


def _skeleton(fragment: dict[str, Any]) -> dict[str, Any]:
    if fragment.get("type") == "custom" or fragment.get("custom") is not None:
        return {"type": "custom", "custom": {"name": "", "input": ""}}
    return {"type": "function", "function": {"name": "", "arguments": ""}}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _name(fragment: dict[str, Any]) -> str:
    head = fragment.get("function") or fragment.get("custom") or {}
    return _text(head.get("name"))
