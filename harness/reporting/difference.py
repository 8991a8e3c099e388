"""Two runs beside each other: what fails now, what was mended, what fails in another way; and several runs in a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.conformance.verdict import Grade
from harness.errors import InputError
from harness.reporting.results import Line, RunLine, SummaryLine, VerdictLine

Key = tuple[str, str, str | None, str]
_GOOD = (Grade.PASS, Grade.UNSUPPORTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`failures` are new, `fixed` fail no more, `changed` fail otherwise; `added` and `removed` stand in one run only."""

    failures: list[VerdictLine]
    fixed: list[VerdictLine]
    changed: list[tuple[VerdictLine, VerdictLine]]
    added: list[VerdictLine]
    removed: list[VerdictLine]

    @property
    def worse(self) -> bool:
        return bool(self.failures) or any(_bad(line) for line in self.added)


def difference(old: Iterable[Line], new: Iterable[Line]) -> Difference:
    """What changed from one run to the other."""
    before, after = by_cell(old), by_cell(new)
    both = [(before[key], line) for key, line in after.items() if key in before]
    return Difference(
        failures=[now for was, now in both if _bad(now) and not _bad(was)],
        fixed=[now for was, now in both if _bad(was) and not _bad(now)],
        changed=[(was, now) for was, now in both if _bad(was) and _bad(now) and _how(was) != _how(now)],
        added=[line for key, line in after.items() if key not in before],
        removed=[line for key, line in before.items() if key not in after],
    )


def by_cell(lines: Iterable[Line]) -> dict[Key, VerdictLine]:
    return {(v.adapter, v.cassette, v.fault, v.check): v for v in lines if isinstance(v, VerdictLine)}


def _bad(line: VerdictLine) -> bool:
    return line.grade not in _GOOD and line.known is None


def _how(line: VerdictLine) -> tuple[Grade, list[str]]:
    return line.grade, sorted(finding.kind for finding in line.findings)


def merged(shards: Sequence[Sequence[Line]]) -> list[Line]:
    """Several results files as one; of each cell the last line counts. Raises `InputError` for shards of different versions."""
    runs = [line for shard in shards for line in shard if isinstance(line, RunLine)]
    versions = {run.streamproof for run in runs}
    if len(versions) != 1:
        raise InputError(
            f"the shards are of different versions: {', '.join(sorted(versions))}", hint="run them with one version"
        )
    cells = sorted(by_cell(line for shard in shards for line in shard).values(), key=_order)
    adapters = {name: version for run in runs for name, version in run.adapters.items()}
    about = {name: told for run in runs for name, told in (run.about or {}).items()}
    selection = sorted({name for run in runs for name in run.selection if not name.startswith("shard ")})
    first = runs[0].model_copy(update={"adapters": adapters, "about": about or None, "selection": selection})
    return [first, *cells, _summary(cells, [line for shard in shards for line in shard if isinstance(line, SummaryLine)])]


def _order(line: VerdictLine) -> tuple[str, str, str, str, int]:
    return line.adapter, line.dialect, line.cassette, line.fault or "", list(type(line.check)).index(line.check)


def _summary(cells: Sequence[VerdictLine], parts: Sequence[SummaryLine]) -> SummaryLine:
    grades = Counter(cell.grade for cell in cells)
    levels = Counter(finding.level for cell in cells for finding in cell.findings)
    return SummaryLine(
        cassettes=len({cell.cassette for cell in cells}),
        verdicts=len(cells),
        grades={grade: grades[grade] for grade in Grade if grades[grade]},
        known=sum(cell.known is not None for cell in cells),
        findings=dict(levels),
        stale=sorted({entry for part in parts for entry in part.stale}),
        seconds=round(sum(part.seconds for part in parts), 3),
    )
