"""Measuring: every round runs every case once, in turn, and what is compared is compared within a round.

Times are of the processor and of this process, so that others on the machine count little; medians, since what disturbs a
measurement only ever makes it longer. A ratio is the median of the ratios of the rounds.
"""

from __future__ import annotations

import gc
import resource
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Case = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row of the table: `name` took `ratio` times what `against` took.

    `bar` is what the ratio should stay below, or reach where `at_least` is set; None: it is only reported. `median` is our
    own time for an event, in microseconds; None where no time was measured.
    """

    name: str
    dialect: str | None
    events: int | None
    ratio: float
    against: str
    median: float | None = None
    bar: float | None = None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return ""
        return "met" if (self.ratio >= self.bar if self.at_least else self.ratio <= self.bar) else "missed"

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "dialect": self.dialect,
            "events": self.events,
            "ratio": round(self.ratio, 3),
            "against": self.against,
            "median_us_per_event": None if self.median is None else round(self.median, 3),
        }


def children_time() -> float:
    """The processor seconds of the processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def interleaved(
    cases: Mapping[str, Case], rounds: int, clock: Callable[[], float] = time.process_time, warm: int = 1
) -> dict[str, list[float]]:
    """The processor seconds of each case in each round, after `warm` rounds that are not counted."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(warm + rounds):
        for name, case in cases.items():
            gc.collect()
            started = clock()
            case()
            if number >= warm:
                times[name].append(clock() - started)
    return times


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of the ratios, round by round."""
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


def median_us(times: list[float], events: int) -> float:
    """The median time of an event in microseconds."""
    return statistics.median(times) / events * 1e6


def peak_memory(case: Case) -> int:
    """The most bytes that a case had allocated at one time."""
    case()  # what is loaded and remembered once and for all is not counted
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        case()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
