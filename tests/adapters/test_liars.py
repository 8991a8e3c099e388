"""Every law of readers is kept by the honest reader and broken by its liar: it, the laws that follow from it, and no others."""

from __future__ import annotations

from functools import cache

import pytest

from harness.adapters import Ours
from harness.cassette import loading
from harness.cassette.model import Cassette
from harness.conformance.readings import Adapter, judge_reader
from harness.conformance.rules import Outcome
from tests.adapters.liars import LIES, Lie


@cache
def cassettes() -> dict[str, Cassette]:
    return {cassette.id: cassette for cassette in loading.load(loading.shipped())}


def outcomes(adapter: Adapter, cassette: str) -> dict[str, Outcome]:
    judged = judge_reader(adapter, cassettes()[cassette])
    assert not judged.errors
    return dict(judged.outcomes)


@cache
def honestly(cassette: str) -> dict[str, Outcome]:
    return outcomes(Ours(loop=True), cassette)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.rule)
def test_lie(lie: Lie) -> None:
    before, after = honestly(lie.cassette), outcomes(lie.liar(), lie.cassette)
    assert before[lie.rule] is Outcome.PASS
    broken = {rule for rule, outcome in after.items() if outcome is Outcome.FAIL and before[rule] is not Outcome.FAIL}
    assert broken == {lie.rule, *lie.also}
