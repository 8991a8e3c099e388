"""What a client cannot do to the server: leave its folders, fill its memory, hold it up."""

from __future__ import annotations

import gc
import socket
import time
from urllib.parse import urlsplit

import pytest

from harness.serving import Limits, Served, serving
from tests.exchanges import cassette, exchange
from tests.serving.conftest import BODY, EBB, cases
from tests.serving.speaking import ASKS, ask, connected, ended, read, written

PATH = "/v1/chat/completions"


def answered(line: socket.socket) -> bytes:
    """All that comes until the connection ends."""
    data = b""
    try:
        while piece := line.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


def fine(server: Served) -> bool:
    return ask(server, server.url_of(EBB) + PATH).body == BODY


@pytest.mark.parametrize(
    "path",
    [
        "/c/../../../etc/passwd",
        "/c/%2e%2e/%2e%2e/etc/passwd",
        "/c/..%2f..%2f..%2fetc%2fpasswd/v1/chat/completions",
        "/c/%00/v1/chat/completions",
        "/c//etc/passwd",
        "/../../etc/passwd",
        "/-/../../etc/passwd",
        "/f/..%2f..%2fetc/c/openai-chat/here/ebb/v1/chat/completions",
        "file:///etc/passwd",
    ],
)
def test_no_path_leads_to_a_file(server: Served, path: str) -> None:
    with connected(server) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n".encode())
        said = answered(line)
    assert said.startswith(b"HTTP/1.1 404 ")
    assert b"root:" not in said


def test_a_body_that_is_too_large() -> None:
    with serving(cases(), limits=Limits(body=1000)) as server:
        got = ask(server, server.url_of(EBB) + PATH, b"x" * 1001)
        assert (got.status, got.headers["connection"]) == (413, "close")
        assert fine(server)


def test_bodies_that_are_too_large_together() -> None:
    with serving(cases(), limits=Limits(bodies=3000)) as server:
        with connected(server) as holds:
            holds.sendall(written(server.url_of(EBB) + PATH, b"x" * 2999)[:-1])
            until = time.monotonic() + 5
            while ask(server, server.url_of(EBB) + PATH, b"x" * 900).status != 413:
                assert time.monotonic() < until
        while ask(server, server.url_of(EBB) + PATH, b"x" * 900).status == 413:  # once the first has left, there is room
            assert time.monotonic() < until


def test_a_head_that_is_too_large() -> None:
    with serving(cases(), limits=Limits(head=2000)) as server:
        assert ask(server, server.url_of(EBB) + PATH, odd="x" * 200_000).status in (400, 431)
        assert fine(server)


def test_a_request_that_never_comes_to_its_end() -> None:
    with serving(cases(), limits=Limits(whole=0.1)) as server:
        with connected(server) as line:
            line.sendall(written(server.url_of(EBB) + PATH)[:-5])
            assert answered(line).startswith(b"HTTP/1.1 408 ")
        assert fine(server)


def test_an_idle_connection_is_closed_without_a_word() -> None:
    with serving(cases(), limits=Limits(idle=0.1)) as server, connected(server) as line:
        assert read(line, written(server.url_of(EBB) + PATH)).body == BODY
        assert answered(line) == b""


def test_more_connections_than_there_may_be() -> None:
    with serving(cases(), limits=Limits(connections=1)) as server, connected(server) as first:
        assert read(first, written(server.url_of(EBB) + PATH)).body == BODY
        with connected(server) as second:
            assert answered(second).startswith(b"HTTP/1.1 503 ")
        assert read(first, written(server.url_of(EBB) + PATH)).body == BODY


def test_a_client_that_does_not_read() -> None:
    large = cassette(exchange(b"data: " + b"x" * 30_000_000 + b"\n\n"), id="a/b/large")
    with serving([large, *cases()], limits=Limits(reading=0.2)) as server:
        with connected(server) as line:
            line.sendall(written(server.url_of("a/b/large", session="deaf") + PATH, b'{"stream": true}'))
            assert ended(server, "deaf") == "client left"
        assert fine(server)


@pytest.mark.parametrize(
    "noise", [b"\x00" * 100, b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\nx"]
)
def test_what_is_no_http(server: Served, noise: bytes) -> None:
    with connected(server) as line:
        line.sendall(noise)
        line.shutdown(socket.SHUT_WR)
        said = answered(line)
    assert not said or said.startswith(b"HTTP/1.1 4")
    assert fine(server)


def test_too_many_faults_in_a_row(server: Served) -> None:
    got = ask(server, server.url_of(EBB, *["coalesced"] * 9) + PATH)
    assert (got.status, got.headers["x-streamproof"]) == (404, "miss")
    assert "9 faults in a row" in got.json["error"]["message"]


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe", b'{"stream": tru', b""])
def test_bodies_that_are_no_json(server: Served, body: bytes) -> None:
    assert ask(server, server.url + PATH, body).status == 404
    assert ask(server, server.url_of(EBB) + PATH, body).status in (200, 404)


def test_only_loopback_is_listened_to(server: Served) -> None:
    host = server.url.partition("://")[2].partition(":")[0]
    assert host == "127.0.0.1"


def test_a_large_request_for_nothing_recorded_holds_nobody_up(server: Served) -> None:
    many = {**ASKS, "messages": [{"role": "user", "content": f"hi {n}"} for n in range(60_000)]}
    began = time.monotonic()
    assert ask(server, server.url + PATH, many).status == 404
    assert time.monotonic() - began < 3.0  # to search so much for secrets takes longer than that


def test_a_connection_that_was_just_accepted_is_closed_with_the_server(recwarn: pytest.WarningsRecorder) -> None:
    """An event loop's server that is closed makes no connection of what it has accepted, and leaves the socket to nobody."""
    for _ in range(40):
        with serving([]) as server:
            place = urlsplit(server.url)
            lines = [socket.create_connection((str(place.hostname), int(place.port or 0)), timeout=5) for _ in range(4)]
        for line in lines:
            line.close()
    gc.collect()
    assert [warning for warning in recwarn if "unclosed" in str(warning.message)] == []
