"""What every test may use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.shared import REQUIRED, SHARED, needed


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-baseline", action="store_true", help="write the baseline of law 4 from the corpus")


def pytest_configure() -> None:
    if REQUIRED and not SHARED.is_dir():
        raise pytest.UsageError(f"STREAMPROOF_REQUIRE_CORPUS is set and {SHARED} is missing")


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """`shared("corpus")`: a folder or file of the shared material; the test is skipped where it is missing."""
    return needed
