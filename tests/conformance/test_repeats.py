"""Rules do not see payloads that merely repeat the one before: they say the same as if they had seen every one.

The comparison is with a collector that never learns what a payload looks like, and so decodes and shows them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from harness import dialects
from harness.cassette import loading
from harness.cassette.model import Cassette, Exchange
from harness.conformance.inspection import inspect
from harness.conformance.rules import Inspector, Outcome
from harness.dialects.repeats import Repeats
from harness.replay.faults import faulty
from tests import corpus
from tests.conformance.mutants import Mutant, mutants
from tests.shared import needed

_SHIPPED = {case.id: case for case in loading.load(loading.shipped())}
Said = dict[str, tuple[Outcome, Any]]


def said(exchange: Exchange, dialect: str, provider: str) -> tuple[Said, int]:
    """What each rule says: its outcome and the first place where it is broken; and how many payloads the rules were shown."""
    shown = 0
    show = Inspector.payload

    def counted(self: Inspector, *payload: Any) -> None:
        nonlocal shown
        shown += 1
        show(self, *payload)

    with mock.patch.object(Inspector, "payload", counted):
        _, judged = inspect(exchange, dialect, provider)
    assert not judged.errors
    places: dict[str, Any] = {}
    for finding in judged.findings:
        places.setdefault(str(finding.rule), (finding.kind, finding.where))
    return {rule: (outcome, places.get(rule)) for rule, outcome in judged.outcomes.items()}, shown


def compared(exchange: Exchange, dialect: str, provider: str) -> int:
    """Both ways say the same; returns how many payloads the rules were spared."""
    quickly, few = said(exchange, dialect, provider)
    with mock.patch.object(Repeats, "careful", return_value=None):
        thoroughly, all_of_them = said(exchange, dialect, provider)
    assert quickly == thoroughly
    return all_of_them - few


def recorded(dialect: str) -> Iterator[Cassette]:
    yield from (case for case in _SHIPPED.values() if case.dialect == dialect and case.stream is not None)
    yield from (case for case in corpus.streams() if case.dialect == dialect)


@pytest.mark.parametrize("dialect", dialects.names())
def test_recorded_streams(dialect: str) -> None:
    needed("corpus")
    spared = 0
    for case in recorded(dialect):
        assert case.stream is not None
        spared += compared(case.stream, dialect, case.provider)
    assert spared > 0, "nothing was skipped, and nothing compared"


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.rule)
def test_broken_streams(mutant: Mutant) -> None:
    """What breaks a rule is seen, wherever it stands between payloads that repeat each other."""
    case = _SHIPPED[mutant.cassette]
    exchange = case.stream or case.reference
    assert exchange is not None
    broken = faulty(faulty(exchange, case.dialect, *mutant.before), case.dialect, *mutant.faults)
    compared(broken, case.dialect, mutant.provider or case.provider)
