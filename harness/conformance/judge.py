"""Cassette and observation in, verdicts out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from harness import dialects
from harness.adapters.observation import Observation
from harness.cassette.model import Cassette, Match
from harness.conformance import events, native
from harness.conformance.compare import Difference, compare
from harness.conformance.trace import Trace
from harness.conformance.verdict import Check, Grade, Verdict
from harness.dialects import Dialect
from harness.edits import Disagreement, Unknown
from harness.errors import Where
from harness.findings import Finding, Level
from harness.response import Other, Refusal, Response

_STREAM, _REFERENCE = 0, 1  # numbers of the exchanges of a cassette, as findings name them
_MOST_TRACED = 200  # findings of a verdict that are followed to their bytes; more than that nobody reads


def judge(cassette: Cassette, stream: Observation | None, reference: Observation | None) -> list[Verdict]:
    """Every check that applies to what an adapter made of the two sides of a cassette; findings lead to bytes."""
    verdicts = _judge(cassette, stream, reference)
    if cassette.stream is None:
        return verdicts
    trace = Trace(cassette.stream, dialects.dialect(cassette.dialect))
    return [replace(v, findings=tuple(_traced(v.findings, trace))) for v in verdicts]


def _traced(findings: Iterable[Finding], trace: Trace) -> Iterator[Finding]:
    for number, finding in enumerate(findings):
        yield trace.pinpoint(finding) if finding.where.exchange == _STREAM and number < _MOST_TRACED else finding


def _judge(cassette: Cassette, stream: Observation | None, reference: Observation | None) -> list[Verdict]:
    dialect = dialects.dialect(cassette.dialect)
    verdicts = []
    if stream is not None:
        verdicts.append(_verdict(cassette, Check.FRAMING, stream, _framing(stream), _STREAM))
    number = _STREAM if stream is not None else _REFERENCE
    if (side := stream or reference) is not None:
        verdicts.append(_verdict(cassette, Check.REASSEMBLY, side, _reassembly(side, dialect, cassette.provider), number))
    if stream is not None and stream.complete and cassette.provider in dialect.vendors:
        unlike = native.findings(dialect.name, stream.body)
        if unlike is not None:
            verdicts.append(_verdict(cassette, Check.NATIVE, stream, unlike, _STREAM))
    found: list[Finding] = []
    if stream is not None and reference is not None and _comparable(stream, reference):
        found = list(_against_twin(cassette, stream, reference, dialect))
        verdicts.append(_verdict(cassette, Check.REFERENCE, stream, found, _STREAM))
    if side is not None and side.events is not None:
        told = _told(cassette, stream, reference, differ=bool(found))
        verdicts.append(_verdict(cassette, Check.EVENTS, side, told, number))
    return verdicts


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


def _framing(seen: Observation) -> list[Finding]:
    return [f for f in seen.findings if f.kind.startswith("framing/")]


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


def _comparable(stream: Observation, reference: Observation) -> bool:
    """Only turns that succeeded on both sides say the same thing twice."""
    return stream.error is None and reference.error is None and isinstance(reference.body, dict)


def _against_twin(cassette: Cassette, stream: Observation, reference: Observation, dialect: Dialect) -> Iterator[Finding]:
    """What the twin says against the streamed turn. Equal values are expected where the cassette says so, and where the same
    request happened to be answered by the same turn twice."""
    requests = _requests(cassette)
    skipped = [dialect.not_asked(requests[0])] + ([] if _asked(requests[0]) == _asked(requests[1]) else [dialect.echoed])
    for difference in compare(reference.body, stream.body, dialect, _match(cassette, stream, reference)):
        if difference.excuse is None and not any(places.covers_pointer(difference.path) for places in skipped):
            yield _difference(difference)


def _match(cassette: Cassette, stream: Observation, reference: Observation) -> Match:
    one, other = map(_asked, _requests(cassette))
    turns = stream.response, reference.response
    repeated = one == other and turns[0] is not None and turns[1] is not None and _said(turns[0]) == _said(turns[1])
    return "exact" if cassette.match == "exact" or repeated else "shape"


def _requests(cassette: Cassette) -> list[Any]:
    return [side.request.json if side is not None else None for side in (cassette.stream, cassette.reference)]


def _told(cassette: Cassette, stream: Observation | None, reference: Observation | None, *, differ: bool) -> Iterator[Finding]:
    """What is wrong with the events of either side, and between them. Where the bodies `differ` already, turns that differ are
    only information: one deviation is not to be explained twice."""
    for number, side in ((_STREAM, stream), (_REFERENCE, reference)):
        if side is not None:
            yield from (finding.within(Where(exchange=number)) for finding in events.told(side))
    if stream is not None and reference is not None and _comparable(stream, reference):
        counted = ("usage",) not in dialects.dialect(cassette.dialect).not_asked(_requests(cassette)[0])
        match, declared = _match(cassette, stream, reference), cassette.match == "exact"
        for finding in events.same_turn(stream, reference, match, declared=declared, counted=counted):
            yield replace(finding, graded=Level.INFO) if differ else finding


def _asked(request: Any) -> Any:
    """A request without what makes it a streaming one."""
    if not isinstance(request, dict):
        return request
    return {name: field for name, field in request.items() if name not in ("stream", "stream_options")}


def _said(turn: Response) -> tuple[Any, ...]:
    """What the turn says, ids and signatures aside. Thinking that the API hides is part of the turn: its length is known."""
    refusals = [part.text for part in turn.parts if isinstance(part, Refusal)]
    calls = [(call.name, call.shown_arguments()) for call in turn.tool_calls]
    others = [part.raw for part in turn.parts if isinstance(part, Other)]
    hidden = turn.usage.reasoning_tokens if turn.usage else None
    return turn.text, turn.reasoning, refusals, calls, others, turn.raw_finish_reason, hidden


_SAYS = {
    "absent": "the twin has it, the streamed turn lacks it",
    "extra": "the streamed turn has it, the twin lacks it",
    "value": "another value than in the twin",
    "type": "of another shape than in the twin",
    "word": "another word of the API than in the twin",
}


def _difference(found: Difference) -> Finding:
    return Finding(
        kind=f"reference/{found.kind}",
        message=f"{found.path or '/'}: {_SAYS[found.kind]}",
        where=Where(path=found.path),
        graded=Level.SHOULD if found.free else None,
        expected=found.expected,
        got=found.got,
    )
