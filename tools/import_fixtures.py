"""Makes tests/importing/fixtures with the real tools: `python tools/import_fixtures.py [TOOL…]`, from the checkout.

A server on loopback gives the answers of tests/importing/served.py; each tool asks for them and writes what it writes. Needs
curl and Chromium (Debian), mitmproxy, Playwright, vcrpy, pytest-recording and wiretruth (PyPI), aimock (npm); `PATH` must
have the programs. Times and ports in the files differ from run to run, the bodies do not.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from tests.importing.served import ANSWERS, CHAT, KEY, QUESTION, Answer, request_body

FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "importing" / "fixtures"


class Server(BaseHTTPRequestHandler):
    """Answers by the name of the model, piece by piece."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        """A page that asks for everything, for browsers."""
        names = json.dumps({name: [answer.path, request_body(name).decode()] for name, answer in ANSWERS.items()})
        page = f"""<script>window.ask = async () => {{
          for (const [name, [path, body]] of Object.entries({names})) {{
            const headers = {{"content-type": "application/json", authorization: "Bearer {KEY}"}}
            try {{ await (await fetch(path, {{method: "POST", body, headers}})).arrayBuffer() }} catch (e) {{}}
          }}
        }}</script>"""
        self._head(Answer(pieces=(page.encode(),), media="text/html; charset=utf-8", chunked=False))
        self.wfile.write(page.encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = body.get("model", "converse")
        answer = ANSWERS["plain" if name == "text" and "stream" not in body else name]
        self._head(answer)
        for piece in answer.pieces:
            time.sleep(0.03)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if answer.chunked else piece)
            self.wfile.flush()
        if answer.cut:
            time.sleep(0.03)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        elif answer.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _head(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.media)
        self.send_header("x-request-id", "req-1")
        self.send_header("set-cookie", "session=not-a-real-cookie; Path=/")
        if answer.encoding:
            self.send_header("Content-Encoding", answer.encoding)
        if answer.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()

    def finish(self) -> None:
        try:
            super().finish()
        except (OSError, ValueError):  # the connection was broken on purpose
            self.connection.close()


@contextmanager
def serving() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def curl(base: str, to: Path) -> None:
    for name, answer in ANSWERS.items():
        question = ["-sN", "-H", "content-type: application/json", "-H", f"authorization: Bearer {KEY}"]
        question += ["--data-binary", request_body(name).decode(), base + answer.path]
        written = {
            "i.txt": subprocess.run(["curl", "-i", *question], capture_output=True, check=False).stdout,
            "raw.txt": subprocess.run(["curl", "-i", "--raw", *question], capture_output=True, check=False).stdout,
        }
        for suffix, data in written.items():
            (to / f"{name}.{suffix}").write_bytes(data)
        subprocess.run(["curl", "-D", to / f"{name}.head", "-o", to / f"{name}.body", *question], check=False)
        for option in ("trace", "trace-ascii"):
            file = to / f"{name}.{option}"
            subprocess.run(["curl", f"--{option}", file, "--trace-time", *question], capture_output=True, check=False)
    plain = ["-sN", "--data-binary", request_body("text").decode(), base + CHAT]
    subprocess.run(["curl", "--trace", to / "untimed.trace", *plain], capture_output=True, check=True)
    both = ["-sN", "--data-binary", request_body("plain").decode(), base + CHAT, "--next", *plain]
    subprocess.run(["curl", "--trace", to / "two.trace", "--trace-time", *both], capture_output=True, check=True)


def mitmproxy(base: str, to: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for suffix, option in (("flows", ["-w", to / "all.flows"]), ("har", ["--set", f"hardump={to / 'all.har'}"])):
        (to / f"all.{suffix}").unlink(missing_ok=True)
        proxy = subprocess.Popen(["mitmdump", "-q", "-p", str(port), *option])
        try:
            _until_open(port)
            _ask_all(base, f"http://127.0.0.1:{port}")
        finally:
            proxy.terminate()
            proxy.wait(20)


def _until_open(port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("the proxy did not start")


def _ask_all(base: str, proxy: str) -> None:
    opener = build_opener(ProxyHandler({"http": proxy}))
    for name, answer in ANSWERS.items():
        headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
        try:
            opener.open(Request(base + answer.path, data=request_body(name), headers=headers)).read()
        except Exception as error:  # refused and cut ones are wanted
            print(f"  {name}: {type(error).__name__}")


def playwright(base: str, to: Path) -> None:
    from playwright.async_api import async_playwright

    async def run() -> None:
        async with async_playwright() as engine:
            browser = await engine.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            context = await browser.new_context(record_har_path=to / "all.har")
            page = await context.new_page()
            await page.goto(base)
            await page.evaluate("ask()")
            await context.close()
            await browser.close()

    asyncio.run(run())


def vcrpy(base: str, to: Path) -> None:
    import httpx
    import vcr

    for suffix, serializer in (("yaml", "yaml"), ("json", "json")):
        names = [name for name in ANSWERS if name != "cut" and not (suffix == "json" and name in ("zipped", "odd", "converse"))]
        file = to / f"all.{suffix}"
        file.unlink(missing_ok=True)
        with vcr.use_cassette(str(file), serializer=serializer), httpx.Client(trust_env=False) as client:
            for name in names:
                headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
                client.post(base + ANSWERS[name].path, content=request_body(name), headers=headers)
    (to / "all.yaml.gz").write_bytes(gzip.compress((to / "all.yaml").read_bytes(), mtime=0))


RECORDING_TEST = """
import urllib.request
import pytest

