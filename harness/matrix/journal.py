"""What of a run is done already, in a file: a run that is interrupted and started again asks only for the rest.

The file's name says what the run is: clients at their versions, cassettes, faults, our own version. Another run has another
journal. It is removed when the run has come to its end.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from harness.conformance.verdict import Verdict, verdict_of
from harness.errors import InputError
from harness.matrix.cells import Cell


class Journal:
    """The journal of a run that `identity` says all about. Used as a context; raises `InputError` if it cannot be kept."""

    def __init__(self, folder: Path, identity: Any, *, afresh: bool = False) -> None:
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:16]
        self.path = folder / f".matrix-{digest}.jsonl"
        self._afresh = afresh
        self._lock = threading.Lock()
        self.done: dict[str, Verdict] = {}
        """By the key of the cell."""

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self._afresh:
                self.path.unlink(missing_ok=True)
            elif self.path.is_file():
                self.done = dict(_read(self.path.read_text(encoding="utf-8").split("\n")))
            self._file = self.path.open("a", encoding="utf-8")
        except OSError as error:
            hint = "choose another folder with --reports"
            raise InputError(f"the journal cannot be written: {error.strerror}", where=str(self.path), hint=hint) from None
        self._file.write("\n" if self.path.stat().st_size else "")  # what was broken off is a line of its own
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, cell: Cell, verdict: Verdict) -> None:
        """Keep what came of a cell."""
        line = json.dumps({"cell": cell.key, **verdict.as_dict()}, default=str)
        with self._lock:
            self._file.write(f"{line}\n")
            self._file.flush()

    def remove(self) -> None:
        """The run is over."""
        self.path.unlink(missing_ok=True)


def _read(lines: Iterable[str]) -> Iterable[tuple[str, Verdict]]:
    """What was finished; a line that was broken off is asked for again."""
    for line in lines:
        try:
            told = json.loads(line) if line else None
            if told is not None:
                yield told["cell"], verdict_of(told)
        except (ValueError, KeyError, TypeError):
            continue
