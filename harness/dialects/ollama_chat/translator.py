"""Lines to edits of the whole answer (wire/ollama-chat.md section 5)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from harness.dialects.ollama_chat.reader import read_error
from harness.dialects.translating import (
    UNKNOWN_EVENTS,
    BaseTranslator,
    as_list,
    as_object,
    as_path,
    as_text,
    note,
)
from harness.edits import FINISH, METADATA, UNKNOWN, USAGE, Edit, Op, PartKind, PartRef, Path, Target, pointer
from harness.framing import Frame
from harness.vocabulary import FREE, Many, Shape

TOKEN = Shape("token logprob bytes")
LOGPROB = TOKEN.extended(top_logprobs=Many(TOKEN))
TOOL_CALL = Shape("id type", function=Shape("index name", arguments=FREE))
MESSAGE = Shape("role content thinking images tool_name tool_call_id", tool_calls=Many(TOOL_CALL))
LINE = Shape(
    "model created_at done done_reason remote_model remote_host",
    message=MESSAGE,
    logprobs=Many(LOGPROB),
    error=FREE,  # a string; proxies send an object
    _debug_info=FREE,
).extended(
    # the counts and durations of the last line; /api/generate with its text, its calls and its image; a refused sign-in
    "total_duration load_duration prompt_eval_count prompt_eval_duration eval_count eval_duration "
    "response thinking context image completed total signin_url",
    tool_calls=Many(TOOL_CALL),
)

_TEXTS: dict[Path, PartRef] = {  # concatenated
    ("message", "content"): PartRef(PartKind.TEXT),
    ("message", "thinking"): PartRef(PartKind.REASONING),
    ("response",): PartRef(PartKind.TEXT),
    ("thinking",): PartRef(PartKind.REASONING),
}
_CALLS: tuple[Path, ...] = (("message", "tool_calls"), ("tool_calls",))
_LISTS: tuple[Path, ...] = (*_CALLS, ("logprobs",))  # every element is appended
_PARTS: dict[Path, PartRef] = {
    **_TEXTS,
    ("done_reason",): FINISH,
    ("prompt_eval_count",): USAGE,
    ("eval_count",): USAGE,
    ("message", "images"): PartRef(PartKind.OTHER),
    ("image",): PartRef(PartKind.OTHER),
}
_UNSET = object()


class OllamaTranslator(BaseTranslator):
    shape = LINE

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._targets: dict[tuple[Op, Path], Target] = {}
        self._values: dict[Path, Any] = {}  # what was set; of a text, that it has begun
        self._moving: set[Path] = set()  # what differs from line to line: it is set without a look at what it was
        self._lengths = dict.fromkeys(_LISTS, 0)
        self._before = self._lengths  # as it was before the line at hand
        self._done = False

    def missing(self) -> str | None:
        return None if self._done else "no line says `done`"

    def close(self) -> list[Edit]:
        out = super().close()
        if self._done and not self.failed and not self._values.get(("done_reason",)):
            out.append(note("stream/finish-missing", "the last line has no `done_reason`"))
        return out

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        if self._done:
            return [note("stream/data-after-done", "a line after the one that says `done`; it was not used", frame)]
        out: list[Edit] = []
        self._before = dict(self._lengths)
        for name, value in body.items():
            if name == "message":
                for inner, field in (value or {}).items():
                    if inner in MESSAGE.names:
                        out.extend(self._field((name, inner), field, frame))
            elif name in LINE.names and name != "error":
                out.extend(self._field((name,), value, frame))
        if body.get("error"):
            out.append(self.fail(read_error(body), frame))
        self._done = body.get("done") is True
        return out

    def place(self, steps: list[str], body: dict[str, Any]) -> Target:
        path = tuple(steps)
        at = next((p for p in _LISTS if path[: len(p)] == p), None)
        if at is not None and len(path) == len(at) + 1:  # an element that is none
            self._lengths[at] += 1
            return Target(Op.APPEND, at, UNKNOWN)
        if at is not None and len(path) > len(at):
            appended = [isinstance(element, dict) for element in _at(body, at)]
            number = self._before[at] + sum(appended[: int(path[len(at)])])
            return Target(Op.SET, (*at, number, *as_path(steps[len(at) + 1 :])), UNKNOWN)
        if self._begun(path):
            return Target(Op.APPEND, (UNKNOWN_EVENTS,), UNKNOWN)
        return Target(Op.SET, as_path(steps), UNKNOWN)

    def _begun(self, path: Path) -> bool:
        """Whether something stands at `path` that must not be lost to a value of another type."""
        return bool(self._lengths.get(path)) or any(p[: len(path)] == path for p in self._values)

    def _field(self, path: Path, value: Any, frame: Frame) -> Iterator[Edit]:
        """What a field of a line changes. Targets are used again, so that lines that look alike need no decoding."""
        if path in _LISTS:
            for element in value or ():
                yield from self._element(path, element, frame)
        elif path in _TEXTS and isinstance(value, str):
            first = path not in self._values
            if value or (first and path[-1] != "thinking"):  # the server leaves empty thinking out of its answer
                self._values[path] = True
                yield Edit(self._target(Op.CONCAT, path), value, frame.index)
        elif value is None and path in self._values:
            pass  # a null never erases (semantics.md D6)
        elif path in _TEXTS:
            begun = path in self._values
            where = Target(Op.APPEND, (UNKNOWN_EVENTS,), UNKNOWN, pointer(path)) if begun else self._target(Op.SET, path)
            yield Edit(where, value, frame.index)
        else:
            known = self._values.get(path, _UNSET)
            if path in self._moving or known is _UNSET or known != value:
                if known is not _UNSET:
                    self._moving.add(path)
                self._values[path] = value
                yield Edit(self._target(Op.SET, path), value, frame.index)

    def _element(self, path: Path, element: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        number = self._lengths[path]
        self._lengths[path] += 1
        if path not in _CALLS:
            yield Edit(self._target(Op.APPEND, path), element, frame.index)
            return
        at = pointer(path)
        yield Edit(Target(Op.APPEND, path, PartRef(PartKind.TOOL_CALL, (number,)), at), element, frame.index)
        if not as_text(element.get("id")):
            yield note("tool/id-synthetic", "a call without an id", frame, at)
        arguments = as_object(element.get("function")).get("arguments")
        if isinstance(arguments, str) and not _parses(arguments):
            message = "the arguments are text, where an object is due, and the text is no JSON"
            yield note("tool/arguments-invalid-json", message, frame, at, got=arguments)

    def _target(self, op: Op, path: Path) -> Target:
        target = self._targets.get((op, path))
        if target is None:
            target = self._targets[op, path] = Target(op, path, _PARTS.get(path, METADATA), pointer(path))
        return target


def _at(body: dict[str, Any], path: Path) -> list[Any]:
    """The list at `path` of a payload as it came; empty if it is none."""
    value: Any = body
    for step in path:
        value = as_object(value).get(str(step))
    return as_list(value)


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
