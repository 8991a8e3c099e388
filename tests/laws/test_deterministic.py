"""Law 11: the same input gives the same output, byte for byte, `ms` and `seconds` excepted."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import date

from harness import cassette, suite
from harness.reporting import results

TIMES = re.compile(r'"(ms|seconds)": [0-9.e+-]+')
PROGRAM = """
from harness import cassette, suite
from harness.reporting import results
outcome = suite.run(cassette.load(cassette.shipped()))
print(*results.render(outcome, version="0", selection=["x"], adapters={"ours": "0"}), sep="\\n")
"""


def _run(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True, env=environment)
    return TIMES.sub("", done.stdout.decode())


def test_two_processes_say_the_same() -> None:
    assert _run("1") == _run("2")


def test_a_clock_of_ones_own_makes_the_rest_equal_too() -> None:
    lines = []
    for _ in range(2):
        ticks = iter(range(10**6))
        outcome = suite.run(cassette.load(cassette.shipped()), clock=lambda t=ticks: float(next(t)), today=date(2026, 12, 1))
        lines.append(list(results.render(outcome, version="0", selection=["x"], adapters={"ours": "0"})))
    assert lines[0] == lines[1]
