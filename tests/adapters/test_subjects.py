"""Subjects: what their heads say, what is pinned, and how long they are; and the environments that are built for them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import dialects
from harness.adapters import environments, subjects
from harness.adapters.environments import BuildError
from harness.adapters.protocol import SCHEMA, TEMPLATES, schema
from harness.adapters.subjects import Subject
from harness.conformance.grading import FACTS
from harness.errors import InputError

ALL = subjects.load()
COUNTS = ("cached_tokens", "cache_write_tokens", "reasoning_tokens", "total_tokens")
HEAD = """// /// script
// dependencies = ["@tide/sdk@1.2.0"]
// [tool.streamproof]
// packages = {"*" = "@tide/sdk"}
// dialects = ["gemini"]
// omits = {gemini = ["finish"]}
// ///
"""


@pytest.mark.parametrize("subject", ALL.values(), ids=lambda subject: subject.name)
class TestEverySubject:
    def test_it_is_short(self, subject: Subject) -> None:
        assert len(subject.file.read_text(encoding="utf-8").splitlines()) <= 40

    def test_it_says_what_it_is(self, subject: Subject) -> None:
        text = subject.file.read_text(encoding="utf-8")
        assert subject.dialects
        assert set(subject.dialects) <= set(dialects.names())
        assert re.match(r'"""[^\n]+: |// [^\n]+: ', text), "its first line says how the client is used"
        assert "://" not in text

    def test_its_versions_are_known(self, subject: Subject) -> None:
        assert "unknown" not in {subject.version(), *map(subject.version, subject.dialects)}

    def test_it_omits_facts_that_there_are(self, subject: Subject) -> None:
        assert {fact for facts in subject.silent.values() for fact in facts} <= {*FACTS, *COUNTS}
        assert set(subject.silent) <= {"*", *subject.dialects}

    def test_all_is_pinned(self, subject: Subject) -> None:
        if subject.language != "python":
            assert all(re.fullmatch(r"@?[\w./-]+@\d+\.\d+\.\d+", each) for each in subject.dependencies)
        elif subject.dependencies:
            pins = dict(line.split("==") for line in subject.pins.read_text(encoding="utf-8").split())
            for each in subject.dependencies:
                name, version = re.sub(r"\[.*\]", "", each).split("==")
                assert pins[name] == version
            assert not {name for name in pins if re.match(r"torch|nvidia|triton|tensorflow", name)}, "too heavy"


def test_there_are_enough() -> None:
    """At least 45 paths over 22 packages in two languages."""
    paths = [(subject.name, dialect) for subject in ALL.values() for dialect in subject.dialects]
    packages = {subject.package(dialect) for subject in ALL.values() for dialect in subject.dialects}
    assert len(paths) >= 45
    assert len(packages) >= 22
    assert {subject.language for subject in ALL.values()} == {"python", "node"}


def test_a_head_in_another_language(tmp_path: Path) -> None:
    file = tmp_path / "tide_client.mjs"
    file.write_text("// a client\n" + HEAD + "import tide from '@tide/sdk'\n", encoding="utf-8")
    subject = subjects.read(file)
    assert (subject.name, subject.language, subject.version()) == ("tide-client", "node", "1.2.0")
    assert subject.omits("gemini") == ("finish",)
    assert subject.omits("ollama-chat") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no `/// script` block"),
        ("# /// script\n# x = [\n# ///\n", "no TOML"),
        (HEAD.replace("gemini", "gopher"), "gopher"),
        (HEAD.replace('["gemini"]', "[]"), "says no dialect"),
    ],
)
def test_a_head_that_is_none(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "client.mjs"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        subjects.read(file)


def subject_of(tmp_path: Path, *dependencies: str) -> Subject:
    file = tmp_path / "client.py"
    file.write_text("", encoding="utf-8")
    return Subject(name="client", file=file, language="python", dependencies=dependencies, dialects=("gemini",))


def test_an_environment_is_built_once_and_anew_when_unfinished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Path] = []
    monkeypatch.setattr(environments, "_venv", lambda _, where: built.append(where))
    subject = subject_of(tmp_path, "tide==1.0")
    first = environments.build(subject, tmp_path / "envs")
    assert environments.build(subject, tmp_path / "envs") == first
    assert len(built) == 1
    (first / ".complete").unlink()  # what was interrupted is not taken for whole
    (first / "leftover").touch()
    environments.build(subject, tmp_path / "envs")
    assert len(built) == 2
    assert not (first / "leftover").exists()


