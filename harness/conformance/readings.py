"""Is a reader of streams to be trusted? Every adapter is judged by the laws of reassembly, ours as well.

The rules of the other groups judge bytes: they say the same whoever reads them. The laws here say something of the adapter: it
is given the recorded stream, and the same stream with other cuts, with comments, with unknown fields and whatever else a server
may do, and must always come to the same turn.
"""

from __future__ import annotations

from harness import dialects
from harness.adapters.observation import Observation
from harness.adapters.ours import framing_of
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Cassette
from harness.conformance.rules import Case, Inspector, Judged, rules_of
from harness.conformance.rules.reassembly.accounts import TOLD
from harness.conformance.rules.reassembly.reading import Adapter, Reading, observed

__all__ = ["Adapter", "judge_reader"]


def judge_reader(
    adapter: Adapter, cassette: Cassette, seen: Observation | None = None, twin: Observation | None = None
) -> Judged:
    """What the laws of reassembly say of an adapter that reads a cassette. What it made of the two sides is asked of it, unless
    it is given: `seen` of the stream, `twin` of its twin.

    A law that needs what the adapter does not give (a native body, events, a loop), or what the stream does not have, is not
    applicable; so are all of them where there is no stream, or no plain account of its API. Raises what the harness itself
    raises; whatever the adapter raises is a failed turn.
    """
    api = dialects.dialect(cassette.dialect)
    exchange = cassette.stream or cassette.reference
    if exchange is None:
        return Judged(outcomes={}, findings=())
    if seen is None:
        seen = observed(adapter, exchange, api)
    if twin is None and cassette.stream is not None and cassette.reference is not None:
        twin = observed(adapter, cassette.reference, api)
    head = next((data for chunk in DecodedBody(exchange) if (data := chunk.data.lstrip())), b"")
    case = Case(api, framing_of(api, head), exchange, cassette.provider)
    court = Inspector(case, [rule for rule in rules_of(api.name) if rule.reader], ())
    if cassette.stream is not None and exchange.status < 400 and api.name in TOLD and not _is_document(case):
        court.see(Reading(case, adapter, cassette, seen, twin))
    return court.close(seen)


def _is_document(case: Case) -> bool:
    """Whether the whole answer came at once, as one JSON object: then there was no stream to be read."""
    return case.framing != "ndjson" and isinstance(case.exchange.json, dict)
