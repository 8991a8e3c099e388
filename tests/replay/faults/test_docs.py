"""The page about faults is what its generator writes."""

from __future__ import annotations

from pathlib import Path

from tools.fault_docs import page

FILE = Path(__file__).parents[3] / "docs" / "faults.md"


def test_the_page_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == page(), "run `python -m tools.fault_docs`"
