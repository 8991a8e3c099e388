"""The results of conformance tests, as `streamproof run --adapter` writes them (product contract, section 8)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from harness import __version__
from harness.conformance.verdict import Verdict, verdict_of
from harness.reporting import results
from harness.suite import Outcome
from harness.testing.session import verdict_lines

_STARTED = time.monotonic()


def write(path: str, reports: Iterable[pytest.TestReport]) -> None:
    """Write what the tests found, in the order of their names: the same under pytest-xdist."""
    verdicts = sorted(_verdicts(reports), key=lambda verdict: (verdict.adapter, verdict.cassette, verdict.fault or ""))
    outcome = Outcome(
        verdicts=verdicts,
        stale=[],
        cassettes=len({verdict.cassette for verdict in verdicts}),
        seconds=time.monotonic() - _STARTED,
    )
    names = dict.fromkeys(verdict.adapter for verdict in verdicts)
    lines = results.render(outcome, version=__version__, selection=["pytest"], adapters=dict.fromkeys(names, "unknown"))
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _verdicts(reports: Iterable[pytest.TestReport]) -> Iterable[Verdict]:
    for report in reports:
        for told in verdict_lines(report.user_properties):
            expected = getattr(report, "wasxfail", None)
            yield verdict_of({**told, "known": expected if expected and told["grade"] != "pass" else told["known"]})
