"""What is measured: a function for each question, which yields the rows of the table that answer it.

Bars are those of the issues. A dialect that is not registered has no rows.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from bench import judging, loop, plugin, recording, serving
from bench.floors import floor
from bench.measure import Case, Figure, children_time, interleaved, median_us, peak_memory, ratio
from bench.streams import NAMES, Stream, stream
from harness import StreamCollector, framer
from harness.collector import Collected
from harness.framing import blocks

_PIECE = 16 * 1024
_FEEDS: dict[str, int | None] = {"byte by byte": 1, "16 KiB": _PIECE, "whole": None}
_FEW, _MANY = 2_000, 32_000
_SLOW_ROUNDS = 2
_WHOLE_CALLS = ("ollama-chat",)  # an API without argument deltas
_FLOOR_BARS = {"ollama-chat": 4.0}
_LOOP_BAR = 5.0
_RULES_BARS = {"ollama-chat": 7.0}
_CROWD, _SMALL_PIECE = 1_000, 1024
_LARGE = 100_000_000  # bytes


def collected(given: Stream, size: int | None = None) -> Collected:
    """Everything we do with a streamed body: frame, decode, translate, collect, read."""
    frames = framer(given.framing)
    collector = StreamCollector(given.dialect)
    for piece in given.pieces(size):
        for block in blocks(piece):  # as every reader of ours does
            whole = frames.feed(block)
            if whole:
                collector.extend(whole)
    collector.extend(frames.close())
    return collector.close()


def against_floor(dialect: str, rounds: int) -> Iterator[Figure]:
    """The whole of our work as a multiple of the simplest loop."""
    given = stream(dialect)
    floor_case = partial(floor, dialect, given.body, orjson.loads)
    times = interleaved({"ours": partial(collected, given), "floor": floor_case}, rounds)
    yield Figure(
        name="collect",
        dialect=dialect,
        events=given.events,
        ratio=ratio(times["ours"], times["floor"]),
        against="floor",
        median=median_us(times["ours"], given.events),
        bar=_FLOOR_BARS.get(dialect, 2.0),
    )


def growth(dialect: str, rounds: int) -> Iterator[Figure]:
    """What an event costs in a long stream as a multiple of what it costs in a short one."""
    for kind, make in _long(dialect).items():
        few, many = make(_FEW), make(_MANY)
        for feed, size in _FEEDS.items():
            cases = {"long": partial(collected, many, size), "short": partial(collected, few, size)}
            times = interleaved(cases, min(rounds, _SLOW_ROUNDS) if size == 1 else rounds)
            yield Figure(
                name=f"growth: {kind}, {feed}",
                dialect=dialect,
                events=many.events,
                ratio=ratio(times["long"], times["short"]) * few.events / many.events,
                against=f"{few.events:,} events",
                median=median_us(times["long"], many.events),
                bar=1.15,
            )


def _long(dialect: str) -> dict[str, Callable[[int], Stream]]:
    """What makes streams of so many events, of each kind of text that grows."""
    kinds: dict[str, Callable[[int], Stream]] = {
        "text": lambda events: stream(dialect, deltas=events, calls=0),
        "arguments": lambda events: stream(dialect, deltas=0, calls=1, fragments=events),
    }
    if dialect in _WHOLE_CALLS:
        del kinds["arguments"]
    return kinds


def loop_against_floor(dialect: str, rounds: int) -> Iterator[Figure]:
    """Collector and loop, with one subscriber that hears everything, as a multiple of the simplest loop; and what an event
    costs there in a long stream."""
    given = stream(dialect)
    times = interleaved({"ours": loop.turn(given, _PIECE), "floor": partial(floor, dialect, given.body, orjson.loads)}, rounds)
    yield Figure(
        name="loop",
        dialect=dialect,
        events=given.events,
        ratio=ratio(times["ours"], times["floor"]),
        against="floor",
        median=median_us(times["ours"], given.events),
        bar=_LOOP_BAR,
    )
    for kind, make in _long(dialect).items():
        few, many = make(_FEW), make(_MANY)
        times = interleaved({"long": loop.turn(many, _PIECE), "short": loop.turn(few, _PIECE)}, rounds)
        yield Figure(
            name=f"loop growth: {kind}",
            dialect=dialect,
            events=many.events,
            ratio=ratio(times["long"], times["short"]) * few.events / many.events,
            against=f"{few.events:,} events",
            median=median_us(times["long"], many.events),
            bar=1.15,
        )


def rules_against_floor(dialect: str, rounds: int) -> Iterator[Figure]:
    """Collector and catalogue as a multiple of the simplest loop; and what an event costs there in a long stream."""
    given = stream(dialect)
    times = interleaved({"ours": judging.judged(given), "floor": partial(floor, dialect, given.body, orjson.loads)}, rounds)
    yield Figure(
        name="collect + rules",
        dialect=dialect,
        events=given.events,
        ratio=ratio(times["ours"], times["floor"]),
        against="floor",
        median=median_us(times["ours"], given.events),
        bar=_RULES_BARS.get(dialect, 3.5),
    )
    for kind, make in _long(dialect).items():
        few, many = make(_FEW), make(_MANY)
        times = interleaved({"long": judging.judged(many), "short": judging.judged(few)}, rounds)
        yield Figure(
            name=f"rules growth: {kind}",
            dialect=dialect,
            events=many.events,
            ratio=ratio(times["long"], times["short"]) * few.events / many.events,
            against=f"{few.events:,} events",
            median=median_us(times["long"], many.events),
            bar=1.15,
        )


def large_capture(rounds: int) -> Iterator[Figure]:
    """`check` of a capture of 100 MB: its time, and its memory, of which the capture itself is 1."""
    with TemporaryDirectory() as folder:
        path, given = judging.capture("openai-chat", _LARGE, Path(folder))
        case = partial(judging.checked, path)
        times = interleaved(
            {"ours": case, "floor": partial(floor, given.dialect, given.body, orjson.loads)}, min(rounds, _SLOW_ROUNDS)
        )
        yield Figure(
            name="check of 100 MB",
            dialect=given.dialect,
            events=given.events,
            ratio=ratio(times["ours"], times["floor"]),
            against="floor",
            median=median_us(times["ours"], given.events),
            bar=3.5,
        )
        yield Figure(
            name="check of 100 MB, peak memory",
            dialect=given.dialect,
            events=given.events,
            ratio=peak_memory(case) / len(given.body),
            against="its bytes",
            bar=1.5,
        )


def crowds(rounds: int) -> Iterator[Figure]:
    """Many turns at once, in one process, through an HTTP client that replays in recorded time on a virtual clock: what each
    costs, and what each holds, as a multiple of what it is where there are a tenth as many."""
    given = stream("openai-chat", deltas=100, calls=0)
    cases = {"many": loop.crowd(given, _CROWD, _SMALL_PIECE), "few": loop.crowd(given, _CROWD // 10, _SMALL_PIECE)}
    times = interleaved(cases, min(rounds, _SLOW_ROUNDS))
    events = given.events * _CROWD
    yield Figure(
        name=f"{_CROWD:,} turns at once",
        dialect=given.dialect,
        events=events,
        ratio=ratio(times["many"], times["few"]) / 10,
        against="a tenth of them",
        median=median_us(times["many"], events),
        bar=1.5,
    )
    memory = [peak_memory(case) for case in cases.values()]
    yield Figure(
        name=f"{_CROWD:,} turns, peak memory",
        dialect=given.dialect,
        events=events,
        ratio=memory[0] / memory[1] / 10,
        against="a tenth of them",
        bar=1.15,
    )


def recordings(rounds: int) -> Iterator[Figure]:
    """What recording adds to a stream that comes off a connection, and what it costs to find one exchange of many."""
    given = stream("openai-chat", deltas=_FEW, calls=0)
    times = interleaved({"on": recording.client(given, records=True), "off": recording.client(given, records=False)}, rounds)
    yield Figure(
        name="recorded",
        dialect=given.dialect,
        events=given.events,
        ratio=ratio(times["on"], times["off"]),
        against="not recorded",
        median=median_us(times["on"], given.events),
        bar=1.05,
    )
    found = interleaved({"many": recording.replayed(_CROWD, _CROWD), "one": recording.replayed(1, _CROWD)}, min(rounds, 5))
    yield Figure(
        name=f"replayed of {_CROWD:,} exchanges",
        dialect=None,
        events=_CROWD,
        ratio=ratio(found["many"], found["one"]),
        against="of one",
        median=median_us(found["many"], _CROWD),
        bar=1.2,
    )


def served(rounds: int) -> Iterator[Figure]:
    """What the replay server costs for an event."""
    given = stream("openai-chat", deltas=_MANY, calls=0)
    with serving.servers(given) as servers:
        times = interleaved({"ours": servers.ours, "bare": servers.bare}, rounds, clock=servers.used)
    yield Figure(
        name="served",
        dialect=given.dialect,
        events=given.events,
        ratio=ratio(times["ours"], times["bare"]),
        against="a bare server",
        median=median_us(times["ours"], given.events),
        bar=1.5,
    )


def against_sdk(rounds: int) -> Iterator[Figure]:
    """The official client's own accumulator, on the same bytes out of memory, as a multiple of our work."""
    given = stream("openai-chat")
    times = interleaved({"ours": partial(collected, given), "sdk": _openai_accumulator(given)}, rounds)
    yield Figure(
        name="openai accumulator",
        dialect=given.dialect,
        events=given.events,
        ratio=ratio(times["sdk"], times["ours"]),
        against="ours",
        median=median_us(times["ours"], given.events),
        bar=30.0,
        at_least=True,
    )


