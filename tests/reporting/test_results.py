"""The results file: its lines are JSON that any reader takes, by a published schema, and it is written whole or not at all."""

from __future__ import annotations

import json
import math
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import suite
from harness.cassette import load, shipped
from harness.conformance.compare import ABSENT
from harness.conformance.verdict import Check, Grade, Verdict
from harness.errors import InputError, Where
from harness.findings import Level
from harness.reporting import results
from harness.suite import Outcome
from tests.reporting.outcomes import NASTY, finding, outcome, verdict


def rendered(of: Outcome) -> list[str]:
    return list(results.render(of, version="1.2.3", selection=["cassettes"], adapters={"ours": "1"}))


def written(folder: Path, lines: list[str]) -> Path:
    with results.Draft(folder) as draft:
        draft.write("results.jsonl", lines)
        return draft.publish("run") / "results.jsonl"


def test_lines_are_those_of_the_contract(tmp_path: Path) -> None:
    bad = verdict(finding(rule="OAI-C-001", expected="a", got="b"), grade=Grade.WRONG)
    known = verdict(finding(known="sampled"), grade=Grade.WRONG, known="sampled", check=Check.REASSEMBLY)
    run, first, second, third, summary = map(json.loads, rendered(outcome(bad, known, verdict(), stale=["x"])))
    assert (run["type"], run["streamproof"], run["selection"], run["adapters"]) == (
        "run",
        "1.2.3",
        ["cassettes"],
        {"ours": "1"},
    )
    assert run["python"].startswith("3.")
    assert list(first) == [
        *("type", "cassette", "dialect", "provider", "adapter", "fault", "check", "grade", "known", "findings", "events", "ms")
    ]
    assert first["findings"] == [
        {
            "rule": "OAI-C-001",
            "kind": "reference/value",
            "level": "must",
            "message": "differs",
            "expected": "a",
            "got": "b",
            "where": {"cassette": "openai-chat/here/text", "exchange": 0, "frame": 1, "span": [10, 12], "path": "/x"},
        }
    ]
    assert (second["known"], second["findings"][0]["known"]) == ("sampled", "sampled")
    assert third["findings"] == []
    assert summary == {
        "type": "summary",
        "cassettes": 1,
        "verdicts": 3,
        "grades": {"pass": 1, "wrong": 2},
        "known": 1,
        "findings": {"must": 2, "should": 0, "info": 0},
        "stale": ["x"],
        "seconds": 1.25,
    }


def test_every_line_of_a_real_run_is_read_back_as_it_was(tmp_path: Path) -> None:
    cases = [c for n, c in enumerate(load(shipped())) if n % 4 == 0]
    lines = rendered(suite.run(cases))
    read = list(results.read(written(tmp_path, lines)))
    assert [type(line).__name__ for line in read] == ["RunLine", *["VerdictLine"] * (len(lines) - 2), "SummaryLine"]
    for text, line in zip(lines, read, strict=True):
        assert _bare(line.model_dump(mode="json")) == _bare(json.loads(text))


def _bare(line: dict[str, Any]) -> Any:
    """A line without the fields that are left out where nothing is known."""
    if isinstance(line, dict):
        return {name: _bare(value) for name, value in line.items() if value is not None}
    return [_bare(element) for element in line] if isinstance(line, list) else line


