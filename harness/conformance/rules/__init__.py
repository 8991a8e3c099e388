"""The catalogue of rules: every statement that a stream is judged by (product contract, section 1; `streamproof rules`).

One module, or one folder, for each group of rules. A dialect's folder has a *walk*, which shows the rules what there is to be
seen; the rules are functions beside it. To add a rule: one function in the file of its subject, one mutant in
`tests/conformance/mutants`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from types import MappingProxyType

from harness.conformance.rules.inspecting import Court, Inspector, Judged, Walk
from harness.conformance.rules.order import Table
from harness.conformance.rules.rule import Breach, Need, Outcome, Rule, Rules
from harness.conformance.rules.sights import Case

__all__ = ["RULES", "Breach", "Case", "Inspector", "Judged", "Need", "Outcome", "Rule", "inspector", "rules_of"]

_GROUPS = (
    "http",
    "sse",
    "ndjson",
    "json_array",
    "event_stream",
    "openai_chat",
    "openrouter",
    "openai_responses",
    "gemini",
    "bedrock",
    "ollama",
    "anthropic",
    "reassembly",
    "forms",
    "quirks",
)
"""Modules of this package, in the order of the catalogue. Each has `GROUPS`, its `Rules`, and may have `WALKS`: what shows them
their sights, by dialect or framing; and `TABLES`, its state tables."""

_modules = [import_module(f"{__name__}.{name}") for name in _GROUPS]
_groups: list[Rules] = [group for module in _modules for group in module.GROUPS]
RULES = MappingProxyType({rule.id: rule for group in _groups for rule in group.rules.values()})
RETIRED: MappingProxyType[str, str] = MappingProxyType(
    {rule: why for module in _modules for rule, why in getattr(module, "RETIRED", {}).items()}
)
"""Rules that are no more, with the reason. Their ids are never used again."""
_WALKS: dict[str, list[Callable[[Court], Walk]]] = {}
for _module in _modules:
    for _name, _walk in getattr(_module, "WALKS", {}).items():
        _WALKS.setdefault(_name, []).append(_walk)


def tables() -> list[Table]:
    """The state tables of all modules, each once."""
    found = {table.name: table for module in _modules for table in getattr(module, "TABLES", ())}
    return list(found.values())


def rules_of(dialect: str) -> list[Rule]:
    """The rules that may apply to a dialect, in the catalogue's order."""
    return [rule for rule in RULES.values() if rule.applies_to(dialect)]


def inspector(case: Case, rules: Iterable[Rule] | None = None) -> Inspector:
    """What judges one stream, by the rules given or by all of the catalogue."""
    walks = [*_WALKS.get(case.framing, ()), *_WALKS.get(case.dialect.name, ())]
    return Inspector(case, rules_of(case.dialect.name) if rules is None else rules, walks, notes=rules is None)
