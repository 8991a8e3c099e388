"""`streamproof run --adapter`: programs of any kind in our place, and what the command line says of them."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
CASES = ROOT / "cassettes" / "openai-chat" / "llamacpp"
COMMAND = [sys.executable, "-c", "from harness.cli import main; main()"]
PROGRAM = """#!{python}
import json, sys, time, urllib.request
for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "describe":
        print(json.dumps({{"name": "{name}", "version": "1.2", "language": "python", "dialects": ["openai-chat"]}}), flush=True)
    elif asked["op"] == "run":
        time.sleep({wait})
        body = json.dumps({{**asked["request"], "stream": True}}).encode()
        url = asked["base_url"] + "/v1/chat/completions"
        urllib.request.urlopen(urllib.request.Request(url, body, {{"content-type": "application/json"}})).read()
        told = {{"text": "always this", "finish_reason": "stop"}}
        print(json.dumps({{"id": asked["id"], "response": told, "error": None}}), flush=True)
    else:
        break
"""


def program(where: Path, name: str = "parrot", wait: float = 0.0) -> Path:
    """A client that always says the same."""
    file = where / name
    file.write_text(PROGRAM.format(python=sys.executable, name=name, wait=wait), encoding="utf-8")
    file.chmod(0o755)
    return file


def streamproof(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(cwd), "COLUMNS": "160"}
    words = [*COMMAND, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=100, check=False, cwd=cwd, env=environ)


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_ours_by_the_door_of_everybody(tmp_path: Path) -> None:
    faults = ["--fault", "none", "--fault", "truncated"]
    done = streamproof("run", CASES, "--adapter", "ours", *faults, "--reports", tmp_path / "r")
    assert (done.returncode, done.stderr) == (0, "")
    head, row, *rest = done.stdout.splitlines()
    assert "1 adapter · " in head
    assert row.split()[:2] == ["ours", "openai-chat"]
    assert len(rest) == 1  # the summary: nothing is to be told of cells that pass
    told = lines((next((tmp_path / "r").iterdir()) / "results.jsonl").read_text(encoding="utf-8"))
    assert told[0]["about"]["ours"]["packages"]["openai-chat"].startswith("streamproof ")
    assert {line["fault"] for line in told if line["type"] == "verdict"} == {None, "truncated"}


def test_a_program_and_the_command_that_asks_again(tmp_path: Path) -> None:
    """Evidence: expected, got, the frame with its bytes; the command for one cell gives the grade once more."""
    parrot = program(tmp_path)
    done = streamproof("run", CASES / "text.yaml", CASES / "tool-call.yaml", "--adapter", parrot, "--reports", tmp_path / "r")
    assert done.returncode == 1
    assert "parrot · openai-chat/llamacpp/text · wrong" in done.stdout
    assert 'got "always this"' in done.stdout
    assert "^^^" in done.stdout
    again = next(line for line in done.stdout.splitlines() if "again:" in line and "text.yaml" in line)
    words = shlex.split(again.split("again:")[1])
    assert words[:2] == ["streamproof", "run"]
    once = streamproof(*words[1:], "--json", "--reports", tmp_path / "r")
    (verdict,) = [line for line in lines(once.stdout) if line["type"] == "verdict"]
    assert (verdict["cassette"], verdict["grade"]) == ("openai-chat/llamacpp/text", "wrong")


def test_only_what_differs_from_a_baseline_fails(tmp_path: Path) -> None:
    parrot, cases = program(tmp_path), [CASES / "text.yaml", CASES / "tool-call.yaml"]
    first = streamproof("run", *cases, "--adapter", parrot, "--json", "--reports", tmp_path / "r")
    baseline = tmp_path / "before.jsonl"
    baseline.write_text(first.stdout, encoding="utf-8")
    same = streamproof("run", *cases, "--adapter", parrot, "--baseline", baseline, "--reports", tmp_path / "r")
    assert same.returncode == 0
    assert "of them known" in same.stdout
    told = lines(first.stdout)
    told[1]["grade"], told[1]["findings"] = "pass", []
    baseline.write_text("".join(json.dumps(line) + "\n" for line in told), encoding="utf-8")
    worse = streamproof("run", *cases, "--adapter", parrot, "--baseline", baseline, "--reports", tmp_path / "r")
    assert worse.returncode == 1


def test_a_known_deviation_of_a_client_goes_stale_when_it_is_gone(tmp_path: Path) -> None:
    parrot, known = program(tmp_path), tmp_path / "known.toml"
    entry = '[[known]]\nrule = "subject/text"\nadapters = ["parrot"]\nreason = "it is a parrot"\nevidence = "heard"\n'
    known.write_text(entry + entry.replace("subject/text", "subject/finish"), encoding="utf-8")
    asked = ["run", CASES / "text.yaml", "--known", known, "--reports", tmp_path / "r", "--adapter"]
    done = streamproof(*asked, parrot)
    assert done.returncode == 0, done.stdout
    known.write_text(entry.replace("subject/text", "subject/hung"), encoding="utf-8")
    stale = streamproof("run", CASES, *asked[2:], parrot)
    assert stale.returncode == 1
    assert "explains nothing any more" in stale.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--adapter", "openai-pyton"], "did you mean openai-python"),
        (["--adapter", "./nobody.py"], "no such file"),
        (["--adapter", "./dumb"], "no answer to describe"),
        (["--adapter", "./plain.txt"], "make it executable"),
        (["--adapter", "ours", "--fault", "trunkated"], "did you mean truncated"),
        (["--adapter", "boto3"], "speaks the dialect of any"),
        (["--adapter", "ours", "--fault", "none", "--select", "OAI-C"], "not about clients"),
        (["--adapter", "ours", "--fault", "none", "--jobs", "0"], "jobs"),
        (["--adapter", "ours", "--fault", "none", "--baseline", "nothing.jsonl"], "cannot be read"),
    ],
)
def test_wrong_flags(tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "plain.txt").write_text("", encoding="utf-8")
    (tmp_path / "dumb").write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
    (tmp_path / "dumb").chmod(0o755)
    done = streamproof("run", CASES / "text.yaml", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())


def test_interrupted_and_resumed(tmp_path: Path) -> None:
    """Ctrl-C keeps what was done; the same command goes on from there."""
    slow = program(tmp_path, "sloth", wait=0.1)
    arguments = ["run", str(CASES), "--adapter", str(slow), "--jobs", "1", "--reports", str(tmp_path / "r")]
    running = subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = wait_for(tmp_path / "r")
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)
    assert running.returncode != 0
    kept = len(journal.read_text(encoding="utf-8").split())
    assert kept
    done = streamproof(*arguments)
    assert "cells were done before the interruption" in done.stderr
    assert done.returncode == 1
    assert not journal.exists()


def wait_for(folder: Path) -> Path:
    """The journal of a run, once something stands in it."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        for file in folder.glob(".matrix-*.jsonl"):
            if file.stat().st_size > 1000:
                return file
        time.sleep(0.02)
    raise TimeoutError("no journal")


def test_the_list_of_adapters() -> None:
    done = streamproof("adapters", "--json")
    told = {line["name"]: line for line in lines(done.stdout)}
    assert told["openai-python"]["language"] == "python"
    assert set(told["ours"]["packages"]) >= {"openai-chat", "gemini", "ollama-chat"}


def test_shards_are_all_and_each_once(tmp_path: Path) -> None:
    seen: list[str] = []
    for number in (1, 2, 3):
        done = streamproof("run", CASES, "--shard", f"{number}/3", "--json", "--reports", tmp_path / "r")
        seen += {line["cassette"] for line in lines(done.stdout) if line["type"] == "verdict"}
    done = streamproof("run", CASES, "--json", "--reports", tmp_path / "r")
    whole = {line["cassette"] for line in lines(done.stdout) if line["type"] == "verdict"}
    assert sorted(seen) == sorted(whole)


@pytest.mark.parametrize("shard", ["0/3", "4/3", "x", "1/0", "1"])
def test_no_such_shard(tmp_path: Path, shard: str) -> None:
    done = streamproof("run", CASES, "--shard", shard, cwd=tmp_path)
    assert done.returncode == 2
    assert "write --shard 2/3" in done.stderr
