"""Which cells there are: a client is asked for every cassette whose API it speaks, with every fault that changes something."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness import dialects
from harness.adapters.subjects import Subject
from harness.cassette.model import Cassette, Exchange
from harness.replay.faults import catalogue

NO_FAULT = "none"
"""The word for a cassette as it is."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """One client, one cassette, one fault; None is the cassette as it is. Several faults in a row are joined by `+`."""

    subject: str
    cassette: str
    fault: str | None = None

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(self.fault.split("+")) if self.fault else ()

    @property
    def key(self) -> str:
        """The cell in one line, as the journal has it."""
        return f"{self.subject} {self.cassette} {self.fault or NO_FAULT}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The cells of a run in the order of their subjects. `rows` are the cassettes and faults that they are made of, `idle` the
    pairs of which there is no cell, since the fault has nothing to change there."""

    cells: tuple[Cell, ...]
    rows: tuple[tuple[Cassette, str | None], ...] = ()
    idle: tuple[tuple[str, str], ...] = ()


def plan(subjects: Iterable[Subject], cassettes: Sequence[Cassette], faults: Iterable[str]) -> Plan:
    """All cells of these. Only recorded streams can be asked for. Raises `UnknownFaultError`."""
    wanted = list(dict.fromkeys(None if fault == NO_FAULT else fault for fault in faults)) or [None]
    for fault in filter(None, wanted):
        for name in fault.split("+"):
            catalogue.called(name)
    streams = [case for case in cassettes if case.stream is not None]
    rows = [(case, fault) for case in streams for fault in wanted]
    meant = [(case, fault) for case, fault in rows if fault is None or _applies(fault, case)]
    idle = tuple((case.id, fault) for case, fault in rows if fault is not None and (case, fault) not in meant)
    cells = tuple(
        Cell(subject=subject.name, cassette=case.id, fault=fault)
        for subject in subjects
        for case, fault in meant
        if case.dialect in subject.dialects
    )
    return Plan(cells=cells, rows=tuple(meant), idle=idle)


def stream_of(case: Cassette) -> Exchange:
    """The stream of a cassette that has one. Raises `ValueError`."""
    if case.stream is None:
        raise ValueError(f"{case.id} has no stream")
    return case.stream


def _applies(fault: str, case: Cassette) -> bool:
    dialect = dialects.dialect(case.dialect)
    return all(catalogue.applicable(name, stream_of(case), dialect) for name in fault.split("+"))
