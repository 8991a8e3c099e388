"""Every fault of the catalogue has the effect that it declares, on our own pipeline, with every cassette that it befalls."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from harness import dialects
from harness.adapters import Observation, Ours
from harness.cassette import loading
from harness.cassette.model import Cassette, Exchange
from harness.conformance.inspection import inspect
from harness.conformance.rules import RULES, Outcome
from harness.inputs import Client
from harness.replay.faults.catalogue import CATALOGUE, called
from harness.replay.faults.named import Effect, NamedFault, staged
from harness.replay.faults.primitives import FaultError
from harness.response import Other, Response

OURS = Ours()
NEUTRAL, FAILURES, DEVIATIONS = (
    [fault for fault in CATALOGUE.values() if fault.effect is effect]
    for effect in (Effect.NEUTRAL, Effect.FAILURE, Effect.DEVIATION)
)
SOMETIMES = [fault for fault in CATALOGUE.values() if fault.times is not None]


@cache
def streams() -> list[Cassette]:
    return [case for case in loading.load(loading.shipped()) if case.stream is not None]


def made(fault: NamedFault, case: Cassette, attempt: int = 0) -> Exchange | None:
    """The stream with the fault; None where it finds nothing to change."""
    assert case.stream is not None
    try:
        return staged(case.stream, dialects.dialect(case.dialect), [called(fault.name)], attempt)
    except FaultError:
        return None


@cache
def plain(name: str) -> Observation:
    case = next(case for case in streams() if case.id == name)
    assert case.stream is not None
    return OURS.observe(case.stream, case.dialect)


def facts(response: Response | None) -> Response | None:
    """What was said. Fields that nobody knows are kept in what is raw."""
    if response is None:
        return None
    parts = tuple(Other(kind=part.kind, raw=None) if isinstance(part, Other) else part for part in response.parts)
    said = replace(response, parts=parts, raw=None)
    return said if said.parts or said.raw_finish_reason or said.usage else None


@pytest.mark.parametrize("fault", NEUTRAL, ids=lambda fault: fault.name)
def test_a_neutral_fault_changes_nothing(fault: NamedFault) -> None:
    befallen = 0
    for case in streams():
        exchange = made(fault, case)
        if exchange is None:
            continue
        befallen += 1
        before, after = plain(case.id), OURS.observe(exchange, case.dialect)
        assert facts(after.response) == facts(before.response), case.id
        assert after.complete == before.complete, case.id
        assert (after.error is None) == (before.error is None), case.id
    assert befallen >= 5


@pytest.mark.parametrize("fault", FAILURES, ids=lambda fault: fault.name)
def test_a_failure_is_told(fault: NamedFault) -> None:
    befallen = 0
    for case in streams():
        exchange = made(fault, case)
        if exchange is None:
            continue
        befallen += 1
        seen = OURS.observe(exchange, case.dialect)
        assert seen.error is not None, case.id
        assert not seen.complete, case.id
    assert befallen >= 5


@pytest.mark.parametrize(
    ("fault", "dialect"),
    [(fault, dialect) for fault in DEVIATIONS for dialect, _ in fault.rules],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_deviation_breaks_its_rule(fault: NamedFault, dialect: str) -> None:
    rule, befallen = fault.rule(dialect) or "", 0
    for case in streams():
        exchange = made(fault, case) if case.dialect == dialect and plain(case.id).complete else None
        if exchange is None or outcomes_before(case.id).get(rule) is not Outcome.PASS:
            continue
        befallen += 1
        assert outcomes(exchange, case)[rule] is Outcome.FAIL, case.id
    assert befallen


@cache
def outcomes_before(name: str) -> dict[str, Outcome]:
    case = next(case for case in streams() if case.id == name)
    assert case.stream is not None
    return outcomes(case.stream, case)


def outcomes(exchange: Exchange, case: Cassette) -> dict[str, Outcome]:
    _, judged = inspect(exchange, case.dialect, case.provider)
    assert not judged.errors
    return dict(judged.outcomes)


@pytest.mark.parametrize("fault", SOMETIMES, ids=lambda fault: fault.name)
def test_what_passes_is_survived_by_trying_again(fault: NamedFault) -> None:
    for dialect in dialects.names():
        case = next(case for case in streams() if case.dialect == dialect and plain(case.id).complete)
        attempts = [made(fault, case, attempt) for attempt in range(2)]
        assert attempts[1] == case.stream
        played = OURS.play([exchange for exchange in attempts if exchange is not None], dialect, Client())
        assert (played.requests, played.reply.error) == (2, None), case.id
        assert facts(played.reply.response) == facts(plain(case.id).response), case.id


def test_there_are_enough() -> None:
    assert len(CATALOGUE) >= 40
    assert min(len(NEUTRAL), len(FAILURES), len(DEVIATIONS)) >= 20


def test_deviations_name_rules_that_exist() -> None:
    assert {rule for fault in DEVIATIONS for _, rule in fault.rules} <= set(RULES)
    assert not [fault.name for fault in CATALOGUE.values() if bool(fault.rules) != (fault.effect is Effect.DEVIATION)]
