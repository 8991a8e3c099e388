"""Findings: what is wrong with a stream, in words a maintainer can act on. `kinds` has the closed list of their kinds.

One noun from the framer's checksum to the line in a report. Whoever makes a finding fills in the place as far as it knows
it; whoever passes it on adds what only it knows (`Finding.within`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from harness.errors import Where
from harness.kinds import CUT, DIAGNOSTICS, KINDS, LOST, Kind, Level

__all__ = ["CUT", "DIAGNOSTICS", "KINDS", "LOST", "Finding", "Kind", "Level"]

_RULE_PREFIX = {
    "openai-chat": ("OAI-C", "SSE"),
    "openai-responses": ("RSP", "SSE"),
    "gemini": ("GGL", "SSE", "JSA"),
    "bedrock-converse": ("BDR", "EVS"),
    "bedrock-invoke": ("BDR", "EVS"),
    "ollama-chat": ("OLL", "NDJ"),
    "anthropic-messages": ("ANT", "SSE"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something to report: `message` says what was met and what was expected, `where` leads to it.

    Its level is that of its kind, unless `graded` says otherwise (a cut recording blames no server).
    """

    kind: str
    message: str
    where: Where = field(default_factory=Where)
    graded: Level | None = None
    known: str | None = None
    """The reason of the known deviation that explains it."""
    rule: str | None = None
    expected: Any = None
    got: Any = None
    blame: str | None = None
    """Whose fault it is, as far as the bytes tell: server, gateway, server or gateway, client, network, recording."""

    @property
    def level(self) -> Level:
        return self.graded or KINDS[self.kind].level

    @property
    def fails(self) -> bool:
        """Whether it makes a verdict fail: a MUST that no known deviation explains."""
        return self.level is Level.MUST and self.known is None

    @property
    def compares(self) -> bool:
        """Whether it is about two values that should be one; others tell at most what was met."""
        return (self.expected, self.got) != (None, None) and self.kind != "field/unknown"

    def within(self, outer: Where) -> Finding:
        """The same finding, with the place completed from `outer`."""
        return replace(self, where=self.where.within(outer))

    def ruled(self, dialect: str) -> Finding:
        """The same finding, with the rule of this dialect's group that its kind stands for."""
        rules = KINDS[self.kind].rules.split()
        own = [r for prefix in _RULE_PREFIX.get(dialect, ()) for r in rules if r.startswith(prefix)]
        general = [r for r in rules if r.startswith(("HTTP", "REASM"))]
        return replace(self, rule=next(iter(own + general), None)) if self.rule is None else self

    def as_dict(self) -> dict[str, Any]:
        """The finding as `check --json` and results files have it (product contract, section 5)."""
        shown = {"rule": self.rule, "kind": self.kind, "level": self.level.value, "message": self.message}
        values = {"expected": self.expected, "got": self.got} if (self.expected, self.got) != (None, None) else {}
        more = {name: value for name in ("blame", "known") if (value := getattr(self, name)) is not None}
        return {**shown, **values, **more, "where": self.where.as_dict()}
