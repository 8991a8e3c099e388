"""`check`: what one input comes to, with its findings (product contract, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from harness.adapters import Observation, Ours
from harness.conformance import judge
from harness.conformance.trace import Trace
from harness.errors import Where
from harness.findings import Finding, Level
from harness.inputs import Input


class Outcome(StrEnum):
    """`ok`: no MUST finding. `violation`: a MUST finding, but a turn. `error`: the turn failed."""

    OK = "ok"
    VIOLATION = "violation"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What an input came to."""

    input: Input
    seen: Observation
    findings: tuple[Finding, ...]
    bodies: tuple[bytes, ...]
    """The bodies that spans point into, one for each attempt that was made."""

    def body_of(self, where: Where) -> bytes | None:
        """The body that a place lies in."""
        number = where.exchange or 0
        return self.bodies[number] if number < len(self.bodies) else None

    @property
    def outcome(self) -> Outcome:
        if self.seen.error is not None:
            return Outcome.ERROR
        return Outcome.VIOLATION if any(f.level is Level.MUST for f in self.findings) else Outcome.OK

    def as_dict(self) -> dict[str, Any]:
        error = self.seen.error
        return {
            "input": self.input.name,
            "dialect": self.input.dialect.name,
            "outcome": self.outcome.value,
            "complete": self.seen.complete,
            "response": self.seen.response.as_dict() if self.seen.response else None,
            "error": error.as_dict() if error else None,
            "findings": [finding.as_dict() for finding in self.findings],
        }


def check(given: Input) -> Checked:
    """Judge one input. Of several attempts the last one that a client would make counts: an attempt that failed in a retryable
    way before any output is followed by the next, and its findings are only information."""
    findings: list[Finding] = []
    bodies: list[bytes] = []
    seen = Observation(adapter="ours")
    for number, exchange in enumerate(given.exchanges):
        seen = Ours().observe(exchange, given.dialect)
        trace = Trace(exchange, given.dialect)
        bodies.append(trace.body)
        found = [trace.pinpoint(f.ruled(given.dialect.name)) for f in judge.observed(seen, given.dialect)]
        again = number + 1 < len(given.exchanges) and _retried(seen)
        findings += [_placed(replace(f, graded=Level.INFO) if again else f, number) for f in found]
        if not again:
            break
    return Checked(input=given, seen=seen, findings=tuple(findings), bodies=tuple(bodies))


def _retried(seen: Observation) -> bool:
    """Whether a client would ask again: a retryable failure, and nothing of the turn was shown yet (semantics.md D11)."""
    shown = seen.response is not None and bool(seen.response.parts) and seen.response.text != ""
    return seen.error is not None and seen.error.retryable and not shown


def _placed(finding: Finding, exchange: int) -> Finding:
    return finding.within(Where(exchange=exchange))
