"""What the tool chooses for the library: everything that was ever recorded is shown by something, and nobody's words are."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness import cassette as cassettes
from harness import dialects
from harness.cassette.model import Cassette
from tests import corpus
from tests.shared import needed

ROOT = Path(__file__).parents[2]
MOST = 8 << 20


@cache
def library() -> list[tuple[Cassette, Cassette]]:
    needed("corpus")
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from library import library as made  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    return list(made(corpus.CORPUS, cassettes.shipped()))


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (needed("corpus") / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("dialect", dialects.names())
def test_every_feature_and_quirk_is_shown(dialect: str) -> None:
    there = {item for row in rows() if row["api"] == dialect for item in (*row["features"], *row["quirks"])}
    shown = {item for _, new in library() if new.dialect == dialect for item in (*new.features, *new.quirks)}
    assert there - shown == set()


def test_there_is_enough_of_it_and_not_too_much() -> None:
    new = [case for _, case in library()]
    assert len(new) >= 200
    assert len({case.provider for case in new}) >= 20
    assert {case.dialect for case in new} == set(dialects.names())
    size = sum(len(side.body) + len(side.request.body or b"") for case in new for side in (case.stream, case.reference) if side)
    assert size < MOST / 2  # base64 and escapes in the files need room


def test_names_and_origins_are_told_and_nothing_of_the_source() -> None:
    names = [new.id for _, new in library()]
    assert len(set(names)) == len(names)
    projects = {row["repo"].partition("/")[2].lower() for row in rows()} - {"ai"}
    for old, new in library():
        assert new.id == f"{new.dialect}/{new.provider}/{new.scenario}"
        assert new.model
        assert new.provenance.kind == "anonymized"
        assert new.provenance.note
        assert not any(project in new.id for project in projects), new.id
        assert old.id.rpartition("/")[2] not in str(new.provenance)
