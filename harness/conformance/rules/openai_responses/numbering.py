"""Sequence numbers, of every frame: of payloads that are decoded by their value, of mere repetitions by their bytes."""

from __future__ import annotations

import re
from typing import Any

from harness.conformance.rules.openai_responses.facts import spot
from harness.conformance.rules.openai_responses.sights import Gap, Numbering
from harness.framing import Frame

_NUMBER = re.compile(rb'"sequence_number"\s*:\s*(\d{1,18})(?!\d)')
_MOST_GAPS = 3


class Numbers:
    """Follows the sequence numbers. `frames` is told of frames before `seen` is told of some of them: those between are
    repetitions of the ones before, and have a number exactly if these do."""

    def __init__(self, resumed: bool) -> None:
        self.numbering = Numbering(resumed=resumed)
        self._frames: list[Frame] = []
        self._next = 0  # the first of them that has not been looked at
        self._last: int | None = None
        self._counts = False  # whether the last decoded payload had a number

    def frames(self, frames: list[Frame]) -> None:
        self._repeated(len(self._frames))
        self._frames, self._next = frames, 0

    def seen(self, frame: Frame, body: dict[str, Any]) -> None:
        """A payload that was decoded."""
        if self._frames:
            place = frame.index - self._frames[0].index
            self._repeated(place)
            self._next = place + 1
        self._counts = "sequence_number" in body
        value = body.get("sequence_number")
        if self._counts:
            self.numbering.numbered += 1
            if type(value) is int:
                self._take(value, frame)
        elif isinstance(body.get("type"), str):
            self.numbering.bare += 1
            self.numbering.bare_at = self.numbering.bare_at or spot(frame)

    def end(self) -> Numbering:
        self._repeated(len(self._frames))
        self._frames, self._next = [], 0
        return self.numbering

    def _repeated(self, end: int) -> None:
        """Frames before the place `end` that nobody decoded."""
        if not self._counts or self._last is None:
            return
        search, last, followed = _NUMBER.search, self._last, 0
        for frame in self._frames[self._next : end]:
            found = search(frame.data)
            if found is None:
                continue  # not a payload of ours: a marker, or one that cannot be read
            number = int(found[1])
            if number == last + 1:
                followed += 1
            else:
                self._gap(last, number, frame)
            last = number
        self._last = last
        self.numbering.followed += followed

    def _take(self, number: int, frame: Frame) -> None:
        last, self._last = self._last, number
        if last is None:
            self.numbering.first, self.numbering.first_at = number, spot(frame)
        elif number == last + 1:
            self.numbering.followed += 1
        else:
            self._gap(last, number, frame)

    def _gap(self, before: int, after: int, frame: Frame) -> None:
        self.numbering.broken += 1
        if len(self.numbering.gaps) < _MOST_GAPS:
            self.numbering.gaps.append(Gap(before, after, spot(frame)))
