"""Chunks to edits of a `GenerateContentResponse` (wire/google-generatecontent.md section 7).

A chunk has the form of the whole answer, so that most fields are set as they come; texts and parts gather.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.api_error import api_error
from harness.dialects.gemini.candidate import Candidate
from harness.dialects.gemini.content import Places
from harness.dialects.gemini.errors import blocked, read_error_body
from harness.dialects.gemini.reader import ABNORMAL
from harness.dialects.gemini.vocabulary import CANDIDATE, CHUNK, CONTENT
from harness.dialects.translating import UNKNOWN_EVENTS, BaseTranslator, as_count, as_list, as_object, note, setting
from harness.edits import UNKNOWN, USAGE, Edit, Op, Path, Target
from harness.framing import Frame

_ENVELOPE = {"modelVersion", "responseId", "createTime", "modelStatus"}
_MOST_KEPT = 64
_UNSET = object()


class GeminiTranslator(BaseTranslator):
    shape = CHUNK

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._candidates: dict[Any, Candidate] = {}
        self._places: Places = {}
        self._top: dict[str, Any] = {}
        self._usage_target = Target(Op.SET, ("usageMetadata",), USAGE, "/usageMetadata")
        self._usage: Any = _UNSET
        self._usage_moves = False
        self._usage_has_total = False
        self._blocked = False
        self._kept: dict[Path, Any] = {}  # unknown fields outside the content

    def missing(self) -> str | None:
        if self._blocked:
            return None
        if not self._candidates:
            return "no candidate was sent"
        unfinished = next((c for c in self._candidates.values() if not c.finished), None)
        if unfinished is not None:
            return f"candidate {unfinished.index} has no finish reason"
        asked = _candidates_asked_for(self.request)
        if asked is not None and len(self._candidates) < asked:
            return f"{asked} candidates were asked for and {len(self._candidates)} sent"
        return None

    def edits(self, body: dict[str, Any], frame: Frame) -> list[Edit]:
        out: list[Edit] = []
        if self._places:
            self._places.clear()
        for position, wire in enumerate(body.get("candidates") or ()):
            self._candidate(wire, position, frame, out)
        usage = body.get("usageMetadata")
        if usage is not None:
            self._counts(usage, frame, out)
        for name, value in body.items():
            if name in _ENVELOPE and value is not None and value != self._top.get(name):
                if name == "modelStatus" or name not in self._top:  # the others are constant: the first one counts
                    self._top[name] = value
                    out.append(setting((name,), value, frame))
            elif name == "promptFeedback" and value is not None:
                out.extend(self._feedback(value, frame))
            elif name == "error" and value:
                out.append(self.fail(read_error_body(body), frame))
        if self._kept:
            out.extend(self._kept_again(out, frame))
        return out

    def place(self, steps: list[str], body: dict[str, Any]) -> Target:
        """Where something outside the vocabulary goes: beside what is known of its object.

        A known name in a wrong form is kept apart where it would take the place of what gathers.
        """
        at = _translated_steps(steps, body)
        if at is None or _gathers(at):
            return Target(Op.APPEND, (UNKNOWN_EVENTS,), UNKNOWN)
        for end in range(len(at), 3, -1):
            if (base := self._places.get(at[:end])) is not None:
                return Target(Op.SET, (*base, *at[end:]), UNKNOWN)
        if at[0] == "candidates":
            wire = [c for c in as_list(body["candidates"]) if isinstance(c, dict)][int(at[1])]
            at = ("candidates", _index(wire), *at[2:])
        return Target(Op.SET, at, UNKNOWN)

    def _strange(self, value: Any, frame: Frame) -> list[Edit]:
        edits = super()._strange(value, frame)
        for edit in edits:
            if edit.part is UNKNOWN and edit.op is Op.SET and "content" not in edit.path and len(self._kept) < _MOST_KEPT:
                self._kept[edit.path] = edit.value
        return edits

    def _kept_again(self, edits: list[Edit], frame: Frame) -> Iterator[Edit]:
        """What is unknown in an object of which the last one counts as a whole, and which has just been replaced (law 2)."""
        replaced = {edit.path for edit in edits if edit.op is Op.SET}
        for path, value in self._kept.items():
            if any(path[:n] in replaced for n in range(1, len(path))):
                yield setting(path, value, frame)

    def _candidate(self, wire: dict[str, Any], position: int, frame: Frame, out: list[Edit]) -> None:
        index = wire.get("index", 0)
        candidate = self._candidates.get(index) if type(index) is int else None
        if candidate is None:
            candidate = self._open(_index(wire), frame, out)
        content = wire.get("content")
        if content is not None:
            if candidate.finished:
                candidate.reopen(content)
            candidate.content.edits(content, position, frame, out)
        keys = tuple(wire)
        if keys != candidate.keys:
            candidate.look(keys)
        if candidate.extras:
            out.extend(candidate.fields(wire, position, frame))
            reason = wire.get("finishReason") or wire.get("finish_reason")
            if isinstance(reason, str) and reason in ABNORMAL:
                out.extend(self._broke_off(reason, wire, position, frame))

    def _open(self, index: int, frame: Frame, out: list[Edit]) -> Candidate:
        candidate = self._candidates.get(index)
        if candidate is None:
            candidate = self._candidates[index] = Candidate(index, self._places)
            out.append(setting(candidate.path, {}, frame))
            if len(self._candidates) == 2:
                out.append(note("choices/extra", "the stream has more than one candidate", frame, "/candidates"))
        return candidate

    def _broke_off(self, reason: str, wire: dict[str, Any], position: int, frame: Frame) -> Iterator[Edit]:
        words = wire.get("finishMessage")
        message = f"the finish reason {reason} says that the model broke off" + (f": {words}" if words else "")
        yield note("finish/abnormal", message, frame, f"/candidates/{position}/finishReason", got=reason)
        if not self.failed:
            yield self.fail(api_error(message, code=reason), frame)

    def _counts(self, usage: dict[str, Any], frame: Frame, out: list[Edit]) -> None:
        """The last object with a total counts, as a whole: counts may shrink or go away (section 5).

        Once it has changed it is set without a look at what it was, so that payloads that look alike need no decoding.
        """
        has_total = usage.get("totalTokenCount") is not None
        if has_total < self._usage_has_total or (not self._usage_moves and usage == self._usage):
            return
        self._usage_moves = self._usage is not _UNSET
        self._usage, self._usage_has_total = usage, has_total
        out.append(Edit(self._usage_target, usage, frame.index))

    def _feedback(self, value: dict[str, Any], frame: Frame) -> Iterator[Edit]:
        """Ratings of the prompt, which may come with every chunk; with a block reason they are all there will be."""
        error = blocked(value)
        if "promptFeedback" not in self._top or (error is not None and not self._blocked):
            self._top["promptFeedback"] = value
            yield setting(("promptFeedback",), value, frame)
        if error is not None and not self._blocked:
            self._blocked = True
            yield note("gemini/prompt-blocked", error.message, frame, "/promptFeedback", got=error.code)
            yield self.fail(error, frame)


def _index(wire: dict[str, Any]) -> int:
    """The index of a candidate; proto JSON leaves out a 0."""
    return as_count(wire.get("index")) or 0


def _candidates_asked_for(request: dict[str, Any]) -> int | None:
    config = as_object(request.get("generationConfig") or request.get("generation_config"))
    return as_count(config.get("candidateCount") or config.get("candidate_count"))


def _translated_steps(steps: list[str], body: dict[str, Any]) -> tuple[str | int, ...] | None:
    """The steps with their positions counted as the translator saw them, without elements that are no objects.

    None for such an element itself: it has no place among the others.
    """
    out: list[str | int] = []
    value: Any = body
    for step in steps:
        if isinstance(value, list):
            if not isinstance(value[int(step)], dict):
                return None
            out.append(sum(isinstance(element, dict) for element in value[: int(step)]))
            value = value[int(step)]
        else:
            out.append(step)
            value = value.get(step) if isinstance(value, dict) else None
    return tuple(out)


def _gathers(at: tuple[str | int, ...]) -> bool:
    """Whether these steps lead to a field in which the translator gathers, or which it sets as it comes."""
    names = {1: CHUNK.names, 3: CANDIDATE.names, 4: CONTENT.names if "content" in at[2:3] else frozenset()}
    lists = {"citations", "citationSources", "chosenCandidates", "topCandidates"}
    return at[-1] in names.get(len(at), ()) or (len(at) == 4 and at[-1] in lists) or (at[0] == "candidates" and len(at) == 2)
