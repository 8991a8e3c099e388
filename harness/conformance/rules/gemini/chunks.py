"""Rules about chunks as such: their form, what is constant in them, and blocked prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from harness.conformance.rules.gemini.sights import Candidate, Chunk, objects
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.conformance.rules.sights import Ending, Marker
from harness.dialects.gemini.errors import blocked
from harness.dialects.gemini.vocabulary import CHUNK
from harness.dialects.translating import as_list, as_object
from harness.findings import Level

CHUNKS = Rules("GGL", dialects=["gemini"])
_WIRE = "wire/google-generatecontent.md section"
_DIGITS = re.compile(r"-?\d+", re.ASCII)
_WRAPPED = "; a field of such a response, or `error`, was expected (is the response wrapped in an object of a gateway?)"
_OFFSETS = ("partIndex", "startIndex", "endIndex")


@CHUNKS.rule(
    1,
    Level.MUST,
    "every chunk is a GenerateContentResponse or an error object",
    at=Chunk,
    kind="gemini/chunk-form",
    source=f"{_WIRE} 2; SDK-GGL GenerateContentResponse",
    why="The types of the SDKs take any object and find nothing in it: the turn looks like an answer that says nothing.",
    bad='{"text":"a"}',
    good='{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}]}',
)
def chunks_are_responses(it: Chunk) -> Said:
    if it.raw and not it.raw.keys() & CHUNK.names:
        return Breach(f"a chunk with {', '.join(map(repr, list(it.raw)[:3]))} and nothing else{_WRAPPED}", "", got=it.raw)
    return list(_wrong_containers(it.raw))


def _wrong_containers(chunk: dict[str, Any]) -> Iterator[Breach]:
    yield from _container(chunk, "candidates", list, "")
    yield from _container(chunk, "usageMetadata", dict, "")
    yield from _container(chunk, "promptFeedback", dict, "")
    for position, candidate in enumerate(as_list(chunk.get("candidates"))):
        path = f"/candidates/{position}"
        if not isinstance(candidate, dict):
            yield Breach(f"a candidate that is {candidate!r}; an object was expected", path, "an object", candidate)
            continue
        yield from _container(candidate, "content", dict, path)
        yield from _container(as_object(candidate.get("content")), "parts", list, f"{path}/content")


def _container(holder: dict[str, Any], name: str, kind: type, path: str) -> Iterator[Breach]:
    value = holder.get(name)
    if value is not None and not isinstance(value, kind):
        expected = "a list" if kind is list else "an object"
        yield Breach(f"`{name}` is {value!r}; {expected} was expected", f"{path}/{name}", expected, value)


@CHUNKS.rule(
    3,
    Level.MUST,
    "a stream of generateContent has no [DONE]: it ends with its body",
    at=(Marker, Ending),
    kind="stream/marker-unexpected",
    source=f"{_WIRE} 3; recordings, 18 of 18",
    why="The official clients parse every payload as JSON: the marker raises at the very end of a turn that was whole.",
    bad="data: [DONE]",
    good="the chunk with the finish reason, then the end of the body",
    seen="gateways that speak Chat Completions behind it",
)
def no_end_marker(it: Marker | Ending) -> Said:
    return Breach("the marker [DONE]; a stream of this API has none, leave it out") if isinstance(it, Marker) else True


@CHUNKS.rule(
    6,
    Level.MUST,
    "`responseId` and `modelVersion` are the same in every chunk",
    at=Chunk,
    kind="gemini/identity-changed",
    source=f"{_WIRE} 2; recordings, 27 of 27",
    why="Clients take the first or the last one: what they log, and send on as the id of the turn, depends on which.",
    bad='"responseId":"a", then "responseId":"b"',
    good='"responseId":"a" in every chunk',
)
def identity_is_constant(it: Chunk) -> Said:
    known = {name: value for name, value in it.facts.constants.items() if it.raw.get(name)}
    if not known:
        return None
    return [
        Breach(f"`{name}` was {value!r} and is {it.raw[name]!r} now", f"/{name}", expected=value, got=it.raw[name])
        for name, value in known.items()
        if it.raw[name] != value
    ]


@CHUNKS.rule(
    7,
    Level.INFO,
    "every candidate says its `index`",
    at=Candidate,
    kind="gemini/index-absent",
    source=f"{_WIRE} 2; recordings lack it in 126 of 208 chunks",
    why="JSON of protocol buffers leaves a 0 out: a client that looks it up without a default fails.",
    bad='{"content":{…}}',
    good='{"content":{…},"index":0}',
    seen="the Gemini API",
)
def candidates_have_an_index(it: Candidate) -> Said:
    if it.raw.get("index") is not None:
        return True
    return None if it.facts.unindexed else Breach("a candidate without `index`: it is candidate 0", it.path, expected=0)


@CHUNKS.rule(
    10,
    Level.INFO,
    "every candidate has content with parts",
    at=Candidate,
    kind="gemini/content-absent",
    source=f"{_WIRE} 2; BR-089, BR-091; recordings",
    why="Clients that take `candidates[0].content.parts[0]` for granted fail in the middle of a turn.",
    bad='{"finishReason":"SAFETY","index":0}',
    good='{"content":{"role":"model","parts":[{"text":"a"}]},"index":0}',
    seen="Gemini: MAX_TOKENS spent on thoughts, SAFETY, chunks with nothing but metadata",
)
def candidates_have_parts(it: Candidate) -> Said:
    if as_list(it.content.get("parts")):
        return True
    return None if it.facts.empty else Breach("a candidate without content, or without parts in it", it.path)


@CHUNKS.rule(
    29,
    Level.MUST,
    "a prompt that was blocked has no candidates",
    at=Chunk,
    kind="gemini/blocked-with-candidates",
    source=f"{_WIRE} 2: with a block reason there are no candidates at all",
    why="Clients look at one of the two: they show an answer that was blocked, or hide one that was given.",
    bad='{"promptFeedback":{"blockReason":"SAFETY"},"candidates":[{…}]}',
    good='{"promptFeedback":{"blockReason":"SAFETY"}}',
)
def blocked_prompts_have_no_candidates(it: Chunk) -> Said:
    feedback = as_object(it.raw.get("promptFeedback"))
    blocks = blocked(feedback) is not None
    if not blocks and not it.facts.blocked:
        return None
    if it.raw.get("candidates") or it.facts.candidates:
        message = "a block reason and candidates in one stream; a prompt that was blocked has none"
        return Breach(message, "/promptFeedback" if blocks else "/candidates", got=feedback.get("blockReason"))
    return True


@CHUNKS.rule(
    36,
    Level.MUST,
    "whole numbers are numbers, or strings of digits; null says that there is none",
    at=Chunk,
    kind="gemini/integer-form",
    source=f"{_WIRE} 1; the JSON form of protocol buffers; two recordings have `totalTokenCount: null`",
    why="Typed clients refuse the whole chunk, with the text in it, for one count that they cannot read.",
    bad='"totalTokenCount":"12.0"',
    good='"totalTokenCount":12, or "12"',
)
def integers_are_integers(it: Chunk) -> Said:
    fields = [(path, value) for path, value in _integers(it.raw) if value is not None]
    wrong = [
        Breach(f"{value!r} where a whole number was expected", path, "12", value) for path, value in fields if not _whole(value)
    ]
    return wrong or (True if fields else None)


def _whole(value: Any) -> bool:
    if isinstance(value, str):
        return _DIGITS.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool) and value % 1 == 0


def _integers(chunk: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a chunk that are whole numbers, with their pointers."""
    for name, value in as_object(chunk.get("usageMetadata")).items():
        if name.endswith("TokenCount"):
            yield f"/usageMetadata/{name}", value
        for path, detail in objects(value, f"/usageMetadata/{name}"):
            yield f"{path}/tokenCount", detail.get("tokenCount")
    for path, candidate in objects(chunk.get("candidates"), "/candidates"):
        yield from ((f"{path}/{name}", candidate.get(name)) for name in ("index", "tokenCount"))
        cited = as_object(candidate.get("citationMetadata"))
        for name in ("citations", "citationSources"):
            for place, citation in objects(cited.get(name), f"{path}/citationMetadata/{name}"):
                yield from ((f"{place}/{name}", citation.get(name)) for name in _OFFSETS)
        supports = as_object(candidate.get("groundingMetadata")).get("groundingSupports")
        for place, support in objects(supports, f"{path}/groundingMetadata/groundingSupports"):
            segment = as_object(support.get("segment"))
            yield from ((f"{place}/segment/{name}", segment.get(name)) for name in _OFFSETS)


@CHUNKS.rule(
    37,
    Level.INFO,
    "the prompt is not blocked",
    at=Ending,
    kind="gemini/prompt-blocked",
    source=f"{_WIRE} 8; BR-090",
    why="It comes with status 200 and no candidate: clients take it for a model that said nothing. Asking again is no use.",
    bad='{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}',
    good='{"candidates":[{…}]}',
)
def prompt_is_not_blocked(it: Ending) -> Said:
    return it.breaches("gemini/prompt-blocked") or (True if it.seen.complete else None)
