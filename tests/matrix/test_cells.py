"""Which cells there are, and what a run does with them: in parallel, in order, resumed where it was interrupted."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from harness import cassette as cassettes
from harness.adapters.process import Process
from harness.adapters.subjects import Subject
from harness.conformance.verdict import Check, Grade, Verdict
from harness.findings import Finding
from harness.matrix import Bench, Cell, Journal, plan, run
from harness.replay.faults.catalogue import UnknownFaultError

SHIPPED = cassettes.shipped()
TEXT = cassettes.load_one(SHIPPED / "openai-chat/llamacpp/text.yaml")
PLAIN = cassettes.load_one(SHIPPED / "openai-chat/openai/text-annotations.yaml")
GEMINI = next(case for case in cassettes.load(SHIPPED / "gemini") if case.stream and b"\r\n\r\n" in case.stream.body)


def subject(name: str, *dialects: str) -> Subject:
    return Subject(name=name, file=Path(f"{name}.py"), language="python", dialects=dialects)


class Asked:
    """Stands for a bench: notes what it is asked, and by which process."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.cells: list[tuple[str, int]] = []
        self._stop = stop_after
        self._lock = threading.Lock()

    def verdict(self, cell: Cell, process: Any) -> Verdict:
        with self._lock:
            if self._stop is not None and len(self.cells) >= self._stop:
                raise KeyboardInterrupt
            self.cells.append((cell.key, id(process)))
        finding = Finding(kind="subject/text", message="lost", expected="a", got=None)
        return Verdict(
            cassette=cell.cassette,
            dialect="openai-chat",
            provider="any",
            adapter=cell.subject,
            fault=cell.fault,
            check=Check.REASSEMBLY,
            grade=Grade.WRONG,
            findings=(finding,),
        )


class Idle:
    """Stands for a process."""

    open = 0

    def __init__(self) -> None:
        Idle.open += 1

    def close(self) -> None:
        Idle.open -= 1


def starts(*names: str) -> dict[str, Callable[[], Process]]:
    return {name: cast("Callable[[], Process]", Idle) for name in names}


def test_a_cell_for_each_cassette_that_a_client_speaks_and_each_fault_that_bites() -> None:
    both, one = subject("both", "openai-chat", "gemini"), subject("one", "gemini")
    made = plan([both, one], [TEXT, PLAIN, GEMINI], ["none", "truncated", "crlf"])
    keys = [cell.key for cell in made.cells]
    assert f"both {TEXT.id} none" in keys
    assert f"one {GEMINI.id} truncated" in keys
    assert not any(cell.subject == "one" and cell.cassette == TEXT.id for cell in made.cells)
    assert not any(cell.cassette == PLAIN.id for cell in made.cells)  # there is no stream to ask for
    assert (GEMINI.id, "crlf") in made.idle  # Gemini ends its lines so anyway
    assert f"both {GEMINI.id} crlf" not in keys
    assert len(keys) == len(set(keys))


def test_faults_in_a_row_and_unknown_ones() -> None:
    made = plan([subject("one", "openai-chat")], [TEXT], ["byte-by-byte+truncated"])
    assert [cell.faults for cell in made.cells] == [("byte-by-byte", "truncated")]
    with pytest.raises(UnknownFaultError, match="did you mean truncated"):
        plan([subject("one", "openai-chat")], [TEXT], ["trunkated"])


def many(names: str, count: int) -> Any:
    cells = tuple(Cell(subject=name, cassette=f"c{number:03}") for name in names.split() for number in range(count))
    return plan([], [], []).__class__(cells=cells)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_cell_once_in_the_order_of_the_plan(tmp_path: Path, jobs: int) -> None:
    made, bench = many("a b c", 60), Asked()
    with Journal(tmp_path, "run") as journal:
        verdicts = run(made, cast("Bench", bench), starts("a", "b", "c"), journal, jobs=jobs)
    assert [f"{v.adapter} {v.cassette}" for v in verdicts] == [f"{c.subject} {c.cassette}" for c in made.cells]
    assert sorted(key for key, _ in bench.cells) == sorted(cell.key for cell in made.cells)
    assert Idle.open == 0


def test_a_worker_keeps_to_its_client(tmp_path: Path) -> None:
    """Starting a client costs seconds: two workers start no more than one each for two clients of one size."""
    made, bench = many("a b", 50), Asked()
    with Journal(tmp_path, "run") as journal:
        run(made, cast("Bench", bench), starts("a", "b"), journal, jobs=1)
    changes = [key.split()[0] for key, _ in bench.cells]
    assert sum(one != other for one, other in pairwise(changes)) == 1


def test_an_interrupted_run_goes_on_where_it_stood(tmp_path: Path) -> None:
    made, first, second = many("a b", 40), Asked(stop_after=30), Asked()
    with Journal(tmp_path, ["the", "run"]) as journal, pytest.raises(KeyboardInterrupt):
        run(made, cast("Bench", first), starts("a", "b"), journal, jobs=2)
    assert Idle.open == 0
    with Journal(tmp_path, ["the", "run"]) as journal:
        assert len(journal.done) == 30
        verdicts = run(made, cast("Bench", second), starts("a", "b"), journal, jobs=2)
        journal.remove()
    assert len(second.cells) == 50
    assert len(verdicts) == 80
    assert verdicts[0].as_dict() == Asked().verdict(made.cells[0], None).as_dict()  # what was kept is what was said
    assert not list(tmp_path.iterdir())


def test_another_run_has_another_journal_and_afresh_forgets(tmp_path: Path) -> None:
    cell = Cell(subject="a", cassette="c")
    with Journal(tmp_path, "one") as journal:
        journal.write(cell, Asked().verdict(cell, None))
    with Journal(tmp_path, "two") as journal:
        assert journal.done == {}
    with Journal(tmp_path, "one", afresh=True) as journal:
        assert journal.done == {}


def test_a_line_that_was_broken_off_is_asked_again(tmp_path: Path) -> None:
    cells = [Cell(subject="a", cassette=f"c{number}") for number in range(3)]
    with Journal(tmp_path, "run") as journal:
        for cell in cells:
            journal.write(cell, Asked().verdict(cell, None))
    text = journal.path.read_text(encoding="utf-8")
    journal.path.write_text(text[:-40] + "\nno json\n" + json.dumps({"cell": 1}) + "\n{", encoding="utf-8")
    with Journal(tmp_path, "run") as again:
        assert list(again.done) == [cell.key for cell in cells[:2]]
        again.write(cells[2], Asked().verdict(cells[2], None))
    with Journal(tmp_path, "run") as whole:
        assert list(whole.done) == [cell.key for cell in cells]
