"""The results of conformance tests, as `streamproof run --adapter` writes them (product contract, section 8)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import __version__
from harness.conformance.verdict import Grade, Verdict, verdict_of
from harness.reporting import results
from harness.suite import Outcome

_PROPERTY = "streamproof"
Told = tuple[Verdict, str]
"""A verdict, and the version of the adapter."""


def kept(verdict: Verdict, version: str) -> tuple[str, str]:
    """A property of a test, by which its verdict travels in the test's report."""
    return _PROPERTY, packed([(verdict, version)])


def packed(told: Iterable[Told]) -> str:
    """Verdicts as text; pytest-xdist carries nothing else."""
    return json.dumps([{**verdict.as_dict(), "version": version} for verdict, version in told], default=str)


def unpacked(text: str) -> list[Told]:
    return [(verdict_of(each), each["version"]) for each in json.loads(text)]


def write(path: str, reports: Iterable[pytest.TestReport], deselected: Iterable[Told], seconds: float) -> None:
    """Write what the tests found, in the order of their names: the same under pytest-xdist. Of a test that was run again the
    last run counts."""
    reports = list(reports)
    told = [*deselected, *(each for report in reports for each in _told(report))]
    cells = {(verdict.adapter, verdict.cassette, verdict.fault or ""): verdict for verdict, _ in told}
    outcome = Outcome(
        verdicts=[cells[cell] for cell in sorted(cells)],
        stale=sorted(_stale(reports)),
        cassettes=len({verdict.cassette for verdict in cells.values()}),
        seconds=seconds,
    )
    versions = {verdict.adapter: version for verdict, version in sorted(told, key=lambda each: each[0].adapter)}
    lines = results.render(outcome, version=__version__, selection=["pytest"], adapters=versions)
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _told(report: pytest.TestReport) -> Iterator[Told]:
    """What a test found; a deviation that was expected is known."""
    expected = getattr(report, "wasxfail", None)
    for verdict, version in _found(report.user_properties):
        known = expected if expected and verdict.grade is not Grade.PASS else verdict.known
        yield verdict_of({**verdict.as_dict(), "known": known}), version


def _stale(reports: Iterable[pytest.TestReport]) -> Iterator[str]:
    """Tests that were expected to fail and did not."""
    for report in reports:
        for verdict, _ in _found(report.user_properties):
            if report.failed and verdict.grade is Grade.PASS:
                yield f"{verdict.adapter} {verdict.cassette} {verdict.fault or 'none'}"


def _found(properties: Iterable[tuple[str, Any]]) -> list[Told]:
    return [each for name, value in properties if name == _PROPERTY for each in unpacked(value)]