def test_the_schema_is_one_of_json_schema_and_forbids_strangers() -> None:
    schema = results.schema()
    json.dumps(schema)
    kinds = schema["discriminator"]["mapping"]
    assert kinds.keys() == {"run", "verdict", "summary"}
    definitions = schema["$defs"]
    for kind, place in kinds.items():
        model = definitions[place.rpartition("/")[2]]
        assert model["additionalProperties"] is False
        assert model["properties"]["type"]["const"] == kind
    assert set(definitions["VerdictLine"]["required"]) == set(verdict().as_dict()) - {"type"}
    assert set(definitions["Grade"]["enum"]) == {grade.value for grade in Grade}
    assert set(definitions["Check"]["enum"]) == {check.value for check in Check}
    assert set(definitions["Level"]["enum"]) == {level.value for level in Level}
    assert set(definitions["PlaceLine"]["properties"]) == set(Where.__slots__)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (ABSENT, "(absent)"),
        ("\ud800", "\ufffd"),
        ("\ud83c\udf0a", "🌊"),  # two halves that came apart
        ("a\u2028b\u0085c\x00", "a\u2028b\u0085c\x00"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        ([{"x": -math.inf}], [{"x": "-inf"}]),
        (10**4_000, 10**4_000),
        (10**9_000, hex(10**9_000)),
        ([10**9_000, math.nan], [hex(10**9_000), "nan"]),
        ({"\ud800": 1}, {"\ufffd": 1}),
        ("x" * 1_000_000, "x" * 1_000_000),
        (None, None),
        (1e300, 1e300),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_value_is_written(value: Any, shown: Any, tmp_path: Path) -> None:
    lines = rendered(outcome(verdict(finding(expected=value, got="other"), grade=Grade.WRONG)))
    path = written(tmp_path, lines)
    assert path.read_text(encoding="utf-8").split("\n")[:-1] == lines, "one line each, whatever it holds"
    read = list(results.read(path))[1]
    assert isinstance(read, results.VerdictLine)
    assert read.findings[0].expected == shown
    assert json.loads(lines[1], parse_constant=pytest.fail)["findings"][0]["expected"] == shown


def test_recorded_text_is_written_as_it_is(tmp_path: Path) -> None:
    nasty = verdict(finding(message=NASTY, where=Where(path=NASTY)), grade=Grade.WRONG, cassette=NASTY)
    read = list(results.read(written(tmp_path, rendered(outcome(nasty)))))[1]
    assert isinstance(read, results.VerdictLine)
    assert read.cassette == read.findings[0].message == read.findings[0].where.path == NASTY.replace("\ud800", "\ufffd")


_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.text(st.characters(categories=["Cs"]))),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


@given(_json)
@settings(max_examples=150, deadline=None)
def test_what_is_dumped_is_json_of_one_line_in_utf_8(value: Any) -> None:
    text = results.dumped(value)
    assert "\n" not in text
    text.encode()
    json.loads(text, parse_constant=pytest.fail)


# the folder


def test_a_draft_appears_at_once(tmp_path: Path) -> None:
    reports = tmp_path / "new" / "reports"
    with results.Draft(reports) as draft:
        draft.write("a.txt", ["one", "zwei ü"])
        draft.write("b.txt", [])
        assert [p for p in reports.iterdir() if not p.name.startswith(".")] == []
        folder = draft.publish("run")
    assert folder == reports / "run"
    assert (folder / "a.txt").read_bytes() == "one\nzwei ü\n".encode()
    assert (folder / "b.txt").read_bytes() == b""
    assert [p.name for p in reports.iterdir()] == ["run"]


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    for name in ("run", "run-2", "run-3"):
        with results.Draft(tmp_path) as draft:
            assert draft.publish("run").name == name


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_what_is_not_published_is_gone(error: type[BaseException], tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for reports in (tmp_path / "new", tmp_path / "there"):
        with pytest.raises(error), results.Draft(reports) as draft:
            draft.write("a.txt", ["one"])
            raise error
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "there").iterdir()) == []


def test_others_may_read_what_was_written(tmp_path: Path) -> None:
    """CI collects it as another user: the modes are those that any new file gets."""
    (tmp_path / "usual").touch()
    (tmp_path / "folder").mkdir()
    file = written(tmp_path / "reports", ["x"])
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE((tmp_path / "usual").stat().st_mode)
    assert stat.S_IMODE(file.parent.stat().st_mode) == stat.S_IMODE((tmp_path / "folder").stat().st_mode)


def test_a_place_that_nothing_can_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as error, results.Draft(tmp_path / "file" / "reports"):
        pytest.fail("there is no such folder")
    assert str(tmp_path / "file") in str(error.value.where)
    assert error.value.hint == "choose another folder with --reports"


# reading


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("nothing\n", ":1"),
        ('{"type": "summary"}\n', ":1"),
        ('{"type": "run", "streamproof": "1", "python": "3", "selection": [], "adapters": {}}\n\n{"type": "what"}\n', ":3"),
        ('{"type": "run", "streamproof": "1", "python": "3", "selection": [], "adapters": {}, "more": 1}\n', ":1"),
        (b"\xff\n", ""),
        (None, ""),
    ],
)
def test_a_file_that_is_no_results_file(text: str | bytes | None, place: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as error:
        list(results.read(path))
    assert (error.value.where, error.value.hint) == (f"{path}{place}", "give the results.jsonl of a run")


def test_grades_are_counted_by_the_worst_that_there_is() -> None:
    verdicts: list[Verdict] = [verdict(grade=grade) for grade in (Grade.PASS, Grade.WRONG, Grade.PASS, Grade.HARNESS_ERROR)]
    summary = results.summary(outcome(*verdicts))
    assert summary.grades == {Grade.PASS: 2, Grade.WRONG: 1, Grade.HARNESS_ERROR: 1}
