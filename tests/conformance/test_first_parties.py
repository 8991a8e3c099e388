"""No false alarm: on the streams of vendors that speak their own APIs no MUST fails but what is known of a recording.

Such a vendor is a first party; only streams that were recorded, byte for byte, count. `-s` prints the figures.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import dialects, suite
from harness.cassette.model import Cassette
from harness.conformance import known as known_deviations
from harness.conformance.inspection import inspect
from harness.conformance.rules import RULES, Outcome
from harness.conformance.verdict import Check, Verdict
from harness.findings import Level
from tests import corpus
from tests.shared import needed

KNOWN = known_deviations.load(Path(__file__).parents[1] / "corpus-known.toml")
MOST_SHOULD = 0.02  # of all evaluations
DAMAGED = {
    "bedrock-invoke/newrelic-python-agent__external-botocore-mock-external-bedrock-server-invoke-model-2-f5d6": {"ANT-002"},
}
"""Originals that are damaged themselves, with the rules that say so: streams that a keeper cut off."""
EDITED = {
    "openai-responses/ai__openai-responses-openai-phase-1-0-6971": {"RSP-007", "RSP-015", "RSP-023"},
    "openai-responses/ai__openai-responses-openai-shell-container-1-0-75b8": {"RSP-023"},
    "gemini/vertexai-sdk-test-data__vertexai-streaming-success-quotes-escaped-0-7845": {"GGL-002"},
}
"""The same of recordings that are no originals, or were written for a test."""


class Tally(NamedTuple):
    """What came of a rule on the streams that it was evaluated on."""

    passes: int
    fails: int


def say(line: str) -> None:
    sys.stdout.write(f"\n{line}")


@pytest.fixture(scope="module", autouse=True)
def _corpus() -> None:
    needed("corpus")


def first_parties(*, originals: bool = True) -> Iterator[Cassette]:
    """The streams of first parties, without their twins: what differs between those is for another test."""
    for case in corpus.streams(first_party=True):
        assert case.stream is not None
        recorded = case.provenance.kind == "recorded" and case.stream.wire == "original"
        if recorded or not originals:
            yield replace(case, reference=None)


@cache
def verdicts() -> tuple[Verdict, ...]:
    outcome = suite.run(first_parties(originals=False))
    assert not outcome.harness_failed
    marked, _ = known_deviations.apply(outcome.verdicts, KNOWN, date.min)
    return tuple(marked)


@cache
def tallies() -> dict[str, Tally]:
    counts: Counter[tuple[str, Outcome]] = Counter()
    for case in first_parties():
        assert case.stream is not None
        _, judged = inspect(case.stream, case.dialect, case.provider)
        counts.update(judged.outcomes.items())
    return {rule: Tally(counts[rule, Outcome.PASS], counts[rule, Outcome.FAIL]) for rule in RULES}


def of_level(level: Level) -> Tally:
    """The evaluations of all rules of a level, together."""
    mine = [tally for rule, tally in tallies().items() if RULES[rule].level is level]
    return Tally(sum(tally.passes for tally in mine), sum(tally.fails for tally in mine))


def test_there_are_first_parties() -> None:
    """All seven APIs, and enough of each to mean something."""
    streams = Counter(case.dialect for case in first_parties())
    assert set(streams) == set(dialects.names())
    assert sum(streams.values()) >= 350
    say(f"streams of first parties, as recorded: {sum(streams.values())}; {dict(streams)}")


def test_no_must_fails_but_what_is_known() -> None:
    unknown = [
        f"{verdict.cassette}: {finding.rule} {finding.kind}: {finding.message}"
        for verdict in verdicts()
        for finding in verdict.findings
        if finding.fails
    ]
    assert unknown == []


def test_what_is_known_is_of_damaged_recordings() -> None:
    """No entry of known.toml hides a rule that fails on a sound recording. (What vendors' types say has a test of its own.)"""
    explained: dict[str, set[str]] = {}
    for verdict in verdicts():
        for finding in verdict.findings:
            if finding.level is Level.MUST and finding.rule in RULES and verdict.check is not Check.NATIVE:
                explained.setdefault(verdict.cassette, set()).add(str(finding.rule))
    assert explained == DAMAGED | EDITED


def test_originals_that_are_damaged_are_few() -> None:
    """What was cut off is told from what misbehaves: it is named above, and nothing else is wrong with it."""
    originals = {case.id for case in first_parties()}
    assert originals & (DAMAGED.keys() | EDITED.keys()) == DAMAGED.keys()
    must = of_level(Level.MUST)
    say(f"MUST: {must.fails} of {must.passes + must.fails} evaluations fail")
    assert must.fails == sum(map(len, DAMAGED.values()))


def test_should_fails_seldom() -> None:
    should = of_level(Level.SHOULD)
    share = should.fails / (should.passes + should.fails)
    say(f"SHOULD: {should.fails} of {should.passes + should.fails} evaluations fail, {share:.2%}")
    for rule, tally in tallies().items():
        if RULES[rule].level is Level.SHOULD and tally.fails:
            say(f"  {rule}: {tally.fails} of {sum(tally)}: {RULES[rule].says}")
    assert share <= MOST_SHOULD


def test_rules_are_evaluated() -> None:
    """A rule that never applies raises no alarm, and is worth nothing: most MUSTs of each dialect hold somewhere."""
    musts = [rule for rule in RULES.values() if rule.level is Level.MUST and not rule.reader]
    applied = [rule.id for rule in musts if tallies()[rule.id].passes]
    say(f"{len(applied)} of {len(musts)} MUST rules hold on a stream of a first party")
    assert len(applied) >= 150
