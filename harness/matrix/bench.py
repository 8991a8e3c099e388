"""One cell: the client is asked, the server's log says what it was sent, the bytes say what is right, and the grade follows."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from harness import dialects
from harness.adapters import Observation, Ours
from harness.adapters.process import Answer
from harness.adapters.protocol import Said
from harness.cassette.model import Cassette, Exchange
from harness.conformance.grading import Graded, grade
from harness.conformance.inspection import inspect, united
from harness.conformance.verdict import Check, Grade, Verdict
from harness.errors import Where
from harness.findings import Finding, Level
from harness.matrix.cells import Cell, stream_of
from harness.matrix.evidence import placed
from harness.matrix.unasked import unasked, unasked_use
from harness.replay.faults import catalogue
from harness.serving import Entry, Served

_OURS = Ours()
_FAILED = ("failed", "server stopped")  # ends of an exchange that are the server's own doing
_LONGEST = 2000  # characters of a value that are kept as evidence
_SESSION = re.compile(r"/s/cell-\d+")
_FOLDERS = re.compile(r"(?<![\w/:.])/(?:[\w.@+-]+/){2,}(?=[\w.@+-])")
"""Of the path of a file all but its name."""
_AFTER = 2.0  # seconds that the server has to notice that a client is done


class Door(Protocol):
    """What a client is asked through."""

    def run(self, asked: Mapping[str, Any]) -> tuple[Said | None, Answer]:
        """Have it do one turn; no `Said` if it did not answer."""


class Bench:
    """Asks for cells of these cassettes, which `server` serves. `timeout` is how many seconds a client may wait; `omits` has
    the facts that a client has no place for, by its name and the dialect.

    Threads may share it, each with a process of its own.
    """

    def __init__(
        self,
        cassettes: Iterable[Cassette],
        server: Served,
        *,
        timeout: float = 5.0,
        omits: Callable[[str, str], Collection[str]] = lambda _subject, _dialect: (),
    ) -> None:
        self._cassettes = {case.id: case for case in cassettes}
        self._server = server
        self._timeout = timeout
        self._omits = omits
        self._right: dict[tuple[str, str | None, int], tuple[Exchange, Observation]] = {}
        self._lock = threading.Lock()
        self._asked = 0

    def cassette(self, cell: Cell) -> Cassette:
        return self._cassettes[cell.cassette]

    def verdict(self, cell: Cell, process: Door) -> Verdict:
        """Ask for a cell and grade what is said. A client that hangs, or fails when its time was over, is asked once more: a
        machine that was busy is not its fault."""
        verdict = self._once(cell, process)
        late = verdict.grade is Grade.CRASH and verdict.ms >= self._timeout * 900
        if not (late or verdict.grade is Grade.HANG) or (again := self._once(cell, process)).grade is verdict.grade:
            return verdict
        told = Finding(kind="subject/hung-once", message="the client took too long, and did not when it was asked again")
        return replace(again, findings=(*again.findings, told))

    def _once(self, cell: Cell, process: Door) -> Verdict:
        case = self.cassette(cell)
        with self._lock:
            self._asked += 1
            session = f"cell-{self._asked}"
        said, answer = process.run(self._question(cell, case, session))
        log = self._server.settled(session, _AFTER)
        self._server.forget(session)
        served = [entry for entry in log if entry.side in ("stream", "plain", "miss")]
        try:
            graded, events = self._graded(cell, case, said, answer, served)
        except Exception as error:  # a fault of ours spoils this cell and no other
            graded, events = _ours_failed(f"{type(error).__name__}: {error}"), 0
        return _verdict(cell, case, graded, events, answer.seconds)

    def right(self, cell: Cell, attempt: int = 0) -> tuple[Exchange, Observation]:
        """What is sent at the so-manyeth request, and what it says."""
        key = cell.cassette, cell.fault, attempt
        if key not in self._right:
            case = self.cassette(cell)
            sent = catalogue.attempts(stream_of(case), dialects.dialect(case.dialect), cell.faults)
            exchange = sent[min(attempt, len(sent) - 1)]
            self._right[key] = exchange, _OURS.observe(exchange, case.dialect)
        return self._right[key]

    def judged(self, cell: Cell, attempt: int = 0) -> tuple[Finding, ...]:
        """What is wrong with the stream itself, by the catalogue."""
        exchange, _ = self.right(cell, attempt)
        return _judged(exchange, self.cassette(cell)).findings

    def _question(self, cell: Cell, case: Cassette, session: str) -> dict[str, Any]:
        asked = stream_of(case).request.json
        return {
            "id": session,
            "dialect": case.dialect,
            "base_url": self._server.url_of(case.id, *cell.faults, session=session),
            "stream": True,
            "request": asked if isinstance(asked, dict) else {},
            "model": case.model,
            "timeout_s": self._timeout,
        }

    def _graded(
        self, cell: Cell, case: Cassette, said: Said | None, answer: Answer, served: Sequence[Entry]
    ) -> tuple[Graded, int]:
        if not served and said is not None and said.error is not None:
            message = f"the client never asked: {said.error.type}: {said.error.message[:_LONGEST]}"
            return _unsupported(message, "subject/never-asked"), 0
        last = served[-1] if served else None
        if last is not None and (other := unasked(stream_of(case), last)) is not None:
            return _unsupported(other), 0
        if last is not None and last.side == "miss":
            return _ours_failed(last.note), 0
        if last is not None and last.ended in _FAILED:
            return _ours_failed(f"the server did not send all of the response: {last.ended} {last.note}".strip()), 0
        if last is not None and last.side == "plain" and case.reference is not None:
            exchange, right = case.reference, _OURS.observe(case.reference, case.dialect)
        else:
            exchange, right = self.right(cell, max(0, sum(entry.side == "stream" for entry in served) - 1))
            if (differing := _sent_otherwise(exchange, last)) is not None:
                return _ours_failed(differing), 0
        omits = self._omits(cell.subject, case.dialect)
        graded = grade(right, said, answer, omits)
        if graded.grade not in (Grade.PASS, Grade.UNSUPPORTED):  # whose fault it is depends on the stream; that costs time
            if last is not None and (tools := unasked_use(exchange, last, right)) is not None:
                return _unsupported(tools), right.frames
            graded = grade(_judged(exchange, case), said, answer, omits)
        findings = placed(graded.findings, exchange, dialects.dialect(case.dialect))
        return replace(graded, findings=findings), right.frames


def _judged(exchange: Exchange, case: Cassette) -> Observation:
    """What an exchange says, with all that the catalogue finds in it."""
    seen, judged = inspect(exchange, case.dialect, case.provider)
    return replace(seen, findings=tuple(united(seen.findings, judged)))


def _sent_otherwise(exchange: Exchange, entry: Entry | None) -> str | None:
    """What is wrong with what the server sent: a client is graded only on the bytes and the boundaries of the recording."""
    if entry is None or entry.ended == "client left":
        return None
    due = [len(chunk.data) for chunk in exchange.chunks if chunk.data]
    if entry.sizes == due:
        return None
    return f"the server sent pieces of {entry.sizes[:20]} bytes, where {due[:20]} were due"


def _unsupported(message: str, kind: str = "subject/unsupported") -> Graded:
    return Graded(grade=Grade.UNSUPPORTED, findings=(Finding(kind=kind, message=message),))


def _ours_failed(message: str) -> Graded:
    told = f"the harness itself failed: {message}; please report it with this cell"
    return Graded(grade=Grade.HARNESS_ERROR, findings=(Finding(kind="harness/failed", message=told, graded=Level.MUST),))


def _verdict(cell: Cell, case: Cassette, graded: Graded, events: int, seconds: float) -> Verdict:
    place = Where(cassette=case.id, exchange=0)
    return Verdict(
        cassette=case.id,
        dialect=case.dialect,
        provider=case.provider,
        adapter=cell.subject,
        fault=cell.fault,
        check=Check.REASSEMBLY,
        grade=graded.grade,
        findings=tuple(_clipped(finding.within(place)) for finding in graded.findings),
        events=events,
        ms=round(seconds * 1000, 1),
    )


def _clipped(finding: Finding) -> Finding:
    return replace(finding, message=_short(finding.message), expected=_short(finding.expected), got=_short(finding.got))


def _short(value: Any) -> Any:
    """A value whose texts are short enough to be read, and the same on every machine."""
    if isinstance(value, str):
        value = _FOLDERS.sub("", _SESSION.sub("", value))
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    return [_short(inner) for inner in value] if isinstance(value, list) else value
