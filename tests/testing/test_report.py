"""The results file of conformance tests: what is deselected, stale or asked in several ways, and under pytest-xdist."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.reporting import results
from tests.testing.conftest import Written


def read(name: str = "out.jsonl") -> tuple[results.RunLine, list[results.VerdictLine], results.SummaryLine]:
    run, *verdicts, summary = results.read(Path(name))
    assert isinstance(run, results.RunLine)
    assert isinstance(summary, results.SummaryLine)
    return run, [verdict for verdict in verdicts if isinstance(verdict, results.VerdictLine)], summary


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_is_deselected_is_unsupported(written: Written, workers: str) -> None:
    code = "class TestMine(Base):\n    supports_reasoning = False\n"
    done = written(code).runpytest_subprocess("-n", workers, "--streamproof-report", "out.jsonl")
    done.assert_outcomes(passed=8)
    done.stdout.fnmatch_lines(["streamproof: TestMine: 4 tests of 1 cassettes deselected: supports_reasoning is False"])
    _, verdicts, summary = read()
    told = {(v.cassette, v.findings[0].message) for v in verdicts if v.grade.value == "unsupported"}
    assert told == {("openai-chat/llamacpp/reasoning", "supports_reasoning is False")}
    assert summary.verdicts == 12
    assert summary.seconds > 0.05


def test_adapters_have_names_and_versions(written: Written) -> None:
    code = """
import pytest

@pytest.mark.parametrize("mode", ["plain", "quick"])
class TestMine(Base):
    adapter, version = "tide", "1.2"
    select, faults = "*/llamacpp/text", "none"
    @pytest.fixture(autouse=True)
    def _mode(self, mode):
        self.mode = mode
    def observe(self, request, base_url):
        return {**ask(request, base_url), **({"text": None} if self.mode == "quick" else {})}
"""
    written(code).runpytest_subprocess("--streamproof-report", "out.jsonl").assert_outcomes(passed=1, failed=1)
    run, verdicts, _ = read()
    assert run.adapters == {"tide[plain]": "1.2", "tide[quick]": "1.2"}
    assert [verdict.grade.value for verdict in verdicts] == ["pass", "wrong"]


def test_classes_of_one_name_are_two_adapters(written: Written, pytester: pytest.Pytester) -> None:
    pytester = written("class TestMine(Base):\n    select, faults = '*/llamacpp/text', 'none'\n")
    pytester.makepyfile(test_other=(pytester.path / "test_mine.py").read_text(encoding="utf-8"))
    pytester.runpytest_subprocess("--streamproof-report", "out.jsonl").assert_outcomes(passed=2)
    assert list(read()[0].adapters) == ["TestMine", "test_other.TestMine"]


def test_what_was_expected_to_fail_and_did_not_is_stale(written: Written) -> None:
    code = "class TestMine(Base):\n    select, faults, known = '*/llamacpp/text', 'none', [Known('*', 'why')]\n"
    written(code).runpytest_subprocess("--streamproof-report", "out.jsonl").assert_outcomes(failed=1)
    assert read()[2].stale == ["TestMine openai-chat/llamacpp/text none"]


def test_an_old_report_is_not_taken_for_a_new_one(written: Written) -> None:
    Path("out.jsonl").write_text("old", encoding="utf-8")
    written("raise SystemError\n").runpytest_subprocess("--streamproof-report", "out.jsonl")
    assert "old" not in Path("out.jsonl").read_text(encoding="utf-8")


def test_who_only_collects_keeps_the_old_report(written: Written) -> None:
    Path("out.jsonl").write_text("old", encoding="utf-8")
    written("class TestMine(Base):\n    pass\n").runpytest_subprocess("--streamproof-report", "out.jsonl", "--collect-only")
    assert Path("out.jsonl").read_text(encoding="utf-8") == "old"


def test_the_command_has_the_options_and_the_place(written: Written, pytester: pytest.Pytester) -> None:
    pytester = written("class TestMine(Base):\n    def observe(self, request, base_url):\n        return {'text': 'no'}\n")
    pytester.makeini("[pytest]\n")
    inner = pytester.mkdir("inner")
    (pytester.path / "test_mine.py").rename(inner / "test_mine.py")
    pytester.chdir()
    done = pytester.runpytest_subprocess("-k", "llamacpp/text", "--streamproof-fault", "truncated", "inner")
    done.stdout.fnmatch_lines(
        ["again: pytest 'inner/test_mine.py::TestMine::test_turn?*text-truncated?' --streamproof-fault truncated"]
    )
