"""The corpus of other people's recordings, read where it lies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from harness import cassette, dialects
from harness.cassette.model import Cassette, Exchange
from tests.shared import SHARED

CORPUS = SHARED / "corpus"


@cache
def cases() -> tuple[Cassette, ...]:
    """Every exchange of the corpus, with its partner where it has one."""
    return tuple(cassette.load(CORPUS))


def streams(*, first_party: bool | None = None) -> Iterator[Cassette]:
    """The cases that have a stream of status 200; of the API's own vendors only, of others only, or all."""
    for case in cases():
        if case.stream is None or case.stream.status != 200:
            continue
        if first_party is None or first_party == is_first_party(case):
            yield case


def plain() -> Iterator[tuple[str, Exchange]]:
    """(dialect, exchange) of every first-party non-streaming answer of status 200."""
    for case in cases():
        if case.reference is not None and case.reference.status == 200 and is_first_party(case):
            yield case.dialect, case.reference


def is_first_party(case: Cassette) -> bool:
    return case.provider in dialects.dialect(case.dialect).vendors
