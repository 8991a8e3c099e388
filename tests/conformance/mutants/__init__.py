"""A mutant for every rule: a fault that makes exactly this rule fail on a good cassette.

One module for each group of rules, with `MUTANTS`: a list of `Mutant`. To add one: choose a shipped cassette on which the rule
passes (`before` may prepare it, with faults that the rule does not mind), and say what to change.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules

from harness.replay.faults import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """`faults`, applied to the stream of `cassette` as `before` left it, break the rule and those in `also`, and no others."""

    rule: str
    cassette: str
    faults: tuple[Fault, ...]
    before: tuple[Fault, ...] = ()
    also: tuple[str, ...] = ()
    provider: str | None = None
    """Whose stream it is taken for; by default the cassette's own provider's."""


def mutants() -> list[Mutant]:
    """All of them, in the order of their modules."""
    modules = sorted(module.name for module in iter_modules(__path__))
    return [mutant for name in modules for mutant in import_module(f"{__name__}.{name}").MUTANTS]
