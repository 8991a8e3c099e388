"""A stream is read by our pipeline and judged by the catalogue at once; what both had to say becomes one list."""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness import dialects
from harness.adapters import Observation, Ours
from harness.adapters.ours import framing_of
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Exchange
from harness.conformance.rules import Case, Judged, Rule, inspector
from harness.dialects import Dialect
from harness.findings import Finding

_OURS = Ours()
_NUMBER = re.compile(r"/\d+(?=/|$)")


class RuleError(Exception):
    """A rule could not be evaluated. Not one of our errors for input: the harness itself failed."""


def inspect(
    exchange: Exchange,
    dialect: str | Dialect,
    provider: str = "unknown",
    rules: Iterable[Rule] | None = None,
    reader: Ours = _OURS,
) -> tuple[Observation, Judged]:
    """What our pipeline makes of an exchange, and what the rules say of it; all of the catalogue unless `rules` are given.
    Raises `RuleError` if a rule could not be evaluated: that is a fault of ours, and never a pass."""
    api = dialects.dialect(dialect) if isinstance(dialect, str) else dialect
    watch = inspector(case_of(exchange, api, provider), rules)
    seen = reader.observe(exchange, api, watch)
    judged = watch.close(seen)
    if judged.errors:
        raise RuleError("; ".join(judged.errors))
    return seen, judged


def case_of(exchange: Exchange, dialect: Dialect, provider: str = "unknown") -> Case:
    """What is known of an exchange before it is read."""
    head = next((data for chunk in DecodedBody(exchange) if (data := chunk.data.lstrip())), b"")
    return Case(dialect, framing_of(dialect, head), exchange, provider)


def united(found: Iterable[Finding], judged: Judged | None) -> list[Finding]:
    """The findings of both, each once: where a rule says what the collector had to note already, the rule's word stands."""
    return [*unsaid(found, judged), *(judged.findings if judged is not None else ())]


def unsaid(found: Iterable[Finding], judged: Judged | None) -> list[Finding]:
    """Of what framer and collector noted, that which no rule says; what was noted of the whole stream, a rule may have a frame
    for."""
    told = judged.findings if judged is not None else ()
    said = {(finding.kind, finding.where.frame) for finding in told}
    typed = {_place(f) for f in told if f.kind == "field/type"}  # known, though not as what it is
    kinds = {kind for kind, _ in said}
    return [
        f
        for f in found
        if (f.kind, f.where.frame) not in said
        and (f.where.frame is not None or f.kind not in kinds)
        and (f.kind != "field/unknown" or _place(f) not in typed)
    ]


def _place(finding: Finding) -> str:
    """Where it is in any payload: a fault of a field is told of its first place alone."""
    return _NUMBER.sub("/*", finding.where.path or "")
