"""Model vendors whose streams are texts: one table of forms, and one translator that reads it.

Each form has the native body of the vendor's non-streaming answer. A payload is either the answer itself, growing (Llama,
Anthropic's text completions), or has a list of answers (Mistral, completions), or is a piece of one of them, which the body
has in a list (Titan, Cohere).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.api_error import api_error
from harness.dialects.translating import BaseTranslator, as_count, as_objects, as_path, note, setting, unknown_event
from harness.edits import FINISH, METADATA, UNKNOWN, Edit, Op, PartKind, PartRef, Path, Target
from harness.framing import Frame
from harness.vocabulary import FREE, Many, Shape

_ABNORMAL = {"ERROR"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How one vendor tells a text."""

    marks: tuple[str, ...]
    """Names in a payload that tell this form from the others."""
    shape: Shape
    text: str
    reason: str
    answers: str | None = None
    """The list of answers in the body; None if the body is the answer."""
    top: frozenset[str] = frozenset()
    """Fields of a payload that stand beside the list."""
    renamed: dict[str, str] = field(default_factory=dict)
    unsent: frozenset[str] = frozenset()
    """Fields of a payload that the body lacks."""


_GENERATION = Shape("id text finish_reason", token_likelihoods=FREE)
_OUTPUT = Shape("text stop_reason index")
_CHOICE = Shape("index text finish_reason stop_reason", logprobs=FREE)
_TOKENS = Shape("prompt_tokens completion_tokens total_tokens")

FORMS = {
    "anthropic": Form(
        marks=("completion",),
        shape=Shape("type completion stop_reason stop truncated log_id model exception"),
        text="completion",
        reason="stop_reason",
    ),
    "llama": Form(
        marks=("generation",),
        shape=Shape("generation prompt_token_count generation_token_count stop_reason images"),
        text="generation",
        reason="stop_reason",
    ),
    "mistral": Form(
        marks=("outputs",),
        shape=Shape(outputs=Many(_OUTPUT)),
        text="text",
        reason="stop_reason",
        answers="outputs",
        unsent=frozenset({"index"}),
    ),
    "titan": Form(
        marks=("outputText",),
        shape=Shape("outputText index totalOutputTextTokenCount completionReason inputTextTokenCount"),
        text="outputText",
        reason="completionReason",
        answers="results",
        top=frozenset({"inputTextTokenCount"}),
        renamed={"totalOutputTextTokenCount": "tokenCount"},
        unsent=frozenset({"index"}),
    ),
    "cohere": Form(  # in pieces, or all at once unless the request has `stream`
        marks=("generations", "is_finished"),
        shape=_GENERATION.extended("index is_finished prompt", generations=Many(_GENERATION)),
        text="text",
        reason="finish_reason",
        answers="generations",
        top=frozenset({"prompt"}),
        unsent=frozenset({"index", "is_finished"}),
    ),
    "completions": Form(  # DeepSeek, imported models
        marks=("choices",),
        shape=Shape("id object created model system_fingerprint", choices=Many(_CHOICE), usage=_TOKENS),
        text="text",
        reason="finish_reason",
        answers="choices",
        top=frozenset({"id", "object", "created", "model", "system_fingerprint", "usage"}),
    ),
}


def form_of(payload: dict[str, Any]) -> Form | None:
    """The form of a vendor's payload, if it is a text."""
    return next((form for form in FORMS.values() if any(mark in payload for mark in form.marks)), None)


class _Answer:
    __slots__ = ("base", "finished", "known", "text")

    def __init__(self, base: Path, number: int, form: Form) -> None:
        self.base = base
        self.finished = False
        self.known: set[str] = set()
        self.text = Target(Op.CONCAT, (*base, form.text), PartRef(PartKind.TEXT, (number,)))


