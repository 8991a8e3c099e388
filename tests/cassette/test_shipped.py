"""The cassettes that are shipped: where they stand, what there is at least, and that the tools make them again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from harness import dialects
from harness.adapters import Ours
from harness.cassette import Cassette, load_one, shipped
from harness.conformance.known import FILE

ROOT = Path(__file__).parents[2]
FOLDER = shipped()
FILES = sorted(FOLDER.rglob("*.yaml"))
INNER = ("anthropic", "nova", "llama", "mistral", "titan", "cohere")  # vendors inside Bedrock; scenarios begin with them


@cache
def case_of(file: Path) -> Cassette:
    return load_one(file)


def made(tool: str, folder: Path, *arguments: Path) -> dict[str, bytes]:
    """What a tool writes, by path."""
    command = [sys.executable, str(ROOT / "tools" / tool), *map(str, arguments), str(folder)]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths, "PYTHONUTF8": "1"})
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*.yaml")}


def committed(kind: str) -> dict[str, bytes]:
    return {f.relative_to(FOLDER).as_posix(): f.read_bytes() for f in FILES if case_of(f).provenance.kind == kind}


def same_files(again: dict[str, bytes], there: dict[str, bytes]) -> None:
    assert again.keys() == there.keys()
    assert [name for name in there if again[name] != there[name]] == []


def test_authored_cassettes_are_what_their_tool_makes(tmp_path: Path) -> None:
    same_files(made("authored_cassettes.py", tmp_path), committed("authored"))


def test_recorded_cassettes_are_what_their_tool_makes(tmp_path: Path, shared: Callable[[str], Path]) -> None:
    same_files(made("recorded_cassettes.py", tmp_path, shared("recordings")), committed("recorded"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(FOLDER).as_posix())
def test_cassette_stands_where_its_id_says(file: Path) -> None:
    case = case_of(file)
    assert case.id == file.relative_to(FOLDER).with_suffix("").as_posix()
    assert case.id == f"{case.dialect}/{case.provider}/{case.scenario}"
    assert case.stream is not None or case.reference is not None
    assert case.model
    assert case.provenance.on
    assert case.provenance.by
    assert case.provenance.note


def test_nothing_else_stands_there() -> None:
    strangers = [f for f in FOLDER.rglob("*") if f.is_file() and f.suffix != ".yaml" and f.name != FILE]
    assert strangers == []


@pytest.mark.parametrize("dialect", dialects.names())
def test_dialect_has_the_least_that_it_needs(dialect: str) -> None:
    cases = [case_of(file) for file in FILES if file.relative_to(FOLDER).parts[0] == dialect]
    there = {scenario_of(case) for case in cases}
    assert {"text", "length", "tool-call", "parallel-tool-calls", "reasoning"} - there == set()
    streams = [case.stream for case in cases if case.stream is not None]
    assert any(stream.status >= 400 for stream in streams), "an error before the stream"
    broken = [s for s in streams if s.status < 400 and s.chunks and Ours().observe(s, dialect).error is not None]
    assert broken, "an error in the stream, or one that is cut off"


def scenario_of(case: Cassette) -> str:
    scenario = case.scenario or ""
    vendor = next((v for v in INNER if case.dialect == "bedrock-invoke" and scenario.startswith(f"{v}-")), None)
    return scenario.removeprefix(f"{vendor}-") if vendor else scenario
