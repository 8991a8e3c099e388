"""Known deviations: what an entry explains, and when it is a failure itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.conformance.known import Known, apply, load
from harness.conformance.verdict import Check, Grade, Verdict
from harness.errors import KnownError, Where
from harness.findings import Finding, Level

TODAY = date(2026, 12, 1)
PATH = "/choices/0/message/content"


def finding(kind: str = "reference/value", path: str | None = PATH, **more: Any) -> Finding:
    return Finding(kind=kind, message="", where=Where(path=path), **more)


def verdict(*findings: Finding, cassette: str = "openai-chat/here/text", grade: Grade | None = None) -> Verdict:
    wrong = any(f.level is Level.MUST for f in findings)
    return Verdict(
        cassette=cassette,
        dialect="openai-chat",
        provider="here",
        check=Check.REFERENCE,
        grade=grade or (Grade.WRONG if wrong else Grade.PASS),
        findings=findings,
    )


def entry(**more: Any) -> Known:
    usual = {
        "place": "known.toml entry 1",
        "rule": "reference/value",
        "reason": "sampled",
        "evidence": "text",
        "cassettes": ("*",),
    }
    return Known(**{**usual, **more})


def applied(verdicts: list[Verdict] | Verdict, *known: Known) -> tuple[list[Verdict], list[str]]:
    return apply([verdicts] if isinstance(verdicts, Verdict) else verdicts, known, TODAY)


# what an entry explains


@pytest.mark.parametrize("rule", ["reference/absent", "REASM-003"])
def test_an_entry_is_about_a_kind_or_about_a_rule(rule: str) -> None:
    ((marked,), stale) = applied(verdict(finding("reference/absent", rule="REASM-003")), entry(rule=rule))
    assert (marked.known, marked.grade, marked.bad, stale) == ("sampled", Grade.WRONG, False, [])
    assert marked.findings[0].known == "sampled"
    assert not marked.findings[0].fails


@pytest.mark.parametrize("rule", ["reference/absent", "reference", "reference/*", "REASM-004", "reference/valu"])
def test_an_entry_is_about_nothing_else(rule: str) -> None:
    ((marked,), stale) = applied(verdict(finding()), entry(rule=rule))
    assert (marked.known, marked.bad, len(stale)) == (None, True, 1)


@pytest.mark.parametrize(
    ("pattern", "explains"),
    [
        (None, True),
        ("/choices/*/message/content", True),
        ("/choices/0/message/content", True),
        ("/choices/*/message/*", True),
        ("/choices/*/message/con*", True),
        ("/choices/**", True),
        ("/**", True),
        ("/choices/1/message/content", False),
        ("/choices/*/message", False),
        ("/choices/*", False),  # a step is a step: an entry hides nothing that lies deeper
        ("/*", False),
        ("*", False),
        ("/choices/*/message/content/**", False),
        ("/choices/*/message/Content", False),
        ("choices/*/message/content", False),
        ("", False),
    ],
)
def test_an_entry_is_about_its_place(pattern: str | None, explains: bool) -> None:
    ((marked,), stale) = applied(verdict(finding()), entry(path=pattern))
    assert (marked.known is not None, bool(stale)) == (explains, not explains)


def test_the_place_of_a_difference_by_shape_has_stars_itself() -> None:
    ((marked,), _) = applied(verdict(finding(path="/choices/*/message/content")), entry(path="/choices/*/message/content"))
    assert marked.known


@pytest.mark.parametrize(
    ("path", "pattern", "explains"), [(None, None, True), (None, "", True), (None, "/x", False), ("", "", True)]
)
def test_findings_that_have_no_place(path: str | None, pattern: str | None, explains: bool) -> None:
    ((marked,), _) = applied(verdict(finding(path=path)), entry(path=pattern))
    assert (marked.known is not None) is explains


@pytest.mark.parametrize(
    ("globs", "covers"),
    [
        (("*",), True),
        (("openai-chat/here/text",), True),
        (("openai-chat/here/*",), True),
        (("*/text",), True),
        (("*ext", "nothing"), True),
        (("text",), False),
        (("openai-chat/here",), False),
        (("Openai-chat/*",), False),
        ((), False),
    ],
)
def test_an_entry_covers_cassettes_by_globs(globs: tuple[str, ...], covers: bool) -> None:
    ((marked,), stale) = applied(verdict(finding()), entry(cassettes=globs))
    assert (marked.known is not None) is covers
    assert stale == []  # an entry whose cassettes were not looked at cannot be told to be stale


# several findings, several entries


def test_every_must_needs_a_reason() -> None:
    both = verdict(finding(), finding("reference/extra", "/x"))
    ((marked,), stale) = applied(both, entry())
    assert (marked.known, marked.bad, stale) == (None, True, [])
    assert [f.known for f in marked.findings] == ["sampled", None]
    assert [f.fails for f in marked.findings] == [False, True]


def test_reasons_are_told_once_each_and_in_order() -> None:
    findings = (finding(), finding("reference/extra", "/x"), finding("reference/extra", "/y"), finding(path="/z"))
    known = (entry(rule="reference/extra", reason="more"), entry(reason="sampled"))
    ((marked,), stale) = applied(verdict(*findings), *known)
    assert (marked.known, marked.bad, stale) == ("sampled; more", False, [])


def test_several_entries_may_explain_one_finding() -> None:
    """The first gives the reason; none of them is stale."""
    ((marked,), stale) = applied(verdict(finding()), entry(reason="one"), entry(reason="two", path=PATH))
    assert (marked.known, stale) == ("one", [])


def test_an_entry_for_what_does_not_fail_is_not_stale_and_explains_no_verdict() -> None:
    ((marked,), stale) = applied(verdict(finding("field/unknown", "/x")), entry(rule="field/unknown"))
    assert (marked.known, marked.grade, stale) == (None, Grade.PASS, [])
    assert marked.findings[0].known == "sampled"


def test_what_does_not_fail_gives_a_failing_verdict_no_reason() -> None:
    both = verdict(finding(), finding("field/unknown", "/x"))
    ((marked,), _) = applied(both, entry(rule="field/unknown", reason="a new field"))
    assert (marked.known, marked.bad) == (None, True)
    ((marked,), _) = applied(both, entry(rule="field/unknown", reason="a new field"), entry())
    assert marked.known == "sampled"


@pytest.mark.parametrize("grade", [Grade.HARNESS_ERROR, Grade.CRASH, Grade.HANG, Grade.LOSSY])
def test_only_wrong_verdicts_can_be_known(grade: Grade) -> None:
    ((marked,), _) = applied(verdict(finding(), grade=grade), entry())
    assert (marked.known, marked.bad) == (None, True)


# when an entry is a failure itself


def test_an_entry_that_explains_nothing_is_stale() -> None:
    _, (complaint,) = applied(verdict(), entry())
    assert complaint == "known.toml entry 1: reference/value explains nothing any more (sampled); remove it"


def test_one_cassette_of_those_covered_is_enough() -> None:
    others = [verdict(cassette="openai-chat/here/other"), verdict(finding())]
    assert applied(others, entry())[1] == []


def test_nothing_is_stale_where_only_some_cassettes_are_looked_at() -> None:
    assert applied(verdict(), entry(partial=True))[1] == []


@pytest.mark.parametrize(
    ("until", "fails"), [(date(2026, 11, 30), True), (TODAY, True), (date(2026, 12, 2), False), (None, False)]
)
@pytest.mark.parametrize("partial", [True, False])
def test_an_entry_fails_from_its_day_on(until: date | None, fails: bool, partial: bool) -> None:
    ((marked,), stale) = applied(verdict(finding()), entry(until=until, partial=partial))
    assert marked.known == "sampled"
    assert bool(stale) is fails
    assert not stale or "was to be looked at by" in stale[0]


def test_the_day_counts_though_its_cassettes_are_not_there() -> None:
    assert len(applied([], entry(until=TODAY))[1]) == 1


def test_nothing_known_changes_nothing() -> None:
    given = [verdict(finding()), verdict()]
    assert applied(given) == (given, [])


def test_marking_leaves_what_was_given_alone() -> None:
    given = verdict(finding())
    copy = replace(given)
    applied(given, entry())
    assert given == copy


# the file

WHOLE = """
[[known]]
rule = "reference/value"
cassettes = ["tool-*", "text"]
path = "/x"
reason = "r"
evidence = "e"
until = 2027-01-01

