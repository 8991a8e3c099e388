"""Law 6: no false end. A prefix that has not met its API's end condition is never complete; one that has says the same turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.adapters import Ours
from harness.cassette.model import Chunk
from harness.collector import Collected
from harness.response import Response
from tests.laws.cases import SHIPPED, Stream, each_stream

REPORTED = {"delta/after-finish", "stream/data-after-done"}
HAND_MADE = {
    "gemini/vertexai-sdk-test-data__vertexai-streaming-failure-recitation-no-content-0-8512": "a finish reason on every chunk",
    "gemini/vertexai-sdk-test-data__vertexai-streaming-success-citations-0-9fe1": "a finish reason on every chunk",
    "gemini/vertex/error-bare-json-object-inside-sse": "a finish reason on every chunk",
    "gemini/vertex/text-citations": "a finish reason on every chunk",
}
ENDED = {"stream/finish-missing"}  # an end marker without a turn: reported, and not a success either


@each_stream
def test_no_prefix_is_a_false_success(stream: Stream) -> None:
    """Frame by frame: a prefix that is complete says the whole turn, unless the stream opens the turn again, which Gemini does
    between rounds of code execution, or goes on after its end, which is reported."""
    if stream.case.id in HAND_MADE:
        return
    whole = stream.collected()
    collector = stream.collector()
    assert not collector.complete
    prefixes = []
    for frame in stream.frames:
        collector.add(frame)
        prefixes.append((collector.complete, _told(collector.response) if collector.complete else None))
    assert prefixes[-1:] in ([], [(whole.complete, prefixes[-1][1])])
    opens_again = max((n for n, (complete, _) in enumerate(prefixes) if not complete), default=-1)
    reported = bool(REPORTED & {note.kind for note in whole.notes})
    for number, (complete, told) in enumerate(prefixes):
        if complete and number > opens_again and not reported:
            assert told == _told(whole.response), f"after frame {number}"


@pytest.mark.parametrize("ending", ["eof", "reset", "timeout"])
@pytest.mark.parametrize("stream", SHIPPED, ids=repr)
def test_a_cut_body_never_looks_like_success(stream: Stream, ending: str) -> None:
    """Cut between frames and inside them: the turn is complete and the same, or it failed. A server that goes on after its end
    is reported."""
    whole = Ours().observe(stream.exchange, stream.dialect)
    if stream.case.id in HAND_MADE or REPORTED & {finding.kind for finding in whole.findings}:
        return
    borders = sorted({place for frame in stream.frames for end in frame.span for place in (end - 1, end, end + 2)})
    for place in borders[:: max(1, len(borders) // 40)]:
        cut = replace(stream.exchange, chunks=(Chunk(data=stream.body[:place]),), ending=ending)
        seen = Ours().observe(cut, stream.dialect)
        if seen.error is None:
            assert seen.complete or ENDED & {finding.kind for finding in seen.findings}, place
            assert seen.response is not None
            assert whole.response is not None
            assert _told(seen.response) == _told(whole.response), place
        else:
            assert not seen.complete


@each_stream
def test_what_is_incomplete_says_what_is_missing(stream: Stream) -> None:
    collected: Collected = stream.collected()
    assert collected.complete == (collected.missing is None and collected.error is None)


def _told(turn: Response) -> object:
    return turn.text, turn.reasoning, [(c.name, c.arguments) for c in turn.tool_calls], turn.raw_finish_reason
