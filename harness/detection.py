"""Which API is this? Told by the vocabularies: the right dialect meets the fewest strangers in a stream's first payloads."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from harness import dialects
from harness.collector import StreamCollector
from harness.dialects import Dialect
from harness.framing import framer

_ENOUGH = 24  # payloads
_HEAD = 1 << 18  # bytes
_STARTS = {b"[": "json-array", b"{": "ndjson"}


def detect(body: bytes, framing: str | None = None) -> Dialect | None:
    """The dialect of a response body, streamed or not; None if nothing in it is of any API.

    `framing` narrows the choice where the caller knows it.
    """
    head = body[:_HEAD]
    scores = {api.name: _score(api, head, f) for api, f in _candidates(head, framing)}
    known = {name: score for name, score in scores.items() if score is not None}
    return dialects.dialect(min(known, key=lambda name: known[name])) if known else None


def _candidates(head: bytes, framing: str | None) -> Iterable[tuple[Dialect, str]]:
    first = head.lstrip()[:1]
    for api in dialects.registered():
        for form in api.framings:
            if framing in (None, form) and _plausible(form, head, first):
                yield api, form


def _plausible(framing: str, head: bytes, first: bytes) -> bool:
    if framing == "event-stream":
        return b"\x00" in head[:4]
    if b"\x00" in head[:4]:
        return False
    if framing == "json-array":
        return first == b"["
    return framing == "sse" or first == b"{"


def _score(api: Dialect, head: bytes, framing: str) -> tuple[int, int] | None:
    """(strangers met, less the effects understood); None if the head holds no payload that the dialect understands."""
    frames = framer(framing)
    collector = StreamCollector(api)
    effects = 0
    for frame in islice([*frames.feed(head), *frames.close()], _ENOUGH):
        effects += len(collector.add(frame))
    strangers = len(collector.unknown) + len(collector.notes)
    return (strangers, -effects) if effects > strangers or collector.error is not None else None
