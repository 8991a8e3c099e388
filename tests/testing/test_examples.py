"""The examples: the good adapter passes, the one with three faults fails by them and by nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness.reporting import results

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, tmp_path: Path) -> tuple[int, list[results.VerdictLine]]:
    report = tmp_path / f"{name}.jsonl"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--streamproof-report", str(report)]
    done = subprocess.run(words, cwd=EXAMPLES / name, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, [line for line in results.read(report) if isinstance(line, results.VerdictLine)]


def test_the_good_one_passes(tmp_path: Path) -> None:
    status, verdicts = run("adapter_ok", tmp_path)
    assert status == 0
    assert len(verdicts) > 60
    assert {verdict.grade.value for verdict in verdicts} <= {"pass", "unsupported"}


def test_the_faults_of_the_other_are_found(tmp_path: Path) -> None:
    status, verdicts = run("adapter_buggy", tmp_path)
    assert status == 1
    found = {
        (finding.kind, verdict.fault)
        for verdict in verdicts
        if verdict.grade.value not in ("pass", "unsupported")
        for finding in verdict.findings
        if finding.level.value == "must"
    }
    kinds = {kind for kind, _ in found}
    assert "subject/usage" in kinds
    assert "subject/calls" in kinds
    assert ("subject/failure-hidden", "truncated") in found
    assert not {"subject/text", "subject/reasoning", "subject/finish"} & kinds
    bad = {
        verdict.cassette.rpartition("/")[2] for verdict in verdicts if verdict.grade.value == "wrong" and verdict.fault is None
    }
    assert {"parallel-tool-calls", "usage"} <= bad


def test_both_differ_by_their_faults_alone() -> None:
    good, bad = ((EXAMPLES / name / "adapter.py").read_text(encoding="utf-8") for name in ("adapter_ok", "adapter_buggy"))
    assert sum("fault " in line and "#" in line for line in bad.splitlines()) == 3
    lost = set(good.splitlines()) - set(bad.splitlines())
    assert len(lost) <= 5
