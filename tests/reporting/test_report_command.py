"""`streamproof report`: documents from results, shards, differences; what programs read is what their schemas say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema

from harness.conformance.verdict import Grade
from harness.reporting import badges, compatibility, junit, results, sarif
from harness.reporting.difference import difference, merged
from harness.reporting.results import Line, RunLine, VerdictLine
from tests.reporting.lines import EVIL, many, run, verdict, whole
from tests.test_cli import Command, streamproof  # noqa: F401 - the fixture

XSD = xmlschema.XMLSchema(str(Path(__file__).parent / "junit.xsd"))
CELLS = [
    verdict(),
    verdict(grade=Grade.WRONG, fault="truncated"),
    verdict("kelp", grade=Grade.CRASH),
    verdict("kelp", "gemini/there/text", Grade.UNSUPPORTED),
    verdict("kelp", "gemini/there/tool", Grade.HARNESS_ERROR),
]


def saved(path: Path, lines: list[Line]) -> Path:
    told = (results.dumped(line.model_dump(mode="json", exclude_none=isinstance(line, RunLine))) for line in lines)
    path.write_text("".join(f"{line}\n" for line in told), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "cells", [CELLS, [], list(many(3, 20)), [verdict(grade=Grade.WRONG, message=EVIL, expected=EVIL, got=None)]]
)
def test_junit_is_what_its_schema_says(cells: list[VerdictLine]) -> None:
    XSD.validate(junit.render(cells))


def test_junit_counts() -> None:
    root = ElementTree.fromstring(junit.render(CELLS))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("5", "2", "1")
    assert [suite.get("name") for suite in root] == ["tide.openai-chat", "kelp.openai-chat", "kelp.gemini"]
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.text is not None
    assert "expected" in failure.text


def test_what_is_known_is_no_failure() -> None:
    known = verdict(grade=Grade.WRONG).model_copy(update={"known": "a reason"})
    assert ElementTree.fromstring(junit.render([known])).get("failures") == "0"
    assert list(sarif.commands([known])) == []
    assert "1 of 1 pass" in badges.render([known])["tide"]


def test_sarif_has_what_readers_need() -> None:
    log = sarif.render("0.1.0", CELLS)
    assert log["version"] == "2.1.0"
    (told,) = log["runs"]
    rules = told["tool"]["driver"]["rules"]
    for result in told["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        location = result["locations"][0]["physicalLocation"]
        assert location["artifactLocation"]["uri"].startswith("cassettes/")
        assert location["region"] == {"byteOffset": 5, "byteLength": 4}
    prints = [json.dumps(result["partialFingerprints"]) for result in told["results"]]
    assert len(prints) == len(set(prints))


def test_annotations_are_commands_that_hold_their_text() -> None:
    (line,) = sarif.commands([verdict(grade=Grade.WRONG, message="50 % lost\nand more: a, b")])
    assert line == ("::error file=cassettes/openai-chat/here/text.yaml,title=subject/text · tide::50 %25 lost%0Aand more: a, b")


def test_badges_say_n_of_m() -> None:
    svg = badges.render([*CELLS, verdict("<b>")])
    assert "1 of 2 pass" in svg["tide"]
    assert "0 of 1 pass" in svg["kelp"]
    assert "<b>" not in ElementTree.tostring(ElementTree.fromstring(svg["<b>"]), encoding="unicode").replace("&lt;b&gt;", "")


def test_markdown_stays_below_the_limit_and_says_what_was_cut() -> None:
    cells = [
        cell.model_copy(update={"adapter": f"a-rather-long-name-of-an-adapter-{n}"}) for n in range(400) for cell in many(1, 9)
    ]
    names = tuple(dict.fromkeys(cell.adapter for cell in cells))
    text = compatibility.render(run(*names), cells)
    assert len(text) < 65_536
    assert re.search(r"… \d+ more sections are in the results file\.", text)


def test_difference() -> None:
    old = whole([verdict(), verdict("kelp", grade=Grade.WRONG), verdict("reef", grade=Grade.WRONG), verdict("gone")])
    new = whole(
        [verdict(grade=Grade.WRONG), verdict("kelp"), verdict("reef", grade=Grade.CRASH, kind="subject/failed"), verdict("new")]
    )
    found = difference(old, new)
    assert [line.adapter for line in found.failures] == ["tide"]
    assert [line.adapter for line in found.fixed] == ["kelp"]
    assert [now.adapter for _, now in found.changed] == ["reef"]
    assert ([line.adapter for line in found.added], [line.adapter for line in found.removed]) == (["new"], ["gone"])
    assert found.worse


def test_shards_give_what_one_run_gives() -> None:
    """Merging is the same for any division, and in any order."""
    cells = list(many(4, 30))
    at_once = merged([whole(cells)])
    shards = [whole(cells[number::3]) for number in range(3)]
    for order in ((0, 1, 2), (2, 0, 1)):
        told = merged([shards[number] for number in order])
        assert [x for x in told if isinstance(x, VerdictLine)] == [x for x in at_once if isinstance(x, VerdictLine)]
        assert told[0].model_dump() | {"adapters": 0, "about": 0} == at_once[0].model_dump() | {"adapters": 0, "about": 0}


class TestCommand:
    def test_all_documents(self, streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
        file = saved(tmp_path / "results.jsonl", whole(CELLS))
        asked = [
            "--html",
            "o/r.html",
            "--markdown",
            "o/r.md",
            "--junit",
            "o/r.xml",
            "--sarif",
            "o/r.sarif",
            "--badges",
            "o/badges",
        ]
        done = streamproof("report", file, *asked)
        assert (done.status, done.out, done.err) == (0, "", "")
        names = sorted(str(path.relative_to(tmp_path / "o")) for path in (tmp_path / "o").rglob("*") if path.is_file())
        assert names == ["badges/kelp.svg", "badges/tide.svg", "r.html", "r.md", "r.sarif", "r.xml"]

    def test_a_difference_says_what_is_worse(self, streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
        good, bad = (
            saved(tmp_path / "a.jsonl", whole([verdict()])),
            saved(tmp_path / "b.jsonl", whole([verdict(grade=Grade.WRONG)])),
        )
        worse = streamproof("report", "--diff", good, bad)
        assert worse.status == 1
        assert "1 new failures" in worse.out
        assert "tide · openai-chat/here/text" in worse.out
        assert streamproof("report", "--diff", bad, good).status == 0
        assert [line["what"] for line in streamproof("report", "--diff", bad, good, "--json").lines] == ["fixed"]

    def test_shards_become_one_file(self, streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
        cells = list(many(2, 9))
        files = [saved(tmp_path / f"{n}.jsonl", whole(cells[n::2])) for n in range(2)]
        assert streamproof("report", *files, "--merge", "one.jsonl").status == 0
        assert len([line for line in results.read(tmp_path / "one.jsonl") if line.type == "verdict"]) == len(cells)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["nowhere.jsonl"], "cannot be read"),
            (["empty.jsonl"], "no results of a run"),
            (["good.jsonl", "--diff"], "two runs are compared"),
            (["good.jsonl", "other.jsonl", "--merge", "x"], "different versions"),
            (["good.jsonl", "--junit", "good.jsonl/x.xml"], "cannot be written"),
        ],
    )
    def test_what_cannot_be(self, streamproof: Command, tmp_path: Path, arguments: list[str], words: str) -> None:  # noqa: F811
        (tmp_path / "empty.jsonl").touch()
        saved(tmp_path / "good.jsonl", whole(CELLS))
        saved(tmp_path / "other.jsonl", [run("tide", version="9.9"), *CELLS])
        done = streamproof("report", *arguments)
        assert done.status == 2
        assert words in done.err
