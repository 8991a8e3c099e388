"""The main program: cassettes × adapters → observe → judge (product contract, sections 3 and 8)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from harness.adapters import Observation, Ours
from harness.cassette.model import Cassette, Exchange
from harness.conformance import judge
from harness.conformance.inspection import inspect
from harness.conformance.known import Known, apply
from harness.conformance.rules import Judged
from harness.conformance.rules.choice import EVERYTHING, Choice
from harness.conformance.verdict import Check, Grade, Verdict
from harness.errors import HarnessError, Where
from harness.findings import Finding, Level


class Adapter(Protocol):
    """A system under test."""

    name: str

    @property
    def version(self) -> str: ...

    def observe(self, exchange: Exchange, dialect: str) -> Observation: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything that a run came to: the verdicts in the order of the cassettes, and what is wrong with the known list."""

    verdicts: list[Verdict]
    stale: list[str]
    cassettes: int
    seconds: float

    @property
    def conforms(self) -> bool:
        return not self.stale and not any(verdict.bad for verdict in self.verdicts)

    @property
    def harness_failed(self) -> bool:
        return any(verdict.grade is Grade.HARNESS_ERROR for verdict in self.verdicts)


def run(
    cassettes: Iterable[Cassette],
    *,
    adapters: Sequence[Adapter] = (Ours(loop=True),),
    known: Sequence[Known] = (),
    today: date | None = None,
    choice: Choice = EVERYTHING,
    clock: Callable[[], float] = time.perf_counter,
    progress: Callable[[Cassette], None] = lambda _: None,
) -> Outcome:
    """Judge every cassette with every adapter, by the findings that are wanted. `clock` gives seconds; `progress` is told each
    cassette when it is done."""
    started = clock()
    verdicts: list[Verdict] = []
    count = 0
    for cassette in cassettes:
        for adapter in adapters:
            verdicts += (verdict.of(choice.wants) for verdict in _judged(cassette, adapter, clock))
        count += 1
        progress(cassette)
    marked, stale = apply(
        verdicts, known if choice.all else [replace(entry, partial=True) for entry in known], today or date.today()
    )
    return Outcome(verdicts=marked, stale=stale, cassettes=count, seconds=clock() - started)


def _judged(cassette: Cassette, adapter: Adapter, clock: Callable[[], float]) -> Iterator[Verdict]:
    started = clock()
    try:
        (stream, ruled), (reference, plainly) = (
            _observed(adapter, exchange, cassette) for exchange in (cassette.stream, cassette.reference)
        )
        verdicts = judge.judge(cassette, stream, reference, (ruled, plainly))
    except HarnessError:
        raise  # of the input: whoever asked for the run must hear it
    except Exception as error:  # a fault of ours must not end the run, nor be taken for the subject's
        yield _harness_error(cassette, adapter, error)
        return
    each = (clock() - started) * 1000 / max(len(verdicts), 1)
    for verdict in verdicts:
        yield replace(verdict, ms=round(each, 3))


def _observed(adapter: Adapter, exchange: Exchange | None, cassette: Cassette) -> tuple[Observation | None, Judged | None]:
    """What an adapter makes of an exchange; while ours reads it, the rules look on."""
    if exchange is None:
        return None, None
    if isinstance(adapter, Ours):
        return inspect(exchange, cassette.dialect, cassette.provider, reader=adapter)
    return adapter.observe(exchange, cassette.dialect), None


def _harness_error(cassette: Cassette, adapter: Adapter, error: Exception) -> Verdict:
    message = f"the harness itself failed: {type(error).__name__}: {error}; please report it with this cassette"
    finding = Finding(kind="harness/failed", message=message, where=Where(cassette=cassette.id), graded=Level.MUST)
    return Verdict(
        cassette=cassette.id,
        dialect=cassette.dialect,
        provider=cassette.provider,
        adapter=adapter.name,
        check=Check.REASSEMBLY,
        grade=Grade.HARNESS_ERROR,
        findings=(finding,),
    )
