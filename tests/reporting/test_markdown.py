"""The report as Markdown: recorded text is only ever text, and the size is bounded."""

from __future__ import annotations

import re

import pytest

from harness.conformance.verdict import Check, Grade, Verdict
from harness.errors import Where
from harness.reporting import markdown
from tests.reporting.outcomes import NASTY, finding, outcome, verdict

MOST = 65_536  # characters of a comment on GitHub


def report(*verdicts: Verdict, stale: list[str] | None = None) -> str:
    return markdown.render(outcome(*verdicts, stale=stale), version="1.2.3")


def test_a_run_that_conforms_is_short() -> None:
    assert report(verdict(), verdict(check=Check.FRAMING)) == (
        "# streamproof 1.2.3\n\n"
        "1 cassettes, 2 verdicts: 0 not as they should be, 0 known deviations.\n\n"
        "| dialect | cassettes | pass | of these known |\n|---|---|---|---|\n| openai-chat | 1 | 2 | 0 |\n"
    )


def test_what_is_wrong_comes_with_both_values_and_the_place() -> None:
    text = report(verdict(finding(rule="OAI-C-001", expected={"a": 1}, got="b"), grade=Grade.WRONG))
    assert "## `openai-chat/here/text` · reference · wrong" in text
    assert "- **OAI-C-001 · reference/value** differs (openai-chat/here/text · exchange 0 · frame 1 · bytes 10–12 · /x)" in text
    assert '  - expected `{"a": 1}`\n  - observed `b`\n' in text


def test_only_what_fails_is_told() -> None:
    text = report(
        verdict(finding(known="sampled"), finding("field/unknown", "strange"), finding(message="bad"), grade=Grade.WRONG)
    )
    assert "bad" in text
    assert "strange" not in text
    assert text.count("reference/value") == 1


def test_known_deviations_are_folded() -> None:
    text = report(verdict(finding(known="sampled <b>"), grade=Grade.WRONG, known="sampled <b>"))
    assert "- `openai-chat/here/text` · reference: sampled \\<b\\>" in text
    assert "<details><summary>Known deviations</summary>" in text
    assert "## " not in text


def test_entries_that_are_stale_are_told() -> None:
    assert "- stale: known.toml entry 1: x \\*y\\*\n" in report(verdict(), stale=["known.toml entry 1: x *y*"])


@pytest.mark.parametrize("where", ["message", "path", "expected", "cassette", "known", "stale"])
def test_nothing_recorded_becomes_markdown_or_html(where: str) -> None:
    made = {
        "message": lambda: report(verdict(finding(message=NASTY), grade=Grade.WRONG)),
        "path": lambda: report(verdict(finding(where=Where(path=NASTY)), grade=Grade.WRONG)),
        "expected": lambda: report(verdict(finding(expected=NASTY, got={"x": NASTY}), grade=Grade.WRONG)),
        "cassette": lambda: report(verdict(finding(), grade=Grade.WRONG, cassette=NASTY)),
        "known": lambda: report(verdict(finding(known=NASTY), grade=Grade.WRONG, known=NASTY)),
        "stale": lambda: report(verdict(), stale=[NASTY]),
    }[where]()
    outside = _without_code(made)
    assert "<script" not in outside.replace("\\<", "")
    assert not re.search(r"(?<!\\)[`|<>\[\]*_~&](?!\S*details|summary)", _without_ours(outside)), outside
    assert all(line.lstrip().startswith(("#", "-", "|", "<", "Again", "1 cass")) or not line for line in made.split("\n")), (
        "no recorded line break begins a line of its own"
    )


def _without_code(text: str) -> str:
    """The text with its code spans taken out, as CommonMark finds them."""
    return re.sub(r"(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def _without_ours(text: str) -> str:
    """Without what the report itself writes: the table, bold kinds, the folded part."""
    lines = [line for line in text.split("\n") if not line.startswith(("|", "<details>", "</details>"))]
    return re.sub(r"\*\*[\w/ ·-]+\*\*", "", "\n".join(lines))


@pytest.mark.parametrize("value", ["`", "``", "a`b", "`a", "a`", "`` ` ``", "", " ", "\n", "a\n\nb", "|"])
def test_code_is_code_whatever_backticks_it_holds(value: str) -> None:
    text = report(verdict(finding(expected=value, got="x"), grade=Grade.WRONG))
    (line,) = [line for line in text.split("\n") if "expected" in line]
    span = re.fullmatch(r"  - expected (`+)( ?)(.*?)\2\1", line)
    assert span is not None
    assert span[1] not in re.findall("`+", span[3])
    assert span[3].strip() == " ".join(value.split())


def test_values_are_cut() -> None:
    text = report(verdict(finding(message="m" * 5_000, expected="x" * 10_000, got=["y" * 10_000]), grade=Grade.WRONG))
    assert "… (10,000 characters)" in text
    assert len(text) < 2_000


def test_many_findings_of_one_verdict_are_cut() -> None:
    text = report(verdict(*(finding(message=f"number {n}") for n in range(5_000)), grade=Grade.WRONG))
    assert "number 19 " in text
    assert "number 20 " not in text
    assert "- … and 4980 more findings" in text


def test_many_verdicts_are_cut_and_it_is_said() -> None:
    bad = [verdict(finding(message="m" * 300), grade=Grade.WRONG, cassette=f"openai-chat/here/{n}") for n in range(1_000)]
    text = report(*bad, verdict(finding(known="k"), grade=Grade.WRONG, known="k"))
    assert len(text) < MOST
    assert "openai-chat/here/0`" in text
    told = re.search(r"… (\d+) more sections are in results.jsonl beside this file.\n$", text)
    assert told is not None
    assert int(told[1]) == 1_001 - text.count("\n## ")


def test_values_that_json_lacks() -> None:
    text = report(verdict(finding(expected=float("nan"), got=10**9_000), grade=Grade.WRONG))
    assert '- expected `"nan"`' in text