[[known]]
rule = "OAI-C-001"
reason = "r"
evidence = "e"
"""


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "known.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_a_file_is_read(tmp_path: Path) -> None:
    file = written(tmp_path, WHOLE)
    one, two = load(file, "openai-chat/here", partial=True)
    assert one == Known(
        place=f"{file} entry 1",
        rule="reference/value",
        reason="r",
        evidence="e",
        cassettes=("openai-chat/here/tool-*", "openai-chat/here/text"),
        path="/x",
        until=date(2027, 1, 1),
        partial=True,
    )
    assert (two.cassettes, two.path, two.until) == (("openai-chat/here/*",), None, None)
    assert load(file)[1].cassettes == ("*",)


@pytest.mark.parametrize("text", ["", "# nothing\n", "known = []\n"])
def test_a_file_may_be_empty(text: str, tmp_path: Path) -> None:
    assert load(written(tmp_path, text)) == []


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('[[known]]\nrule = "x"\nevidence = "e"\n', "known entry 1 reason", "Field required"),
        ('[[known]]\nrule = "x"\nreason = "r"\n', "known entry 1 evidence", "Field required"),
        ('[[known]]\nreason = "r"\nevidence = "e"\n', "known entry 1 rule", "Field required"),
        (WHOLE + '[[known]]\nrule = "x"\nreason = ""\nevidence = "e"\n', "known entry 3 reason", "at least 1 character"),
        ('[[known]]\nrule = "x"\nreason = "  "\nevidence = "e"\n', "known entry 1 reason", "at least 1 character"),
        ('[[known]]\nrule = "x"\nreason = "r"\nevidence = "e"\npaht = "/x"\n', "known entry 1 paht", "not permitted"),
        ('[[known]]\nrule = "x"\nreason = "r"\nevidence = "e"\nuntil = "soon"\n', "known entry 1 until", "date"),
        ('[[known]]\nrule = "x"\nreason = "r"\nevidence = "e"\ncassettes = "a"\n', "known entry 1 cassettes", "list"),
        ('[[unknown]]\nrule = "x"\n', "unknown", "not permitted"),
        ("known = 1\n", "known", "list"),
        ("[[known\n", "", "is no TOML"),
        (b"\xff\xfe", "", "is no TOML"),
    ],
)
def test_a_file_that_cannot_be_read(text: str | bytes, place: str, message: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    with pytest.raises(KnownError) as error:
        load(file)
    assert str(error.value.where).startswith(str(file))
    assert str(error.value.where).endswith(place)
    assert message in error.value.message
    assert "rule, reason and evidence" in (error.value.hint or "")


@pytest.mark.parametrize(("rule", "hint"), [("OAI-C-999", "did you mean OAI-C-"), ("tool", None), ("*", None)])
def test_an_entry_names_a_rule_or_a_kind_that_there_is(rule: str, hint: str | None, tmp_path: Path) -> None:
    file = written(tmp_path, WHOLE + f'[[known]]\nrule = "{rule}"\nreason = "r"\nevidence = "e"\n')
    with pytest.raises(KnownError) as error:
        load(file)
    assert error.value.where == f"{file} known entry 3 rule"
    assert f"no rule is called {rule!r}" in error.value.message
    assert hint is None or hint in (error.value.hint or "")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.toml", tmp_path):
        with pytest.raises(KnownError) as error:
            load(path)
        assert (error.value.where, "cannot be read" in error.value.message) == (str(path), True)
