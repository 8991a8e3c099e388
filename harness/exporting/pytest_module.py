"""A test that stands alone: one file with the recording in it, a server on loopback that plays it, and the vendor's client.

Whoever gets it needs pytest and that client, and nothing of ours: it is made to be attached to a bug report.
"""

from __future__ import annotations

import re
from pprint import pformat
from typing import Any

from harness import checking, dialects
from harness.cassette.model import Cassette, Exchange
from harness.errors import InputError
from harness.exporting.clients import client
from harness.exporting.formats import Files, scenario_of
from harness.inputs import Input

_NOT_KEPT = frozenset({"connection", "content-length", "keep-alive", "set-cookie", "transfer-encoding"})
_HEAD = '''"""{title}

{about}. Run it with pytest; it needs no network and no key.
"""

# ruff: noqa

import json
import socket
import struct
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

STATUS = {status}
HEADERS = {headers}
PIECES = {pieces}
ENDING = {ending!r}
'''
_SERVER = '''

class Player(BaseHTTPRequestHandler):
    """Answers every request with the recording, in the pieces in which it came."""

    protocol_version = "HTTP/1.1"
    over = threading.Event()

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(STATUS)
        for name, value in HEADERS:
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in PIECES:
            self.wfile.write(b"%x\\r\\n%s\\r\\n" % (len(piece), piece))
            self.wfile.flush()
        self.close_connection = True
        if ENDING == "eof":
            self.wfile.write(b"0\\r\\n\\r\\n")
        elif ENDING == "timeout":
            self.over.wait(60)  # nothing comes any more: the client must give up by itself
        else:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.shutdown(socket.SHUT_RD)

    do_GET = do_POST

    def log_message(self, *_):
        pass
'''
_FIXTURE = """

@pytest.fixture
def base_url():
    Player.over.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Player)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    Player.over.set()
    server.shutdown()
    server.server_close()
"""
_BYTES = """

@pytest.mark.skipif(ENDING != "eof" or STATUS >= 400, reason="the recording has no orderly end")
def test_the_server_sends_what_was_recorded(base_url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    assert opener.open(base_url, data=b"{}", timeout=10).read() == b"".join(PIECES)
"""
_CLIENT = '''

def turn(base_url):
    """The text of the turn, and its calls as names and arguments, as the client tells them."""{client}
'''
_SAME = """
TEXT = {text!r}
CALLS = {calls}


def test_the_client_tells_the_turn_that_was_sent(base_url):
    text, calls = turn(base_url)
    assert text == TEXT
    assert [(name, value(arguments)) for name, arguments in calls] == CALLS


def value(arguments):
    try:
        return json.loads(arguments or "{{}}")
    except ValueError:
        return arguments
"""
_FAILS = '''

def test_the_client_tells_that_the_turn_failed(base_url):
    """{why}"""
    with pytest.raises(Exception):
        turn(base_url)
'''


def render(cassette: Cassette) -> Files:
    side = cassette.stream or cassette.reference
    if side is None or not side.status:
        raise InputError("there is no response to be served", where=cassette.id)
    parts = [_recording(cassette, side), _SERVER, _FIXTURE, _BYTES]
    reads = client(cassette.dialect, cassette.stream) if cassette.stream is not None else None
    if reads is not None and cassette.stream is not None:
        parts += [_CLIENT.format(client=reads.rstrip()), _expectation(cassette, cassette.stream)]
    name = re.sub(r"\W+", "_", scenario_of(cassette)).strip("_").lower() or "turn"
    return {f"test_{name}.py": "".join(parts).encode()}


def _recording(cassette: Cassette, side: Exchange) -> str:
    origin = cassette.provenance
    told = (origin.kind, f"on {origin.on}" if origin.on else None, f"by {origin.by}" if origin.by else None)
    about = f"A stream of {cassette.provider} ({cassette.dialect}), {' '.join(word for word in told if word)}"
    pieces = "".join(f"    {chunk.data!r},\n" for chunk in side.chunks)
    return _HEAD.format(
        title=_harmless(cassette.id),
        about=_harmless(about),
        status=side.status,
        headers=pformat([(name, text) for name, text in side.headers.fields if name.lower() not in _NOT_KEPT], width=120),
        pieces=f"[\n{pieces}]",
        ending=side.ending,
    )


def _expectation(cassette: Cassette, stream: Exchange) -> str:
    given = Input(
        name=cassette.id,
        dialect=dialects.dialect(cassette.dialect),
        detected=False,
        exchanges=(stream,),
        provider=cassette.provider,
    )
    checked = checking.check(given).as_dict()
    if checked["error"] is not None:
        return _FAILS.format(why=_harmless(str(checked["error"]["message"]))[:200])
    response: dict[str, Any] = checked["response"] or {}
    calls = [(call["name"], call["arguments"]) for call in response.get("tool_calls") or ()]
    return _SAME.format(text=response.get("text") or "", calls=pformat(calls, width=120, sort_dicts=False))


def _harmless(text: str) -> str:
    """A text that can stand in a docstring."""
    return " ".join(text.replace("\\", "/").replace('"', "'").split())
