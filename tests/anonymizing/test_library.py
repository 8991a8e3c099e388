"""What the tool chooses for the library: everything that was ever recorded is shown by something, and nobody's words are."""

from __future__ import annotations

import json
import sys
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness import cassette as cassettes
from harness import dialects
from harness.cassette.model import Cassette
from tests import corpus
from tests.shared import needed

ROOT = Path(__file__).parents[2]


@cache
def tool() -> ModuleType:
    needed("corpus")
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return import_module("library")
    finally:
        sys.path.pop(0)


@cache
def library() -> list[tuple[Cassette, Cassette]]:
    return list(tool().library(corpus.CORPUS, cassettes.shipped()))


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (needed("corpus") / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_fewest_are_taken_that_show_every_feature_quirk_and_provider_of_each_api() -> None:
    recordings = list(tool().recordings(corpus.CORPUS))
    chosen = tool().choose(recordings)
    shown = Counter(item for recording in chosen for item in recording.shown)
    assert set(shown) == {item for recording in recordings for item in recording.shown}
    superfluous = [recording.case.id for recording in chosen if all(shown[item] > 1 for item in recording.shown)]
    assert superfluous == []


@pytest.mark.parametrize("dialect", dialects.names())
def test_every_feature_and_quirk_is_shown(dialect: str) -> None:
    there = {item for row in rows() if row["api"] == dialect for item in (*row["features"], *row["quirks"])}
    shown = {item for _, new in library() if new.dialect == dialect for item in (*new.features, *new.quirks)}
    assert there - shown == set()


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
