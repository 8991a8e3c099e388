"""Cassette and observation in, verdicts out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from harness import dialects
from harness.adapters.observation import Observation
from harness.cassette.model import Cassette
from harness.conformance import events, native
from harness.conformance.attribution import Attribution, in_order
from harness.conformance.inspection import case_of, united, unsaid
from harness.conformance.rules import Judged
from harness.conformance.trace import Trace
from harness.conformance.twins import against_twin, comparable, match_of, requests_of
from harness.conformance.verdict import Check, Grade, Verdict
from harness.dialects import Dialect
from harness.edits import Disagreement, Unknown
from harness.errors import Where
from harness.findings import Finding, Level

_STREAM, _REFERENCE = 0, 1  # numbers of the exchanges of a cassette, as findings name them
_MOST_TRACED = 200  # findings of a verdict that are followed to their bytes; more than that nobody reads


def judge(
    cassette: Cassette,
    stream: Observation | None,
    reference: Observation | None,
    ruled: tuple[Judged | None, Judged | None] = (None, None),
) -> list[Verdict]:
    """Every check that applies to what an adapter made of the two sides of a cassette; findings lead to bytes. `ruled` is what
    the catalogue says of the two: it is about bytes, and hence only known where our own pipeline has read them."""
    verdicts = _attributed(cassette, (stream, reference), _judge(cassette, stream, reference, ruled))
    if cassette.stream is None:
        return verdicts
    trace = Trace(cassette.stream, dialects.dialect(cassette.dialect))
    return [replace(v, findings=tuple(in_order(_traced(v.findings, trace)))) for v in verdicts]


def _attributed(
    cassette: Cassette, sides: tuple[Observation | None, Observation | None], verdicts: Iterable[Verdict]
) -> list[Verdict]:
    """The verdicts, whose findings say whose fault they are; what only shows that a recording was cut off fails none. What is
    to be said of the recordings themselves stands beside the rules."""
    dialect = dialects.dialect(cassette.dialect)
    exchanges = (cassette.stream, cassette.reference)
    whose = {
        number: Attribution(case_of(exchange, dialect, cassette.provider), side.findings, side.error)
        for number, (exchange, side) in enumerate(zip(exchanges, sides, strict=True))
        if exchange is not None and side is not None
    }
    told = [verdict.with_findings(_of(whose, finding) for finding in verdict.findings) for verdict in verdicts]
    places = {number: Where(cassette=cassette.id, exchange=number) for number in whose}
    kept = [finding.within(places[number]) for number, attribution in whose.items() for finding in attribution.recording]
    return [v.with_findings((*kept, *v.findings)) if v.check is Check.RULES else v for v in told]


def _of(whose: dict[int, Attribution], finding: Finding) -> Finding:
    attribution = whose.get(finding.where.exchange or 0)
    return finding if attribution is None else attribution.of(finding)


def _traced(findings: Iterable[Finding], trace: Trace) -> Iterator[Finding]:
    for number, finding in enumerate(findings):
        yield trace.pinpoint(finding) if finding.where.exchange == _STREAM and number < _MOST_TRACED else finding


def _judge(
    cassette: Cassette,
    stream: Observation | None,
    reference: Observation | None,
    ruled: tuple[Judged | None, Judged | None],
) -> list[Verdict]:
    dialect = dialects.dialect(cassette.dialect)
    verdicts = []
    if stream is not None:
        framing = [f for f in united(stream.findings, ruled[0]) if f.kind.startswith("framing/")]
        verdicts.append(_verdict(cassette, Check.FRAMING, stream, framing, _STREAM))
    number = _STREAM if stream is not None else _REFERENCE
    if (side := stream or reference) is not None:
        folded = unsaid(_reassembly(side, dialect, cassette.provider), ruled[number])
        verdicts.append(_verdict(cassette, Check.REASSEMBLY, side, folded, number))
    if stream is not None and stream.complete and cassette.provider in dialect.vendors:
        unlike = native.findings(dialect.name, stream.body)
        if unlike is not None:
            verdicts.append(_verdict(cassette, Check.NATIVE, stream, unlike, _STREAM))
    found: list[Finding] = []
    if stream is not None and reference is not None and comparable(stream, reference):
        found = list(against_twin(cassette, stream, reference, dialect))
        verdicts.append(_verdict(cassette, Check.REFERENCE, stream, found, _STREAM))
    if side is not None and side.events is not None:
        told = _told(cassette, stream, reference, differ=bool(found))
        verdicts.append(_verdict(cassette, Check.EVENTS, side, told, number))
    verdicts += _by_rules(cassette, (stream, reference), ruled)
    return verdicts


def _by_rules(
    cassette: Cassette, sides: tuple[Observation | None, Observation | None], ruled: tuple[Judged | None, Judged | None]
) -> Iterator[Verdict]:
    """What the catalogue says of the cassette, both exchanges in one verdict; what is about frames stands at `framing`."""
    said = [
        finding.within(Where(exchange=number))
        for number, judged in enumerate(ruled)
        for finding in (judged.findings if judged is not None else ())
        if number == _REFERENCE or not finding.kind.startswith("framing/")
    ]
    side = sides[0] or sides[1]
    if side is not None and any(judged is not None for judged in ruled):
        yield _verdict(cassette, Check.RULES, side, said, _STREAM if sides[0] is not None else _REFERENCE)


def _verdict(cassette: Cassette, check: Check, seen: Observation, found: Iterable[Finding], exchange: int) -> Verdict:
    place = Where(cassette=cassette.id, exchange=exchange)
    findings = tuple(f.within(place).ruled(cassette.dialect) for f in found)
    wrong = any(f.level is Level.MUST for f in findings)
    return Verdict(
        cassette=cassette.id,
        dialect=cassette.dialect,
        provider=cassette.provider,
        adapter=seen.adapter,
        check=check,
        grade=Grade.WRONG if wrong else Grade.PASS,
        findings=findings,
        events=seen.frames,
    )


def _reassembly(seen: Observation, dialect: Dialect, provider: str) -> Iterator[Finding]:
    """Everything was folded, and the end is the recorded one."""
    found = observed(seen, dialect, first_party=provider in dialect.vendors)
    yield from (f for f in found if not f.kind.startswith("framing/"))


def observed(seen: Observation, dialect: Dialect, *, first_party: bool = False) -> Iterator[Finding]:
    """Everything that an observation has to report. An unknown field is a fault in first-party recordings only, since there it
    is a hole in our vocabulary."""
    level = Level.MUST if first_party else Level.INFO
    yield from seen.findings
    yield from (_unknown(u, level) for u in seen.unknown)
    yield from (_disagreement(d, dialect) for d in seen.disagreements)


def _unknown(unknown: Unknown, level: Level) -> Finding:
    message = f"{unknown.where.path} is not in the vocabulary of the API; kept as it stands"
    return Finding(kind="field/unknown", message=message, where=unknown.where, graded=level, got=unknown.value)


def _disagreement(found: Disagreement, dialect: Dialect) -> Finding:
    texts = isinstance(found.gathered, str) and isinstance(found.repeated, str)
    again = "repeated" if found.where.frame is None else f"repeated in frame {found.where.frame}"
    return Finding(
        kind=dialect.text_repeated_otherwise if texts else "repeat/differs",
        message=f"{found.where.path} is {again} with another value than was streamed; the repeated one counts",
        where=found.where,
        expected=found.gathered,
        got=found.repeated,
    )


def _told(cassette: Cassette, stream: Observation | None, reference: Observation | None, *, differ: bool) -> Iterator[Finding]:
    """What is wrong with the events of either side, and between them. Where the bodies `differ` already, turns that differ are
    only information: one deviation is not to be explained twice."""
    for number, side in ((_STREAM, stream), (_REFERENCE, reference)):
        if side is not None:
            yield from (finding.within(Where(exchange=number)) for finding in events.told(side))
    if stream is not None and reference is not None and comparable(stream, reference):
        counted = ("usage",) not in dialects.dialect(cassette.dialect).not_asked(requests_of(cassette)[0])
        match, declared = match_of(cassette, stream, reference), cassette.match == "exact"
        for finding in events.same_turn(stream, reference, match, declared=declared, counted=counted):
            yield replace(finding, graded=Level.INFO) if differ else finding
