"""All cells of a run, in parallel: each worker has one client's process at a time, so that whatever a client does to itself
spoils its own cells only."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping

from harness.adapters.process import Process
from harness.conformance.verdict import Verdict
from harness.matrix.bench import Bench
from harness.matrix.cells import Cell, Plan
from harness.matrix.journal import Journal

_BATCH = 25
"""Cells that a worker takes at once: a process serves several batches, workers come to their end together."""


Start = Callable[[], Process]


class _Work:
    """What is still to be done, by client. A worker keeps to its client while there is something left of it, then takes one
    that nobody is at, and only then helps another worker."""

    def __init__(self, cells: list[Cell]) -> None:
        self._left: dict[str, deque[Cell]] = {}
        for cell in cells:
            self._left.setdefault(cell.subject, deque()).append(cell)
        self._busy: dict[str, int] = dict.fromkeys(self._left, 0)
        self._lock = threading.Lock()
        self.stopped = False

    def next(self, before: str | None) -> tuple[str, list[Cell]] | None:
        """The next cells, of one client; None if all is done."""
        with self._lock:
            if before is not None:
                self._busy[before] -= 1
            open_ones = [name for name, cells in self._left.items() if cells]
            if not open_ones or self.stopped:
                return None
            name = min(open_ones, key=lambda name: (name != before, self._busy[name], -len(self._left[name])))
            self._busy[name] += 1
            cells = self._left[name]
            return name, [cells.popleft() for _ in range(min(_BATCH, len(cells)))]


class _Worker:
    """Asks for cells, batch by batch, with the process of the client that it is at."""

    def __init__(self, work: _Work, bench: Bench, start: Mapping[str, Start], done: Callable[[Cell, Verdict], None]) -> None:
        self._work = work
        self._bench = bench
        self._start = start
        self._done = done
        self._name: str | None = None
        self._process: Process | None = None
        self.failed: BaseException | None = None

    def __call__(self) -> None:
        try:
            while (batch := self._work.next(self._name)) is not None:
                process = self._of(batch[0])
                for cell in batch[1]:
                    if self._work.stopped:
                        return
                    self._done(cell, self._bench.verdict(cell, process))
        except BaseException as error:  # the run's own; the others must not go on for nothing
            self.failed = error
            self._work.stopped = True
        finally:
            self._close()

    def _of(self, name: str) -> Process:
        if self._process is None or name != self._name:
            self._close()
            self._name, self._process = name, self._start[name]()
        return self._process

    def _close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


def run(
    plan: Plan,
    bench: Bench,
    start: Mapping[str, Start],
    journal: Journal,
    *,
    jobs: int = 2,
    progress: Callable[[Cell], None] = lambda _: None,
) -> list[Verdict]:
    """The verdicts of all cells, in the order of the plan; `jobs` clients run at once. `start` has what makes the process of
    each client. What the journal has already is not asked again."""
    verdicts = dict(journal.done)

    def done(cell: Cell, verdict: Verdict) -> None:
        verdicts[cell.key] = verdict
        journal.write(cell, verdict)
        progress(cell)

    for cell in plan.cells:
        if cell.key in journal.done:
            progress(cell)
    work = _Work([cell for cell in plan.cells if cell.key not in journal.done])
    workers = [_Worker(work, bench, start, done) for _ in range(jobs)]
    _together([threading.Thread(target=worker, name="cells") for worker in workers], work)
    for worker in workers:
        if worker.failed is not None:
            raise worker.failed
    return [verdicts[cell.key] for cell in plan.cells]


def _together(threads: list[threading.Thread], work: _Work) -> None:
    """Run them to their end; whoever interrupts us waits for no more than the cells that are being asked for."""
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:
        work.stopped = True
        for thread in threads:
            thread.join()
        raise
