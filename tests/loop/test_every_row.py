"""Every row of semantics.md 5.2 and 5.3 has a test whose name carries its id."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_NAMED = re.compile(r"^(async )?def test_[LP]\d\d_", re.MULTILINE)  # reading all others would only cost time
_ROW = re.compile(r"::test_([LP]\d\d)_")
ROWS = [*(f"L{number:02}" for number in range(1, 41)), *(f"P{number:02}" for number in range(1, 49))]


class _Collected:
    """What pytest found: the ids of all tests, and of those that a marker keeps from running."""

    def __init__(self) -> None:
        self.rows: dict[str, list[str]] = {}
        self.skipped: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            found = _ROW.search(item.nodeid)
            if found:
                self.rows.setdefault(found[1], []).append(item.nodeid)
                if _is_kept_from_running(item):
                    self.skipped.append(item.nodeid)


def _is_kept_from_running(item: pytest.Item) -> bool:
    return any(next(item.iter_markers(name), None) is not None for name in ("skip", "skipif", "xfail"))


@pytest.fixture(scope="module")
def collected() -> _Collected:
    found = _Collected()
    files = [str(path) for path in Path(__file__).parent.glob("test_*.py") if _NAMED.search(path.read_text())]
    status = pytest.main(["--collect-only", "-qq", "--no-header", "-p", "no:cacheprovider", *files], [found])
    assert status == pytest.ExitCode.OK
    return found


def test_every_row_has_a_test(collected: _Collected) -> None:
    missing = [row for row in ROWS if row not in collected.rows]
    assert not missing, f"rows without a test: {', '.join(missing)}"


def test_no_test_names_a_row_that_does_not_exist(collected: _Collected) -> None:
    assert set(collected.rows) <= set(ROWS)


def test_no_row_is_skipped(collected: _Collected) -> None:
    assert collected.skipped == []
