"""What a fault with a name is: a change to an exchange, and the effect it must have on whoever reads it.

A *neutral* fault changes nothing that was said: the turn must come out the same. A *failure* is one that the client must tell
its caller of, and retry where it promises to. A *deviation* breaks a rule, which must fire.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from harness.cassette.model import Exchange
from harness.dialects import Dialect
from harness.replay.faults.primitives import FaultError

Change = Callable[[Exchange, Dialect, str], Exchange]
"""The exchange with the fault; the text is the fault's argument. Raises `FaultError` where there is nothing to change."""


class Effect(StrEnum):
    NEUTRAL = "neutral"
    FAILURE = "failure"
    DEVIATION = "deviation"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFault:
    """One row of the catalogue.

    `argument` is what `name:argument` may say, with its default. `times` says how many requests the fault meets before all is
    well (None: every one). `timed` faults are about time: a server that otherwise does not wait keeps to the times of their
    pieces. `plain` ones can befall an answer that is no stream as well. `rules` are those of which a deviation breaks one, by
    dialect. `apis` are the dialects that know the fault, `framings` the framings that it is about; empty: all.
    """

    name: str
    effect: Effect
    what: str
    change: Change
    argument: str = ""
    times: int | None = None
    timed: bool = False
    plain: bool = False
    rules: tuple[tuple[str, str], ...] = ()
    apis: tuple[str, ...] = ()
    framings: tuple[str, ...] = ()

    def rule(self, dialect: str) -> str | None:
        """The rule that must fire for a deviation."""
        return dict(self.rules).get(dialect)

    def as_dict(self) -> dict[str, Any]:
        """As `streamproof faults --json` has it."""
        return {
            "name": self.name,
            "effect": self.effect.value,
            "what": self.what,
            "argument": self.argument or None,
            "times": self.times,
            "dialects": list(self.apis) or None,
            "framings": list(self.framings) or None,
            "rules": dict(self.rules),
            "answers": ["stream", "plain"] if self.plain else ["stream"],
        }


def neutral(name: str, what: str, change: Change, **about: Any) -> NamedFault:
    """A fault that changes nothing of what was said."""
    return NamedFault(name=name, effect=Effect.NEUTRAL, what=what, change=change, **about)


@dataclass(frozen=True, slots=True)
class Called:
    """A fault as an address or a command line names it: `truncated`, `truncated:3`."""

    fault: NamedFault
    argument: str

    @property
    def name(self) -> str:
        return f"{self.fault.name}:{self.argument}" if self.argument != self.fault.argument else self.fault.name

    @property
    def lasts(self) -> int:
        """How many requests meet the fault before all is well; 0: every one does."""
        times = self.fault.times
        if times is None:
            return 0
        return int(self.argument[:4]) if self.argument.isascii() and self.argument.isdecimal() else times

    def meets(self, attempt: int) -> bool:
        """Whether the request of this number, counted from 0, meets the fault."""
        return self.fault.times is None or attempt < self.lasts


def staged(
    exchange: Exchange, dialect: Dialect, faults: Sequence[Called], attempt: int = 0, *, streamed: bool = True
) -> Exchange:
    """What the request of this number gets: the exchange with all faults that it meets, one after the other. Raises
    `FaultError`."""
    for called in faults:
        fault = called.fault
        if not called.meets(attempt):
            continue
        if fault.apis and dialect.name not in fault.apis:
            raise FaultError(f"{fault.name} is not known to {dialect.name}", hint=f"it is to {', '.join(fault.apis)}")
        if not (streamed or fault.plain):
            raise FaultError(f"{fault.name} is about streams", hint="ask for one")
        try:
            exchange = fault.change(exchange, dialect, called.argument)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:  # payloads of any type at all
            raise FaultError(f"{fault.name} cannot be made of this stream: {error}") from error
    return exchange
