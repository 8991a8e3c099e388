"""The matrix: other people's clients × cassettes × faults, every cell graded on the same bytes (product contract, section 7).

`plan` says which cells there are, `Bench` asks a client for one of them, `run` does all of them in parallel and keeps a
journal, so that what was interrupted goes on where it stood.
"""

from harness.matrix.bench import Bench
from harness.matrix.cells import NO_FAULT, Cell, Plan, plan
from harness.matrix.journal import Journal
from harness.matrix.runner import Start, run

__all__ = ["NO_FAULT", "Bench", "Cell", "Journal", "Plan", "Start", "plan", "run"]
