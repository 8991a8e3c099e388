"""Rules about the counts and durations of the last line."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.ollama.order import OLLAMA
from harness.conformance.rules.ollama.walk import Line
from harness.conformance.rules.rule import Blame, Breach, Said
from harness.findings import Level

_METRICS = ("total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration")
_DURATIONS = tuple(name for name in _METRICS if name.endswith("duration"))
_SLACK = 1.05


@OLLAMA.rule(
    11,
    Level.MUST,
    "counts and durations stand on the line that says done, and only there",
    at=Line,
    kind="usage/early",
    source="OLL-SRC",
    why="Clients that add up what they meet count tokens twice.",
    bad='{"eval_count":3,"done":false}',
    good='{"eval_count":24,"done":true}',
)
def counts_come_at_the_end(it: Line) -> Said:
    if it.done:
        return None
    early = [name for name in _METRICS if it.raw.get(name)]
    return Breach(f"{', '.join(early)} before the end", f"/{early[0]}") if early else True


@OLLAMA.rule(
    12,
    Level.SHOULD,
    "the line that says done has eval_count and total_duration",
    at=Line,
    kind="usage/missing",
    source="OLL-SRC; answers to load and unload excepted",
    why="The usage of the turn is unknown.",
    bad='{"done":true,"done_reason":"stop"}',
    good='{"done":true,"done_reason":"stop","eval_count":24,"total_duration":913140194}',
    seen="servers that broke off a repetition",
)
def done_line_has_counts(it: Line) -> Said:
    if not it.done or it.raw.get("done_reason") in ("load", "unload"):
        return None
    lacks = [name for name in ("eval_count", "total_duration") if it.raw.get(name) is None]
    return Breach(f"the last line lacks {', '.join(lacks)}", "") if lacks else True


@OLLAMA.rule(
    13,
    Level.INFO,
    "prompt_eval_count is sent",
    at=Line,
    kind="usage/input-missing",
    source="OLL-SRC: it is left out where it is 0, which means that the whole prompt was cached",
    why="Absent means 0 here, and not unknown.",
    bad='{"done":true,"eval_count":24}',
    good='{"done":true,"prompt_eval_count":211,"eval_count":24}',
    seen="Ollama",
    blame=Blame.NOBODY,
)
def prompt_is_counted(it: Line) -> Said:
    if not it.done or it.raw.get("eval_count") is None:
        return None
    return True if it.raw.get("prompt_eval_count") is not None else Breach("no prompt_eval_count: all of it was cached", "")


@OLLAMA.rule(
    14,
    Level.MUST,
    "durations are whole nanoseconds, and the total is at least the sum of its parts (5 % slack)",
    at=Line,
    kind="ollama/duration",
    source="OLL-SRC",
    why="A client that divides tokens by them shows a billion tokens a second, or none.",
    bad='"total_duration":0.91',
    good='"total_duration":913140194',
    seen="servers that imitate the API",
)
def durations_are_nanoseconds(it: Line) -> Said:
    given = {name: it.raw[name] for name in _DURATIONS if it.raw.get(name) is not None}
    if not it.done or not given:
        return None
    for name, value in given.items():
        if not _is_whole(value):
            return Breach(f"{name} is {value!r}; whole nanoseconds were expected", f"/{name}", got=value)
    total = given.pop("total_duration", None)
    parts = sum(given.values())
    if total is None or parts <= total * _SLACK:
        return True
    return Breach(f"total_duration is {total}, less than its parts, {parts}", "/total_duration", f">= {parts}", total)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
