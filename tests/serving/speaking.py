"""Clients for the server's tests, as plain as can be: they see what was on the wire."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import h11

from harness.serving import Served

ASKS = {"model": "tide-1", "stream": True, "messages": [{"role": "user", "content": "Ebb?"}]}


def connected(server: Served, seconds: float = 5.0) -> socket.socket:
    host, _, port = server.url.partition("://")[2].rpartition(":")
    return socket.create_connection((host, int(port)), timeout=seconds)


def written(url: str, body: Any = None, *, method: str = "POST", **headers: str) -> bytes:
    """A request as bytes."""
    data = body if isinstance(body, bytes) else json.dumps(ASKS if body is None else body).encode()
    target = "/" + url.partition("://")[2].partition("/")[2]
    fields = {"host": "here", "content-type": "application/json", "content-length": str(len(data)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + data


class Got:
    """A response: `pieces` as HTTP framed them; `whole` says whether it came to its end."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.whole = False
        self.error: Exception | None = None

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(server: Served, url: str, body: Any = None, *, method: str = "POST", **headers: str) -> Got:
    """Ask on a connection of its own, and read all."""
    with connected(server) as line:
        return read(line, written(url, body, method=method, **headers), method)


def ended(server: Served, session: str, seconds: float = 5.0) -> str | None:
    """How the only exchange of a session ended, once it has."""
    until = time.monotonic() + seconds
    while not (entries := server.settled(session, seconds)) or entries[0].ended is None:
        assert time.monotonic() < until
    (entry,) = entries
    return entry.ended


def read(line: socket.socket, request: bytes, method: str = "POST") -> Got:
    """Send a request and read the response."""
    got, parser = Got(), h11.Connection(h11.CLIENT)
    parser.send(h11.Request(method=method, target="/", headers=[("host", "here")]))
    parser.send(h11.EndOfMessage())
    line.sendall(request)
    open_piece = False
    while True:
        try:
            event = parser.next_event()
            if event is h11.NEED_DATA:
                parser.receive_data(line.recv(65536))
                continue
        except (OSError, h11.RemoteProtocolError) as error:
            got.error = error
            return got
        if isinstance(event, h11.Response):
            got.status = event.status_code
            got.headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
        elif isinstance(event, h11.Data):
            if open_piece:
                got.pieces[-1] += bytes(event.data)
            else:
                got.pieces.append(bytes(event.data))
            open_piece = not event.chunk_end and "content-length" not in got.headers
        else:
            got.whole = isinstance(event, h11.EndOfMessage)
            return got
