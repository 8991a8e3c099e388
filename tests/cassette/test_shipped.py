"""The cassettes that are shipped: where they stand, what there is at least, and that the tools make them again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from harness import dialects
from harness.adapters import Ours
from harness.cassette import Cassette, load_one, save, shipped
from harness.conformance.known import FILE

ROOT = Path(__file__).parents[2]
FOLDER = shipped()
FILES = sorted(FOLDER.rglob("*.yaml"))
INNER = ("anthropic", "nova", "llama", "mistral", "titan", "cohere")  # vendors inside Bedrock; scenarios begin with them


@cache
def case_of(file: Path) -> Cassette:
    return load_one(file)


def tool(name: str) -> ModuleType:
    """A module of the folder `tools`."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(ROOT / "tools"))


def made(tool: str, folder: Path, *before: Path, after: tuple[Path, ...] = ()) -> dict[str, bytes]:
    """What a tool writes, by path. `before` and `after` are what it is told beside the folder."""
    command = [sys.executable, str(ROOT / "tools" / tool), *map(str, (*before, folder, *after))]
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths, "PYTHONUTF8": "1"})
    return written(folder)


def written(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*.yaml")}


def committed(kind: str) -> dict[str, bytes]:
    return {f.relative_to(FOLDER).as_posix(): f.read_bytes() for f in FILES if case_of(f).provenance.kind == kind}


def same_files(again: dict[str, bytes], there: dict[str, bytes]) -> None:
    assert again.keys() == there.keys()
    assert [name for name in there if again[name] != there[name]] == []


def test_authored_cassettes_are_what_their_tool_makes(tmp_path: Path) -> None:
    same_files(made("authored_cassettes.py", tmp_path), committed("authored"))


def test_recorded_cassettes_are_what_their_tool_makes(tmp_path: Path, shared: Callable[[str], Path]) -> None:
    ours = {name: data for name, data in committed("recorded").items() if not is_of_gateway(name)}
    same_files(made("recorded_cassettes.py", tmp_path, shared("recordings")), ours)


def test_cassettes_of_gateways_are_what_their_tool_makes(tmp_path: Path, shared: Callable[[str], Path]) -> None:
    """They were the fewest that show everything when they were chosen; what a new rule finds, they must show as well."""
    cases = {f"{case.id}.yaml": case for case in tool("gateway_cassettes").cassettes(shared("recordings"))}
    there = {name: data for name, data in committed("recorded").items() if is_of_gateway(name)}
    for name in there:
        save(cases[name], tmp_path / name)
    same_files(written(tmp_path), there)
    found = tool("gateway_cassettes").shown(list(cases.values()))
    everything = {item for items in found.values() for item in items}
    assert everything - {item for name in there for item in found[cases[name].id]} == set()


def is_of_gateway(name: str) -> bool:
    return name.split("/")[1] in tool("gateway_cassettes").GATEWAYS


def test_anonymized_cassettes_are_what_their_tool_makes(tmp_path: Path, shared: Callable[[str], Path]) -> None:
    same_files(made("library.py", tmp_path, shared("corpus"), after=(FOLDER,)), committed("anonymized"))


def test_the_library_shows_what_the_corpus_shows(shared: Callable[[str], Path]) -> None:
    """Every feature and every quirk of the manifest, on each API that a recording shows it on, of all sorts of providers."""
    rows = [json.loads(line) for line in (shared("corpus") / "MANIFEST.jsonl").read_text().splitlines()]
    wanted = {(row["api"], item) for row in rows for item in (*row["features"], *row["quirks"])}
    cases = [case_of(file) for file in FILES]
    assert wanted - {(case.dialect, item) for case in cases for item in (*case.features, *case.quirks)} == set()
    assert len(cases) >= 200
    assert len({case.provider for case in cases}) >= 20
    assert sum(file.stat().st_size for file in FILES) <= 8_000_000


def test_the_page_about_them_is_current() -> None:
    there = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert there == "\n".join(tool("cassettes_readme").rendered([case_of(file) for file in FILES]))


def test_the_documents_say_how_many_there_are() -> None:
    providers = len({case_of(file).provider for file in FILES})
    said = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CHANGELOG.md", "docs/cassettes.md")}
    assert f"· {len(FILES)} cassettes ·" in said["README.md"]
    assert f"- {len(FILES)} cassettes of {providers} providers" in said["CHANGELOG.md"]
    assert f"are {len(FILES)}, of {providers} providers" in said["docs/cassettes.md"]


def test_what_is_authored_although_a_recording_shows_it_has_tests_that_rest_on_it() -> None:
    tests = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.py"))
    doubled = tool("cassettes_readme").doubled([case_of(file) for file in FILES])
    assert doubled
    assert [name for name in doubled if not re.search(rf"{name}(?![\w-])", tests)] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(FOLDER).as_posix())
def test_cassette_stands_where_its_id_says(file: Path) -> None:
    case = case_of(file)
    assert case.id == file.relative_to(FOLDER).with_suffix("").as_posix()
    assert case.id == f"{case.dialect}/{case.provider}/{case.scenario}"
    assert case.stream is not None or case.reference is not None
    assert case.model
    assert case.provenance.on or case.provenance.kind == "anonymized"  # not every recording tells its day
    assert case.provenance.by
    assert case.provenance.note


def test_nothing_else_stands_there() -> None:
    strangers = [f for f in FOLDER.rglob("*") if f.is_file() and f.suffix != ".yaml" and f.name != FILE]
    assert strangers == [FOLDER / "README.md"]


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
