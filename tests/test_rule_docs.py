"""The pages about rules are what their generator writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.conformance.rules import RULES
from tools.rule_docs import orders_page, rules_page

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize(("page", "written"), [("rules.md", rules_page), ("orders.md", orders_page)])
def test_a_page_is_current(page: str, written: object) -> None:
    assert callable(written)
    assert (DOCS / page).read_text(encoding="utf-8") == written(), "run `python -m tools.rule_docs`"


def test_every_rule_is_on_the_page() -> None:
    page = rules_page()
    assert all(f"| {rule} " in page for rule in RULES)
