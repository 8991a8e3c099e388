"""One candidate: what its fields beside the content do to it (section 7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.gemini.content import Content, Places
from harness.dialects.gemini.vocabulary import CANDIDATE, GATHERED
from harness.dialects.translating import note, setting
from harness.edits import FINISH, METADATA, Edit, Op, Path, Target
from harness.framing import Frame

_FINISH = ("finishReason", "finish_reason")
_UNSPECIFIED = ("FINISH_REASON_UNSPECIFIED", 0)
_EMPTY: tuple[Any, ...] = ([], {}, "")
_UNSET = object()


class Candidate:
    """A candidate under construction; `places` is told where elements of its lists go."""

    def __init__(self, index: int, places: Places) -> None:
        self.index = index
        self.path: Path = ("candidates", index)
        self.content = Content(index, places)
        self.finished = False
        self.keys: tuple[str, ...] = ()  # of the payload before, and which of them need a look
        self.extras: tuple[str, ...] = ()
        self._places = places
        self._values: dict[str, Any] = {}
        self._citations: set[str] = set()
        self._lengths: dict[Path, int] = {}

    def fields(self, wire: dict[str, Any], position: int, frame: Frame) -> Iterator[Edit]:
        """What the fields beside the content change. A null says nothing."""
        for name in self.extras:
            value, at = wire[name], f"/candidates/{position}/{name}"
            if value is None:
                continue
            if name in _FINISH:
                yield from self._finish(name, value, frame, at)
            elif name in GATHERED:
                yield from self._lists(name, value, position, frame)
            else:
                yield from self._value(name, value, frame, at)

    def look(self, keys: tuple[str, ...]) -> None:
        """Remember the names of a payload's candidate: those of the next one are the same, most often."""
        self.keys = keys
        self.extras = tuple(k for k in keys if k != "content" and k in CANDIDATE.names)

    def reopen(self, content: dict[str, Any]) -> None:
        """Content after a finish reason: with server tools a turn has several, and only the last one ends it (recorded)."""
        parts = content.get("parts") or ()
        if any(part.get("text") or part.keys() - {"text", "thought", "thoughtSignature"} for part in parts):
            self.finished = False

    def _finish(self, name: str, reason: Any, frame: Frame, at: str) -> Iterator[Edit]:
        ends = bool(reason) and reason not in _UNSPECIFIED
        known = self._values.get("finishReason")
        if reason != known and (ends or not known):
            self._values["finishReason"] = reason
            yield setting((*self.path, name), reason, frame, FINISH, at)
        if ends:
            self.finished = True
            yield from self.content.finish(frame)

    def _value(self, name: str, value: Any, frame: Frame, at: str) -> Iterator[Edit]:
        """The last value counts, but an empty one takes nothing back; the index is an identity."""
        known = self._values.get(name, _UNSET)
        if value == known or (known is not _UNSET and (value in _EMPTY or name == "index")):
            return
        self._values[name] = value
        if name == "groundingMetadata" and known is not _UNSET and not _extends(value, known):
            message = "the grounding chunks are not those sent before, with more behind them; the last ones count"
            yield note("repeat/differs", message, frame, f"{at}/groundingChunks")
        yield setting((*self.path, name), value, frame, METADATA, at)

    def _lists(self, name: str, value: dict[str, Any], position: int, frame: Frame) -> Iterator[Edit]:
        """An object whose lists grow: citations, which may come again, and log probabilities."""
        for inner, elements in value.items():
            if inner not in GATHERED[name].names:
                continue
            path: Path = (*self.path, name, inner)
            source = f"/candidates/{position}/{name}/{inner}"
            if not isinstance(elements, list):
                if elements is not None:
                    yield setting(path, elements, frame, METADATA, source)
                continue
            if path not in self._lengths:
                self._lengths[path] = 0
                yield setting(path, [], frame, METADATA, source)
            for number, element in enumerate(elements):
                if name == "citationMetadata" and self._repeated(element):
                    continue
                place = (*path, self._lengths[path])
                self._places["candidates", position, name, inner, number] = place
                self._lengths[path] += 1
                yield Edit(Target(Op.APPEND, path, METADATA, f"{source}/{number}"), element, frame.index)

    def _repeated(self, citation: dict[str, Any]) -> bool:
        key = repr([citation.get(name) for name in ("startIndex", "endIndex", "uri")])
        if key in self._citations:
            return True
        self._citations.add(key)
        return False


def _extends(metadata: dict[str, Any], known: dict[str, Any]) -> bool:
    """Whether the grounding chunks begin with the ones known."""
    before = known.get("groundingChunks") or []
    return (metadata.get("groundingChunks") or [])[: len(before)] == before
