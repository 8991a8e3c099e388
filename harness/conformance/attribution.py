"""Whose fault each finding is, as far as the bytes tell, and in which order findings are told.

A rule says whom it is about, and who answered narrows that down (`rules/blame.py`). Here comes what only the whole exchange
tells: that a body was cut off by the connection or by its recorder, that it was changed later, what sort of failure an error
is; and those findings are attributed that no rule made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.api_error import ApiError, ErrorKind
from harness.conformance.damage import damage
from harness.conformance.rules import Case
from harness.conformance.rules.blame import whose
from harness.conformance.rules.rule import Blame
from harness.findings import CUT, LOST, Finding, Level

_OF_BYTES = ("framing/", "stream/", "http/content-encoding")
_AREAS = {
    "reader": Blame.CLIENT,
    "events": Blame.CLIENT,
    "loop": Blame.CLIENT,
    "recording": Blame.RECORDING,
    "reference": Blame.UNKNOWN,  # which of the two sides is wrong, or who read them wrongly, they do not tell
    "native": Blame.UNKNOWN,
    "harness": Blame.NOBODY,
}
_KINDS = {"stream/reset": Blame.NETWORK, "stream/stalled": Blame.NETWORK, "field/unknown": Blame.NOBODY}
_ERRORS = {
    ErrorKind.AUTH: Blame.CLIENT,
    ErrorKind.NOT_FOUND: Blame.CLIENT,
    ErrorKind.INVALID_REQUEST: Blame.CLIENT,
    ErrorKind.CONTEXT_OVERFLOW: Blame.CLIENT,
    ErrorKind.QUOTA: Blame.CLIENT,
    ErrorKind.RATE_LIMITED: Blame.NOBODY,
    ErrorKind.OVERLOADED: Blame.SERVER_OR_GATEWAY,
    ErrorKind.SERVER: Blame.SERVER_OR_GATEWAY,
    ErrorKind.NETWORK: Blame.NETWORK,
    ErrorKind.TIMEOUT: Blame.NETWORK,
    ErrorKind.CANCELLED: Blame.CLIENT,
}


class Attribution:
    """Says of the findings about one exchange whose fault they are.

    `noted` is what was found in its bytes, `error` how the turn failed; `recording` has what is to be said of the recording
    itself.
    """

    def __init__(self, case: Case, noted: Iterable[Finding], error: ApiError | None) -> None:
        kinds = {finding.kind for finding in noted}
        done = damage(case.exchange, case.framing, suspect=any(kind.startswith(_OF_BYTES) for kind in kinds))
        self.recording = tuple(replace(finding, blame=Blame.RECORDING.value) for finding in done.findings)
        self._case = case
        self._error = error
        self._altered = done.altered
        self._lost = done.cut
        self._cut = done.cut or _who_cut(kinds, case)

    def of(self, finding: Finding) -> Finding:
        """The finding with the side that the bytes point to; what only shows that a recording was cut off is information."""
        kind = finding.kind
        if self._altered and kind.startswith(_OF_BYTES):
            return _blamed(finding, Blame.RECORDING)
        if kind in LOST and self._lost is not None:
            return replace(_blamed(finding, self._lost), graded=Level.INFO)
        if kind in CUT and self._cut is not None:
            return _blamed(finding, self._cut)
        if kind in ("error/in-band", "error/http") and self._error is not None:
            return _blamed(finding, whose(_ERRORS.get(self._error.kind, Blame.UNKNOWN), self._case))
        return finding if finding.blame is not None else _blamed(finding, whose(_usual(finding), self._case))


def attributed(findings: Iterable[Finding], case: Case, error: ApiError | None) -> list[Finding]:
    """All findings about an exchange with their blame, after those about the recording itself."""
    found = list(findings)
    attribution = Attribution(case, found, error)
    return [*attribution.recording, *map(attribution.of, found)]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by their place: attempt by attempt, the head of the response, its bytes from the first to the last, and then
    what is about all of it."""
    return sorted(findings, key=_place)


def _who_cut(kinds: set[str], case: Case) -> Blame | None:
    """Who ended a body before its turn, as far as its last bytes tell; None where the rules do. A server does not stop inside
    its own frame; and of a bare capture, without its headers, nobody knows whether it is whole."""
    if "framing/frame-truncated" in kinds:
        return Blame.NETWORK_OR_RECORDING
    return None if case.exchange.headers else Blame.UNKNOWN


def _blamed(finding: Finding, blame: Blame) -> Finding:
    return replace(finding, blame=blame.value)


def _usual(finding: Finding) -> Blame:
    """Whom a finding is about that no rule made."""
    area = finding.kind.partition("/")[0]
    return _KINDS.get(finding.kind) or _AREAS.get(area) or Blame.SERVER_OR_GATEWAY


def _place(finding: Finding) -> tuple[int, ...]:
    where = finding.where
    end = 1 << 62
    part = 0 if finding.kind.startswith(("http/", "recording/")) else 1 if where.span or where.frame is not None else 2
    start, stop = where.span or (end, end)
    return (where.exchange or 0, part, start, stop, end if where.frame is None else where.frame)
