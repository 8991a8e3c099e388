"""A streamed turn against its non-streaming twin: which differences are there, and which of them does nothing excuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.adapters.observation import Observation
from harness.cassette.model import Cassette, Match
from harness.conformance.compare import Difference, compare
from harness.dialects import Dialect
from harness.errors import Where
from harness.findings import Finding, Level
from harness.response import Other, Refusal, Response


def comparable(stream: Observation, reference: Observation) -> bool:
    """Only turns that succeeded on both sides say the same thing twice."""
    return stream.error is None and reference.error is None and isinstance(reference.body, dict)


def against_twin(cassette: Cassette, stream: Observation, reference: Observation, dialect: Dialect) -> Iterator[Finding]:
    """What the twin says against the streamed turn. Equal values are expected where the cassette says so, and where the same
    request happened to be answered by the same turn twice."""
    requests = requests_of(cassette)
    skipped = [dialect.not_asked(requests[0])] + ([] if _asked(requests[0]) == _asked(requests[1]) else [dialect.echoed])
    for difference in compare(reference.body, stream.body, dialect, match_of(cassette, stream, reference)):
        if difference.excuse is None and not any(places.covers_pointer(difference.path) for places in skipped):
            yield _difference(difference)


def match_of(cassette: Cassette, stream: Observation, reference: Observation) -> Match:
    one, other = map(_asked, requests_of(cassette))
    turns = stream.response, reference.response
    repeated = one == other and turns[0] is not None and turns[1] is not None and _said(turns[0]) == _said(turns[1])
    return "exact" if cassette.match == "exact" or repeated else "shape"


def requests_of(cassette: Cassette) -> list[Any]:
    return [side.request.json if side is not None else None for side in (cassette.stream, cassette.reference)]


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
