"""What rules of several dialects look at, and what is known of the exchange around a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from harness.adapters.observation import Observation
from harness.cassette.model import Exchange
from harness.conformance.rules.rule import Breach
from harness.dialects import Dialect
from harness.findings import Finding
from harness.framing import Frame


@dataclass(frozen=True)
class Case:
    """What is known before the first byte: the dialect, its framing here, the exchange, and who sent it."""

    dialect: Dialect
    framing: str
    exchange: Exchange
    provider: str = "unknown"

    @cached_property
    def request(self) -> Any:
        """The JSON body of the request; None if it was not recorded or is no JSON."""
        return self.exchange.request.json

    @cached_property
    def asked(self) -> Mapping[str, Any] | None:
        """The request's fields; None where the request is not known, or only whether it asked for a stream: a rule that needs
        it is then not applicable."""
        known = isinstance(self.request, dict) and set(self.request) - {"stream"}
        return self.request if known else None

    @property
    def first_party(self) -> bool:
        return self.provider in self.dialect.vendors


@dataclass(frozen=True, slots=True)
class Payload:
    """One payload that is not a mere repetition of the one before. `value` is its JSON value, of any type; `after_done` says
    that the sentinel `[DONE]` came before it."""

    frame: Frame
    value: Any
    after_done: bool = False


@dataclass(frozen=True, slots=True)
class Marker:
    """The sentinel `[DONE]`; `exact` when the payload is these six bytes and nothing else."""

    frame: Frame
    exact: bool


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A payload that is no JSON, strictly read; `value` is what a tolerant reader makes of it, or None."""

    frame: Frame
    value: Any
    after_done: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers, of a stream or of an answer that is none."""

    case: Case


@dataclass(frozen=True)
class Ending:
    """The end of the stream. `seen` is what our collector and framer made of it, `facts` what the dialect's walk remembers."""

    case: Case
    seen: Observation
    facts: Any = None
    frames: int = 0

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of all that framer and collector had to report."""
        return frozenset(finding.kind for finding in self.seen.findings)

    def noted(self, *kinds: str) -> list[Finding]:
        """What framer and collector reported of these kinds."""
        return [finding for finding in self.seen.findings if finding.kind in kinds]

    def breaches(self, *kinds: str, but: Callable[[Finding], bool] = lambda _: False) -> list[Breach]:
        """What framer and collector reported of these kinds, as breaches: their measure is taken over. `but` leaves some
        out."""
        return [
            Breach(f.message, f.where.path, f.expected, f.got, f.where.frame, f.where.span, kind=f.kind)
            for f in self.noted(*kinds)
            if not but(f)
        ]

    @property
    def failed(self) -> bool:
        """Whether an error ended the turn inside the stream."""
        return "error/in-band" in self.kinds


@dataclass(frozen=True)
class Plain:
    """An answer that is no stream, a turn or a refusal: `body` is its JSON value, or its text."""

    case: Case
    body: Any


@dataclass(frozen=True)
class Twin:
    """A streamed turn beside its non-streaming twin; `differences` are those that nothing excuses."""

    case: Case
    streamed: Observation
    plain: Observation
    differences: tuple[Finding, ...] = field(default=())
    exact: bool = False