class TextsTranslator(BaseTranslator):
    """Payloads of one vendor to edits of that vendor's body."""

    def __init__(self, form: Form, request: Any = None) -> None:
        super().__init__(request)
        self.form = form
        self.shape = form.shape
        self._names = _names(form)
        self._answers: dict[int, _Answer] = {}
        self._top: set[str] = set()
        self._ended = False
        self._touched: dict[int, _Answer] = {}  # by position in the payload

    def end(self) -> None:
        """Bedrock's own last words came, with or without a reason of the vendor's."""
        self._ended = True

    def missing(self) -> str | None:
        if self._ended and self._answers:
            return None
        if not self._answers:
            return "no text was sent"
        unfinished = next((number for number, a in self._answers.items() if not a.finished), None)
        return None if unfinished is None else f"text {unfinished} has no {self.form.reason}"

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        form = self.form
        self._touched = {}
        if form.answers is None:
            return list(self._piece(0, 0, body, frame, ""))
        if form.answers not in body:
            return list(self._flat(body, frame))
        out = list(self._beside(body, frame))
        for position, piece in enumerate(as_objects(body[form.answers])):
            number = _number(piece.get("index"), position)
            out.extend(self._piece(number, position, piece, frame, f"/{form.answers}/{position}"))
        return out

    def place(self, steps: list[str], body: dict[str, Any]) -> Target:
        path = as_path(steps)
        answers = self.form.answers
        if answers is not None and answers not in body:
            base = self._touched[0].base if self._touched else ()
            path = (*base, *path)
        elif answers is not None and len(path) > 2 and path[0] == answers and path[1] in self._touched:
            path = (*self._touched[path[1]].base, *path[2:])
        return Target(Op.SET, path, UNKNOWN)

    def _flat(self, body: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """A payload that is a piece of one text, but for the fields that stand beside the list."""
        form = self.form
        yield from self._beside({name: body[name] for name in form.top if name in body}, frame)
        piece = {name: value for name, value in body.items() if name not in form.top}
        if "index" in piece or form.text in piece or not self._answers:
            yield from self._piece(_number(piece.get("index"), 0), 0, piece, frame, "")
        elif piece.get(form.reason) is not None:  # one reason for every text (recorded for Cohere)
            for number, answer in self._answers.items():
                if not answer.finished:
                    yield from self._piece(number, 0, piece, frame, "")

    def _piece(self, number: int, position: int, piece: dict[str, Any], frame: Frame, at: str) -> Iterator[Edit]:
        """A piece of a text and the fields that come with it; a null erases nothing."""
        form, answer = self.form, self._answers.get(number)
        if answer is None:
            base: Path = () if form.answers is None else (form.answers, number)
            answer = self._answers[number] = _Answer(base, number, form)
            if len(self._answers) == 2:
                yield note("choices/extra", "the stream has more than one text", frame, at)
        self._touched[position] = answer
        for name, value in piece.items():
            place = form.renamed.get(name, name)
            if name == form.text and isinstance(value, str):
                answer.known.add(place)
                answer.text.source = answer.text.source or f"{at}/{name}"
                yield Edit(answer.text, value, frame.index)
            elif name == form.text and value is not None:
                yield unknown_event(piece, frame)
            elif name not in form.unsent and name in self._names and (value is not None or place not in answer.known):
                answer.known.add(place)
                part = FINISH if name == form.reason else METADATA
                yield setting((*answer.base, place), value, frame, part, f"{at}/{name}")
        reason = piece.get(form.reason) or piece.get("stop_reason")
        if (isinstance(reason, str) and reason) or piece.get("is_finished") is True:
            answer.finished = True
        if isinstance(reason, str) and reason in _ABNORMAL and not self.failed:
            message = f"the finish reason {reason!r} says that the model broke off"
            yield note("finish/abnormal", message, frame, f"{at}/{form.reason}", got=reason)
            yield self.fail(api_error(message, code=reason), frame)

    def _beside(self, fields: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        for name, value in fields.items():
            if name == self.form.answers or name not in self.form.shape.names or name in self.form.unsent:
                continue
            if value is not None or name not in self._top:
                self._top.add(name)
                yield setting((name,), value, frame)


def _names(form: Form) -> frozenset[str]:
    """What an answer's fields are called."""
    inner = form.shape.nested.get(form.answers or "")
    kind = inner.kind if isinstance(inner, Many) else None
    return form.shape.names | (kind.names if isinstance(kind, Shape) else frozenset())


def _number(index: Any, otherwise: int) -> int:
    """The index of a text; Titan under guardrails counts in floats."""
    number = as_count(index) if isinstance(index, (int, float)) else None
    return otherwise if number is None or number < 0 else number
