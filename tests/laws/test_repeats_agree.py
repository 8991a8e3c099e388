"""Law 8: what an API repeats at the end is compared with what was streamed; a repetition that differs is a finding."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness.edits import Op
from harness.framing import Frame
from harness.json_spans import steps_of
from tests.laws.cases import SAMPLE, SHIPPED, Stream, each_stream


def _repeats(stream: Stream) -> bool:
    collector = stream.collector()
    return any(edit.op is Op.SETTLE for frame in stream.frames for edit in collector.add(frame))


REPEATING = [stream for stream in SHIPPED if _repeats(stream)]


@each_stream
def test_first_party_repetitions_agree(stream: Stream) -> None:
    if stream.case.provider in stream.dialect.vendors and stream.case.id not in TRIMMED:
        assert stream.collected().disagreements == ()


TRIMMED = {
    "openai-responses/ai__openai-responses-openai-phase-1-0-6971": "its keepers cut deltas out of the fixture",
    "openai-responses/ai__openai-responses-openai-shell-container-1-0-75b8": "its keepers cut deltas out of the fixture",
    "openai-responses/openai/text-sequence-gap-or-duplicate": "its keepers cut deltas out of the fixture",
    "openai-responses/openai/text-shell-call-command": "its keepers cut deltas out of the fixture",
}


def test_some_shipped_cassettes_repeat_themselves() -> None:
    assert {stream.case.dialect for stream in REPEATING} >= {"openai-responses"}


@pytest.mark.parametrize("stream", [stream for stream in REPEATING if stream in SAMPLE], ids=repr)
def test_a_changed_repetition_is_seen(stream: Stream) -> None:
    """One text at a time, in the event that repeats it."""
    tried = 0
    for number, changed in _changes(stream):
        frames = [*stream.frames[:number], changed, *stream.frames[number + 1 :]]
        seen = stream.collected(frames)
        assert seen.disagreements or seen.notes or seen.error, changed
        tried += 1
    assert tried


def _changes(stream: Stream) -> Iterator[tuple[int, Frame]]:
    collector = stream.collector()
    for number, frame in enumerate(stream.frames):
        before = collector.body
        for edit in collector.add(frame):
            if edit.op is not Op.SETTLE:
                continue
            for path in _texts(edit.value):
                gathered = _at(before, (*edit.path, *path))
                if isinstance(gathered, str) and len(gathered) > 3 and not stream.dialect.restated.covers((*edit.path, *path)):
                    payload = json.loads(frame.data)
                    _replace(payload, [*steps_of(edit.target.source), *map(str, path)], gathered[:-1] + "~")
                    yield number, Frame(frame.index, frame.name, json.dumps(payload).encode(), frame.at, frame.span)


def _texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for name, field in value.items():
            yield from _texts(field, (*path, name))
    elif isinstance(value, list):
        for position, element in enumerate(value):
            yield from _texts(element, (*path, position))
    elif isinstance(value, str) and path[-1:] != ("id",) and path[-1:] != ("status",):
        yield path


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _replace(value: Any, steps: list[str], new: str) -> None:
    for step in steps[:-1]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    value[int(steps[-1]) if isinstance(value, list) else steps[-1]] = new
