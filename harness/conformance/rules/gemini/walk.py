"""Shows the rules what there is to be seen in a stream of `generateContent`.

A sight is shown to the rules before the facts take it in: a rule compares what comes with what was there.
"""

from __future__ import annotations

import re
from typing import Any

from harness.conformance.rules.gemini.sights import (
    Call,
    Candidate,
    CandidateFacts,
    Chunk,
    ErrorChunk,
    Part,
    Piece,
    StreamFacts,
    Total,
    is_bare,
    objects,
)
from harness.conformance.rules.gemini.steps import Steps
from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_count, as_list, as_object
from harness.framing import Frame

_TOTAL = re.compile(rb'"totalTokenCount"\s*:\s*"?(\d{1,18})')
_UNSPECIFIED = ("FINISH_REASON_UNSPECIFIED", 0)


class GeminiWalk:
    """The walk of `gemini`. Totals change in payloads that otherwise repeat each other: they are looked up in every frame."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._facts = StreamFacts()
        self._steps: dict[int, Steps] = {}
        self._total = -1
        self._compared = False

    def frames(self, frames: list[Frame]) -> None:
        for frame in frames:
            usage = frame.data.rfind(b'"usageMetadata"')
            found = None if usage < 0 else _TOTAL.search(frame.data, usage)
            if found is None:
                continue
            before, self._total = self._total, int(found[1])
            if before >= 0 and (self._total < before or not self._compared):
                self._compared = True
                self._court.see(Total(frame, before, self._total))

    def payload(self, frame: Frame, value: Any) -> None:
        if isinstance(value, list) and len(value) == 1:
            value = value[0]  # `[{"error": …}]`
        if not isinstance(value, dict):
            return
        if value.get("error"):
            self._court.see(ErrorChunk(value, self._court.case))
            return
        chunk = Chunk(value, self._facts, self._court.case)
        self._court.see(chunk)
        for path, raw in objects(value.get("candidates"), "/candidates"):
            self._candidate(raw, path, chunk)
        _remember(chunk)

    def end(self, ending: Ending) -> StreamFacts:
        for steps in self._steps.values():
            steps.end()
        return self._facts

    def _candidate(self, raw: dict[str, Any], path: str, chunk: Chunk) -> None:
        index = as_count(raw.get("index")) or 0
        facts = self._facts.candidates.setdefault(index, CandidateFacts())
        steps = self._steps.get(index)
        if steps is None:
            steps = self._steps[index] = Steps(self._court)
        candidate = Candidate(raw, path, facts, chunk)
        self._court.see(candidate)
        for place, part in objects(candidate.content.get("parts"), f"{path}/content/parts"):
            self._part(Part(part, place, candidate), steps)
        ends = bool(candidate.finish) and candidate.finish not in _UNSPECIFIED
        steps.candidate.step("finish" if ends else "content", path)
        if ends:
            steps.call_ends("finish", path)
        facts.unindexed |= raw.get("index") is None
        facts.empty |= not as_list(candidate.content.get("parts"))
        facts.ungrounded |= raw.get("groundingMetadata") == {}

    def _part(self, part: Part, steps: Steps) -> None:
        self._court.see(part)
        steps.part(part)
        raw = part.raw.get("functionCall")
        if not isinstance(raw, dict):
            steps.call_ends("another part", part.path)
            return
        goes_on = steps.call.state == "a call is open" and not raw.get("name")
        call = Call(raw, f"{part.path}/functionCall", part, goes_on)
        self._court.see(call)
        steps.called(call)
        for path, piece in objects(raw.get("partialArgs"), f"{call.path}/partialArgs"):
            self._court.see(Piece(piece, path, self._court.case))
            self._facts.pieces += 1
            steps.piece(piece, path)
        part.candidate.facts.calls += bool(call.name)


def _remember(chunk: Chunk) -> None:
    raw, facts = chunk.raw, chunk.facts
    for name in ("responseId", "modelVersion"):
        if raw.get(name):
            facts.constants.setdefault(name, raw[name])
    facts.blocked |= bool(as_object(raw.get("promptFeedback")).get("blockReason"))
    facts.bare_usage |= is_bare(raw.get("usageMetadata"))