@pytest.mark.vcr
def test_turn():
    request = urllib.request.Request({url!r}, data={data!r}, headers={{"authorization": "Bearer {key}"}})
    urllib.request.urlopen(request).read()
"""


def pytest_recording(base: str, to: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = RECORDING_TEST.format(url=base + CHAT, data=request_body("text"), key=KEY)
        (Path(folder) / "test_it.py").write_text(text)
        command = [sys.executable, "-m", "pytest", "-q", "--record-mode=rewrite", "-p", "no:cacheprovider", folder]
        subprocess.run(command, check=True, cwd=folder, env={**os.environ, "no_proxy": "127.0.0.1"})
        shutil.copy(Path(folder) / "cassettes" / "test_it" / "test_turn.yaml", to / "test_turn.yaml")


WIRETRUTH = {
    "stream.text": ("openai-chat", "text", False),
    "stream.kept": ("openai-chat", "text", True),
    "stream.cut": ("openai-chat", "cut", True),
    "stream.lines": ("ollama", "ollama", False),
    "finish.plain": ("openai-chat", "text", False),
    "errors.refused": ("openai-chat", "refused", False),
}
"""Scenarios: the API, the model asked, whether the pieces are kept."""


def wiretruth(base: str, to: Path) -> None:
    from wiretruth.formats import load_scenario
    from wiretruth.providers import PROVIDERS
    from wiretruth.recorder import record_scenario

    with tempfile.TemporaryDirectory() as folder:
        for name, (api, model, kept) in WIRETRUTH.items():
            file = Path(folder) / "suite" / "scenarios" / name.partition(".")[0] / f"{name.partition('.')[2]}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            call = {"stream": name != "finish.plain", "messages": [{"role": "user", "content": QUESTION}]}
            requirement = {"id": "one", "level": "MUST", "check": "text_equals", "text": "none"}
            about = {"title": name, "bug_class": "none", "priority": "P2", "summary": name, "providers": [api]}
            scenario = {"format": "wiretruth.scenario/v1", "id": name, **about, "call": call, "requirements": [requirement]}
            file.write_text(json.dumps(scenario))
            made = record_scenario(
                PROVIDERS[api],
                load_scenario(file),
                model=model,
                key=KEY,
                root=Path(folder),
                base_url=base + ("/v1" if api == "openai-chat" else ""),
                env={},
                keep_bytes=kept,
            )
            shutil.copy(made.path, to / f"{name}.json")


def aimock(base: str, to: Path) -> None:
    """What aimock recorded of two answers, in one file as its users write them."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = ["llmock", "--record", "--provider-openai", base]
        proxy = subprocess.Popen([*command, "-f", folder, "-p", str(port)])
        try:
            _until_open(port)
            for name in ("text", "refused"):
                headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
                url = f"http://127.0.0.1:{port}{ANSWERS[name].path}"
                try:
                    build_opener(ProxyHandler({})).open(Request(url, data=request_body(name), headers=headers)).read()
                except HTTPError as error:
                    print(f"  {name}: {error.code}")
        finally:
            proxy.terminate()
            proxy.wait(20)
        for number, file in enumerate(sorted(Path(folder).rglob("*.json"))):
            shutil.copy(file, to / f"recorded-{number}.json")


TOOLS: dict[str, Callable[[str, Path], None]] = {
    "curl": curl,
    "mitmproxy": mitmproxy,
    "playwright": playwright,
    "vcrpy": vcrpy,
    "pytest-recording": pytest_recording,
    "wiretruth": wiretruth,
    "aimock": aimock,
}


def main() -> None:
    with serving() as base:
        for tool in sys.argv[1:] or TOOLS:
            folder = FIXTURES / tool
            folder.mkdir(parents=True, exist_ok=True)
            print(tool)
            TOOLS[tool](base, folder)


if __name__ == "__main__":
    main()
