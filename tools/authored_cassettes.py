"""Makes the authored cassettes: `python tools/authored_cassettes.py [CASSETTES]`.

Turns of our own, put on the wire as the vendors do, for APIs of which there is no recording that may be shipped. Run it again
and the same files come out. The vendors' own SDKs prove them: `nox -s oracle`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from authoring import (
    broken_streams,
    converse_turns,
    gemini_failures,
    gemini_turns,
    invoke_turns,
    ollama_turns,
    responses_turns,
    vertex,
)

from harness import cassette
from harness.cassette import Cassette


def main(target: Path) -> None:
    """Write every cassette."""
    for case in cassettes():
        cassette.save(case, target / f"{case.id}.yaml")


def cassettes() -> Iterator[Cassette]:
    yield from gemini_turns.turns()
    yield from gemini_failures.failures()
    yield from vertex.turns()
    yield from converse_turns.cassettes()
    yield from invoke_turns.cassettes()
    yield from ollama_turns.cassettes()
    yield from responses_turns.cassettes()
    yield from broken_streams.cassettes()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "cassettes"))