def test_another_pin_is_another_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "_venv", lambda *_: None)
    subject = subject_of(tmp_path, "tide==1.0")
    before = environments.build(subject, tmp_path / "envs")
    subject.pins.parent.mkdir()
    subject.pins.write_text("tide==1.0\nkelp==2.0\n", encoding="utf-8")
    assert environments.build(subject, tmp_path / "envs") != before


def test_what_cannot_be_built_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, "", "no such version")

    monkeypatch.setattr(subprocess, "run", broken)
    with pytest.raises(BuildError, match=r"client: .* failed: no such version \(is the package registry reachable"):
        environments.build(subject_of(tmp_path, "tide==999"), tmp_path / "envs")


def test_the_published_schema_is_current() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema(), "run python -m tools.protocol_schema"


CLIENT = """
import asyncio, os, socket, sys
from streamproof_subject import call, get, reply, serve

print("hello from the import")

def turn(task):
    what = task.request["what"]
    if what == "prints":
        print("to standard output")
    if what == "leaves":
        sys.exit("enough")
    if what == "cannot":
        raise NotImplementedError("no audio")
    if what == "outside":
        try:
            socket.create_connection(("192.0.2.1", 80), 1)
        except OSError:
            pass
        try:
            socket.getaddrinfo("tide.example", 80)
        except OSError:
            pass
    if what == "raw":
        return reply("ok", raw={"self": Strange(), "bytes": b"ok", "set": {1}})
    return reply(task.prompt, calls=[call("1", name, schema["type"]) for name, _, schema in task.tools])

class Strange:
    def __init__(self):
        self.deep, self.me = [1, {"a": 2}], self

async def later(task):
    await asyncio.sleep(0)
    return reply("later")

serve({"gemini": turn, "openai-chat": later})
"""


def asked(tmp_path: Path, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """What the Python template answers."""
    file = tmp_path / "client.py"
    file.write_text(CLIENT, encoding="utf-8")
    plain = {"op": "run", "id": "1", "dialect": "gemini", "base_url": "http://127.0.0.1:1/c/x/", "stream": True, "timeout_s": 1}
    lines = [{**plain, **each} if each.get("op") is None else each for each in requests]
    done = subprocess.run(
        [sys.executable, str(file)],
        input="".join(json.dumps(line) + "\n" for line in [*lines, {"op": "stop"}]),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env={"PYTHONPATH": str(TEMPLATES), "PATH": "/usr/bin:/bin"},
    )
    assert "hello from the import" not in done.stdout.partition("\n")[2]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_the_template_answers(tmp_path: Path) -> None:
    tools = [{"functionDeclarations": [{"name": "tide", "parameters": {"type": "OBJECT"}}]}]
    spoken = {"contents": [{"role": "user", "parts": [{"text": "Which port?"}]}], "tools": tools, "what": ""}
    described, turn, late = asked(
        tmp_path, {"op": "describe"}, {"request": spoken}, {"request": {"what": ""}, "dialect": "openai-chat"}
    )
    assert described["dialects"] == ["gemini", "openai-chat"]
    assert turn["response"]["text"] == "Which port?"
    assert turn["response"]["tool_calls"] == [{"id": "1", "name": "tide", "arguments": "object"}]
    assert late["response"]["text"] == "later"


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("prints", {"error": None, "unsupported": None}),
        ("leaves", {"error": {"type": "builtins.SystemExit", "message": "enough"}}),
        ("cannot", {"unsupported": "no audio", "error": None}),
        ("outside", {"outside": ["192.0.2.1", "tide.example"]}),
        ("raw", {"error": None}),
    ],
)
def test_the_template_tells_what_happened(tmp_path: Path, what: str, told: dict[str, Any]) -> None:
    (turn,) = asked(tmp_path, {"request": {"what": what}})
    assert {name: turn.get(name) for name in told} == told
    if what == "raw":
        assert turn["raw"]["bytes"] == "ok"
        assert turn["raw"]["self"]["deep"] == [1, {"a": 2}]


def test_the_template_knows_its_dialects(tmp_path: Path) -> None:
    (turn,) = asked(tmp_path, {"request": {}, "dialect": "ollama-chat"})
    assert turn["unsupported"] == "another dialect"


def test_the_page_of_clients_is_current() -> None:
    from tools.adapter_docs import PAGE, page

    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tools.adapter_docs"
