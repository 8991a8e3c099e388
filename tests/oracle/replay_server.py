"""A server on the loopback interface that answers with recorded exchanges, chunk by chunk and without waiting."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.cassette import Exchange

_ITS_OWN = {"content-length", "transfer-encoding", "connection", "date"}  # fields that the server itself must send


class ReplayServer:
    """Give it an exchange, then ask it something: `url` is its address, `asked` what it was asked for last."""

    def __init__(self) -> None:
        self._due: Exchange | None = None
        self.asked: tuple[str, Any] = ("", None)
        handler = type("Handler", (_Handler,), {"replay": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[ReplayServer]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def play(self, exchange: Exchange) -> None:
        """Answer the next request with this exchange, and no other."""
        self._due = exchange

    def next(self, target: str, body: bytes) -> Exchange:
        self.asked = target, json.loads(body)
        due, self._due = self._due, None
        if due is None:
            raise LookupError(f"nobody expected a request for {target}")
        return due


class _Handler(BaseHTTPRequestHandler):
    replay: ReplayServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        exchange = self.replay.next(self.path, self.rfile.read(length))
        self.send_response(exchange.status)
        for name, value in exchange.headers.fields:
            if name.lower() not in _ITS_OWN:
                self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        for chunk in exchange.chunks:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk.data), chunk.data))
            self.wfile.flush()
        if exchange.ending == "eof":
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True  # without the last chunk the body is not over: that is how a reset shows

    def log_message(self, format: str, *args: Any) -> None:
        pass
