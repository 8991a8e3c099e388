"""What the page shows of a run, each word once: cells are rows of numbers that point into lists of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from harness.conformance.rules import RULES
from harness.conformance.verdict import Check, Grade
from harness.findings import KINDS
from harness.replay.faults.catalogue import CATALOGUE
from harness.replay.faults.named import Effect
from harness.reporting.results import FindingLine, Line, RunLine, SummaryLine, VerdictLine

_MOST = 600  # characters of a value
_FEATURES = (
    ("parallel", "parallel calls"),
    ("tool", "tool calls"),
    ("call", "tool calls"),
    ("reasoning", "reasoning"),
    ("error", "errors"),
    ("blocked", "errors"),
    ("cut", "cuts"),
    ("usage", "usage"),
    ("length", "finish"),
    ("finish", "finish"),
    ("stop", "finish"),
    ("json", "structured"),
    ("unicode", "unicode"),
)


class _Names:
    """A list of names, each once, with their places."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.places.setdefault(name, len(self.places))

    def __iter__(self) -> Any:
        return iter(self.places)


def gathered(lines: Sequence[Line], earlier: Sequence[Sequence[Line]] = ()) -> dict[str, Any]:
    """All of it but the streams."""
    run = next(line for line in lines if isinstance(line, RunLine))
    cells = [line for line in lines if isinstance(line, VerdictLine)]
    adapters, cassettes, faults, kinds = _Names(), _Names(), _Names(), _Names()
    findings: list[list[Any]] = []
    rows = []
    providers = {cell.cassette: (cell.dialect, cell.provider) for cell in cells}
    for cell in cells:
        told = list(range(len(findings), len(findings) + len(cell.findings)))
        findings += (_finding(finding, kinds) for finding in cell.findings)
        place = adapters(cell.adapter), cassettes(cell.cassette), faults(cell.fault or "none")
        rows.append([*place, list(Check).index(cell.check), list(Grade).index(cell.grade), cell.known or 0, told])
    return {
        "run": run.model_dump(mode="json", exclude_none=True),
        "summary": next((x.model_dump(mode="json") for x in lines if isinstance(x, SummaryLine)), None),
        "adapters": [_adapter(name, run) for name in adapters],
        "cassettes": [[name, *providers[name], _feature(name)] for name in cassettes],
        "faults": [_fault(name) for name in faults],
        "checks": [check.value for check in Check],
        "grades": [grade.value for grade in Grade],
        "kinds": [_kind(name) for name in kinds],
        "cells": rows,
        "findings": findings,
        "trend": [_point(each) for each in [*earlier, lines]] if earlier else [],
    }


def _feature(cassette: str) -> str:
    name = cassette.rpartition("/")[2]
    return next((feature for word, feature in _FEATURES if word in name), "text")


def _adapter(name: str, run: RunLine) -> dict[str, Any]:
    about = (run.about or {}).get(name)
    packages = list(dict.fromkeys(about.packages.values())) if about else []
    omits = sorted({fact for facts in (about.omits or {}).values() for fact in facts}) if about else []
    language = about.language if about else ""
    return {"name": name, "version": run.adapters.get(name, "?"), "language": language, "packages": packages, "omits": omits}


def _fault(name: str) -> dict[str, Any]:
    known = [CATALOGUE[part.partition(":")[0]] for part in name.split("+") if part.partition(":")[0] in CATALOGUE]
    fails = any(fault.effect is Effect.FAILURE for fault in known)
    what = " ".join(fault.what for fault in known) or "The cassette as it is."
    return {"name": name, "fails": fails, "what": what}


def _kind(name: str) -> dict[str, str]:
    """A rule or a kind of finding, as its page tells of it."""
    rule = RULES.get(name)
    if rule is None:
        return {"name": name, "says": KINDS[name].says if name in KINDS else ""}
    return {
        "name": name,
        "says": rule.says,
        "why": rule.why,
        "source": rule.source,
        "bad": rule.bad,
        "good": rule.good,
        "seen": rule.seen,
    }


def _finding(finding: FindingLine, kinds: _Names) -> list[Any]:
    where = finding.where
    return [
        kinds(finding.rule or finding.kind),
        finding.level.value,
        finding.message,
        where.frame,
        list(where.span) if where.span else None,
        where.path,
        _short(finding.expected),
        _short(finding.got),
        finding.blame,
        finding.known,
    ]


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _MOST else value[:_MOST] + "…"
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    return [_short(inner) for inner in value[:50]] if isinstance(value, list) else value


def _point(lines: Sequence[Line]) -> dict[str, Any]:
    """A run as a point of the trend."""
    run = next(line for line in lines if isinstance(line, RunLine))
    cells = [line for line in lines if isinstance(line, VerdictLine)]
    grades = Counter(cell.grade.value if cell.known is None else Grade.PASS.value for cell in cells)
    return {"on": str(run.on or "?"), "streamproof": run.streamproof, "grades": dict(grades), "cells": len(cells)}
