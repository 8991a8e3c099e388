"""`check`: what one input comes to, with its findings (product contract, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from harness.adapters import Observation, scenario
from harness.adapters.scenario import Played
from harness.api_error import ApiError, ErrorKind
from harness.cassette.model import Exchange
from harness.conformance import events, judge
from harness.conformance.attribution import attributed, in_order
from harness.conformance.inspection import case_of, inspect, united
from harness.conformance.rules.choice import EVERYTHING, Choice
from harness.conformance.trace import Trace
from harness.errors import Where
from harness.findings import LOST, Finding, Level
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
    played: Played | None = None
    """What the client of a scenario did, if the scenario says how it behaves."""

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
            **({"client": self.played.as_dict()} if self.played is not None else {}),
        }


def check(given: Input, choice: Choice = EVERYTHING) -> Checked:
    """Judge one input. Of several attempts the last one that a client would make counts: an attempt that failed in a retryable
    way before any output is followed by the next, and its findings are only information. A scenario's client is played, and
    decides itself. Of the findings those are told that are wanted, by their place; the outcome goes by them."""
    played = None if given.client is None else scenario.play(given.exchanges, given.dialect, given.client)
    exchanges = given.exchanges if played is None else _as_read(given.exchanges, played)
    findings: list[Finding] = []
    bodies: list[bytes] = []
    seen = Observation(adapter="ours")
    for number, exchange in enumerate(exchanges):
        seen, judged = inspect(exchange, given.dialect, given.provider)
        last = number + 1 == len(exchanges)
        if played is not None and last:
            seen = _told(seen, played)
        cancelled = played is not None and last and played.reply.cancelled  # that it then ends in the middle is nobody's fault
        trace = Trace(exchange, given.dialect)
        bodies.append(trace.body)
        noted = (f.ruled(given.dialect.name) for f in judge.observed(seen, given.dialect))
        told = [f for f in united(noted, judged) if not (cancelled and f.kind in LOST)]
        case = case_of(exchange, given.dialect, given.provider)
        found = trace.pinpointed(attributed(told, case, seen.error))
        again = not last and (played is not None or _retried(seen))
        findings += [_placed(replace(f, graded=Level.INFO) if again else f, number) for f in found]
        if not again:
            break
    wanted = tuple(finding for finding in in_order(findings) if choice.wants(finding))
    return Checked(input=given, seen=seen, findings=wanted, bodies=tuple(bodies), played=played)


def _as_read(exchanges: tuple[Exchange, ...], played: Played) -> tuple[Exchange, ...]:
    """The exchanges that a client asked for, the last one as far as it was read."""
    made = exchanges[: played.requests]
    if not played.reply.cancelled or not made:
        return made
    reads = played.reads[-1] if len(played.reads) == len(made) else 0
    return (*made[:-1], scenario.as_read(made[-1], reads))


def _told(seen: Observation, played: Played) -> Observation:
    """What was observed, with what the loop told of it."""
    if played.reply.cancelled:
        finding = Finding(kind="loop/cancelled", message="the caller cancelled the turn")
        error = ApiError(kind=ErrorKind.CANCELLED, message=finding.message)
        seen = replace(seen, findings=(*seen.findings, finding), error=error)
    seen = replace(seen, events=played.events)
    return replace(seen, findings=(*seen.findings, *events.told(seen, cancelled=played.reply.cancelled)))


def _retried(seen: Observation) -> bool:
    """Whether a client would ask again: a retryable failure, and nothing of the turn was shown yet (semantics.md D11)."""
    shown = seen.response is not None and bool(seen.response.parts) and seen.response.text != ""
    return seen.error is not None and seen.error.retryable and not shown


def _placed(finding: Finding, exchange: int) -> Finding:
    return finding.within(Where(exchange=exchange))
