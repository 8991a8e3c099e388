"""Rules about grounding: what of an answer is borne out by which source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.conformance.rules.gemini.sights import Candidate, objects
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.conformance.rules.sights import Ending
from harness.dialects.gemini.reader import kind_of_part
from harness.dialects.translating import as_count, as_object, as_objects, as_text
from harness.findings import Level

GROUNDING = Rules("GGL", dialects=["gemini"])
_WIRE = "wire/google-generatecontent.md section 7"


@GROUNDING.rule(
    30,
    Level.MUST,
    "the segments of grounding lie in the joined text, counted in bytes of UTF-8",
    at=Ending,
    kind="gemini/segment",
    source=f"{_WIRE}; recordings: the slice of bytes is the segment's text in 13 of 13, that of characters fails in 8",
    why="Clients cut the text there to put a source behind it: past the end they fail, elsewhere they cut words in two.",
    bad='{"endIndex":22,"text":"Rømø has a harbour"} of "Rømø has a harbour" (20 bytes)',
    good='{"endIndex":20,"text":"Rømø has a harbour"}',
    seen="servers that count characters",
)
def segments_lie_in_the_text(it: Ending) -> Said:
    segments = list(_segments(as_object(it.seen.body)))
    if not segments:
        return None
    return [breach for path, segment, texts in segments if (breach := _misplaced(path, segment, texts)) is not None]


def _segments(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], list[bytes]]]:
    """Each segment with its path in the body, and the texts that it may point into."""
    for path, candidate in objects(body.get("candidates"), "/candidates"):
        parts = as_objects(as_object(candidate.get("content")).get("parts"))
        texts = [_text(part) if kind_of_part(part) == "text" else b"" for part in parts]
        supports = as_object(candidate.get("groundingMetadata")).get("groundingSupports")
        for place, support in objects(supports, f"{path}/groundingMetadata/groundingSupports"):
            segment = as_object(support.get("segment"))
            if segment:
                number = as_count(segment.get("partIndex")) or 0
                yield f"{place}/segment", segment, [b"".join(texts), *texts[number : number + 1]]


def _misplaced(path: str, segment: dict[str, Any], texts: list[bytes]) -> Breach | None:
    start, end, words = (
        as_count(segment.get("startIndex")) or 0,
        as_count(segment.get("endIndex")),
        as_text(segment.get("text")),
    )
    if end is None or any(_fits(text, start, end, words) for text in texts):
        return None
    length = max(map(len, texts))
    if end > length:
        return Breach(f"{path} ends at byte {end} of a text of {length}", expected=f"at most {length}", got=end)
    got = texts[0][start:end].decode(errors="replace")
    message = f"{path} says {words!r}, and the bytes {start} to {end} of the text are {got!r}; are these counts of characters?"
    return Breach(message, expected=words, got=got)


def _fits(text: bytes, start: int, end: int, words: str | None) -> bool:
    return end <= len(text) and (not words or text[start:end] == words.encode("utf-8", "surrogatepass"))


def _text(part: dict[str, Any]) -> bytes:
    return (as_text(part.get("text")) or "").encode("utf-8", "surrogatepass")


@GROUNDING.rule(
    31,
    Level.INFO,
    "`groundingMetadata` has something in it",
    at=Candidate,
    kind="gemini/grounding-empty",
    source=f"{_WIRE}; a recording has nine empty ones, then the full one",
    why="Clients that take the first one, or the last whatever it holds, lose the sources.",
    bad='"groundingMetadata":{}',
    good='"groundingMetadata":{"groundingChunks":[…],"groundingSupports":[…]}',
    seen="Gemini 2.5, on all chunks but the last",
)
def grounding_is_not_empty(it: Candidate) -> Said:
    metadata = it.raw.get("groundingMetadata")
    if metadata is None or (metadata == {} and it.facts.ungrounded):
        return None
    return Breach("an empty `groundingMetadata`", f"{it.path}/groundingMetadata") if metadata == {} else True
