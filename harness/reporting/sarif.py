"""Findings as SARIF 2.1.0, for whoever shows them beside code: GitHub's code scanning, editors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.conformance.rules import RULES
from harness.findings import KINDS, Level
from harness.reporting.results import FindingLine, VerdictLine

_LEVELS = {Level.MUST: "error", Level.SHOULD: "warning", Level.INFO: "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME = "https://github.com/streamproof/streamproof"


def render(version: str, verdicts: Iterable[VerdictLine], *, cassettes: str = "cassettes") -> dict[str, Any]:
    """The log, as a value. `cassettes` is the folder that the cassettes lie in, below the root of the repository."""
    told = [(verdict, finding) for verdict in verdicts for finding in verdict.findings]
    names = sorted({_name(finding) for _, finding in told})
    driver = {"name": "streamproof", "version": version, "informationUri": _HOME, "rules": list(map(_rule, names))}
    results = [_result(verdict, finding, names, cassettes) for verdict, finding in told]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}],
    }


def _name(finding: FindingLine) -> str:
    return finding.rule or finding.kind


def _rule(name: str) -> dict[str, Any]:
    rule = RULES.get(name)
    says = rule.says if rule is not None else KINDS[name].says if name in KINDS else name
    more = {"help": {"text": f"{rule.why} Source: {rule.source}"}} if rule is not None else {}
    return {"id": name, "shortDescription": {"text": says}, **more}


def _result(verdict: VerdictLine, finding: FindingLine, names: list[str], cassettes: str) -> dict[str, Any]:
    name = _name(finding)
    span = finding.where.span
    region = {"region": {"byteOffset": span[0], "byteLength": span[1] - span[0]}} if span else {}
    about = f"{verdict.adapter} · {verdict.cassette}" + (f" · {verdict.fault}" if verdict.fault else "")
    known = {"suppressions": [{"kind": "external", "justification": finding.known}]} if finding.known else {}
    return {
        "ruleId": name,
        "ruleIndex": names.index(name),
        "level": _LEVELS[finding.level],
        "message": {"text": f"{about}: {finding.message}"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": f"{cassettes}/{verdict.cassette}.yaml"}, **region}}],
        "partialFingerprints": {
            "streamproof/v1": f"{about} · {verdict.check.value} · {finding.kind} · {finding.where.path or ''}"
        },
        **known,
    }


def commands(verdicts: Iterable[VerdictLine], *, cassettes: str = "cassettes") -> Iterable[str]:
    """The same as workflow commands of GitHub Actions, which become annotations on a pull request: what fails, and no more."""
    for verdict in verdicts:
        if verdict.known is not None:
            continue
        for finding in verdict.findings:
            if finding.level is Level.INFO or finding.known is not None:
                continue
            kind = "error" if finding.level is Level.MUST else "warning"
            file = f"{cassettes}/{verdict.cassette}.yaml"
            title = f"{_name(finding)} · {verdict.adapter}"
            yield f"::{kind} file={_property(file)},title={_property(title)}::{_data(finding.message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
