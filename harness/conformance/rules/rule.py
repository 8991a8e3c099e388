"""A rule of the catalogue: what it says, on what it rests, and the one function that judges.

A rule looks at one sort of *sight*: a payload, a choice, a fragment of a call, the end of the stream, whatever the walk of its
dialect shows. Its function says of each sight: True (the rule holds here), a `Breach` or several (it does not), None (it is not
about this one). A stream passes a rule that held somewhere and was broken nowhere; a rule that was about nothing is not
applicable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from harness.findings import Level


class Need(StrEnum):
    """What a rule needs to see; without it the rule is not applicable."""

    STREAM = "stream"
    REQUEST = "request"
    HEADERS = "headers"
    ERROR = "error"
    TWIN = "twin"


class Outcome(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    NOT_APPLICABLE = "not applicable"


class Blame(StrEnum):
    """Whose fault a breach is, as far as the bytes tell."""

    SERVER = "server"
    GATEWAY = "gateway"
    SERVER_OR_GATEWAY = "server or gateway"
    CLIENT = "client"
    RECORDING = "recording"
    NETWORK = "network"
    NETWORK_OR_RECORDING = "network or recording"
    NOBODY = "nobody"
    UNKNOWN = "unknown"  # the bytes do not tell


@dataclass(slots=True)
class Breach:
    """Where and how a rule is broken: `message` says what was met and what was expected.

    `path` is a pointer into the payload of the frame that is being looked at; `frame` and `span` are only given where another
    place is meant. `blame` is given where these bytes tell more than the rule does.
    """

    message: str
    path: str | None = None
    expected: Any = None
    got: Any = None
    frame: int | None = None
    span: tuple[int, int] | None = None
    blame: Blame | None = None
    kind: str | None = None


Said = bool | Breach | Iterable[Breach] | None
Check = Callable[[Any], Said]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of the catalogue.

    `says` is the rule in one line, `kind` the kind of its findings, `source` what it rests on, `why` what goes wrong when it is
    broken, `bad` and `good` a minimal example each, `seen` who is known to break it. `sights` are the classes of sights that
    `check` judges; rules of the order of events have none, a state table names them (`order.Table`). `reader` marks laws of
    whoever reads a stream: its bytes cannot break them. `profiles` lower the level for a provider, with the evidence. `changed`
    says why the level is not the one of the specification.
    """

    id: str
    level: Level
    says: str
    kind: str
    source: str
    why: str
    bad: str
    good: str
    seen: str = "–"
    needs: frozenset[Need] = frozenset({Need.STREAM})
    blame: Blame = Blame.SERVER_OR_GATEWAY
    sights: tuple[type, ...] = ()
    check: Check | None = None
    dialects: frozenset[str] | None = None
    framings: frozenset[str] | None = None
    providers: frozenset[str] | None = None
    reader: bool = False
    profiles: Mapping[str, tuple[Level, str]] = field(default_factory=dict)
    changed: str | None = None

    @property
    def group(self) -> str:
        return self.id.rpartition("-")[0]

    def applies_to(self, dialect: str) -> bool:
        return self.dialects is None or dialect in self.dialects

    def level_for(self, provider: str) -> Level:
        """The level, lowered where the provider's profile says so."""
        return self.profiles[provider][0] if provider in self.profiles else self.level


class Rules:
    """The rules of one group, in the order in which they were written down."""

    def __init__(
        self,
        group: str,
        dialects: Iterable[str] | None = None,
        framings: Iterable[str] | None = None,
        providers: Iterable[str] | None = None,
    ) -> None:
        self.group = group
        self.dialects = None if dialects is None else frozenset(dialects)
        self.framings = None if framings is None else frozenset(framings)
        self.providers = None if providers is None else frozenset(providers)
        self.rules: dict[str, Rule] = {}

    def rule(
        self, number: int, level: Level, says: str, *, at: type | tuple[type, ...], **about: Any
    ) -> Callable[[Check], Check]:
        """Decorates the function that judges the rule `<group>-<number>` at sights of the class `at`, or of several."""
        sights = at if isinstance(at, tuple) else (at,)

        def decorated(check: Check) -> Check:
            self._add(number, level, says, sights=sights, check=check, **about)
            return check

        return decorated

    def order(self, number: int, level: Level, says: str, **about: Any) -> str:
        """A rule that a state table judges; returns its id, which the table names."""
        return self._add(number, level, says, **about).id

    def _add(self, number: int, level: Level, says: str, **about: Any) -> Rule:
        about.setdefault("dialects", self.dialects)
        about.setdefault("framings", self.framings)
        about.setdefault("providers", self.providers)
        for name in ("needs", "dialects", "providers"):
            if about.get(name) is not None:
                about[name] = frozenset(about[name])
        rule = Rule(id=f"{self.group}-{number:03}", level=level, says=says, **about)
        if rule.id in self.rules:
            raise ValueError(f"two rules are called {rule.id}")
        self.rules[rule.id] = rule
        return rule
