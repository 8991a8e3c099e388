"""Streams collected and judged by the whole catalogue, and a large capture as `streamproof check` reads it.

What is judged keeps to its API: a benchmark in which rules stop at the first breach would tell nothing. Streams that break a
MUST rule are therefore not measured.
"""

from __future__ import annotations

from pathlib import Path

from bench.loop import PATHS
from bench.measure import Case
from bench.streams import Stream, stream
from harness import checking, dialect, inputs
from harness.adapters.ours import MEDIA_TYPES
from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.conformance.inspection import inspect
from harness.findings import Level

_PIECE = 16 * 1024


def exchange(given: Stream, size: int = _PIECE) -> Exchange:
    """The stream as its vendor sends it, in pieces of `size`."""
    request = Request(target=PATHS.get(given.dialect, "/any"), body=b'{"stream": true}')
    chunks = tuple(Chunk(data=piece) for piece in given.pieces(size))
    return Exchange(request=request, headers=Headers({"content-type": MEDIA_TYPES[given.framing][0]}), chunks=chunks)


def judged(given: Stream) -> Case:
    """Everything that is done with a stream, and every rule that may apply to it."""
    recorded = exchange(given)
    vendor = min(dialect(given.dialect).vendors)

    def case() -> None:
        _, said = inspect(recorded, given.dialect, vendor)
        broken = [finding.rule for finding in said.findings if finding.level is Level.MUST]
        if broken:
            raise RuntimeError(f"{given.dialect}: the stream breaks {', '.join(map(str, broken))}")

    return case


def capture(dialect: str, size: int, folder: Path) -> tuple[Path, Stream]:
    """A capture of about `size` bytes."""
    sample = stream(dialect, deltas=1000, calls=0)
    given = stream(dialect, deltas=size * 1000 // len(sample.body), calls=0)
    path = folder / f"capture{_SUFFIXES.get(given.framing, '.bin')}"
    path.write_bytes(given.body)
    return path, given


_SUFFIXES = {"sse": ".sse", "ndjson": ".ndjson"}


def checked(path: Path) -> None:
    """What `streamproof check` does with a file, but for telling it."""
    for given in inputs.load(path):
        outcome = checking.check(given).outcome
        if outcome is not checking.Outcome.OK:
            raise RuntimeError(f"{path.name}: {outcome}")
