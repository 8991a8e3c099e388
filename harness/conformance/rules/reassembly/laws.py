"""How a law of readers is written down: a rule that looks at a `Reading`, and whose breach is as a rule the reader's fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.conformance.rules.reassembly.reading import Reading
from harness.conformance.rules.rule import Blame, Rules, Said
from harness.findings import Level

Law = Callable[[Reading], Said]


class Laws(Rules):
    """Rules of a group that judge readers; their ids stand beside those of the group that judge bytes."""

    def law(self, number: int, says: str, *, level: Level = Level.MUST, **about: Any) -> Callable[[Law], Law]:
        about.setdefault("blame", Blame.CLIENT)
        return self.rule(number, level, says, at=Reading, reader=True, **about)
