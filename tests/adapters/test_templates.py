"""The templates in other languages than Python, with the real interpreters: they speak the protocol, and tell what happened."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import cassette as cassettes
from harness.adapters.process import Ending, Process
from harness.adapters.protocol import TEMPLATES, Described
from harness.conformance.verdict import Grade
from harness.matrix import Bench, Cell
from harness.serving import serving

TEXT = cassettes.load_one(cassettes.shipped() / "openai-chat/llamacpp/usage.yaml")
CLIENT = """
import { lookup } from 'node:dns'
import { lookup as later } from 'node:dns/promises'
import http2 from 'node:http2'
import net from 'node:net'
import https from 'node:https'
import { call, counts, lowered, reply, serve, Unsupported } from './streamproof_subject.mjs'

console.log('hello from the import')
const tried = (host) => new Promise((done) => net.connect(80, host).on('error', done))

await serve({
  gemini: async (task) => {
    switch (task.request.what) {
      case 'prints': console.log('to standard output'); process.stdout.write('and directly\\n'); break
      case 'cannot': throw new Unsupported('no audio')
      case 'throws': throw new RangeError(`at ${task.url()}`)
      case 'throws text': throw 'enough'
      case 'outside':
        await tried('192.0.2.1')
        await fetch('http://tide.example/').catch(() => {})
        await new Promise((done) => https.get('https://kelp.example/').on('error', done))
        break
      case 'outside in other ways':
        await tried('127.dune.example')
        await new Promise((done) => http2.connect('https://reef.example').on('error', done))
        await new Promise((done) => lookup('sand.example', { all: true }, done))
        await later('surf.example').catch(() => {})
        break
      case 'here': {
        const server = net.createServer((socket) => socket.end('hi')).listen(0, '127.0.0.1')
        await new Promise((done) => server.on('listening', done))
        const { port } = server.address()
        for (const host of ['localhost', '127.0.0.1', '::ffff:127.0.0.1', undefined])
          await new Promise((done, failed) => net.connect({ port, host }).on('data', done).on('error', failed))
        await later('localhost')
        server.close()
        break
      }
      case 'leaves work':
        setTimeout(() => { throw new Error('too late') }, 1)
        await new Promise((done) => setTimeout(done, 20))
        break
      case 'raw': {
        const deep = { big: 10n, bytes: new TextEncoder().encode('ok'), map: new Map([['a', 1]]), f: () => 1 }
        deep.self = deep
        return reply({ text: 'ok', raw: deep })
      }
    }
    const calls = task.tools.map((tool) => call('1', tool.name, tool.parameters.type))
    return reply({ text: task.prompt, calls, usage: counts({ in: 1, out: 2.5 }, 'in', 'out') })
  },
})
"""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("node")
    shutil.copy(TEMPLATES / "streamproof_subject.mjs", folder)
    (folder / "client.mjs").write_text(CLIENT, encoding="utf-8")
    process = Process(["node", str(folder / "client.mjs")], about={"name": "tide", "version": "1.2"})
    yield process
    process.close()


def asked(process: Process, request: dict[str, Any], dialect: str = "gemini") -> dict[str, Any]:
    place = {"base_url": "http://127.0.0.1:4321/c/x/", "stream": True, "timeout_s": 5}
    said, answer = process.run({"id": "1", "dialect": dialect, "request": request, **place})
    assert said is not None, answer
    return said.model_dump()


class TestNode:
    def test_it_describes_itself(self, node: Process) -> None:
        told = node.describe()
        assert isinstance(told, Described)
        assert (told.name, told.version, told.language, told.dialects) == ("tide", "1.2", "node", ["gemini"])

    def test_it_answers(self, node: Process) -> None:
        tools = [{"functionDeclarations": [{"name": "tide", "parameters": {"type": "OBJECT"}}]}]
        turn = asked(node, {"contents": [{"role": "user", "parts": [{"text": "Which port?"}]}], "tools": tools})
        assert turn["response"]["text"] == "Which port?"
        assert turn["response"]["tool_calls"] == [{"id": "1", "name": "tide", "arguments": "object"}]
        assert turn["response"]["usage"]["input_tokens"] == 1
        assert turn["response"]["usage"]["output_tokens"] is None  # half a token is no count

    @pytest.mark.parametrize(
        ("what", "told"),
        [
            ("prints", {"error": None}),
            ("cannot", {"unsupported": "no audio", "error": None}),
            ("throws", {"error": {"type": "RangeError", "message": "at http://127.0.0.1/c/x"}}),
            ("throws text", {"error": {"type": "String", "message": "enough"}}),
            ("outside", {"outside": ["192.0.2.1", "kelp.example", "tide.example"]}),
            ("outside in other ways", {"outside": ["127.dune.example", "reef.example", "sand.example", "surf.example"]}),
            ("here", {"error": None, "outside": []}),
            ("leaves work", {"error": None}),
            ("raw", {"error": None}),
        ],
    )
    def test_it_tells_what_happened(self, node: Process, what: str, told: dict[str, Any]) -> None:
        turn = asked(node, {"what": what})
        assert {name: turn[name] for name in told} == told
        if what == "raw":
            assert (turn["raw"]["big"], turn["raw"]["bytes"], turn["raw"]["map"]) == (10, "ok", [["a", 1]])

    def test_it_knows_its_dialects(self, node: Process) -> None:
        assert asked(node, {}, "ollama-chat")["unsupported"] == "another dialect"


@pytest.fixture(scope="module", params=["go", "sh"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    source = TEMPLATES / f"streamproof_subject.{request.param}"
    if request.param == "sh":
        if not (shutil.which("jq") and shutil.which("curl")):
            pytest.skip("the template in shell needs curl and jq")
        return ["sh", str(source)]
    if not shutil.which("go"):
        pytest.skip("the template in Go needs a compiler")
    built = tmp_path_factory.mktemp("go") / "subject"
    environ = {"HOME": str(built.parent), "PATH": "/usr/bin:/bin:/usr/local/go/bin", "GO111MODULE": "off", "GOFLAGS": ""}
    subprocess.run(["go", "build", "-o", str(built), str(source)], check=True, capture_output=True, env=environ, timeout=300)
    return [str(built)]


@pytest.mark.parametrize("fault", [None, "byte-by-byte", "truncated", "error-in-band", "http-503"])
def test_other_languages_ask_and_tell(program: list[str], fault: str | None) -> None:
    """Each reads a stream of text rightly, and says when the turn failed."""
    process = Process(program, about={})
    try:
        described = process.describe()
        assert isinstance(described, Described)
        assert described.dialects == ["openai-chat"]
        with serving([TEXT]) as server:
            verdict = Bench([TEXT], server).verdict(Cell(subject=described.name, cassette=TEXT.id, fault=fault), process)
    finally:
        process.close()
    assert verdict.grade is Grade.PASS, verdict.findings


def test_a_program_that_stops_is_told(tmp_path: Path) -> None:
    process = Process(["sh", "-c", "echo oh no >&2; exit 4"], about={})
    answer = process.describe()
    process.close()
    assert not isinstance(answer, Described)
    assert answer.ending is Ending.EXIT
    assert "status 4\noh no" in answer.evidence


def test_the_messages_of_the_templates_are_those_of_the_schema() -> None:
    schema = json.loads((TEMPLATES.parent / "schema.json").read_text(encoding="utf-8"))
    assert {"Describe", "Run", "Stop", "Described", "Said"} <= set(schema["$defs"])
