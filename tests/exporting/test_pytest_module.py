"""Tests that stand alone: run by pytest in a process that knows nothing of us."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import cassette, dialects, exporting
from harness.cassette.model import Cassette
from harness.exporting.clients import CLIENTS, client
from harness.importing import Import
from tests import chat
from tests.exchanges import cassette as case_of
from tests.exchanges import exchange, sse

TURN = sse(
    chat.text("Hello"), chat.calls(chat.head(0, "c", "tide")), chat.calls(chat.more(0, '{"port":"Brest"}')), chat.stops()
)
FAKE = '''
"""A client of the name that the test asks for."""
import json, types, urllib.request

class OpenAI:
    def __init__(self, base_url, **_):
        def create(**_):
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(base_url, data=b"{}", timeout=5) as answer:
                for line in answer:
                    if line.startswith(b"data: {"):
                        yield json.loads(line[6:], object_hook=lambda fields: Some(**fields))
        self.chat = types.SimpleNamespace(completions=types.SimpleNamespace(create=create))

class Some(types.SimpleNamespace):
    def __getattr__(self, name):
        return None
'''


def ran(case: Cassette, folder: Path, *, fake: str | None = FAKE) -> str:
    """What pytest says of the test, with a client of ours or without any."""
    (path,) = exporting.write(case, "pytest", folder)
    if fake is not None:
        (folder / "openai.py").write_text(fake)
    else:
        (folder / "openai.py").write_text("raise ModuleNotFoundError(name='openai')")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "--rootdir",
        str(folder),
        path.name,
    ]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False).stdout


def test_a_turn_that_the_client_tells_right(tmp_path: Path) -> None:
    assert "2 passed" in ran(case_of(exchange(TURN, pieces=50)), tmp_path)


def test_a_turn_that_the_client_tells_wrong(tmp_path: Path) -> None:
    liar = FAKE.replace('b"data: {"', 'b"data: {" and b"Hello" not in line and line[:1]').replace(
        "line.startswith(", "line[:7] == ("
    )
    out = ran(case_of(exchange(TURN)), tmp_path, fake=liar)
    assert "1 failed, 1 passed" in out
    assert "test_the_client_tells_the_turn_that_was_sent" in out


def test_without_the_client_only_the_bytes_are_compared(tmp_path: Path) -> None:
    assert "1 passed, 1 skipped" in ran(case_of(exchange(TURN)), tmp_path, fake=None)


@pytest.mark.parametrize("ending", ["reset", "eof"])
def test_a_turn_that_was_cut_must_not_look_like_one(ending: Any, tmp_path: Path) -> None:
    case = case_of(exchange(TURN[:300], ending=ending))
    out = ran(case, tmp_path)
    assert "failed" not in out
    assert "passed" in out


def test_every_shipped_cassette_gives_a_test_that_python_reads() -> None:
    for case in cassette.load(cassette.shipped()):
        for data in exporting.FORMATS["pytest"].files(case).values():
            tree = ast.parse(data)
            names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert {"base_url", "test_the_server_sends_what_was_recorded"} <= names
            assert ("turn" in names) == (case.stream is not None and client(case.dialect, case.stream) is not None)


def test_most_apis_have_a_client() -> None:
    assert CLIENTS.keys() == {*dialects.names()} - {"bedrock-invoke"}


def test_it_can_be_made_of_an_import(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[1] / "importing" / "fixtures" / "curl" / "text.trace"
    with Import(fixture) as job:
        (made,) = job
    assert "2 passed" in ran(made.cassette, tmp_path)
