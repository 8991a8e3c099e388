"""Results as JUnit XML: one suite for each adapter and dialect, one case for each cassette, fault and check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from harness.conformance.verdict import Grade
from harness.reporting.results import VerdictLine, dumped

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""
_MOST = 2000  # characters of a value


def render(verdicts: Iterable[VerdictLine]) -> str:
    """The document. What is known passes; what could not be asked is skipped; our own faults are errors."""
    suites: dict[str, list[VerdictLine]] = {}
    for verdict in verdicts:
        suites.setdefault(f"{verdict.adapter}.{verdict.dialect}", []).append(verdict)
    body = "".join(_suite(name, cases) for name, cases in suites.items())
    told = [verdict for cases in suites.values() for verdict in cases]
    return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="streamproof"{_counts(told)}>\n{body}</testsuites>\n'


def _suite(name: str, cases: Sequence[VerdictLine]) -> str:
    head = f'<testsuite name={_quoted(name)}{_counts(cases)} skipped="{_skipped(cases)}">'
    return f"{head}\n{''.join(map(_case, cases))}</testsuite>\n"


def _counts(cases: Sequence[VerdictLine]) -> str:
    failures, errors = sum(map(_fails, cases)), sum(case.grade is Grade.HARNESS_ERROR for case in cases)
    seconds = sum(case.ms for case in cases) / 1000
    return f' tests="{len(cases)}" failures="{failures}" errors="{errors}" time="{seconds:.3f}"'


def _skipped(cases: Sequence[VerdictLine]) -> int:
    return sum(case.grade is Grade.UNSUPPORTED for case in cases)


def _fails(case: VerdictLine) -> bool:
    return case.known is None and case.grade not in (Grade.PASS, Grade.UNSUPPORTED, Grade.HARNESS_ERROR)


def _case(case: VerdictLine) -> str:
    name = case.cassette + (f" + {case.fault}" if case.fault else "") + f" · {case.check.value}"
    head = f'<testcase classname={_quoted(f"{case.adapter}.{case.dialect}")} name={_quoted(name)} time="{case.ms / 1000:.3f}"'
    inner = "".join(_outcome(case))
    return f"{head}>{inner}</testcase>\n" if inner else f"{head}/>\n"


def _outcome(case: VerdictLine) -> Iterator[str]:
    said = case.findings[0].message if case.findings else case.grade.value
    if case.grade is Grade.UNSUPPORTED:
        yield f"<skipped message={_quoted(said)}/>"
    elif case.grade is Grade.HARNESS_ERROR:
        yield f"<error type={_quoted(case.grade.value)} message={_quoted(said)}/>"
    elif _fails(case):
        yield f"<failure type={_quoted(case.grade.value)} message={_quoted(said)}>{_text(_findings(case))}</failure>"


def _findings(case: VerdictLine) -> str:
    lines = []
    for finding in case.findings:
        lines.append(f"{finding.rule or finding.kind} ({finding.level.value}): {finding.message}")
        if finding.expected is not None or finding.got is not None:
            lines += [f"  expected {dumped(finding.expected)[:_MOST]}", f"  observed {dumped(finding.got)[:_MOST]}"]
    return "\n".join(lines)


def _text(value: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", value))


def _quoted(value: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\ufffd", value))
