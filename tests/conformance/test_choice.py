"""Which findings somebody wants to hear of: names of rules, groups, kinds and areas, and how grave they are."""

from __future__ import annotations

import pytest

from harness.conformance.rules import RETIRED, RULES
from harness.conformance.rules.choice import EVERYTHING, Choice, known_name, means
from harness.errors import InputError
from harness.findings import KINDS, Finding, Level

INDEX = Finding(kind="tool/index-missing", message="m", rule="OAI-C-022")
FIELD = Finding(kind="field/unknown", message="m")


@pytest.mark.parametrize(
    ("name", "index", "field"),
    [
        ("OAI-C-022", True, False),
        ("OAI-C", True, False),
        ("OAI-C-", True, False),
        ("OAI-C*", True, False),
        ("OAI", True, False),
        ("OAI-C-02", False, False),
        ("OAI-C-0", False, False),
        ("tool/index-missing", True, False),
        ("tool", True, False),
        ("tool/*", True, False),
        ("tool/index", False, False),
        ("field/unknown", False, True),
        ("field", False, True),
        ("", False, False),
        ("*", False, False),
    ],
)
def test_what_a_name_stands_for(name: str, index: bool, field: bool) -> None:
    assert (means(name, INDEX.rule, INDEX.kind), means(name, FIELD.rule, FIELD.kind)) == (index, field)


def test_every_rule_and_every_kind_can_be_named() -> None:
    for name in (*RULES, *KINDS, *(rule.group for rule in RULES.values()), *(kind.partition("/")[0] for kind in KINDS)):
        assert known_name(name)


def wanted(choice: Choice) -> list[Finding]:
    return [finding for finding in (INDEX, FIELD) if choice.wants(finding)]


def test_everything_is_wanted_unless_something_is_said() -> None:
    assert wanted(EVERYTHING) == [INDEX, FIELD]
    assert Choice.of(None, None) == EVERYTHING
    assert EVERYTHING.all
    assert EVERYTHING.said() == []


def test_what_is_selected_and_what_is_ignored() -> None:
    assert wanted(Choice.of(["tool"], None)) == [INDEX]
    assert wanted(Choice.of(None, ["OAI-C-022"])) == [FIELD]
    assert wanted(Choice.of(["OAI-C"], ["OAI-C-022"])) == [], "what is ignored is ignored, whatever is selected"
    assert Choice.of(["tool,field", "SSE OAI-C"], []).select == ("tool", "field", "SSE", "OAI-C")
    assert Choice.of(["tool,field"], ["SSE"]).said() == ["--select tool", "--select field", "--ignore SSE"]


def test_the_least_grave_that_is_told() -> None:
    def graded(level: Level) -> list[Level]:
        choice = Choice.of(None, None, level)
        return [one for one in Level if choice.wants(Finding(kind="field/unknown", message="m", graded=one))]

    assert graded(Level.INFO) == [Level.MUST, Level.SHOULD, Level.INFO]
    assert graded(Level.SHOULD) == [Level.MUST, Level.SHOULD]
    assert graded(Level.MUST) == [Level.MUST]


@pytest.mark.parametrize("options", [(["OAI-C-999"], None), (None, ["OAI-C-999"])])
def test_a_name_that_stands_for_nothing(options: tuple[list[str] | None, list[str] | None]) -> None:
    with pytest.raises(InputError, match=r"no rule is called 'OAI-C-999' \(did you mean OAI-C-"):
        Choice.of(*options)
    with pytest.raises(InputError, match="streamproof rules lists them all"):
        Choice.of(["zzzzzzzz"], None)


@pytest.mark.skipif(not RETIRED, reason="no rule is retired")
def test_a_rule_that_is_retired() -> None:
    for rule, why in RETIRED.items():
        with pytest.raises(InputError) as error:
            Choice.of([rule], None)
        assert why in error.value.message
