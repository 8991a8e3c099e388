"""What reports say of a finding beside its message: whose fault it is, and why its rule is one."""

from __future__ import annotations

from harness.conformance.rules import RULES
from harness.conformance.rules.rule import Blame
from harness.findings import Finding, Level

_UNSAID = (None, Blame.NOBODY.value)
_SENDERS = (Blame.SERVER.value, Blame.GATEWAY.value, Blame.SERVER_OR_GATEWAY.value)


def fault(finding: Finding) -> str:
    """Whose fault a finding is; empty where it is nobody's, or nothing was said of it."""
    if finding.blame in _UNSAID or (finding.level is Level.INFO and finding.blame in _SENDERS):
        return ""  # what is information is no fault of those who sent it
    return "the bytes do not tell whose" if finding.blame == Blame.UNKNOWN else str(finding.blame)


def reason(finding: Finding) -> str:
    """Why it matters, who is seen to do it, and the command that tells more; empty where no rule of the catalogue is broken, or
    nothing is wrong with that."""
    rule = RULES.get(finding.rule or "")
    if rule is None or finding.level is Level.INFO:
        return ""
    seen = "" if rule.seen == "–" else f" Seen at: {rule.seen.rstrip('.')}."
    return f"{rule.why}{seen}   streamproof rules {rule.id}"
