"""The replay server: which exchange a request gets, the bytes and the boundaries of it, and the log."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import Any

import pytest

from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.serving import Entry, Served, serving
from tests.exchanges import cassette
from tests.serving.conftest import ALONE, BODY, CUT, EBB, ERROR, PLAIN, cases
from tests.serving.speaking import ASKS, ask, connected, read, written

CHAT = "/v1/chat/completions"
SIZES = [40] * (len(BODY) // 40) + [len(BODY) % 40] * (len(BODY) % 40 > 0)


def entry_of(server: Served, session: str) -> Entry:
    (entry,) = server.settled(session)
    return entry


# which exchange


def test_a_stream_comes_with_its_bytes_and_its_boundaries(server: Served) -> None:
    got = ask(server, server.url_of(EBB, session="bytes") + CHAT)
    assert (got.status, got.whole, got.body) == (200, True, BODY)
    assert [len(piece) for piece in got.pieces] == SIZES
    assert got.headers["content-type"] == "text/event-stream"


def test_a_request_that_asks_for_no_stream_gets_the_twin(server: Served) -> None:
    assert ask(server, server.url_of(EBB) + CHAT, {"model": "tide-1"}).json == PLAIN


def test_a_cassette_answers_whatever_is_asked(server: Served) -> None:
    got = ask(server, server.url_of(EBB) + "/openai/deployments/x/chat/completions?api-version=1", {"stream": True, "x": [1]})
    assert got.body == BODY


def test_a_refusal_answers_streaming_requests_as_well(server: Served) -> None:
    got = ask(server, server.url_of(ERROR) + CHAT)
    assert (got.status, got.headers["retry-after"]) == (429, "7")


def test_a_side_that_is_lacking_is_a_miss(server: Served) -> None:
    got = ask(server, server.url_of(ALONE, session="lacking") + CHAT, {"stream": False})
    assert (got.status, got.headers["x-streamproof"]) == (404, "miss")
    assert entry_of(server, "lacking").note.startswith("no plain twin")


def test_without_a_cassette_the_request_decides(server: Served) -> None:
    assert ask(server, server.url + CHAT, ASKS).body == BODY
    shuffled = dict(reversed(ASKS.items()))
    assert ask(server, server.url + CHAT, shuffled).body == BODY
    assert ask(server, server.url + CHAT, ASKS).body == BODY  # as often as it is asked for


def test_a_miss_says_what_is_nearest_and_where_it_differs(server: Served) -> None:
    got = ask(server, f"{server.url}/s/far{CHAT}", {**ASKS, "model": "tide-9"})
    assert got.status == 404
    error = got.json["error"]
    assert error["nearest"] == [EBB]
    assert error["differences"] == [{"at": "/model", "asked": '"tide-9"', "recorded": '"tide-1"'}]
    assert entry_of(server, "far").side == "miss"


def test_an_unknown_cassette_or_fault_is_a_miss_with_names_like_it(server: Served) -> None:
    got = ask(server, server.url + "/c/openai-chat/here/eb" + CHAT)
    assert (got.status, EBB in got.json["error"]["nearest"]) == (404, True)
    got = ask(server, server.url_of(EBB, "byte-by-bite") + CHAT)
    assert (got.status, "byte-by-byte" in got.json["error"]["hint"]) == (404, True)


@pytest.mark.parametrize(
    ("method", "path", "names"),
    [
        ("GET", "/v1/models", lambda v: [m["id"] for m in v["data"]]),
        ("GET", "/v1beta/models", lambda v: [m["name"].removeprefix("models/") for m in v["models"]]),
        ("GET", "/api/tags", lambda v: [m["model"] for m in v["models"]]),
        ("POST", "/api/show", lambda v: [v["model"]]),
        ("GET", "/v1/models/tide-1", lambda v: [v["id"]]),
    ],
)
def test_what_clients_ask_beside_the_turn_is_answered(server: Served, method: str, path: str, names: Any) -> None:
    got = ask(server, server.url_of(EBB, session=path) + path, {"model": "tide-1"}, method=method)
    assert (got.status, names(got.json)) == (200, ["tide-1"])
    assert entry_of(server, path).side == "auxiliary"


def test_the_version_is_answered(server: Served) -> None:
    assert set(ask(server, server.url + "/api/version", method="GET").json) == {"version"}


# faults and endings


def test_faults_change_what_is_sent(server: Served) -> None:
    got = ask(server, server.url_of(EBB, "byte-by-byte") + CHAT)
    assert (got.body, {len(piece) for piece in got.pieces}) == (BODY, {1})
    both = ask(server, server.url_of(EBB, "crlf", "coalesced") + CHAT)
    assert both.pieces == [BODY.replace(b"\n", b"\r\n")]


def test_a_fault_that_passes_is_counted_for_each_session(server: Served) -> None:
    for session in ("one", "two"):
        url = server.url_of(EBB, "http-503-then-good:2", session=session) + CHAT
        assert [ask(server, url).status for _ in range(3)] == [503, 503, 200]
    server.forget("one")
    assert ask(server, server.url_of(EBB, "http-503-then-good:2", session="one") + CHAT).status == 503


def test_a_recorded_reset_is_a_reset(server: Served) -> None:
    got = ask(server, server.url_of(CUT, session="reset") + CHAT)
    assert (got.body, got.whole) == (BODY[:90], False)
    assert isinstance(got.error, ConnectionResetError)
    entry = entry_of(server, "reset")
    assert (entry.ended, entry.chunks, entry.of) == ("reset", 3, 3)


def test_a_stall_is_held_and_then_broken_off(server: Served) -> None:
    began = time.monotonic()
    got = ask(server, server.url_of(EBB, "stall", session="stall") + CHAT)
    assert (got.whole, time.monotonic() - began >= 0.05) == (False, True)
    assert entry_of(server, "stall").ended == "stall"


def test_no_answer_is_none(server: Served) -> None:
    got = ask(server, server.url_of(EBB, "no-answer", session="none") + CHAT)
    assert (got.status, got.body) == (0, b"")
    assert entry_of(server, "none").status == 0


# the log


def test_the_log_has_what_was_asked_and_what_was_sent(server: Served) -> None:
    ask(
        server,
        server.url_of(EBB, "coalesced", session="log") + CHAT,
        {**ASKS, "n": 7},
        authorization="Bearer sk-secret-0123456789",
    )
    entry = entry_of(server, "log")
    assert (entry.cassette, entry.faults, entry.side, entry.status) == (EBB, ("coalesced",), "stream", 200)
    assert (entry.sizes, entry.bytes, entry.ended, entry.request.json["n"]) == ([len(BODY)], len(BODY), "eof", 7)
    line = json.dumps(entry.as_dict())
    assert "sk-secret" not in line


def test_the_log_can_be_asked_for(server: Served) -> None:
    ask(server, server.url_of(EBB, session="mine") + CHAT)
    server.settled("mine")
    rows = [json.loads(line) for line in ask(server, server.url + "/-/log?session=mine", method="GET").body.splitlines()]
    assert [(row["session"], row["cassette"], row["sizes"]) for row in rows] == [("mine", EBB, SIZES)]
    ids = [json.loads(line)["id"] for line in ask(server, server.url + "/-/cassettes", method="GET").body.splitlines()]
    assert ids == [EBB, ERROR, CUT, ALONE]


def test_a_client_that_leaves_is_told_from_an_end(server: Served) -> None:
    with connected(server) as line:
        line.sendall(written(server.url_of(EBB, "slow:1000", session="leaves") + CHAT))
        assert line.recv(1)
    entry = entry_of(server, "leaves")
    assert entry.ended == "client left"
    assert entry.chunks < entry.of == len(SIZES)


def test_whoever_listens_is_told_of_each_exchange() -> None:
    told: list[Entry] = []
    with serving(cases(), log=told.append) as server:
        ask(server, server.url_of(EBB) + CHAT)
        server.settled()
    assert [(entry.cassette, entry.ended) for entry in told] == [(EBB, "eof")]


# connections


def test_a_connection_serves_one_request_after_the_other(server: Served) -> None:
    url = server.url_of(EBB) + CHAT
    with connected(server) as line:
        assert [read(line, written(url)).body for _ in range(3)] == [BODY] * 3


def test_requests_may_come_before_the_answers(server: Served) -> None:
    with connected(server) as line:
        line.sendall(written(server.url_of(EBB) + CHAT))
        twice = read(line, written(server.url_of(EBB) + CHAT, {"stream": False}))
        assert twice.body == BODY


def test_head_has_no_body(server: Served) -> None:
    with connected(server) as line:
        got = read(line, written(server.url + "/v1/models", b"", method="HEAD"), "HEAD")
        assert (got.status, got.body, got.whole) == (200, b"", True)


def test_expect_100_is_answered(server: Served) -> None:
    request = written(server.url_of(EBB) + CHAT, expect="100-continue")
    head, body = request.split(b"\r\n\r\n")
    with connected(server) as line:
        line.sendall(head + b"\r\n\r\n")
        assert line.recv(64).startswith(b"HTTP/1.1 100")
        assert read(line, body).body == BODY


def test_recorded_times_are_kept_at_the_speed_that_is_asked_for() -> None:
    stream = Exchange(
        request=Request(target=CHAT, body=b'{"stream":true}'),
        headers=Headers({"content-type": "text/event-stream"}),
        chunks=(Chunk(data=b": a\n\n"), Chunk(data=b": b\n\n", at=4.0)),
    )
    with serving([cassette(stream)], speed=40.0) as server:
        began = time.monotonic()
        assert len(ask(server, server.url_of("openai-chat/here/case") + CHAT).pieces) == 2
        assert 0.1 <= time.monotonic() - began < 2.0


def test_headers_that_are_not_true_any_more_are_not_sent(server: Served) -> None:
    stream = Exchange(
        request=Request(target=CHAT, body=b'{"stream":true}'),
        headers=Headers(
            [("transfer-encoding", "chunked"), ("content-length", "3"), ("x-a", "1"), ("x-a", "2"), ("bad name", "x")]
        ),
        chunks=(Chunk(data=b"data: {}\n\n"),),
    )
    with serving([cassette(stream)]) as other:
        got = ask(other, other.url_of("openai-chat/here/case") + CHAT)
        assert (got.body, got.whole, "content-length" in got.headers) == (b"data: {}\n\n", True, False)


def test_200_at_once_lose_no_byte(server: Served) -> None:
    url, bodies = server.url_of(EBB, "byte-by-byte") + CHAT, []
    lines = [connected(server, 20.0) for _ in range(200)]
    for line in lines:
        line.sendall(written(url, connection="close"))

    def gather(mine: list[socket.socket]) -> None:
        bodies.extend(read(line, b"").body for line in mine)

    threads = [threading.Thread(target=gather, args=(lines[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for line in lines:
        line.close()
    assert bodies == [BODY] * 200


def test_the_address_is_taken_is_said() -> None:
    from harness.errors import InputError

    with serving(cases()) as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(InputError, match="cannot listen"), serving(cases(), port=port):
            pass
