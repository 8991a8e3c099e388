"""Chunks to edits of a `chat.completion` (wire/openai-chat.md section 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from harness.api_error import api_error
from harness.dialects.openai_chat.errors import error_in
from harness.dialects.openai_chat.message import Message, place_from_end
from harness.dialects.openai_chat.vocabulary import CHOICE, CHUNK, LOGPROBS
from harness.dialects.translating import BaseTranslator, as_path, note, setting
from harness.edits import FINISH, METADATA, UNKNOWN, USAGE, Edit, Op, Path, Target
from harness.framing import Frame

_NOT_IN_ENVELOPE = {"choices", "error", "obfuscation", "object"}
_FIRST = {"id", "created", "model"}  # the first value that says something; of other fields the last that is not null
_PLAIN = {"index", "delta", "finish_reason"}
_ABNORMAL = {"error", "insufficient_system_resource"}
_UNSET = object()


class _Choice:
    """One choice under construction."""

    __slots__ = ("extras", "finished", "index", "keys", "message", "set")

    def __init__(self, index: int) -> None:
        self.index = index
        self.message = Message(index)
        self.finished = False
        self.keys: tuple[str, ...] = ()  # of the payload before, and which of them need a look
        self.extras: tuple[str, ...] = ()
        self.set: dict[str, Any] = {}

    def extra(self, body: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        """Fields beside the delta and the finish reason."""
        base: Path = ("choices", self.index)
        for name in self.extras:
            value, source = body.get(name), f"{at}/{name}"
            if name == "logprobs" and value is not None:
                yield from self._logprobs(value, frame, source)
            elif name == "message":
                if value and (body.get("finish_reason") or not body.get("delta")):  # the whole message once more
                    yield Edit(Target(Op.SETTLE, self.message.path, METADATA, source), value, frame.index)
            elif name == "content_filter_results" and value is not None:
                if name not in self.set:
                    self.set[name] = True
                    yield setting((*base, name), {}, frame, METADATA, source)
                for category, result in value.items():
                    yield setting((*base, name, category), result, frame, METADATA, f"{source}/{category}")
            elif name not in self.set or value is not None:
                self.set[name] = value
                yield setting((*base, name), value, frame, METADATA, source)

    def _logprobs(self, value: dict[str, Any], frame: Frame, source: str) -> Iterator[Edit]:
        base: Path = ("choices", self.index, "logprobs")
        self.set["logprobs"] = True
        for name, tokens in value.items():
            if name not in LOGPROBS.names:
                continue
            if tokens is None:
                if name not in self.set:
                    self.set[name] = None
                    yield setting((*base, name), None, frame, METADATA, f"{source}/{name}")
                continue
            if self.set.get(name) is None:
                self.set[name] = 0
                yield setting((*base, name), [], frame, METADATA, f"{source}/{name}")
            self.set[name] += len(tokens)
            for token in tokens:
                yield Edit(Target(Op.APPEND, (*base, name), METADATA, f"{source}/{name}"), token, frame.index)

    def place(self, steps: list[str], wire: dict[str, Any]) -> Path:
        """Where a field that the vocabulary lacks belongs; `steps` lead to it in the choice of the payload, `wire`."""
        name, *inner = steps
        if name in ("delta", "message") and inner:
            return self.message.place(inner, wire[name])
        if name == "logprobs" and len(inner) > 2:
            position = self.set[inner[0]] + place_from_end(wire[name][inner[0]], inner[1])
            return ("choices", self.index, name, inner[0], position, *as_path(inner[2:]))
        return ("choices", self.index, *as_path(steps))


def last_known(known: Any, value: Any) -> Any:
    """Of two reports, field by field, the later one that is not null (semantics.md D6)."""
    if isinstance(known, dict) and isinstance(value, dict):
        return {**known, **{name: last_known(known.get(name), field) for name, field in value.items()}}
    return known if value is None else value


class ChatTranslator(BaseTranslator):
    shape = CHUNK
    noise = ("obfuscation",)

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._choices: dict[Any, _Choice] = {}
        self._top: dict[str, Any] = {}
        self._envelope: Any = None
        self._keys: tuple[str, ...] = ()
        self._envelopes: dict[tuple[str, ...], Callable[[Any], Any]] = {}
        self._done = False

    def missing(self) -> str | None:
        if not self._choices:
            return "no choice was sent"
        unfinished = next((c for c in self._choices.values() if not c.finished), None)
        if unfinished is not None:
            return f"choice {unfinished.index} has no finish reason"
        asked = self.request.get("n")
        if isinstance(asked, int) and len(self._choices) < asked:
            return f"{asked} choices were asked for and {len(self._choices)} sent"
        return None

    def end_marked(self) -> bool:
        return self._done

    def done(self, frame: Frame) -> list[Edit]:
        if self._done:
            return [note("stream/data-after-done", "a second [DONE]", frame)]
        self._done = True
        return []

    def close(self) -> list[Edit]:
        out = [edit for choice in self._choices.values() for edit in choice.message.close()]
        out += super().close()
        if not self._done and not self.failed and self.missing() is None:
            out.append(note("stream/done-missing", "the stream ends without [DONE], although every choice has finished"))
        return out

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        if self._done:
            return [note("stream/data-after-done", "a payload after [DONE]; it was not used", frame)]
        out: list[Edit] = []
        keys = tuple(body)
        envelope_of = self._envelopes.get(keys) or self._new_envelope(keys)
        envelope = envelope_of(body)
        if envelope != self._envelope or keys != self._keys:
            self._envelope, self._keys = envelope, keys
            out.extend(self._top_level(body, frame))
        if "error" in body or "x_groq" in body or frame.name is not None or body.get("object") == "error":
            out.extend(self._failure(body, frame))
        for position, choice in enumerate(body.get("choices") or ()):
            self._choice(choice, position, frame, out)
        return out

    def place(self, steps: list[str], body: dict[str, Any]) -> Target:
        if steps[0] != "choices" or len(steps) < 3:
            return Target(Op.SET, as_path(steps), UNKNOWN)
        wire = body["choices"][int(steps[1])]
        index = wire.get("index")
        choice = self._choices.get(index if type(index) is int else 0) or _Choice(0)
        return Target(Op.SET, choice.place(steps[2:], wire), UNKNOWN)

    def _new_envelope(self, keys: tuple[str, ...]) -> Callable[[Any], Any]:
        """A getter of all but the choices: while its value stays the same, there is nothing to set."""
        names = [k for k in keys if k not in _NOT_IN_ENVELOPE]
        getter: Callable[[Any], Any] = itemgetter(*names) if names else lambda _: None
        if len(self._envelopes) < 64:
            self._envelopes[keys] = getter
        return getter

    def _top_level(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        if not self._top and not body.keys() <= {"error", "object"}:
            self._top["object"] = "chat.completion"
            yield setting(("object",), "chat.completion", frame)
        for name, value in body.items():
            known = self._top.get(name, _UNSET)
            if name in _NOT_IN_ENVELOPE or name not in CHUNK.names or value == known:
                continue
            if name == "x_groq":
                yield from self._x_groq(value or {}, frame)
                continue
            if name == "usage":
                yield from self._usage(value, frame, "/usage")
                continue
            if (value is None and known is not _UNSET) or (name in _FIRST and self._top.get(name)):
                continue
            self._top[name] = value
            yield setting((name,), value, frame)

    def _usage(self, value: Any, frame: Frame, source: str) -> Iterator[Edit]:
        known = self._top.get("usage")
        merged = last_known(known, value)
        if merged is not None and merged != known:
            self._top["usage"] = merged
            yield setting(("usage",), merged, frame, USAGE, source)

    def _x_groq(self, value: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        for name, field in value.items():
            if name == "usage":  # the only place for it, before Groq honoured include_usage
                if self._top.get("usage") is None:
                    yield from self._usage(field, frame, "/x_groq/usage")
            elif name != "error":
                yield setting(("x_groq", name), field, frame)

    def _failure(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        error = error_in(body, frame.name)
        if error is not None:
            yield self.fail(error, frame)

    def _choice(self, body: dict[str, Any], position: int, frame: Frame, out: list[Edit]) -> None:
        index = body.get("index")
        choice = (self._choices.get(index) if type(index) is int else None) or self._open(index, frame, out)
        keys = tuple(body)
        if keys != choice.keys:
            choice.keys = keys
            choice.extras = tuple(k for k in keys if k not in _PLAIN and k in CHOICE.names)
        delta = body.get("delta")
        if delta:
            texts = choice.message.texts
            for name, value in delta.items():
                target = texts.get(name)
                if target is not None and type(value) is str:
                    if value:
                        out.append(Edit(target, value, frame.index))
                else:
                    out.extend(choice.message.field(name, value, frame, f"/choices/{position}/delta"))
            if choice.finished and any(delta.get(name) for name in ("content", "refusal", "tool_calls")):
                message = "content after the finish reason of its choice; it was kept"
                out.append(note("delta/after-finish", message, frame, f"/choices/{position}/delta"))
        if choice.extras:
            out.extend(choice.extra(body, frame, f"/choices/{position}"))
        if body.get("finish_reason"):
            out.extend(self._finish(choice, body, frame, f"/choices/{position}/finish_reason"))

    def _open(self, index: Any, frame: Frame, out: list[Edit]) -> _Choice:
        number = index if type(index) is int else 0
        choice = self._choices.get(number)
        if choice is None:
            choice = self._choices[number] = _Choice(number)
            skeleton = {"index": number, "message": {"role": "assistant", "content": None}, "finish_reason": None}
            out.append(setting(("choices", number), skeleton, frame))
            if len(self._choices) == 2:
                out.append(note("choices/extra", "the stream has more than one choice", frame, "/choices"))
        return choice

    def _finish(self, choice: _Choice, body: dict[str, Any], frame: Frame, source: str) -> Iterator[Edit]:
        reason = body["finish_reason"]
        choice.finished = choice.finished or isinstance(reason, str)
        yield setting(("choices", choice.index, "finish_reason"), reason, frame, FINISH, source)
        if isinstance(reason, str) and reason in _ABNORMAL:
            message = f"the finish reason {reason!r} says that the model broke off"
            yield note("finish/abnormal", message, frame, source, got=reason)
            if not self.failed:
                yield self.fail(api_error(message, code=reason), frame)
