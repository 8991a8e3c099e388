"""The examples: the good adapter passes, the one with three faults fails by them and by nothing else."""

from __future__ import annotations

import difflib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.reporting import results

EXAMPLES = Path(__file__).parents[2] / "examples"
CALLS = ("subject/calls", "subject/name", "subject/arguments")


def run(name: str, folder: Path) -> tuple[int, list[results.VerdictLine], str]:
    """The example, copied to where no other settings of pytest are: status, verdicts, and what was said."""
    shutil.copytree(EXAMPLES / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--streamproof-report", "results.jsonl"]
    done = subprocess.run(words, cwd=folder / name, capture_output=True, text=True, check=False, timeout=240)
    verdicts = [line for line in results.read(folder / name / "results.jsonl") if isinstance(line, results.VerdictLine)]
    return done.returncode, verdicts, done.stdout


def test_the_good_one_passes(tmp_path: Path) -> None:
    status, verdicts, said = run("adapter_ok", tmp_path)
    assert status == 0, said
    assert len(verdicts) > 250
    known = {verdict.cassette for verdict in verdicts if verdict.known}
    assert len(known) == 3
    assert all(verdict.grade.value in ("pass", "unsupported") or verdict.known for verdict in verdicts)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, list[results.VerdictLine], str]:
    return run("adapter_buggy", tmp_path_factory.mktemp("faulty"))


def test_the_faults_of_the_other_are_found(faulty: tuple[int, list[results.VerdictLine], str]) -> None:
    status, verdicts, _ = faulty
    assert status == 1
    found = {
        (finding.kind, verdict.fault)
        for verdict in verdicts
        if verdict.grade.value not in ("pass", "unsupported") and not verdict.known
        for finding in verdict.findings
        if finding.level.value == "must"
    }
    hidden, usage = "subject/failure-hidden", "subject/usage"
    assert {(hidden, "error-in-band"), (hidden, "truncated"), (usage, None), (usage, "byte-by-byte"), (CALLS[0], None)} <= found
    assert {kind for kind, _ in found} <= {hidden, usage, *CALLS, "subject/finish"}  # that of an end that was made up


def test_each_is_shown_by_the_frame_that_carries_it(faulty: tuple[int, list[results.VerdictLine], str]) -> None:
    said = faulty[2]
    test = said.partition("[openai-chat/llamacpp/parallel-tool-calls] ")[2].partition("again: ")[0]
    assert '"tool_calls":[{"index":1' in test
    assert '"usage":{' in test
    assert "pytest 'test_conformance.py::TestAdapter::test_turn[openai-chat/llamacpp/parallel-tool-calls]'" in said


def test_both_differ_by_their_faults_alone() -> None:
    good, bad = (
        (EXAMPLES / name / "adapter.py").read_text(encoding="utf-8").splitlines() for name in ("adapter_ok", "adapter_buggy")
    )
    assert [number for number in "123" if any(f"fault {number}" in line for line in bad)] == ["1", "2", "3"]
    assert sum(line.startswith("- ") for line in difflib.ndiff(good, bad)) <= 7
    told = [(EXAMPLES / name / "test_conformance.py").read_bytes() for name in ("adapter_ok", "adapter_buggy")]
    assert told[0] == told[1]
