"""The benchmark measures what it says: its streams decode, and the floor and our collector say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.floors import floor
from bench.streams import NAMES, Stream, stream
from harness import StreamCollector, UnsupportedDialectError, dialect, framer
from harness.collector import Collected


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    try:
        dialect(request.param)
    except UnsupportedDialectError:
        pytest.skip(f"{request.param} is not registered")
    return str(request.param)


def collect(given: Stream, size: int | None = None) -> Collected:
    frames, collector = framer(given.framing), StreamCollector(given.dialect)
    for piece in given.pieces(size):
        collector.extend(frames.feed(piece))
    collector.extend(frames.close())
    assert frames.findings == []
    return collector.close()


def said(collected: Collected) -> tuple[str | None, list[Any]]:
    return collected.response.text, [json.loads(call.arguments) for call in collected.response.tool_calls]


def in_order(collected: Collected) -> bool:
    """Whether nothing was remarked upon, but that a call has no id, which is the way of two APIs."""
    remarks = {note.kind for note in collected.notes} - {"tool/id-synthetic"}
    return collected.complete and not (collected.unknown or collected.disagreements or remarks)


def test_floor_and_collector_agree(name: str) -> None:
    given = stream(name, deltas=60, calls=2, fragments=20)
    text, arguments, end = floor(name, given.body, json.loads)
    arguments = [json.loads(each) if isinstance(each, str) else each for each in arguments]
    collected = collect(given)
    assert said(collected) == (text, arguments)
    assert text == given.text
    assert [len(each["cells"]) for each in arguments] == [18, 18]
    assert end
    assert in_order(collected)
    assert collected.frames == given.events


def test_turns_of_text_only_and_of_calls_only(name: str) -> None:
    text = collect(stream(name, deltas=40, calls=0))
    calls = collect(stream(name, deltas=0, calls=1, fragments=40))
    assert in_order(text)
    assert in_order(calls)
    assert said(text) == (stream(name, deltas=40, calls=0).text, [])
    assert len(calls.response.tool_calls) == 1
    assert len(calls.response.tool_calls[0].arguments) > 40
    assert not calls.response.text


def test_pieces_change_nothing(name: str) -> None:
    given = stream(name, deltas=30, calls=1, fragments=10)
    assert collect(given, 7).body == collect(given).body


def test_streams_are_always_the_same(name: str) -> None:
    assert stream(name, deltas=30).body == stream(name, deltas=30).body


@pytest.mark.parametrize("name", ["bedrock-converse", "bedrock-invoke"])
def test_floor_checks_both_checksums(name: str) -> None:
    body = stream(name, deltas=2, calls=0).body
    for at, word in ((9, "prelude"), (len(body) - 1, "message")):
        with pytest.raises(ValueError, match=word):
            floor(name, body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :], json.loads)
