"""Judges one stream by the catalogue, while it is being collected.

The collector recognises payloads that repeat the one before with another text in them, and does not decode those again. Such a
payload breaks no rule that its model did not break: rules are about names, forms and order, and all of these are the same. So
an `Inspector` is shown the payloads that went the careful way, all pieces of the body for what is about bytes, and at the end
what everything came to. A walk that has to see every frame says so (`frames`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from harness.adapters.observation import Observation
from harness.conformance.rules.blame import whose
from harness.conformance.rules.order import Machine, Table
from harness.conformance.rules.rule import Blame, Breach, Need, Outcome, Rule, Said
from harness.conformance.rules.sights import Case, Ending, Head, Marker, Payload, Plain, Unreadable
from harness.dialects.translating import DONE, UNREADABLE
from harness.errors import Where
from harness.findings import LOST, Finding, Level
from harness.framing import Frame

_MOST_NOTES = 50
_NUMBER = re.compile(r"/\d+(?=/|$)")
_MOST_SHOWN = 3  # findings of one rule; the last one says how many more there are


class Walk(Protocol):
    """Shows the rules of a dialect, or of a framing, what there is to be seen in a stream, in its order.

    All methods are optional but `end`: `piece` gets every piece of the body, `frames` every frame, `payload` and `marker` what
    their names say, `plain` an answer that is no stream.
    """

    def end(self, ending: Ending) -> Any:
        """The stream has ended; returns the facts that rules about the end look at (`Ending.facts`)."""


class Court(Protocol):
    """What a walk shows its sights to."""

    case: Case

    def see(self, sight: Any) -> None: ...
    def holds(self, rule: str) -> None: ...
    def breach(self, rule: str, breach: Breach) -> None: ...
    def machine(self, table: Table) -> Machine: ...
    def note(self, kind: str, message: str, path: str | None = None) -> None: ...
    def fault(self, kind: str, message: str, path: str, expected: Any = None, got: Any = None) -> None: ...


@dataclass(slots=True)
class _Tally:
    rule: Rule
    passes: int = 0
    breaches: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def outcome(self) -> Outcome:
        if self.breaches:
            return Outcome.FAIL
        return Outcome.PASS if self.passes else Outcome.NOT_APPLICABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the catalogue says of a stream. `errors` are rules that could not be evaluated: a fault of the harness."""

    outcomes: Mapping[str, Outcome]
    findings: tuple[Finding, ...]
    errors: tuple[str, ...] = ()


