"""Which of the findings somebody wants to hear of: by rule, by kind, by how grave they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Self

from harness.conformance.rules import RETIRED, RULES
from harness.errors import InputError
from harness.findings import KINDS, Finding, Level

_GRAVEST_FIRST = tuple(Level)
_LISTED = "streamproof rules lists them all"


def means(name: str, rule: str | None, kind: str) -> bool:
    """Whether a name that somebody gave stands for a rule, or for a kind of findings: an id (`OAI-C-022`), the beginning of
    ids (`OAI-C`), a kind (`tool/index-missing`) or an area (`tool`)."""
    name = name.removesuffix("*").rstrip("-/")
    return bool(name) and (name in (rule, kind) or kind.startswith(f"{name}/") or (rule or "").startswith(f"{name}-"))


def known_name(name: str) -> bool:
    """Whether a name stands for any rule or kind."""
    return any(means(name, rule.id, rule.kind) for rule in RULES.values()) or any(means(name, None, kind) for kind in KINDS)


def no_such(name: str) -> InputError:
    """What to say of a name that stands for nothing."""
    if name in RETIRED:
        hint = "streamproof rules lists those that are in force"
        return InputError(f"the rule {name} is retired: {RETIRED[name]}", hint=hint)
    close = get_close_matches(name, [*RULES, *KINDS], n=1)
    return InputError(f"no rule is called {name!r}", hint=f"did you mean {close[0]}?" if close else _LISTED)


@dataclass(frozen=True, slots=True)
class Choice:
    """`select` names what is wanted, all if it is empty; `ignore` what is not, whatever `select` says; `level` is the least
    grave that is."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    level: Level = Level.INFO

    @classmethod
    def of(cls, select: Iterable[str] | None, ignore: Iterable[str] | None, level: Level = Level.INFO) -> Self:
        """Names as they were given, several of them in one with commas between. Raises `InputError` for one that stands for
        nothing."""
        chosen, ignored = (tuple(n for one in given or () for n in one.replace(",", " ").split()) for given in (select, ignore))
        for name in (*chosen, *ignored):
            if not known_name(name):
                raise no_such(name)
        return cls(chosen, ignored, level)

    @property
    def all(self) -> bool:
        """Whether everything is wanted, but perhaps for what is less grave."""
        return not self.select and not self.ignore

    def said(self) -> list[str]:
        """The options that name it again."""
        return [f"--select {name}" for name in self.select] + [f"--ignore {name}" for name in self.ignore]

    def wants(self, finding: Finding) -> bool:
        if _GRAVEST_FIRST.index(finding.level) > _GRAVEST_FIRST.index(self.level):
            return False
        if any(means(name, finding.rule, finding.kind) for name in self.ignore):
            return False
        return not self.select or any(means(name, finding.rule, finding.kind) for name in self.select)


EVERYTHING = Choice()
