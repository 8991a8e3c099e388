"""`python -m tests.fuzz [--seconds N] [--seed N] [--plain]`: mutated streams of all APIs, until the time is over.

With atheris, whose choices follow the lines of ours that they lead to; without it, or with `--plain`, by a seeded generator.
What fails is told with the choices that led to it, and ends the run.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import random
import sys
import time


def plain(seconds: float, seed: int) -> int:
    """Seeds from `seed` on, one at least; returns how many there was time for."""
    from tests.fuzz import judging, mutating

    until = time.monotonic() + seconds
    for number in itertools.count(1):
        try:
            judging.judge(mutating.made(random.Random(seed)))
        except BaseException:
            print(f"it was the seed {seed}, which `--plain --seconds 0 --seed {seed}` tries again")
            raise
        seed += 1
        if time.monotonic() >= until:
            return number
    return 0


def guided(seconds: float, seed: int) -> None:
    """By atheris, which watches our modules and ends the process itself."""
    import atheris

    with atheris.instrument_imports(include=["harness"]):
        from tests.fuzz import judging, mutating

    class Told:
        """The fuzzer's bytes in the part of chance."""

        def __init__(self, data: bytes) -> None:
            self._data = atheris.FuzzedDataProvider(data)

        def randint(self, a: int, b: int) -> int:
            return int(self._data.ConsumeIntInRange(a, b))

    def once(data: bytes) -> None:
        judging.judge(mutating.made(Told(data)), seconds=0)  # it watches the time itself, by the same signal

    options = [f"-max_total_time={max(1, int(seconds))}", f"-seed={seed or 1}", "-max_len=256", "-len_control=0", "-timeout=30"]
    atheris.Setup([sys.argv[0], *options], once)
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Mutated streams, until the time is over.")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N", help="how long (default: 60)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="where to begin (default: 0)")
    parser.add_argument("--plain", action="store_true", help="do without atheris")
    given = parser.parse_args()
    if given.plain or importlib.util.find_spec("atheris") is None:
        print(f"{plain(given.seconds, given.seed):,} mutated streams judged, without watching coverage")
    else:
        guided(given.seconds, given.seed)


if __name__ == "__main__":
    main()
