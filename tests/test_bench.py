"""The benchmark measures what it says: its streams decode, and the floor and our collector say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench import loop
from bench.floors import floor
from bench.measure import Figure, interleaved, ratio
from bench.streams import NAMES, Stream, stream
from harness import StreamCollector, UnsupportedDialectError, dialect, framer
from harness.collector import Collected
from harness.findings import Level
from harness.loop.fanout import Subscription

offer = Subscription.offer


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    try:
        dialect(request.param)
    except UnsupportedDialectError:
        pytest.skip(f"{request.param} is not registered")
    return str(request.param)


def loads(data: bytes | memoryview) -> Any:
    return json.loads(bytes(data))


def collect(given: Stream, size: int | None = None) -> Collected:
    frames, collector = framer(given.framing), StreamCollector(given.dialect)
    for piece in given.pieces(size):
        collector.extend(frames.feed(piece))
    collector.extend(frames.close())
    assert [finding for finding in frames.findings if finding.level is not Level.INFO] == []
    return collector.close()


def said(collected: Collected) -> tuple[str | None, list[Any]]:
    return collected.response.text, [json.loads(call.arguments) for call in collected.response.tool_calls]


def in_order(collected: Collected) -> bool:
    """Whether nothing was remarked upon, but that a call has no id, which is the way of two APIs."""
    remarks = {note.kind for note in collected.notes} - {"tool/id-synthetic"}
    return collected.complete and not (collected.unknown or collected.disagreements or remarks)


def test_floor_and_collector_agree(name: str) -> None:
    given = stream(name, deltas=60, calls=2, fragments=20)
    text, arguments, end = floor(name, given.body, loads)
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


def test_the_loop_hears_what_the_stream_says(name: str) -> None:
    """The case raises where the subscriber did not hear the whole turn, fragment by fragment."""
    loop.turn(stream(name, deltas=150, calls=1, fragments=10), 256)()
    loop.turn(stream(name, deltas=5, calls=0))()


def test_a_crowd_hears_everything_as_well() -> None:
    loop.crowd(stream("openai-chat", deltas=12, calls=0), 25, 300)()


def test_a_loop_that_loses_something_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    given = stream("openai-chat", deltas=12, calls=0)
    monkeypatch.setattr(Subscription, "offer", lambda self, event: event.topic == "text_delta" or offer(self, event))
    with pytest.raises(RuntimeError, match="did not hear the whole turn"):
        loop.turn(given)()


@pytest.mark.parametrize("name", ["bedrock-converse", "bedrock-invoke"])
def test_floor_checks_both_checksums(name: str) -> None:
    body = stream(name, deltas=2, calls=0).body
    for at, word in ((9, "prelude"), (len(body) - 1, "message")):
        with pytest.raises(ValueError, match=word):
            floor(name, body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :], loads)


def test_cases_take_turns_and_are_compared_within_a_round() -> None:
    """The second round is slower for both cases alike; a clock that counts what the cases did stands for the processor's."""
    done: list[str] = []
    work = {"ours": 2, "theirs": 1}
    cases = {name: (lambda name=name: done.extend([name] * work[name] * (10 if len(done) > 5 else 1))) for name in work}
    times = interleaved(cases, rounds=3, clock=lambda: float(len(done)), warm=1)
    assert done[:6] == ["ours", "ours", "theirs"] * 2
    assert times == {"ours": [2.0, 20.0, 20.0], "theirs": [1.0, 10.0, 10.0]}
    assert ratio(times["ours"], times["theirs"]) == 2.0


@pytest.mark.parametrize(
    ("value", "bar", "at_least", "verdict"),
    [
        (2.0, 2.0, False, "met"),
        (2.1, 2.0, False, "missed"),
        (30.0, 30.0, True, "met"),
        (29.0, 30.0, True, "missed"),
        (9, None, False, ""),
    ],
)
def test_a_figure_says_whether_its_bar_is_met(value: float, bar: float | None, at_least: bool, verdict: str) -> None:
    figure = Figure(name="n", dialect="d", events=7, ratio=value, against="floor", median=1.23456, bar=bar, at_least=at_least)
    assert figure.verdict == verdict
    expected = {"name": "n", "dialect": "d", "events": 7, "ratio": value, "against": "floor", "median_us_per_event": 1.235}
    assert figure.as_json() == expected