def _openai_accumulator(given: Stream) -> Case:
    import httpx2
    import openai

    def answer(request: Any) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=given.body)

    transport = httpx2.MockTransport(answer)
    client = openai.OpenAI(api_key="none", base_url="http://memory", http_client=httpx2.Client(transport=transport))

    def accumulate() -> object:
        with client.chat.completions.stream(model="any", messages=[{"role": "user", "content": "any"}]) as events:
            return events.get_final_completion()

    return accumulate


def memory(dialect: str, rounds: int) -> Iterator[Figure]:
    """The most memory in use while a long text streams in, as a multiple of that text."""
    given = stream(dialect, deltas=_MANY, calls=0)
    yield Figure(
        name="peak memory",
        dialect=dialect,
        events=given.events,
        ratio=peak_memory(partial(collected, given, _PIECE)) / len(given.text.encode()),
        against="bytes of the text",
    )


def imports(rounds: int) -> Iterator[Figure]:
    """Importing us, as a multiple of importing the two libraries that we cannot do without; in fresh processes."""

    def importing(names: str) -> Case:
        return partial(subprocess.run, [sys.executable, "-c", f"import {names}"], check=True)

    times = interleaved({"ours": importing("harness"), "theirs": importing("httpx, pydantic")}, rounds, children_time)
    yield Figure(
        name="import",
        dialect=None,
        events=1,
        ratio=ratio(times["ours"], times["theirs"]),
        against="httpx and pydantic",
        median=median_us(times["ours"], 1),
        bar=1.3,
    )