class Inspector:
    """The rules that apply to a case, and what they have said so far."""

    def __init__(
        self, case: Case, rules: Iterable[Rule], walks: Iterable[Callable[[Court], Walk]], *, notes: bool = True
    ) -> None:
        self.case = case
        self._notes: dict[tuple[str, str], Finding] | None = {} if notes else None
        self._faults: dict[tuple[str, str], Finding] = {}
        rules = tuple(rules)
        self._outcomes = dict.fromkeys((rule.id for rule in rules), Outcome.NOT_APPLICABLE)
        self._tallies = {rule.id: _Tally(rule) for rule in rules if _applies(rule, case)}
        self._by_sight: dict[type, list[_Tally]] = {}
        for tally in self._tallies.values():
            for sight in tally.rule.sights:
                self._by_sight.setdefault(sight, []).append(tally)
        self._frame: Frame | None = None
        self._errors: list[str] = []
        self._streamed = self._done = False
        self._walks = [walk(self) for walk in walks]
        self._pieces, self._every, self._payloads, self._markers = (
            [method for walk in self._walks if (method := getattr(walk, name, None)) is not None]
            for name in ("piece", "frames", "payload", "marker")
        )
        self.see(Head(case))

    # what the collector shows

    def piece(self, data: bytes) -> None:
        """The next piece of the body, decoded."""
        for take in self._pieces:
            take(data)

    def frames(self, frames: list[Frame]) -> None:
        """The frames that it completed; told of every stream once at least."""
        self._streamed = True
        for take in self._every:
            take(frames)

    def payload(self, frame: Frame, value: Any, strict: bool) -> None:
        """A payload that the collector had to decode: its value, or one of the sentinels `DONE` and `UNREADABLE`."""
        self._frame = frame
        if value is DONE:
            self._done = True
            self.see(Marker(frame, frame.data == DONE))
            for take in self._markers:
                take(frame)
        else:
            if not strict:
                self.see(Unreadable(frame, None if value is UNREADABLE else value, self._done))
            if value is not UNREADABLE:
                self.see(Payload(frame, value, self._done))
                for take in self._payloads:
                    take(frame, value)
        self._frame = None

    def close(self, seen: Observation) -> Judged:
        """The end: what the exchange came to, for the rules that are about all of it."""
        ending = Ending(self.case, seen, frames=seen.frames)
        if not self._streamed:
            body = self.case.exchange.json
            answer = Plain(self.case, self.case.exchange.body.decode(errors="replace") if body is None else body)
            self.see(answer)
            for take in (method for walk in self._walks if (method := getattr(walk, "plain", None)) is not None):
                take(answer)
        else:
            facts = [walk.end(ending) for walk in self._walks]
            told = next((fact for fact in facts if fact is not None), None)
            self.see(replace(ending, facts=told))
        outcomes = self._outcomes | {name: tally.outcome for name, tally in self._tallies.items()}
        findings = [finding for tally in self._tallies.values() for finding in _shown(tally)]
        noted = self._notes.values() if self._notes is not None else ()
        ruled = {(f.where.frame, f.where.path) for f in findings if f.level is Level.MUST}
        faults = [fault for fault in self._faults.values() if (fault.where.frame, fault.where.path) not in ruled]
        return Judged(outcomes=outcomes, findings=(*findings, *faults, *noted), errors=tuple(self._errors))

    # what walks show

    def see(self, sight: Any) -> None:
        """Let all rules judge that are about such sights."""
        for tally in self._by_sight.get(type(sight), ()):
            try:
                self._take(tally, tally.rule.check(sight) if tally.rule.check is not None else None)
            except Exception as error:  # a rule that cannot be evaluated is a fault of ours, and never a pass
                self._errors.append(f"{tally.rule.id}: {type(error).__name__}: {error}")

    def holds(self, rule: str) -> None:
        if (tally := self._tallies.get(rule)) is not None:
            tally.passes += 1

    def breach(self, rule: str, breach: Breach) -> None:
        if (tally := self._tallies.get(rule)) is not None:
            self._break(tally, breach)

    def machine(self, table: Table) -> Machine:
        """A machine whose breaches are those of this stream, at the frame that is being looked at."""
        return Machine(table, self.holds, self.breach)

    def note(self, kind: str, message: str, path: str | None = None) -> None:
        """Something that no rule forbids and that clients trip over: information. Each is told once, of its first place."""
        if self._notes is None or len(self._notes) >= _MOST_NOTES or (kind, message) in self._notes:
            return
        frame = self._frame
        where = Where(path=path) if frame is None else Where(frame=frame.index, span=frame.span, path=path)
        nobody = Blame.NOBODY.value
        self._notes[kind, message] = Finding(kind=kind, message=message, where=where, graded=Level.INFO, blame=nobody)

    def fault(self, kind: str, message: str, path: str, expected: Any = None, got: Any = None) -> None:
        """Something that is wrong in itself, of the level of its kind, where the catalogue has no rule. Each is told once,
        of its first place, and not where a MUST is broken at that place."""
        key = kind, _NUMBER.sub("/*", path)
        if self._frame is None or self._notes is None or len(self._faults) >= _MOST_NOTES or key in self._faults:
            return
        where = Where(frame=self._frame.index, span=self._frame.span, path=path)
        blame = whose(Blame.SERVER_OR_GATEWAY, self.case).value
        self._faults[key] = Finding(kind=kind, message=message, where=where, expected=expected, got=got, blame=blame)

    def _take(self, tally: _Tally, said: Said) -> None:
        if said is None:
            return
        if said is True:
            tally.passes += 1
        elif isinstance(said, Breach):
            self._break(tally, said)
        elif said is False:
            raise TypeError("a rule says True, None or what is broken, and never False")
        else:
            broken = list(said)
            for breach in broken:
                self._break(tally, breach)
            tally.passes += not broken

    def _break(self, tally: _Tally, breach: Breach) -> None:
        tally.breaches += 1
        if len(tally.findings) < _MOST_SHOWN:
            tally.findings.append(self._finding(tally.rule, breach))

    def _finding(self, rule: Rule, breach: Breach) -> Finding:
        frame, span = breach.frame, breach.span
        if frame is None and self._frame is not None:
            frame, span = self._frame.index, span or self._frame.span
        return Finding(
            kind=breach.kind or rule.kind,
            message=breach.message,
            where=Where(frame=frame, span=span, path=breach.path),
            graded=self._level(rule, breach),
            rule=rule.id,
            expected=breach.expected,
            got=breach.got,
            blame=whose(breach.blame or rule.blame, self.case).value,
        )

    def _level(self, rule: Rule, breach: Breach) -> Level:
        """That of the rule; a recording that was cut off says nothing of what the server would have sent."""
        if self.case.exchange.ending != "eof" and (breach.kind or rule.kind) in LOST:
            return Level.INFO
        return rule.level_for(self.case.provider)


def _applies(rule: Rule, case: Case) -> bool:
    if not rule.applies_to(case.dialect.name) or (Need.REQUEST in rule.needs and case.asked is None):
        return False
    if rule.framings is not None and case.framing not in rule.framings:
        return False
    return rule.providers is None or case.provider in rule.providers


def _shown(tally: _Tally) -> list[Finding]:
    more = tally.breaches - len(tally.findings)
    if not more:
        return tally.findings
    last = tally.findings[-1]
    return [*tally.findings[:-1], replace(last, message=f"{last.message} (and {more} more times)")]
