"""The catalogue of rules as people read it: a list, and one rule explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness.conformance.rules import RULES, Rule
from harness.conformance.rules.choice import means, no_such
from harness.errors import InputError
from harness.kinds import KINDS


def chosen(rules: Iterable[Rule], names: Iterable[str]) -> list[Rule]:
    """The rules that are meant: by id, by the beginning of ids (`OAI-C`), by kind (`tool/index-missing`) or area (`tool`).
    Raises `InputError` for a name that means none."""
    rules = list(rules)
    found: dict[str, Rule] = {}
    for name in names:
        meant = [rule for rule in rules if means(name, rule.id, rule.kind)]
        if not meant and name in KINDS:
            raise InputError(f"no rule has findings of the kind {name!r}", hint=f"it says: {KINDS[name].says}")
        if not meant:
            raise no_such(name)
        found.update({rule.id: rule for rule in meant})
    return list(found.values())


def in_order(rules: Iterable[Rule]) -> list[Rule]:
    """Group by group as the catalogue has them, and in each by number."""
    groups = {group: number for number, group in enumerate(dict.fromkeys(rule.group for rule in RULES.values()))}
    return sorted(rules, key=lambda rule: (groups[rule.group], rule.id))


def listed(rule: Rule) -> str:
    """One line."""
    return f"{rule.id}  {rule.level.value:<6}  {rule.says}"


def explained(rule: Rule) -> Iterator[str]:
    """All that is known of a rule, line by line."""
    yield f"{rule.id} · {rule.level.value} · {rule.kind}"
    yield rule.says
    yield ""
    yield f"  why      {rule.why}"
    yield f"  bad      {rule.bad}"
    yield f"  good     {rule.good}"
    yield f"  source   {rule.source}"
    yield f"  needs    {', '.join(sorted(rule.needs))}" + ("; judges whoever reads a stream" if rule.reader else "")
    yield f"  applies  {_applies(rule)}"
    yield f"  blame    {rule.blame.value}"
    yield f"  seen     {rule.seen}"
    if rule.changed:
        yield f"  level    {rule.changed}"
    for provider, (level, evidence) in sorted(rule.profiles.items()):
        yield f"  profile  {provider}: {level.value}, since {evidence}"


def as_dict(rule: Rule) -> dict[str, Any]:
    """A rule as JSON."""
    return {
        "id": rule.id,
        "level": rule.level.value,
        "kind": rule.kind,
        "says": rule.says,
        "why": rule.why,
        "bad": rule.bad,
        "good": rule.good,
        "source": rule.source,
        "needs": sorted(rule.needs),
        "dialects": sorted(rule.dialects) if rule.dialects is not None else None,
        "framings": sorted(rule.framings) if rule.framings is not None else None,
        "providers": sorted(rule.providers) if rule.providers is not None else None,
        "blame": rule.blame.value,
        "seen": rule.seen,
        "reader": rule.reader,
        "changed": rule.changed,
        "profiles": {name: {"level": level.value, "evidence": why} for name, (level, why) in rule.profiles.items()},
    }


def _applies(rule: Rule) -> str:
    said = [", ".join(sorted(names)) for names in (rule.dialects, rule.framings, rule.providers) if names is not None]
    return " · ".join(said) or "every dialect"
