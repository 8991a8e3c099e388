"""HTTP/2, without TLS and with it: the same bytes in the same pieces, several exchanges at once, windows that are kept."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import h2.config
import h2.connection
import h2.events
import h2.settings
import httpx
import pytest
from hyperframe.frame import GoAwayFrame, PingFrame

from harness.serving import Limits, Served, serving
from harness.serving.goodbyes import Goodbyes
from harness.serving.http2 import PREFACE
from tests.exchanges import cassette, exchange
from tests.serving.conftest import BODY, CUT, EBB, cases
from tests.serving.speaking import ASKS, ended

LARGE = "openai-chat/here/large"
MANY = b"data: " + b"x" * 200_000 + b"\n\n"
PATH = "/v1/chat/completions"


@dataclass
class Got:
    status: str = ""
    pieces: list[bytes] = field(default_factory=list)
    ended: str = ""


class Client:
    """A client of one connection."""

    def __init__(self, server: Served, context: ssl.SSLContext | None = None, window: int | None = None) -> None:
        address = urlsplit(server.url)
        line = socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=5)
        self.line = context.wrap_socket(line, server_hostname=address.hostname) if context is not None else line
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.http.initiate_connection()
        if window is not None:
            self.http.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: window})
        self.got: dict[int, Got] = {}

    def ask(self, url: str, body: bytes = b'{"stream": true}', method: str = "POST") -> int:
        number = self.http.get_next_available_stream_id()
        address = urlsplit(url)
        fields = [(":method", method), (":path", address.path), (":scheme", address.scheme), (":authority", address.netloc)]
        self.http.send_headers(number, fields, end_stream=not body)
        if body:
            self.http.send_data(number, body, end_stream=True)
        self.line.sendall(self.http.data_to_send())
        self.got[number] = Got()
        return number

    def read(self, number: int) -> Got:
        """What is answered on a stream, until it ends."""
        while not self.got[number].ended:
            data = self.line.recv(65536)
            if not data:
                self.got[number].ended = "closed"
                break
            for event in self.http.receive_data(data):
                self._take(event)
            self.line.sendall(self.http.data_to_send())
        return self.got[number]

    def _take(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.ResponseReceived):
            self.got[event.stream_id].status = dict(event.headers)[":status"]
        elif isinstance(event, h2.events.DataReceived):
            if event.data:
                self.got[event.stream_id].pieces.append(event.data)
            self.http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.got[event.stream_id].ended = "eof"
        elif isinstance(event, h2.events.StreamReset):
            self.got[event.stream_id].ended = "reset"


@contextmanager
def client(server: Served, context: ssl.SSLContext | None = None, window: int | None = None) -> Iterator[Client]:
    made = Client(server, context, window)
    try:
        yield made
    finally:
        made.line.close()


def pieces(body: bytes, size: int = 40) -> list[bytes]:
    return [body[start : start + size] for start in range(0, len(body), size)]


def test_the_same_pieces(server: Served) -> None:
    with client(server) as asks:
        got = asks.read(asks.ask(server.url_of(EBB, session="h2") + PATH))
    assert (got.status, got.pieces, got.ended) == ("200", pieces(BODY), "eof")
    (entry,) = server.settled("h2")
    assert (entry.protocol, entry.ended, entry.sizes) == ("h2", "eof", [len(piece) for piece in pieces(BODY)])


def test_a_recorded_reset_is_one_of_the_stream(server: Served) -> None:
    with client(server) as asks:
        got = asks.read(asks.ask(server.url_of(CUT) + PATH))
        assert (b"".join(got.pieces), got.ended) == (BODY[:90], "reset")
        assert asks.read(asks.ask(server.url_of(EBB) + PATH)).ended == "eof"  # the connection lives on


def test_no_answer_and_a_stall(server: Served) -> None:
    with client(server) as asks:
        assert asks.read(asks.ask(server.url_of(EBB, "no-answer") + PATH)) == Got(ended="reset")
        stalled = asks.read(asks.ask(server.url_of(EBB, "stall:1") + PATH))
    assert (stalled.status, stalled.ended, bool(stalled.pieces)) == ("200", "reset", True)


def test_several_at_once(server: Served) -> None:
    with client(server) as asks:
        numbers = [asks.ask(server.url_of(EBB, "slow:5") + PATH) for _ in range(20)]
        assert all(b"".join(asks.read(number).pieces) == BODY for number in numbers)


def test_a_goodbye_ends_no_stream_that_runs(server: Served) -> None:
    """The AWS SDK for JavaScript says GOAWAY as soon as a response begins, and goes on reading."""
    with client(server) as asks:
        number = asks.ask(server.url_of(EBB, "byte-by-byte") + PATH)
        asks.line.sendall(GoAwayFrame(0, last_stream_id=0, error_code=0).serialize())
        assert asks.read(number) == Got("200", pieces(BODY, 1), "eof")


@pytest.mark.parametrize("size", [1, 7, 24, 40, 1000])
def test_only_goodbyes_are_taken_out(size: int) -> None:
    preface, ping = PREFACE, PingFrame(0, opaque_data=b"12345678").serialize()
    bye, angry = (GoAwayFrame(0, last_stream_id=0, error_code=code).serialize() for code in (0, 1))
    sent, goodbyes = preface + ping + bye + ping + angry, Goodbyes()
    heard = b"".join(goodbyes.feed(sent[at : at + size]) for at in range(0, len(sent), size))
    assert heard == preface + ping + ping + angry
    assert goodbyes.said


def test_a_small_window_is_kept() -> None:
    large = cassette(exchange(MANY, request=ASKS), id=LARGE)
    with serving([large]) as server, client(server, window=1000) as asks:
        got = asks.read(asks.ask(server.url_of(LARGE) + PATH))
    assert b"".join(got.pieces) == MANY
    assert max(map(len, got.pieces)) <= 1000


def test_a_client_that_leaves_is_seen(server: Served) -> None:
    with client(server) as asks:
        asks.ask(server.url_of(EBB, "stall-before-body", session="leaves") + PATH)
        asks.ask(server.url_of(EBB) + PATH)
    assert ended(server, "leaves") in ("client left", "stall")


def test_a_request_that_is_too_large_is_reset_alone() -> None:
    with serving(cases(), limits=Limits(body=100)) as server, client(server) as asks:
        assert asks.read(asks.ask(server.url_of(EBB) + PATH, b"x" * 200)).ended == "reset"
        assert asks.read(asks.ask(server.url_of(EBB) + PATH)).ended == "eof"


def test_what_is_no_http2_after_all(server: Served) -> None:
    with client(server) as asks:
        asks.line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x01\x00\x00\x00\x00\x00\x00x")  # data on no stream
        while asks.line.recv(65536):
            pass


@pytest.fixture(scope="module")
def secure() -> Iterator[tuple[Served, ssl.SSLContext]]:
    with serving(cases(), tls=True) as server:
        yield server, ssl.create_default_context(cafile=str(server.ca_file))


def test_tls_with_either_protocol(secure: tuple[Served, ssl.SSLContext]) -> None:
    server, context = secure
    assert server.url.startswith("https://127.0.0.1:")
    got = httpx.post(server.url_of(EBB) + PATH, json=ASKS, verify=context)
    assert got.content == BODY
    context.set_alpn_protocols(["h2"])
    with client(server, context) as asks:
        assert asks.read(asks.ask(server.url_of(EBB) + PATH)).pieces == pieces(BODY)


def test_a_client_that_does_not_trust_is_no_trouble(secure: tuple[Served, ssl.SSLContext]) -> None:
    server, context = secure
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.url + "/-/health")
    assert httpx.get(server.url + "/-/health", verify=context).status_code == 200


def test_the_certificate_goes_with_the_server() -> None:
    with serving([], tls=True) as server:
        file = server.ca_file
        assert file is not None
        assert file.is_file()
    assert not file.exists()
