"""Events to edits of a `response` (wire/openai-responses.md sections 3, 4 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from harness.api_error import api_error
from harness.dialects.base64_text import Base64Text
from harness.dialects.openai_responses.errors import error_in, read_error_object
from harness.dialects.openai_responses.growth import CALLS, DELTAS, DONES, PARTS, SHELL_OUTPUT, Growth
from harness.dialects.openai_responses.item import Item
from harness.dialects.openai_responses.output import Output
from harness.dialects.openai_responses.response_body import BEGINNINGS, ENDS, ResponseBody
from harness.dialects.openai_responses.vocabulary import EVENT
from harness.dialects.translating import BaseTranslator, as_json, note, setting, unknown_event
from harness.edits import UNKNOWN, Edit, Op, PartKind, PartRef, Path, Target
from harness.framing import Frame


class ResponsesTranslator(BaseTranslator):
    shape = EVENT
    noise = ("sequence_number", "obfuscation")

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._output = Output()
        self._response = ResponseBody(self._output)
        self._growing: dict[Any, tuple[Any, Target]] = {}  # the texts that grow: the item's id, and where the next piece goes
        self._here: Path = ()  # where the event's own item or part stands
        self._item: Item | None = None
        self._audio: Base64Text | None = None
        self._complete = False
        self._closed = False

    def missing(self) -> str | None:
        return None if self._complete else "neither response.completed nor response.incomplete nor response.failed was sent"

    def done(self, frame: Frame) -> list[Edit]:
        if self._closed:
            return [note("stream/data-after-done", "a second [DONE]", frame)]
        self._closed = True
        return []

    def close(self) -> list[Edit]:
        out = list(self._audio.close(-1)) if self._audio is not None else []
        for item in self._output.items:
            if item.type in CALLS and not item.announced and not item.done:
                out.append(note("tool/fragment-orphan", f"arguments of a call that was never announced, item {item.id!r}"))
        return out + super().close()

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        if self._complete or self._closed:
            return [note("stream/data-after-done", "a payload after the end of the turn; it was not used", frame)]
        kind = body.get("type")
        if not isinstance(kind, str):
            kind = ""
        growth = DELTAS.get(kind)
        if growth is not None:
            return self._delta(kind, growth, body, frame)
        self._here, self._item = (), None
        self._growing.clear()  # whatever else comes may open an item or a part
        if error := error_in(body, frame.name):
            return [] if self.failed else [self.fail(error, frame)]
        tell = _EVENTS.get(kind)
        return list(tell(self, body, frame)) if tell is not None else []

    def place(self, steps: list[str], body: dict[str, Any]) -> Target:
        path, kind = _along(steps, body), body["type"]
        if kind in DELTAS and (known := self._growing.get(_key(kind, DELTAS[kind], body))) is not None:
            self._here = known[1].path[: len(known[1].path) - len(DELTAS[kind].field)]
        if path[0] == "response" and len(path) > 1:
            path = self._response.inner(path[1:])
        elif path[0] == "item" and self._item is not None:
            path = self._item.inner(path[1:])
        else:
            inside = path[0] == "part" and isinstance(body["part"], dict) and self._here
            path = (*self._here, *(path[1:] if inside else path))
        return Target(Op.SET, path, UNKNOWN)

    def _strange(self, value: Any, frame: Frame) -> list[Edit]:
        if (self._complete or self._closed) and isinstance(value, dict):
            return self.edits(value, frame)
        return super()._strange(value, frame)

    # texts

    def _delta(self, kind: str, growth: Growth, body: dict[str, Any], frame: Frame) -> list[Edit]:
        key = _key(kind, growth, body)
        known = self._growing.get(key)
        delta = body.get("delta")
        if known is not None and type(delta) is str and known[0] == body.get("item_id") and not body.get("logprobs"):
            return [Edit(known[1], delta, frame.index)] if delta else []
        return self._delta_carefully(key, growth, body, frame)

    def _delta_carefully(self, key: Any, growth: Growth, body: dict[str, Any], frame: Frame) -> list[Edit]:
        item, out = self._about(body, growth.item, frame)
        index, delta = body.get(growth.index), body.get("delta")
        if delta == "":
            return out
        target, before = item.growing(growth, index, frame)
        out += before
        self._growing[key] = (body.get("item_id"), target)
        if isinstance(delta, (dict, list)) and growth.done == "arguments":
            message = "arguments are sent as an object, where a string of JSON is due; encoded as they stand"
            out.append(note("tool/arguments-not-string", message, frame, "/delta"))
            delta = as_json(delta)
        if isinstance(delta, str):
            out.append(Edit(target, delta, frame.index))
        elif delta is not None:
            out.append(unknown_event(body, frame))
        if logprobs := body.get("logprobs"):
            out += item.add_logprobs(growth, index, logprobs, frame)
        return out

    def _text_done(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        growth = DONES[body["type"]]
        item, edits = self._about(body, growth.item, frame)
        yield from edits
        index, value = body.get(growth.index), body.get(growth.done)
        if isinstance(value, str):
            yield from item.settle(growth, index, value, frame, f"/{growth.done}")
        elif value is not None:
            yield unknown_event(body, frame)
        if logprobs := body.get("logprobs"):
            yield item.settle_logprobs(growth, index, logprobs, frame)

    def _annotation(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        growth = DELTAS["response.output_text.delta"]
        item, edits = self._about(body, growth.item, frame)
        yield from edits
        if body.get("annotation") is not None:
            yield from item.annotate(growth, body, frame)

    def _shell_output(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        item, edits = self._about(body, "shell_call_output", frame)
        yield from edits
        for name, fragment in (body.get("delta") or {}).items():
            if isinstance(fragment, str) and name in SHELL_OUTPUT:
                target, before = item.growing(SHELL_OUTPUT[name], body.get("command_index"), frame)
                yield from before
                yield Edit(target, fragment, frame.index)

    def _shell_output_done(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        item, edits = self._about(body, "shell_call_output", frame)
        yield from edits
        first = item.element(("output",), body.get("command_index"))
        for place, output in enumerate(body.get("output") or ()):
            yield item.settle_element(("output",), first + place, output, frame, f"/output/{place}")

    def _audio_delta(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """Speech: these events name no item, and no recording tells where it belongs; it is kept beside the output."""
        part, delta = PartRef(PartKind.OTHER), body.get("delta")
        if not isinstance(delta, str):
            return
        if body["type"] == "response.audio.transcript.delta":
            yield Edit(Target(Op.CONCAT, ("audio", "transcript"), part, "/delta"), delta, frame.index)
            return
        self._audio = self._audio or Base64Text(("audio", "data"), part, "/delta")
        yield from self._audio.edits(delta, frame.index)

    # items and their parts

    def _item_added(self, body: dict[str, Any], frame: Frame) -> Iterable[Edit]:
        if body.get("item") is None:
            return [note("responses/item-null", "an item is announced as null", frame, "/item")]
        self._item, edits = self._output.announce(body.get("output_index"), body["item"], frame)
        return edits

    def _item_done(self, body: dict[str, Any], frame: Frame) -> Iterable[Edit]:
        if body.get("item") is None:
            return [note("responses/item-null", "an item is done, and null", frame, "/item")]
        self._item, edits = self._output.finish(body.get("output_index"), body["item"], frame)
        return edits

    def _part_added(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        item, where, index, edits = self._part(body, frame)
        yield from edits
        if body.get("part") is not None:
            yield from item.open_element(where, index, body["part"], frame, "/part")
            self._here = (*item.path, *where, item.element(where, index))

    def _part_done(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        item, where, index, edits = self._part(body, frame)
        yield from edits
        if body.get("part") is not None:
            yield from item.settle_part(where, index, body["part"], frame)
            self._here = (*item.path, *where, item.element(where, index))

    def _command_added(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        growth = DELTAS["response.shell_call_command.delta"]
        item, edits = self._about(body, growth.item, frame)
        yield from edits
        yield from item.open_element(growth.list, body.get("command_index"), body.get("command") or "", frame, "/command")

    def _part(self, body: dict[str, Any], frame: Frame) -> tuple[Item, Path, Any, list[Edit]]:
        where, field = PARTS[body["type"].rpartition(".")[0]]
        part = body.get("part") or {}
        reasons = where == ("summary",) or part.get("type") == "reasoning_text"
        item, edits = self._about(body, "reasoning" if reasons else "message", frame)
        return item, where, body.get(field), edits

    def _about(self, body: dict[str, Any], kind: str, frame: Frame) -> tuple[Item, list[Edit]]:
        item, edits = self._output.of_event(body, kind, frame)
        self._here = item.path
        return item, edits

    # the response

    def _begin(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        response = body.get("response") or {}
        self._output.tools = response.get("tools") or self._output.tools
        return self._response.begin(response, frame)

    def _end(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        response, word = body.get("response") or {}, ENDS[body["type"]]
        self._complete = True
        yield from self._response.end(response, word, frame)
        if isinstance(body.get("timings"), dict):
            yield setting(("timings",), body["timings"], frame)
        error, status = response.get("error"), response.get("status") or word
        if (error or "failed" in (word, status) or status == "cancelled") and not self.failed:
            yield self.fail(read_error_object(error) if error else api_error(f"the response is {status}"), frame)


def _key(kind: str, growth: Growth, body: dict[str, Any]) -> tuple[Any, ...]:
    """Which text a delta belongs to, as far as it says so by numbers."""
    index, element = body.get("output_index"), body.get(growth.index)
    numbered = type(index) is int and (element is None or type(element) is int)
    return (kind, index, element) if numbered else (kind,)


def _along(steps: list[str], body: Any) -> Path:
    """The path of a stranger in a payload: numbers for list elements only."""
    path: list[str | int] = []
    for step in steps:
        if isinstance(body, list):
            path.append(int(step))
            body = body[int(step)]
        else:
            path.append(step)
            body = body.get(step) if isinstance(body, dict) else None
    return tuple(path)


_Tell = Callable[[ResponsesTranslator, dict[str, Any], Frame], Iterable[Edit]]
_T = ResponsesTranslator
_EVENTS: dict[str, _Tell] = {  # what is not here changes nothing: an item's status events, partial images, keep-alives
    **dict.fromkeys(BEGINNINGS, _T._begin),
    **dict.fromkeys(ENDS, _T._end),
    **dict.fromkeys(DONES, _T._text_done),
    **{f"{name}.added": _T._part_added for name in PARTS},
    **{f"{name}.done": _T._part_done for name in PARTS},
    "response.output_item.added": _T._item_added,
    "response.output_item.done": _T._item_done,
    "response.output_text.annotation.added": _T._annotation,
    "response.shell_call_command.added": _T._command_added,
    "response.shell_call_output_content.delta": _T._shell_output,
    "response.shell_call_output_content.done": _T._shell_output_done,
    "response.audio.delta": _T._audio_delta,
    "response.audio.transcript.delta": _T._audio_delta,
}
