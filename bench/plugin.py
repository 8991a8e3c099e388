"""What the pytest plugin adds to a test: the same adapter asks for the same 16 kB cassette, once in a conformance test and once
in a bare one, some hundred times each."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = 300
SIZE = 16_000  # bytes of the recorded stream

_FILE = """
import http.client, json
from urllib.parse import urlsplit
import pytest
from harness import cassette
from harness.serving import serving
from harness.testing import ProviderConformance

def ask(base_url, body):
    where = urlsplit(base_url)
    line = http.client.HTTPConnection(where.hostname, where.port)
    sent = json.dumps({**body, "stream": True})
    line.request("POST", where.path + "/v1/chat/completions", sent, {"content-type": "application/json"})
    text, finish = [], None
    for row in line.getresponse().read().split(b"\\n"):
        if row.startswith(b"data: {"):
            for choice in json.loads(row[6:])["choices"]:
                text.append(choice["delta"].get("content") or "")
                finish = choice["finish_reason"] or finish
    return {"text": "".join(text), "finish_reason": finish}

class TestOurs(ProviderConformance):
    dialects = ["openai-chat"]
    cassettes = "cases"
    faults = ["none"]
    def observe(self, request, base_url):
        return ask(base_url, request.body)

CASES = {case.id: case for case in cassette.load("cases")}

@pytest.fixture(scope="session")
def server():
    with serving(CASES.values()) as running:
        yield running

@pytest.mark.parametrize("name", CASES)
def test_bare(server, name):
    assert ask(server.url_of(name), {})["finish_reason"] == "stop"
"""
_CONFTEST = """
import time
import pytest

def pytest_collection_modifyitems(items):
    half = len(items) // 2  # in turn, so that what else the machine does disturbs both
    items[:] = [item for pair in zip(items[:half], items[half:]) for item in pair]

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    began = time.process_time()
    done = yield
    with open("times.txt", "a") as file:
        file.write(f"{'ours' if 'TestOurs' in item.nodeid else 'bare'} {time.process_time() - began}\\n")
    return done
"""


def a_test() -> tuple[float, float]:
    """The milliseconds of the processor by which a conformance test takes longer than a bare one, and those of the bare one;
    server and all."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        _cassettes(here / "cases")
        (here / "test_bench.py").write_text(_FILE, encoding="utf-8")
        (here / "conftest.py").write_text(_CONFTEST, encoding="utf-8")
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
        done = subprocess.run(words, cwd=here, check=True, capture_output=True, text=True)
        if f"{2 * TESTS} passed in" not in done.stdout:  # a test that is skipped costs something else
            raise RuntimeError(done.stdout)
        ours, bare = (_milliseconds(here / "times.txt", which) for which in ("ours", "bare"))
    return statistics.median(one - other for one, other in zip(ours, bare, strict=True)), statistics.median(bare)


def _cassettes(folder: Path) -> None:
    """Cassettes that differ in their text, so that nothing is remembered from one to the next."""
    from harness import cassette
    from harness.cassette.model import Cassette, Chunk, Exchange, Headers, Provenance, Request

    for number in range(TESTS):
        words = [f"tide {number} {word} " for word in range(SIZE // 260)]
        deltas = [{"role": "assistant", "content": ""}, *({"content": word} for word in words)]
        frames = [_event(delta, None) for delta in deltas] + [_event({}, "stop"), b"data: [DONE]\n\n"]
        exchange = Exchange(
            request=Request(
                target="/v1/chat/completions",
                body=b'{"model":"tide-1","messages":[{"role":"user","content":"tide?"}],"stream":true}',
            ),
            headers=Headers({"content-type": "text/event-stream"}),
            chunks=tuple(Chunk(data=frame, at=0.001 * at) for at, frame in enumerate(frames)),
        )
        provenance = Provenance(kind="authored", on="2026-12-01", by="bench")
        case = Cassette(id=f"openai-chat/bench/text-{number}", dialect="openai-chat", stream=exchange, provenance=provenance)
        cassette.save(case, folder / f"openai-chat/bench/text-{number}.yaml")


def _event(delta: dict[str, str], finish: str | None) -> bytes:
    import json

    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": "tide-1"}
    return b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"


def _milliseconds(file: Path, which: str) -> list[float]:
    rows = (line.split() for line in file.read_text(encoding="utf-8").splitlines())
    return [float(seconds) * 1000 for kind, seconds in rows if kind == which]
