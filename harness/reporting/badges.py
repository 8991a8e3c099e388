"""Badges: a small SVG for each adapter, n of m in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from harness.conformance.verdict import Grade
from harness.reporting.results import VerdictLine

_COLOURS = {
    Grade.PASS: "#2d7d3f",
    Grade.LOSSY: "#8a6100",
    Grade.WRONG: "#b3261e",
    Grade.CRASH: "#b3261e",
    Grade.HANG: "#b3261e",
}
_LETTER = 6.6  # pixels, of Verdana at 11, about
_PAD = 6


def render(verdicts: Iterable[VerdictLine]) -> dict[str, str]:
    """The SVG of each adapter, by its name."""
    by_adapter: dict[str, list[VerdictLine]] = {}
    for verdict in verdicts:
        by_adapter.setdefault(verdict.adapter, []).append(verdict)
    return {name: badge(f"streamproof {name}", *_said(cells)) for name, cells in by_adapter.items()}


def _said(cells: Sequence[VerdictLine]) -> tuple[str, str]:
    asked = [cell for cell in cells if cell.grade not in (Grade.UNSUPPORTED, Grade.HARNESS_ERROR)]
    grades = Counter(Grade.PASS if cell.known is not None else cell.grade for cell in asked)
    worst = max(grades, key=list(Grade).index, default=Grade.UNSUPPORTED)
    return f"{grades[Grade.PASS]:,} of {len(asked):,} pass", _COLOURS.get(worst, "#5f6368")


def badge(label: str, value: str, colour: str) -> str:
    """A badge: white on grey, then white on a colour."""
    left, right = (round(len(text) * _LETTER + 2 * _PAD) for text in (label, value))
    width, said = left + right, escape(f"{label}: {value}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{said}">'
        f"<title>{said}</title>"
        f'<rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2}" y="14">{escape(label)}</text>'
        f'<text x="{left + right / 2}" y="14">{escape(value)}</text></g></svg>\n'
    )