def conformance_tests(rounds: int) -> Iterator[Figure]:
    """What the pytest plugin adds: to a test, in milliseconds, and to the start of every pytest, as a multiple of its own."""
    more, bare = plugin.a_test()
    yield Figure(
        name="plugin, ms more a test",
        dialect=None,
        events=plugin.TESTS,
        ratio=more,
        against=f"over {bare:.1f} ms",
        bar=1.0,
    )

    def importing(names: str) -> Case:
        return partial(subprocess.run, [sys.executable, "-c", f"import {names}"], check=True)

    cases = {"ours": importing("pytest, harness.testing.plugin"), "theirs": importing("pytest")}
    times = interleaved(cases, rounds, children_time)
    yield Figure(
        name="plugin, import", dialect=None, events=1, ratio=ratio(times["ours"], times["theirs"]), against="pytest", bar=1.1
    )


BY_DIALECT: dict[str, Callable[[str, int], Iterator[Figure]]] = {
    "collect": against_floor,
    "growth": growth,
    "memory": memory,
    "loop": loop_against_floor,
    "rules": rules_against_floor,
}
ONCE: dict[str, Callable[[int], Iterator[Figure]]] = {
    "sdk": against_sdk,
    "import": imports,
    "crowd": crowds,
    "check": large_capture,
    "recording": recordings,
    "serving": served,
    "plugin": conformance_tests,
}
DIALECTS = NAMES
