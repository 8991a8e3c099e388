"""Which API is this? Told by the vocabularies: the right dialect understands most of a body and meets the fewest strangers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import dialects, payload
from harness.collector import StreamCollector
from harness.dialects import Dialect
from harness.edits import Edit, Op, PartKind, Unknown
from harness.framing import Frame, framer

_ENOUGH = 24  # payloads
_PIECE = 1 << 18  # bytes
_FACTS = 3  # of a body that says nothing of a turn's content
_SAYS_NOTHING = frozenset({PartKind.METADATA, PartKind.UNKNOWN, PartKind.OTHER, PartKind.USAGE})  # embeddings are counted too

_Score = tuple[int, ...]
"""The least one is the best."""


def detect(body: bytes, framing: str | None = None) -> Dialect | None:
    """The dialect of a response body, streamed or not; None if nothing in it is of any API.

    `framing` narrows the choice where the caller knows it.
    """
    apis = [api for api in dialects.registered() if framing in (None, *api.framings)]
    document = _document(body)
    best = _best(apis, lambda api: _of_document(api, document)) if document is not None else None
    if best is not None:
        return best
    if document is not None:  # a single payload, or an error
        return _best(apis, lambda api: _of_stream(api, [Frame(0, None, body)]))
    plausible = {form for api in apis for form in api.framings if framing in (None, form) and _plausible(form, body)}
    heads = {form: _head(body, form) for form in plausible}

    def best_form(api: Dialect) -> _Score | None:
        scores = (_of_stream(api, heads[form]) for form in api.framings if form in heads)
        return min((score for score in scores if score is not None), default=None)

    return _best(apis, best_form)


def _best(apis: list[Dialect], score: Callable[[Dialect], _Score | None]) -> Dialect | None:
    scores = {api.name: found for api in apis if (found := score(api)) is not None}
    return next((api for api in apis if scores and scores.get(api.name) == min(scores.values())), None)


def _document(body: bytes) -> dict[str, Any] | None:
    """The body as one JSON object, if it is one."""
    if body.lstrip()[:1] != b"{" or payload.is_several(body):
        return None
    try:
        value, _ = payload.tolerant(body)
    except payload.NotJSON:
        return None
    return value if isinstance(value, dict) else None


def _of_document(api: Dialect, document: dict[str, Any]) -> _Score | None:
    """How much of a turn the dialect's reader finds in a body. Where an API of Bedrock shares a body with that of its inventor,
    the inventor's it is."""
    turn = api.read(document)
    if not turn.parts and turn.raw_finish_reason is None:
        return None
    facts = [bool(turn.parts), *(fact is not None for fact in (turn.usage, turn.raw_finish_reason, turn.id, turn.model))]
    return -sum(facts), api.framings[0] == "event-stream"


def _plausible(framing: str, body: bytes) -> bool:
    binary, first = b"\x00" in body[:4], body[:_PIECE].lstrip()[:1]
    if framing == "event-stream":
        return binary
    return not binary and (framing == "sse" or first == (b"[" if framing == "json-array" else b"{"))


def _head(body: bytes, framing: str) -> list[Frame]:
    """The first frames of a body."""
    cutter = framer(framing)
    frames: list[Frame] = []
    for start in range(0, len(body), _PIECE):
        frames += cutter.feed(body[start : start + _PIECE])
        if len(frames) >= _ENOUGH:
            return frames[:_ENOUGH]
    return [*frames, *cutter.close()]


def _of_stream(api: Dialect, frames: list[Frame]) -> _Score | None:
    """Strangers met, less what was understood, less the details of an error; None if the dialect does not understand enough."""
    collector = StreamCollector(api)
    understood = [edit for frame in frames for edit in collector.add(frame) if _is_told(edit)]
    error = collector.error
    if error is None and not _is_enough(understood, collector.unknown):
        return None
    details = [error.type, error.code, error.param] if error is not None else []
    strangers = len(collector.unknown) + len(collector.notes)
    return strangers, -len(understood), -sum(detail is not None for detail in details)


def _is_enough(understood: list[Edit], unknown: list[Unknown]) -> bool:
    """Whether more is understood than not, if there is content; a few facts and nothing unknown, if there is none."""
    places, strangers = {edit.target.source for edit in understood}, {stranger.where.path for stranger in unknown}
    if any(edit.part.kind not in _SAYS_NOTHING for edit in understood):
        return len(places) > len(strangers)
    return len(places) >= _FACTS and not strangers


def _is_told(edit: Edit) -> bool:
    """Whether the payload says it, in a field that the dialect knows."""
    return edit.part.kind is not PartKind.UNKNOWN and edit.op not in (Op.NOTE, Op.PARSE) and bool(edit.target.source)
