"""What the tests of a session share: cassettes, one server for each set of them, and what was deselected and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import pytest

from harness import cassette as cassettes
from harness.adapters import Ours
from harness.cassette.model import Cassette
from harness.conformance.verdict import Check, Grade, Verdict
from harness.errors import HarnessError
from harness.findings import Finding
from harness.matrix import Bench, Cell
from harness.matrix.cells import plan
from harness.response import Response
from harness.serving import Served, serving
from harness.testing.conformance import Known, ProviderConformance
from harness.testing.declared import Roots, checked, roots_of, several
from harness.testing.door import InProcess, NoObservation
from harness.testing.failing import told
from harness.testing.report import kept

_STALL = 30.0  # seconds that the server waits where a fault has it stall


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says instead of the class; `words` are the same, to be said again."""

    roots: Roots = ()
    dialects: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Case:
    """One test: a cassette and a fault, asked of the class's adapter."""

    session: Session
    roots: Roots
    cassette: Cassette
    fault: str | None
    adapter: str
    item: pytest.Item | None = None

    @property
    def id(self) -> str:
        return self.cassette.id + (f"-{self.fault}" if self.fault else "")

    def __repr__(self) -> str:
        return f"<{self.adapter} {self.id}>"  # pytest shows it

    def check(self, tests: ProviderConformance) -> None:
        """Ask, grade, and fail with all that a maintainer needs."""
        __tracebackhide__ = True
        bench = self.session.bench(self.roots, tests)
        door = InProcess(tests.observe, self.cassette.id, self.fault, tests.backend)
        cell = Cell(subject=self.adapter + _variant(self.item), cassette=self.cassette.id, fault=self.fault)
        try:
            verdict = bench.verdict(cell, door)
        except NoObservation as error:
            raise error.with_traceback(None) from None
        if verdict.grade is Grade.PASS and door.slip:
            hint = "this was raised by the test's own lines; that a turn failed is told by an error of the adapter"
            raise NoObservation(f"{hint}\n{door.trace}")
        if self.item is not None:
            self.item.user_properties.append(kept(verdict, tests.version))
        if verdict.grade is Grade.HARNESS_ERROR:
            raise RuntimeError(verdict.findings[0].message)
        if verdict.grade is Grade.UNSUPPORTED and verdict.findings[0].kind != "subject/never-asked":
            pytest.skip(verdict.findings[0].message)
        if verdict.grade is not Grade.PASS:
            pytest.fail(told(verdict, bench, cell, self.item, self.session.options.words, door.trace), pytrace=False)


@dataclass(slots=True)
class Session:
    """Lives as long as pytest's session does."""

    options: Options
    stack: ExitStack = field(default_factory=ExitStack)
    deselected: list[tuple[Verdict, str]] = field(default_factory=list)
    """The tests that there are not, with the version of their adapter."""
    _names: dict[str, type[ProviderConformance]] = field(default_factory=dict)
    _servers: dict[Roots, tuple[list[Cassette], Served]] = field(default_factory=dict)
    _benches: dict[tuple[Roots, float, tuple[str, ...]], Bench] = field(default_factory=dict)

    def cases(self, tests: type[ProviderConformance]) -> list[Case]:
        """The tests of a class. Raises `CollectError` for a class that says what cannot be."""
        try:
            return self._cases(tests)
        except HarnessError as error:
            raise pytest.Collector.CollectError(f"{tests.__name__}: {error}") from None

    def _cases(self, tests: type[ProviderConformance]) -> list[Case]:
        spoken, options = checked(tests), self.options
        roots = options.roots or roots_of(tests)
        chosen = _chosen(tests, spoken, roots) if not options.roots else _streams(roots, spoken)
        chosen = [case for case in chosen if not options.dialects or case.dialect in options.dialects]
        rows = plan((), chosen, options.faults or several(tests.faults)).rows
        name = self._named(tests)
        made = [Case(self, roots, case, fault, name) for case, fault in rows if self._wants(tests, name, case, fault)]
        if not (options.roots or options.dialects or options.faults):
            _stale(several(tests.known), made)
        return made

    def bench(self, roots: Roots, tests: ProviderConformance) -> Bench:
        """What asks for the cells of these cassettes, with a server that lives until the session ends."""
        omits = several(tests.omits)
        key = roots, tests.timeout, omits
        if key not in self._benches:
            cases, server = self._server(roots)
            self._benches[key] = Bench(cases, server, timeout=tests.timeout, omits=lambda _subject, _dialect: frozenset(omits))
        return self._benches[key]

    def _server(self, roots: Roots) -> tuple[list[Cassette], Served]:
        if roots not in self._servers:
            cases = [case for case in _all(roots) if case.stream is not None]
            self._servers[roots] = cases, self.stack.enter_context(serving(cases, stall=_STALL))
        return self._servers[roots]

    def _named(self, tests: type[ProviderConformance]) -> str:
        """The name of the adapter in reports; classes of one name are told apart by their modules."""
        name = tests.adapter or tests.__name__
        if self._names.setdefault(name, tests) is not tests:
            name = f"{tests.__module__}.{name}"
        return name

    def _wants(self, tests: type[ProviderConformance], name: str, case: Cassette, fault: str | None) -> bool:
        reason = tests.lacks(case)
        if reason is not None:
            self.deselected.append((_unsupported(name, case, fault, reason), tests.version))
        return reason is None


