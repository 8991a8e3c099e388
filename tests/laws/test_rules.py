"""The laws hold for the catalogue too: however a body is cut into pieces, rules say the same of it; and where the connection
was lost, they blame nobody for what is missing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from harness.cassette.model import Chunk, Exchange, Headers
from harness.conformance.inspection import inspect
from harness.conformance.rules import Judged, Outcome
from harness.findings import Level
from tests.laws.cases import Stream, each_sample, each_stream

SMALL = 16 * 1024
CUTS = 8
FOR_WANT_OF_THE_REST = {"RSP-006": "RSP-048"}
"""What a rule that the whole breaks turns into at the beginning: some events have no number, and none has one."""


def _judged(stream: Stream, exchange: Exchange) -> Judged:
    return inspect(exchange, stream.case.dialect, stream.case.provider)[1]


def _in_pieces(stream: Stream, pieces: list[bytes]) -> Judged:
    return _judged(stream, replace(_bare(stream), chunks=tuple(Chunk(data=piece) for piece in pieces)))


def _bare(stream: Stream) -> Exchange:
    """The exchange with its body as the framer gets it."""
    headers = {name: value for name, value in stream.exchange.headers.items() if name != "content-encoding"}
    return replace(stream.exchange, headers=Headers(headers))


def _cuts(stream: Stream) -> Iterator[list[bytes]]:
    body = stream.body
    places = sorted(random.Random(stream.case.id).choices(range(len(body) + 1), k=50))
    yield [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]
    if len(body) <= SMALL:
        yield [bytes([byte]) for byte in body]


@each_stream
def test_pieces_change_nothing(stream: Stream) -> None:
    whole = _in_pieces(stream, [stream.body])
    for pieces in _cuts(stream):
        assert _in_pieces(stream, pieces) == whole


@each_sample
def test_a_lost_connection_blames_nobody(stream: Stream) -> None:
    """Wherever it is lost: no rule is broken, above information, that was not broken by the whole stream."""
    had = {rule for rule, outcome in _judged(stream, stream.exchange).outcomes.items() if outcome is Outcome.FAIL}
    had |= {FOR_WANT_OF_THE_REST[rule] for rule in had & FOR_WANT_OF_THE_REST.keys()}
    chance = random.Random(stream.case.id)
    for _ in range(CUTS):
        place = chance.randrange(len(stream.body) + 1)
        lost = replace(_bare(stream), chunks=(Chunk(data=stream.body[:place]),), ending=chance.choice(["reset", "timeout"]))
        found = [f for f in _judged(stream, lost).findings if f.level is not Level.INFO and f.rule not in had]
        assert not found, f"cut at byte {place}"
