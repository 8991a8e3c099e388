"""The catalogue as people read it."""

from __future__ import annotations

import pytest

from harness.conformance.rules import RULES
from harness.errors import InputError
from harness.findings import KINDS, Finding, Level
from harness.reporting import rules as catalogue
from harness.reporting.results import dumped
from harness.reporting.words import reason


def names(*given: str) -> list[str]:
    return [rule.id for rule in catalogue.chosen(RULES.values(), given)]


def test_rules_are_chosen_by_id_group_kind_and_area() -> None:
    assert names("OAI-C-022") == ["OAI-C-022"]
    assert names("OAI-C-022", "OAI-C-001", "OAI-C-022") == ["OAI-C-022", "OAI-C-001"]
    assert set(names("NDJ")) == {rule for rule in RULES if rule.startswith("NDJ-")}
    assert names("tool/index-missing") == ["OAI-C-022"]
    assert set(names("tool")) == {rule.id for rule in RULES.values() if rule.kind.startswith("tool/")}
    with pytest.raises(InputError, match="no rule is called 'OAI-X'"):
        names("NDJ", "OAI-X")


def test_they_stand_group_by_group_and_by_number() -> None:
    listed = [rule.id for rule in catalogue.in_order(RULES.values())]
    assert sorted(listed) == sorted(RULES)
    ndjson = [rule for rule in listed if rule.startswith("NDJ-")]
    at = listed.index(ndjson[0])
    assert ndjson == sorted(ndjson) == listed[at : at + len(ndjson)]


@pytest.mark.parametrize("rule", list(RULES))
def test_every_rule_can_be_listed_explained_and_written(rule: str) -> None:
    one = RULES[rule]
    assert catalogue.listed(one).startswith(f"{rule}  {one.level.value}")
    told = "\n".join(catalogue.explained(one))
    assert all(words in told for words in (one.says, one.why, one.bad, one.good, one.source, one.seen))
    assert dumped(catalogue.as_dict(one))
    why = reason(Finding(kind=one.kind, message="m", rule=rule, graded=Level.MUST))
    assert why.startswith(one.why)
    assert why.endswith(f"   streamproof rules {rule}")


def test_what_no_rule_says_has_no_reason() -> None:
    assert reason(Finding(kind="field/unknown", message="m")) == ""
    assert reason(Finding(kind="field/unknown", message="m", rule="XYZ-001")) == ""
    assert reason(Finding(kind="field/unknown", message="m", rule="OAI-C-001", graded=Level.INFO)) == ""


def test_a_kind_without_a_rule_is_explained() -> None:
    with pytest.raises(InputError, match="no rule has findings of the kind 'field/type'") as error:
        catalogue.chosen(RULES.values(), ["field/type"])
    assert KINDS["field/type"].says in str(error.value)
