"""What the tests of a session share: cassettes, one server for each set of them, and what was deselected and why."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from harness import cassette as cassettes
from harness import dialects
from harness.adapters import Ours
from harness.cassette.model import Cassette
from harness.conformance.verdict import Grade, Verdict
from harness.errors import HarnessError
from harness.matrix import Bench, Cell
from harness.matrix.cells import NO_FAULT, plan
from harness.response import Response
from harness.serving import serving
from harness.testing.conformance import Known, ProviderConformance
from harness.testing.door import InProcess
from harness.testing.failing import told

Roots = tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One test: a cassette and a fault, asked of the class's adapter."""

    session: Session
    roots: Roots
    cassette: Cassette
    fault: str | None
    node: pytest.Item | None = None

    @property
    def id(self) -> str:
        return self.cassette.id + (f"-{self.fault}" if self.fault else "")

    def check(self, tests: ProviderConformance) -> None:
        """Ask, grade, and fail with all that a maintainer needs."""
        bench = self.session.bench(self.roots, tests)
        door = InProcess(tests.observe, self.cassette.id, self.fault, tests.backend)
        cell = Cell(subject=type(tests).__name__, cassette=self.cassette.id, fault=self.fault)
        verdict = bench.verdict(cell, door)
        if self.node is not None:
            self.node.user_properties.append(("streamproof", json.dumps(verdict.as_dict(), default=str)))
        if verdict.grade is Grade.HARNESS_ERROR:
            raise RuntimeError(verdict.findings[0].message)
        if verdict.grade is Grade.UNSUPPORTED and verdict.findings[0].kind != "subject/never-asked":
            pytest.skip(verdict.findings[0].message)
        if verdict.grade is not Grade.PASS:
            again = f"pytest {self.node.nodeid!r}" if self.node is not None else ""
            pytest.fail(told(verdict, bench, cell, again, door.trace), pytrace=False)


@dataclass(slots=True)
class Session:
    """Lives as long as pytest's session does."""

    stack: ExitStack = field(default_factory=ExitStack)
    deselected: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """By class and reason: the tests that there are not."""
    _benches: dict[tuple[Roots, float, tuple[str, ...]], Bench] = field(default_factory=dict)

    def cases(self, tests: type[ProviderConformance], options: Options) -> list[Case]:
        """The tests of a class. Raises `pytest.UsageError` for a class that says what cannot be."""
        name = tests.__name__
        try:
            spoken = [dialects.dialect(each).name for each in tests.dialects]
            if not spoken:
                raise pytest.UsageError(f"{name} has no dialects: write dialects = [{dialects.names()[0]!r}]")
            roots = _roots(options.cassettes or tests.cassettes)
            there = loaded(roots, tuple(each for each in spoken if not options.dialects or each in options.dialects))
            chosen = [case for case in there if case.stream is not None and _any(case.id, tests.select)]
            cells = plan((), chosen, options.faults or tests.faults).rows
        except HarnessError as error:
            raise pytest.UsageError(f"{name}: {error}") from None
        if not chosen and not options.dialects:
            raise pytest.UsageError(f"{name}: no stream of {', '.join(spoken)} in {', '.join(map(str, roots))} that it selects")
        made = [Case(self, roots, case, fault) for case, fault in cells if self._wants(tests, case, fault)]
        if not (options.dialects or options.faults or options.cassettes):
            _stale(tests.known, made, name)
        return made

    def bench(self, roots: Roots, tests: ProviderConformance) -> Bench:
        """What asks for the cells of these cassettes, with a server that lives until the session ends."""
        key = roots, tests.timeout, tuple(tests.omits)
        if key not in self._benches:
            cases = [case for case in _all(roots) if case.stream is not None]
            server = self.stack.enter_context(serving(cases, stall=30.0))
            omits = frozenset(tests.omits)
            self._benches[key] = Bench(cases, server, timeout=tests.timeout, omits=lambda _subject, _dialect: omits)
        return self._benches[key]

    def _wants(self, tests: type[ProviderConformance], case: Cassette, fault: str | None) -> bool:
        reason = tests.lacks(case)
        if reason is not None:
            self.deselected.setdefault((tests.__name__, reason), []).append(f"{case.id} {fault or NO_FAULT}")
        return reason is None


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says instead of the class."""

    cassettes: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def known_of(tests: type[ProviderConformance], case: Case) -> Known | None:
    """The known deviation that a test is one of."""
    return next((entry for entry in tests.known if entry.covers(case.cassette.id, case.fault)), None)


@lru_cache(maxsize=256)
def loaded(roots: Roots, spoken: tuple[str, ...]) -> tuple[Cassette, ...]:
    """The cassettes of these dialects in these places, in order. Raises `CassetteError`."""
    return tuple(case for case in _all(roots) if case.dialect in spoken)


@lru_cache(maxsize=16)
def _all(roots: Roots) -> tuple[Cassette, ...]:
    return tuple(case for root in roots for case in cassettes.load(root))


def response_of(case: Cassette) -> Response | None:
    """What a stream says, as our own pipeline reads it."""
    return Ours().observe(case.stream, case.dialect).response if case.stream is not None else None


def _roots(given: str | Path | Iterable[str | Path]) -> Roots:
    listed = [given] if isinstance(given, (str, Path)) else list(given)
    return tuple(map(Path, listed)) or (cassettes.shipped(),)


def _any(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _stale(known: Iterable[Known], made: Iterable[Case], name: str) -> None:
    there = [(case.cassette.id, case.fault) for case in made]
    for entry in known:
        if not any(entry.covers(*cell) for cell in there):
            what = f"{entry.cassettes!r} with fault {entry.fault!r} ({entry.reason})"
            raise pytest.UsageError(f"{name}: the known deviation {what} names no test any more; remove it")


def verdict_lines(properties: Iterable[tuple[str, Any]]) -> list[dict[str, Any]]:
    """The verdicts that a test has left in its report."""
    return [json.loads(value) for name, value in properties if name == "streamproof"]


__all__ = ["Case", "Options", "Session", "Verdict", "known_of", "response_of", "verdict_lines"]