def known_of(tests: type[ProviderConformance], case: Case) -> Known | None:
    """The known deviation that a test is one of."""
    return next((entry for entry in several(tests.known) if entry.covers(case.cassette.id, case.fault)), None)


def response_of(case: Cassette) -> Response | None:
    """What a stream says, as our own pipeline reads it."""
    return Ours().observe(case.stream, case.dialect).response if case.stream is not None else None


@lru_cache(maxsize=16)
def _all(roots: Roots) -> tuple[Cassette, ...]:
    return tuple(case for root in roots for case in cassettes.load(root))


def _streams(roots: Roots, spoken: Sequence[str]) -> list[Cassette]:
    return [case for case in _all(roots) if case.stream is not None and case.dialect in spoken]


def _chosen(tests: type[ProviderConformance], spoken: Sequence[str], roots: Roots) -> list[Cassette]:
    """The streams that a class is about. Raises `HarnessError` for a word of it by which nothing is chosen."""
    there, select = _streams(roots, spoken), several(tests.select)
    chosen = [case for case in there if any(fnmatchcase(case.id, glob) for glob in select)]
    where = f"in {', '.join(map(str, roots))}"
    for glob in select:
        if not any(fnmatchcase(case.id, glob) for case in there):
            raise HarnessError(f"select has {glob!r}, and there is no such stream of {', '.join(spoken)} {where}")
    for dialect in spoken:
        if not any(case.dialect == dialect for case in chosen):
            raise HarnessError(f"dialects has {dialect!r}, and there is no stream of it that it selects {where}")
    return chosen


def _stale(known: Iterable[Known], made: Iterable[Case]) -> None:
    there = [(case.cassette.id, case.fault) for case in made]
    for entry in known:
        if not any(entry.covers(*cell) for cell in there):
            what = f"{entry.cassettes!r} with fault {entry.fault!r} ({entry.reason})"
            raise HarnessError(f"the known deviation {what} names no test any more; remove it")


def _variant(item: pytest.Item | None) -> str:
    """What else the test is parametrized by: the adapter is asked in several ways, which are several adapters to a report."""
    spec: Any = getattr(item, "callspec", None)
    others = {name: value for name, value in spec.params.items() if name != "streamproof_case"} if spec is not None else {}
    words = [str(value) if isinstance(value, (str, int)) else f"{name}{spec.indices[name]}" for name, value in others.items()]
    return f"[{'-'.join(words)}]" if words else ""


def _unsupported(adapter: str, case: Cassette, fault: str | None, reason: str) -> Verdict:
    return Verdict(
        cassette=case.id,
        dialect=case.dialect,
        provider=case.provider,
        adapter=adapter,
        fault=fault,
        check=Check.REASSEMBLY,
        grade=Grade.UNSUPPORTED,
        findings=(Finding(kind="subject/unsupported", message=reason),),
    )
