"""Law 4: collected bodies are genuine, by the vendors' own types and against a baseline that is what the corpus gives."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path

import pytest

from harness.adapters import Ours
from harness.cassette.model import Cassette
from harness.conformance import known as known_deviations
from harness.conformance import native
from tests import corpus
from tests.shared import needed

pytestmark = pytest.mark.oracle

FILE = Path(str(files("harness.conformance"))) / "native_baseline.json"
KNOWN = known_deviations.load(Path(__file__).parents[1] / "corpus-known.toml")
STREAMS = list(corpus.streams(first_party=True)) if corpus.CORPUS.is_dir() else []


def test_baseline_is_what_recorded_bodies_show(request: pytest.FixtureRequest) -> None:
    needed("corpus")
    bodies = ((dialect, exchange.json) for dialect, exchange in corpus.plain() if isinstance(exchange.json, dict))
    recorded = native.record_baseline(bodies)
    if request.config.getoption("--write-baseline"):
        entries = (
            json.dumps(name) + ": [\n" + ",\n".join(f"  {json.dumps(flaw)}" for flaw in flaws) + "\n]"
            for name, flaws in recorded.items()
        )
        FILE.write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8")
    assert json.loads(FILE.read_text(encoding="utf-8")) == recorded


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.id)
def test_collected_body_of_the_corpus_is_genuine(case: Cassette) -> None:
    assert case.stream is not None
    seen = Ours().observe(case.stream, case.dialect)
    found = native.findings(case.dialect, seen.body) or [] if seen.complete else []
    known = [entry for entry in KNOWN if any(fnmatchcase(case.id, glob) for glob in entry.cassettes)]
    assert [finding for finding in found if not any(entry.explains(finding) for entry in known)] == []
