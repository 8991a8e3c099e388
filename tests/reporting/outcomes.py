"""Outcomes of runs that never happened, with recorded text as awkward as it may be."""

from __future__ import annotations

from typing import Any

from harness.conformance.verdict import Check, Grade, Verdict
from harness.errors import Where
from harness.findings import Finding
from harness.suite import Outcome

NASTY = (
    "a `code` ``two`` | pipe <script>alert(1)</script> <!-- --> [link](http://x) **bold** _it_ ~~no~~ &lt; \\ #h\n"
    "line two\r\n\ttab [bold red]rich[/bold red] :smile: \x1b[31mred\x1b[0m \x07\x9b2J \u202egnp \u200b \ud800 é 漢字 🌊"
)
"""Everything that means something to Markdown, HTML, a terminal, or a text file."""


def finding(kind: str = "reference/value", message: str = "differs", **more: Any) -> Finding:
    where = more.pop("where", Where(cassette="openai-chat/here/text", exchange=0, frame=1, span=(10, 12), path="/x"))
    return Finding(kind=kind, message=message, where=where, **more)


def verdict(*findings: Finding, grade: Grade = Grade.PASS, **more: Any) -> Verdict:
    usual = {"cassette": "openai-chat/here/text", "dialect": "openai-chat", "provider": "here", "check": Check.REFERENCE}
    return Verdict(**{**usual, **more}, grade=grade, findings=findings)


def outcome(*verdicts: Verdict, stale: list[str] | None = None) -> Outcome:
    names = {v.cassette for v in verdicts}
    return Outcome(verdicts=list(verdicts), stale=stale or [], cassettes=len(names), seconds=1.25)
