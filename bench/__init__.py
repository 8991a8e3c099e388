"""The benchmark: how fast and how big, told in ratios (`nox -s bench`). It reports and does not judge; no part of the wheel."""
