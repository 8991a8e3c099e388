"""Law 10: cost per event does not grow with length. Work is counted, not timed; `nox -s bench` measures the time."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from unittest import mock

import pytest

from bench import judging
from bench.streams import NAMES, stream
from harness import checking, inputs
from harness.adapters.ours import framing_of
from harness.collector import StreamCollector
from harness.dialects import dialect as dialect_called
from harness.dialects.repeats import Repeats
from harness.framing import framer

SHORT, LONG = 300, 2400
PIECES = {"whole": None, "16 KiB": 16 * 1024, "64 bytes": 64}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("kind", ["text", "arguments"])
@pytest.mark.parametrize("dialect", NAMES)
def test_calls_per_event_do_not_grow(dialect: str, kind: str, piece: str) -> None:
    costs = []
    for events in (SHORT, LONG):
        texts, fragments = (events, 0) if kind == "text" else (0, events)
        made = stream(dialect, deltas=texts, calls=int(kind != "text"), fragments=fragments)
        work = _calls(lambda body=made.body: _collect(dialect, body, PIECES[piece]))
        costs.append(work / max(made.events, events))  # Ollama sends a call whole: many fragments are one event
    assert costs[1] <= costs[0] * 1.05 + 0.5


@pytest.mark.parametrize("careful", [False, True], ids=["repeats", "careful"])
@pytest.mark.parametrize("dialect", NAMES)
def test_calls_per_event_do_not_grow_with_rules(dialect: str, careful: bool) -> None:
    """With all rules; and where each payload is shown to them, since none is known as a repetition."""
    costs = []
    learn = (lambda *_: None) if careful else Repeats.careful
    with mock.patch.object(Repeats, "careful", learn):
        for events in (SHORT, LONG):
            made = stream(dialect, deltas=events, calls=0)
            costs.append(_calls(judging.judged(made)) / made.events)
    assert costs[1] <= costs[0] * 1.05 + 0.5


@pytest.mark.parametrize("dialect", NAMES)
def test_a_large_capture_is_checked_in_the_memory_of_its_text(dialect: str, tmp_path: Path) -> None:
    """Beside the capture itself: no copy of it, and not all of its frames."""
    path, made = judging.capture(dialect, 4_000_000, tmp_path)
    (given,) = inputs.load(path, dialect)
    tracemalloc.start()
    try:
        assert checking.check(given).seen.complete
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * len(made.text) + 1_500_000


def _collect(name: str, body: bytes, size: int | None) -> None:
    api = dialect_called(name)
    frames, collector = framer(framing_of(api, body)), StreamCollector(api)
    for start in range(0, len(body), size or len(body)):
        collector.extend(frames.feed(body[start : start + (size or len(body))]))
    collector.extend(frames.close())
    collector.close()


def _calls(work: Callable[[], None]) -> int:
    """How many calls, of Python and of C functions, the work makes."""
    count = 0

    def profile(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
