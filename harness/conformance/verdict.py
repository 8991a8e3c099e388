"""What we say of one cassette, one adapter and one check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from harness.errors import Where
from harness.findings import Finding, Level


class Check(StrEnum):
    """What was looked at (product contract, section 8)."""

    FRAMING = "framing"
    REASSEMBLY = "reassembly"
    NATIVE = "native"
    REFERENCE = "reference"
    EVENTS = "events"
    RULES = "rules"


class Grade(StrEnum):
    """How it went (product contract, section 7)."""

    PASS = "pass"
    LOSSY = "lossy"
    WRONG = "wrong"
    CRASH = "crash"
    HANG = "hang"
    UNSUPPORTED = "unsupported"
    HARNESS_ERROR = "harness_error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`known` is the reason of the known deviation that explains the grade; `ms` the time it took, in milliseconds."""

    cassette: str
    dialect: str
    provider: str
    check: Check
    grade: Grade
    adapter: str = "ours"
    fault: str | None = None
    known: str | None = None
    findings: tuple[Finding, ...] = ()
    events: int = 0
    ms: float = 0.0

    @property
    def bad(self) -> bool:
        """Whether this verdict makes a run fail."""
        return self.grade not in (Grade.PASS, Grade.UNSUPPORTED) and self.known is None

    def of(self, wanted: Callable[[Finding], bool]) -> Verdict:
        """The verdict by those of its findings that are wanted."""
        return self.with_findings(filter(wanted, self.findings))

    def with_findings(self, findings: Iterable[Finding]) -> Verdict:
        """The verdict with other findings. It is no longer wrong if nothing among them says so."""
        told = tuple(findings)
        wrong = any(finding.level is Level.MUST for finding in told)
        return replace(self, findings=told, grade=Grade.PASS if self.grade is Grade.WRONG and not wrong else self.grade)

    def as_dict(self) -> dict[str, Any]:
        """The line of a results file (product contract, section 8)."""
        return {
            "type": "verdict",
            "cassette": self.cassette,
            "dialect": self.dialect,
            "provider": self.provider,
            "adapter": self.adapter,
            "fault": self.fault,
            "check": self.check.value,
            "grade": self.grade.value,
            "known": self.known,
            "findings": [finding.as_dict() for finding in self.findings],
            "events": self.events,
            "ms": self.ms,
        }


def verdict_of(told: dict[str, Any]) -> Verdict:
    """A verdict from its line of a results file. Raises `ValueError`, `KeyError` or `TypeError` for what is none."""
    return Verdict(
        cassette=told["cassette"],
        dialect=told["dialect"],
        provider=told["provider"],
        adapter=told["adapter"],
        fault=told["fault"],
        check=Check(told["check"]),
        grade=Grade(told["grade"]),
        known=told["known"],
        findings=tuple(map(_finding_of, told["findings"])),
        events=told["events"],
        ms=told["ms"],
    )


def _finding_of(told: dict[str, Any]) -> Finding:
    where = dict(told["where"])
    span = where.pop("span", None)
    return Finding(
        kind=told["kind"],
        message=told["message"],
        rule=told["rule"],
        graded=Level(told["level"]),
        where=Where(**where, span=tuple(span) if span else None),
        expected=told.get("expected"),
        got=told.get("got"),
        blame=told.get("blame"),
        known=told.get("known"),
    )
