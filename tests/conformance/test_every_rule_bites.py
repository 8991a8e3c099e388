"""Every rule passes on a good stream and fails on its mutant: it, the rules that follow from it, and no others.

Laws of readers are proved by liars in the place of mutants (tests/adapters/test_liars.py runs them)."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from harness.cassette import loading
from harness.cassette.model import Cassette, Exchange
from harness.conformance.inspection import inspect
from harness.conformance.rules import RETIRED, RULES, Outcome
from harness.findings import KINDS
from harness.replay.faults import faulty
from tests.adapters.liars import LIES
from tests.conformance.mutants import Mutant, mutants
from tests.shared import needed

MUTANTS = mutants()


@cache
def cassettes() -> dict[str, Cassette]:
    return {cassette.id: cassette for cassette in loading.load(loading.shipped())}


def outcomes(stream: Exchange, mutant: Mutant) -> dict[str, Outcome]:
    cassette = cassettes()[mutant.cassette]
    _, judged = inspect(stream, cassette.dialect, mutant.provider or cassette.provider)
    assert not judged.errors
    return dict(judged.outcomes)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_mutant(mutant: Mutant) -> None:
    cassette = cassettes()[mutant.cassette]
    exchange = cassette.stream or cassette.reference
    assert exchange is not None
    good = faulty(exchange, cassette.dialect, *mutant.before)
    before = outcomes(good, mutant)
    after = outcomes(faulty(good, cassette.dialect, *mutant.faults), mutant)
    assert before[mutant.rule] is Outcome.PASS
    broken = {rule for rule, outcome in after.items() if outcome is Outcome.FAIL and before[rule] is not Outcome.FAIL}
    assert broken == {mutant.rule, *mutant.also}


def test_every_rule_of_a_stream_has_a_mutant() -> None:
    proved = {mutant.rule for mutant in MUTANTS}
    bare = [rule.id for rule in RULES.values() if not rule.reader and rule.id not in proved]
    assert not bare, f"rules without a mutant: {bare}"


def test_every_law_of_readers_has_a_liar() -> None:
    proved = {lie.rule for lie in LIES}
    assert proved == {rule.id for rule in RULES.values() if rule.reader}


def test_no_mutant_is_of_an_unknown_rule() -> None:
    assert {rule for proof in (*MUTANTS, *LIES) for rule in (proof.rule, *proof.also)} <= set(RULES)


def test_bytes_break_no_law_of_readers() -> None:
    assert not [mutant.rule for mutant in MUTANTS if RULES[mutant.rule].reader]


def test_every_rule_says_what_it_is() -> None:
    for rule in RULES.values():
        assert rule.kind in KINDS, rule.id
        for text in (rule.says, rule.source, rule.why, rule.bad, rule.good):
            assert text.strip(), rule.id
        assert len(rule.says) <= 160, rule.id


def test_no_statement_is_made_twice() -> None:
    assert [says for says, count in Counter(rule.says for rule in RULES.values()).items() if count > 1] == []


@pytest.fixture(scope="module")
def specified() -> dict[str, str]:
    """The level of each rule in the specification."""
    text = (needed("spec") / "rules.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| ([A-Z]+(?:-C)?-\d{3}) \| (MUST|SHOULD|INFO) ", text, re.MULTILINE))


def test_the_catalogue_is_the_specified_one(specified: dict[str, str]) -> None:
    assert len(specified) == 326
    assert set(RULES) | set(RETIRED) == set(specified)
    assert not set(RULES) & set(RETIRED)
    assert len(RETIRED) <= 15


def test_another_level_than_the_specified_one_has_a_reason(specified: dict[str, str]) -> None:
    changed = {rule.id for rule in RULES.values() if rule.level.value.upper() != specified[rule.id]}
    assert changed == {rule.id for rule in RULES.values() if rule.changed}
