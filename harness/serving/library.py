"""The cassettes that a server has: by id, by what was asked for them, and the one that is nearest to a request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any
from urllib.parse import unquote

from harness import dialects
from harness.cassette.model import Cassette, Exchange, Request
from harness.edits import pointer
from harness.replay.matching import Index

_LOOKED_AT = 300  # recordings that are compared for a miss
_TOLD = 12  # differences
_WIDEST = 200  # characters of a value that is shown
_COVERED = 256 * 1024  # bytes of a request, beyond which its secrets are not searched for: that would hold up the others
_DEEPEST = 60  # levels of JSON that are compared
_ABSENT = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One side of a cassette."""

    cassette: Cassette
    exchange: Exchange
    streamed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """The recording that is nearest to a request, and where the two differ: place, asked, recorded."""

    recording: Recording
    differences: tuple[tuple[str, str, str], ...]


class Library:
    """Finds recordings. Nothing is read from the disk once it is made. Of cassettes with one id the first one counts."""

    def __init__(self, cassettes: Iterable[Cassette]) -> None:
        self._by_id: dict[str, Cassette] = {}
        for case in cassettes:
            self._by_id.setdefault(case.id, case)
        self.deepest = max((name.count("/") + 1 for name in self._by_id), default=1)
        self._recordings = [side for case in self._by_id.values() for side in _sides(case)]
        known = [side for side in self._recordings if side.exchange.request.body is not None and side.exchange.request.target]
        self._asked_for = known
        self._index = Index([recording.exchange for recording in known])

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Cassette]:
        return iter(self._by_id.values())

    def __contains__(self, name: object) -> bool:
        return name in self._by_id

    def get(self, name: str) -> Cassette | None:
        return self._by_id.get(name)

    def close(self, name: str) -> list[str]:
        """Ids that look like this one."""
        return get_close_matches(name[:_WIDEST], self._by_id, n=3, cutoff=0.3)

    def models(self) -> Iterator[str]:
        return (case.model for case in self if case.model)

    def find(self, request: Request) -> Recording | None:
        """The first recording of a request for the same, among those whose requests are known."""
        found = self._index.look(request, covering=len(request.body or b"") <= _COVERED)
        return self._asked_for[found] if found is not None else None

    def nearest(self, request: Request) -> Near | None:
        """The recording of which the fewest things differ, among those of the API that is asked."""
        candidates = self._candidates(request)
        told = [Near(recording=r, differences=differences(request, r.exchange.request)) for r in candidates]
        return min(told, key=lambda near: len(near.differences), default=None)

    def _candidates(self, request: Request) -> Sequence[Recording]:
        path = _path(request)
        same = [r for r in self._asked_for if _path(r.exchange.request) == path]
        if not same:
            names = {api.name for api in dialects.registered() if api.matches(request.method, request.target, request.json)}
            same = [r for r in self._asked_for if r.cassette.dialect in names]
        return (same or self._asked_for)[:_LOOKED_AT]


def differences(asked: Request, recorded: Request) -> tuple[tuple[str, str, str], ...]:
    """Where two requests differ, a dozen places at most. Of the body places are JSON pointers."""
    found = []
    if asked.method.upper() != recorded.method.upper():
        found.append(("method", asked.method, recorded.method))
    if recorded.target and unquote(asked.target) != unquote(recorded.target):
        found.append(("target", _shown(asked.target), _shown(recorded.target)))
    if recorded.body is not None and asked.body != recorded.body:
        found += [(place or "body", a, b) for place, a, b in islice(_of_json(asked.json, recorded.json, ()), _TOLD)]
    return tuple(found[:_TOLD])


def _of_json(one: Any, other: Any, place: tuple[str | int, ...]) -> Iterator[tuple[str, str, str]]:
    if isinstance(one, dict) and isinstance(other, dict) and len(place) < _DEEPEST:
        for name in [*one, *(name for name in other if name not in one)]:
            yield from _of_json(one.get(name, _ABSENT), other.get(name, _ABSENT), (*place, name))
    elif isinstance(one, list) and isinstance(other, list) and len(place) < _DEEPEST:
        for number in range(max(len(one), len(other))):
            a = one[number] if number < len(one) else _ABSENT
            yield from _of_json(a, other[number] if number < len(other) else _ABSENT, (*place, number))
    elif type(one) is not type(other) or one != other:
        yield pointer(place), _shown(one), _shown(other)


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "(nothing)"
    if isinstance(value, str):
        value = value[:_WIDEST]  # one that is longer is cut below: its quotes count
    try:
        text: str = json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):
        return "(something deep)"
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _sides(case: Cassette) -> Iterator[Recording]:
    for exchange, streamed in ((case.stream, True), (case.reference, False)):
        if exchange is not None:
            yield Recording(cassette=case, exchange=exchange, streamed=streamed)


def _path(request: Request) -> str:
    return unquote(request.target.partition("?")[0])
