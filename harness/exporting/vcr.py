"""vcrpy: the interactions alone. A cassette of ours is one of vcrpy's already; this is one without our metadata."""

from __future__ import annotations

from harness.cassette.model import Cassette
from harness.cassette.saving import rendered
from harness.exporting.formats import Files, scenario_of


def render(cassette: Cassette) -> Files:
    return {f"{scenario_of(cassette)}.yaml": rendered(cassette, metadata=False)}
