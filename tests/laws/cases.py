"""What the laws are tried on: the shipped cassettes, and every stream of the corpus where it is.

The anonymized cassettes are streams of the corpus in other words. Where each stream is taken apart again and again, every fifth
of them is enough, and where the corpus is there, its own streams stand for the others. A new dialect gets all of them without a
new test: its cassettes are found by the registry's names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest

from harness import cassette, dialects
from harness.adapters.ours import framing_of
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Cassette, Exchange
from harness.collector import Collected, StreamCollector
from harness.dialects import Dialect
from harness.findings import Finding
from harness.framing import Frame, framer
from tests import corpus


@dataclass(frozen=True)
class Stream:
    """A recorded stream and what is needed to play it."""

    case: Cassette
    exchange: Exchange

    @property
    def dialect(self) -> Dialect:
        return dialects.dialect(self.case.dialect)

    @cached_property
    def body(self) -> bytes:
        return b"".join(chunk.data for chunk in DecodedBody(self.exchange))

    @cached_property
    def frames(self) -> list[Frame]:
        return self.framed([self.body])[0]

    def framed(self, pieces: list[bytes]) -> tuple[list[Frame], list[Finding]]:
        """The frames of the body when it comes in these pieces, and what the framer found."""
        framing = framer(framing_of(self.dialect, self.body))
        frames = [frame for piece in pieces for frame in framing.feed(piece)]
        return frames + framing.close(), framing.findings

    def collector(self) -> StreamCollector:
        return StreamCollector(self.dialect, self.exchange.request.json)

    def collected(self, frames: list[Frame] | None = None) -> Collected:
        collector = self.collector()
        collector.extend(self.frames if frames is None else frames)
        return collector.close()

    def __repr__(self) -> str:
        return self.case.id


def _streams(cases: Iterator[Cassette]) -> list[Stream]:
    return [Stream(c, c.stream) for c in cases if c.stream is not None and c.stream.status == 200 and not _is_document(c)]


def _is_document(case: Cassette) -> bool:
    """A stream was asked for, and one document came."""
    lines = dialects.dialect(case.dialect).framings[0] == "ndjson"
    return case.stream is not None and not lines and case.stream.body.lstrip()[:1] == b"{"


SHIPPED = _streams(cassette.load(cassette.shipped()))
CORPUS = _streams(iter(corpus.cases())) if corpus.CORPUS.is_dir() else []

LARGE = 40_000  # bytes
ANONYMIZED = [s for s in SHIPPED if s.case.provenance.kind == "anonymized"]
"""In other words what the corpus holds: of others, who did not always keep to the laws, or kept what they recorded."""
SAMPLE = [s for s in SHIPPED if s not in ANONYMIZED] + [s for s in ANONYMIZED if len(s.exchange.body) < LARGE][::5]

each_shipped = pytest.mark.parametrize("stream", SHIPPED, ids=repr)
each_sample = pytest.mark.parametrize("stream", SAMPLE, ids=repr)
each_stream = pytest.mark.parametrize("stream", [*SAMPLE, *CORPUS] if CORPUS else SHIPPED, ids=repr)
each_dialect = pytest.mark.parametrize("dialect", list(dialects.names()))


def of(dialect: str, *, first_party: bool = False) -> list[Stream]:
    """All streams of a dialect."""
    found = [s for s in (*SHIPPED, *CORPUS) if s.case.dialect == dialect]
    return [s for s in found if s.case.provider in s.dialect.vendors] if first_party else found


def objects(value: Any, at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """(JSON pointer, object) of every object in a value."""
    if isinstance(value, dict):
        yield at, value
        for name, field in value.items():
            yield from objects(field, f"{at}/{name.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for position, element in enumerate(value):
            yield from objects(element, f"{at}/{position}")


def generic(pointer: str) -> str:
    """A pointer with `*` for every position."""
    return "/".join("*" if step.isdigit() else step for step in pointer.split("/"))
