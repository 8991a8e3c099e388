"""`streamproof serve` and `streamproof faults`, as programs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import httpx
import pytest

from harness import cassette
from harness.replay.faults.catalogue import CATALOGUE
from tests.test_cli import Command, streamproof  # noqa: F401  # a fixture

ROOT = Path(__file__).parents[1]
CASES = ROOT / "cassettes" / "openai-chat" / "llamacpp"
ID = "openai-chat/llamacpp/text"
PROGRAM = "from harness.cli import main; main()"
WAIT = 20


class Program:
    """The server in a process of its own. Its first line has been read."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, "-c", PROGRAM, "serve", "--json", *map(str, arguments)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.said: dict[str, Any] = json.loads(self._out.readline() or "{}")

    @property
    def _out(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def stop(self) -> tuple[int, list[Any], str]:
        """End it in order; its exit status, the further lines, and what it said on standard error."""
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=WAIT)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], err


@pytest.fixture
def program() -> Iterator[Callable[..., Program]]:
    started: list[Program] = []

    def start(*arguments: object) -> Program:
        started.append(Program(*arguments))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate(timeout=WAIT)


def test_serving(program: Callable[..., Program], tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    server = program(CASES, "--fast", "--log", log)
    case = cassette.load_one(CASES / "text.yaml")
    assert case.stream is not None
    url = f"{server.said['url']}/s/mine/c/{ID}/v1/chat/completions"
    got = httpx.post(url, json={"stream": True}, timeout=WAIT)
    assert got.content == case.stream.body
    assert httpx.get(f"{server.said['url']}/-/health", timeout=WAIT).json()["cassettes"] == server.said["cassettes"]
    status, lines, err = server.stop()
    assert (status, err) == (0, "")
    assert [line["cassette"] for line in lines] == [ID, None]
    assert [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] == lines
    assert lines[0]["session"] == "mine"


def test_over_tls(program: Callable[..., Program]) -> None:
    import ssl

    server = program(CASES, "--fast", "--tls")
    assert server.said["url"].startswith("https://")
    trusts = ssl.create_default_context(cafile=server.said["ca"])
    assert httpx.get(f"{server.said['url']}/-/health", verify=trusts, timeout=WAIT).status_code == 200
    assert server.stop()[0] == 0
    assert not Path(server.said["ca"]).exists()


def test_another_host_than_loopback_is_spoken_of(program: Callable[..., Program]) -> None:
    server = program(CASES, "--host", "0.0.0.0")
    assert "others can reach this server" in server.stop()[2]


def test_a_port_that_is_taken(program: Callable[..., Program], streamproof: Command) -> None:  # noqa: F811
    port = program(CASES).said["url"].rpartition(":")[2]
    done = streamproof("serve", CASES, "--port", port)
    assert done.status == 2
    assert f"cannot listen at 127.0.0.1:{port}" in done.err


def test_faults_are_listed(streamproof: Command) -> None:  # noqa: F811
    done = streamproof("faults")
    assert done.status == 0
    assert [line.split()[0] for line in done.out.splitlines()] == list(CATALOGUE)
    (told,) = streamproof("faults", "lost-finish", "--json").lines
    assert (told["effect"], told["rules"]["openai-chat"]) == ("deviation", "OAI-C-014")


def test_a_fault_that_nobody_knows(streamproof: Command) -> None:  # noqa: F811
    done = streamproof("faults", "truncted")
    assert done.status == 2
    assert "did you mean truncated" in done.err
