"""A matrix as Markdown: who reads what rightly, who says that a turn failed, and what each gets wrong.

Never a bare percentage: n of m, where m is what could be asked; what could not be asked is told apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from harness.conformance.verdict import Grade
from harness.replay.faults import catalogue
from harness.replay.faults.named import Effect
from harness.reporting.results import RunLine, VerdictLine

_MOST = 60_000  # characters; what a CI summary takes
_MOST_KINDS = 6  # of one adapter
_NOT_ASKED = (Grade.UNSUPPORTED, Grade.HARNESS_ERROR)
_READ = """Each cell is one client, one cassette and one fault; the same bytes, in the same pieces, reach every client. What is
right is read out of the bytes. *Pass*: every fact is right, or the failure was told. *Lossy*: a fact stands in the client's raw
data only, or the only sign of a failure is that no finish reason is told. *Wrong*: a false fact, a lost one, or a failure
reported as success. *n of m*: m are the cells that the client could be asked; facts that its own types have no place for are
not counted."""

Cells = Sequence[VerdictLine]


def render(run: RunLine, cells: Cells) -> str:
    """The report of a matrix, cut at a size that CI summaries take, with a line that says what was cut."""
    plain = [cell for cell in cells if not _fails(cell.fault)]
    failing = [cell for cell in cells if _fails(cell.fault)]
    faults = ", ".join(dict.fromkeys(cell.fault or "none" for cell in cells))
    blocks = [
        f"# Compatibility\n\nstreamproof {run.streamproof} · {run.on or 'no date'} · {len(run.adapters)} clients · "
        f"{len({cell.cassette for cell in cells})} cassettes · {len(cells)} cells · faults: {faults}\n",
        f"{_READ}\n",
        "## The same turn\n\nStreams that are whole, cut in any way: n of m read without fault.\n",
        _table(run, plain, lambda cell: cell.dialect),
        "## The truth about how it ended\n\nStreams that break off or bear an error: n of m told the caller.\n"
        if failing
        else "",
        _table(run, failing, lambda cell: cell.fault or "none") if failing else "",
        "## What each gets wrong\n",
        *(_of_adapter(name, run, [cell for cell in cells if cell.adapter == name]) for name in run.adapters),
    ]
    return _cut([block for block in blocks if block])


def _fails(fault: str | None) -> bool:
    """Whether the turn must come out as a failure."""
    return any(catalogue.called(name).fault.effect is Effect.FAILURE for name in (fault.split("+") if fault else ()))


def _table(run: RunLine, cells: Cells, column: Callable[[VerdictLine], str]) -> str:
    columns = list(dict.fromkeys(map(column, cells)))
    held: dict[tuple[str, str], list[VerdictLine]] = defaultdict(list)
    for cell in cells:
        held[cell.adapter, column(cell)].append(cell)
    lines = ["| client | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name, version in run.adapters.items():
        lines.append(f"| {name} {version} | " + " | ".join(_counted(held[name, each]) for each in columns) + " |")
    return "\n".join(lines) + "\n"


def _counted(cells: Cells) -> str:
    asked = [cell for cell in cells if cell.grade not in _NOT_ASKED]
    if not cells:
        return ""
    good = sum(cell.grade is Grade.PASS for cell in asked)
    worst = max((cell.grade for cell in asked), key=list(Grade).index, default=Grade.UNSUPPORTED)
    return f"{good} of {len(asked)}" + (f", {worst.value}" if worst is not Grade.PASS else "")


def _of_adapter(name: str, run: RunLine, cells: Cells) -> str:
    about = (run.about or {}).get(name)
    packages = ", ".join(dict.fromkeys(about.packages.values())) if about else ""
    grades = Counter(cell.grade for cell in cells)
    told = ", ".join(f"{grades[grade]} {grade.value}" for grade in Grade if grades[grade])
    lines = [f"### {name}\n", f"{packages}: {told} of {len(cells)}.", *_omitted(about.omits if about else None), ""]
    rows = list(_kinds(cells))
    lines += rows[:_MOST_KINDS]
    if len(rows) > _MOST_KINDS:
        lines.append(f"- … and {len(rows) - _MOST_KINDS} more kinds")
    return "\n".join(lines) + "\n"


def _omitted(omits: dict[str, list[str]] | None) -> Iterator[str]:
    if omits:
        facts = sorted({fact for facts in omits.values() for fact in facts})
        yield f"No place for: {', '.join(facts)} (not in every API)."


def _kinds(cells: Cells) -> Iterator[str]:
    """What is wrong, the most frequent first; of each kind one cassette, those that were recorded before others."""
    found: dict[tuple[str, Grade], list[VerdictLine]] = defaultdict(list)
    for cell in cells:
        if cell.grade not in (Grade.PASS, *_NOT_ASKED) and cell.findings:
            found[cell.findings[0].kind, cell.grade].append(cell)
    for (kind, grade), where in sorted(found.items(), key=lambda item: -len(item[1])):
        first = where[0]
        fault = f" with {first.fault}" if first.fault else ""
        message = " ".join(first.findings[0].message.replace("|", "\\|").replace("<", "\\<").split())
        yield f"- {len(where)} {grade.value}, `{kind}`: {message[:160]} (`{first.cassette}`{fault})"


def _cut(blocks: list[str]) -> str:
    size = 0
    for number, block in enumerate(blocks):
        size += len(block) + 1
        if size > _MOST:
            return "\n".join(blocks[:number]) + f"\n… {len(blocks) - number} more sections are in the results file.\n"
    return "\n".join(blocks)
