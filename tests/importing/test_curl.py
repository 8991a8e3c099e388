"""What curl writes: several answers in one file, heads that are not the last, and traces that are damaged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.cassette.model import Chunk, Headers
from harness.importing import Import, Told
from harness.importing.http_text import Unchunker, fields, request, response_head, split, unchunked
from tests import chat
from tests.exchanges import completion, sse
from tests.framing.feeding import every_byte
from tests.importing.making import failed, made, only, side, written
from tests.importing.served import ANSWERS, WORDS

FIXTURES = Path(__file__).parent / "fixtures" / "curl"
TURN = sse(chat.text("Hello"), chat.stops())
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
TRACE = (FIXTURES / "text.trace").read_bytes()


# -i


@pytest.mark.parametrize(
    "before",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 200 Connection established\r\n\r\n",
        b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /there\r\n\r\n",
        b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /there\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
    ],
)
def test_the_last_head_is_the_one_of_the_answer(before: bytes, tmp_path: Path) -> None:
    assert side(only(written(tmp_path, "a.txt", before + HEAD + TURN))).body == TURN


@pytest.mark.parametrize("line", ["HTTP/2 200 \r\n", "HTTP/1.0 200\n", "HTTP/3 200\r\n"])
def test_versions_of_http_and_line_ends(line: str, tmp_path: Path) -> None:
    ends = "\n" if line.endswith("0\n") else "\r\n"
    data = f"{line}content-type: text/event-stream{ends}{ends}".encode() + TURN
    assert side(only(written(tmp_path, "a", data))).body == TURN


def test_two_answers_in_one_file(tmp_path: Path) -> None:
    document = chat.encoded(completion({"content": "Hello"}))
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(document)
    chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(TURN), TURN)
    found = made(written(tmp_path, "a.txt", head + document + chunked + head + document))
    assert [side(one).body for one in found] == [document, TURN, document]
    assert [side(one).ending for one in found] == ["eof"] * 3


def test_a_body_that_is_shorter_than_its_head_says_was_cut(tmp_path: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 5000\r\n\r\n"
    one = only(written(tmp_path, "a.txt", head + TURN))
    assert (side(one).body, side(one).ending) == (TURN, "reset")


@pytest.mark.parametrize("length", ["99999999999999999999999", "9" * 5000, "\xb2", "-5", "a lot"])
def test_a_length_that_is_none(length: str, tmp_path: Path) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n".encode("latin-1")
    assert side(only(written(tmp_path, "a.txt", head + TURN))).body == TURN


def test_an_answer_of_no_api_is_passed_over_beside_others(tmp_path: Path) -> None:
    other = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{"tide": 1}'
    for data in (other + HEAD + TURN, other + other + HEAD + TURN):
        assert side(only(written(tmp_path, "a.txt", data))).body == TURN
    assert "nothing in it looks like" in failed(written(tmp_path, "a.txt", other)).message


def test_what_is_told_beside_it(tmp_path: Path) -> None:
    asked = written(tmp_path, "q.json", '{"model":"tide-1","stream":true}')
    told = Told(url="http://127.0.0.1:8080/v1/chat/completions", request=asked, model="tide-2", provider="here")
    one = only(written(tmp_path, "a.txt", HEAD + TURN), told)
    request = side(one).request
    assert (request.scheme, request.host, request.target) == ("http", "127.0.0.1:8080", "/v1/chat/completions")
    assert request.body == asked.read_bytes()
    assert (one.cassette.model, one.cassette.provider) == ("tide-2", "here")
    assert "the request" not in one.lost


def test_a_request_that_nobody_knows_asks_for_what_came(tmp_path: Path) -> None:
    one = only(written(tmp_path, "a.txt", HEAD + TURN))
    assert (side(one).request.target, side(one).request.json) == ("/chat/completions", {"stream": True})
    assert one.cassette.stream is not None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (HEAD[:-2], "ends inside the head of a response"),
        (HEAD, "holds the head of a response and no body"),
        (HEAD + b"<html>502</html>", "nothing in it looks like a stream of a known API: it begins '<html>"),
    ],
)
def test_output_that_is_of_no_use(data: bytes, message: str, tmp_path: Path) -> None:
    error = failed(written(tmp_path, "a.txt", data))
    assert message in error.message


def test_a_head_that_is_none(tmp_path: Path) -> None:
    told = Told(head=written(tmp_path, "head", "nothing"))
    assert "holds no head of a response" in failed(written(tmp_path, "a.sse", TURN), told).message


# --trace


def seconds(stamp: bytes) -> int:
    hours, minutes, rest = map(int, stamp.split(b":"))
    return hours * 3600 + minutes * 60 + rest


@pytest.mark.parametrize("place", [b"<= Recv data, 1654 bytes", b"<= Recv data, 199 bytes"])
def test_a_trace_that_is_cut_in_a_piece_gives_what_is_there(place: bytes, tmp_path: Path) -> None:
    cut = TRACE[: TRACE.index(place) + 150]
    one = only(written(tmp_path, "a.trace", cut))
    exchange = side(one)
    assert WORDS.startswith(exchange.body)
    assert 0 < len(exchange.body) < len(WORDS)
    assert exchange.ending == "reset"
    line = TRACE[: TRACE.index(place)].count(b"\n") + 1
    assert f"the rest: the trace is cut in the middle of the piece in line {line}" in one.lost


def test_a_trace_that_is_cut_anywhere_is_told(tmp_path: Path) -> None:
    """Wherever it is cut, either there is an error with a place and a hint, or what is there is a prefix of what came."""
    for end in range(0, len(TRACE), 97):
        path = written(tmp_path, "a.trace", TRACE[:end])
        try:
            with Import(path) as job:
                (one,) = job
        except Exception:
            failed(path)
            continue
        assert WORDS.startswith(side(one).body)
        assert side(one).body == WORDS or side(one).ending == "reset" or one.lost


def test_a_head_that_is_cut_is_an_error_with_its_line(tmp_path: Path) -> None:
    cut = TRACE[: TRACE.index(b"<= Recv header, 37 bytes")]
    assert "ends inside the head of a response" in failed(written(tmp_path, "a.trace", cut)).message


def test_no_answer(tmp_path: Path) -> None:
    cut = TRACE[: TRACE.index(b"<= Recv header, 17 bytes")]
    cut = cut[: cut.rindex(b"\n") + 1] + b"10:00:00.000000 == Info: Empty reply from server\n"
    assert "no response came (1)" in failed(written(tmp_path, "a.trace", cut)).message


def test_midnight_is_not_the_end_of_time(tmp_path: Path) -> None:
    asked = re.search(rb"(\d\d:\d\d:\d\d)\.\d{6} => Send header", TRACE)
    assert asked is not None
    later = seconds(b"23:59:59") - seconds(asked.group(1))

    def moved(stamp: re.Match[bytes]) -> bytes:
        at = (seconds(stamp.group(1)) + later) % 86_400
        return b"%02d:%02d:%02d" % (at // 3600, at // 60 % 60, at % 60)

    slower = re.sub(rb"^(\d\d:\d\d:\d\d)(?=\.\d{6} (?:==|=>|<= Recv header))", moved, TRACE, flags=re.MULTILINE)
    slower = re.sub(rb"^\d\d:\d\d:\d\d(?=\.\d{6} <= Recv data)", b"00:00:01", slower, flags=re.MULTILINE)
    there = side(only(written(tmp_path, "a.trace", TRACE))).chunks
    chunks = side(only(written(tmp_path, "b.trace", slower))).chunks
    assert all(1 < chunk.at < 3 for chunk in chunks)
    assert len(chunks) == len(there)


@pytest.mark.parametrize(
    ("told", "ending"),
    [
        (b"Recv failure: Connection reset by peer", "reset"),
        (b"transfer closed with outstanding read data remaining", "reset"),
        (b"Operation timed out after 3000 milliseconds with 300 bytes received", "timeout"),
    ],
)
def test_what_curl_says_of_the_end(told: bytes, ending: str, tmp_path: Path) -> None:
    data = (FIXTURES / "cut.trace").read_bytes().replace(b"Recv failure: Connection reset by peer", told)
    assert side(only(written(tmp_path, "a.trace", data))).ending == ending


def test_traces_with_ids_and_through_a_proxy(tmp_path: Path) -> None:
    marked = b"".join(
        line.replace(b" ", b" [0-0] ", 1) if b" == Info" in line or b" => " in line or b" <= " in line else line
        for line in TRACE.splitlines(keepends=True)
    )
    tunnel = (
        b"10:00:00.000000 => Send header, 41 bytes (0x29)\n0000: CONNECT api.example.com:443 HTTP/1.1\n0026: \n"
        b"10:00:00.000001 <= Recv header, 37 bytes (0x25)\n0000: HTTP/1.1 200 Connection established\n"
        b"10:00:00.000002 <= Recv header, 2 bytes (0x2)\n0000: \n"
    )
    assert side(only(written(tmp_path, "a.trace", tunnel + marked))).body == WORDS


def test_a_trace_with_windows_line_ends(tmp_path: Path) -> None:
    data = (FIXTURES / "ollama.trace").read_bytes().replace(b"\n", b"\r\n")
    assert side(only(written(tmp_path, "a.trace", data))).body == ANSWERS["ollama"].body


# HTTP as text


@pytest.mark.parametrize(
    "coded", [b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n", b"05\r\nhello\r\n6 \r\n world\r\n000\r\nt: 1\r\n\r\n"]
)
def test_chunks_come_off_however_they_are_cut(coded: bytes) -> None:
    for pieces in ([coded], every_byte(coded), [coded[:7], coded[7:]]):
        found = unchunked(Chunk(data=piece, at=float(n)) for n, piece in enumerate(pieces))
        assert found is not None
        chunks, over = found
        assert (b"".join(chunk.data for chunk in chunks), over) == (b"hello world", True)


@pytest.mark.parametrize("coded", [b"hello", b"5\r\nhelloX\r\n", b"zz\r\n", b"\r\n", b"x" * 5000])
def test_what_is_not_chunked(coded: bytes) -> None:
    coding = Unchunker()
    coding.feed(coded)
    assert coding.broken or coded == b"hello"
    assert not coding.over


def test_an_unfinished_chunk_is_no_end() -> None:
    assert unchunked([Chunk(data=b"5\r\nhel")]) == ((Chunk(data=b"hel"),), False)
    assert unchunked([]) == ((), False)


def test_heads() -> None:
    data = b"HTTP/1.1 429 Too Many\r\nA: b: c\r\n x\r\nE:\r\n\r\nbody"
    status, headers, end = response_head(data) or (0, Headers(), 0)
    assert (status, headers.fields, data[end:]) == (429, (("A", "b: c"), ("E", "")), b"body")
    status, headers, end = response_head(b"HTTP/1.1 200 OK\r\n\r\n") or (0, Headers(), 0)
    assert (status, len(headers), end) == (200, 0, 19)
    assert response_head(b"nothing") is None
    assert fields(b"caf\xe9: \xff").fields == (("caf\xe9", "\xff"),)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://a.b:8/c?d=e#f", ("https", "a.b:8", "/c?d=e")),
        ("https://a.b", ("https", "a.b", "/")),
        ("/c", ("", "", "/c")),
        ("https://a.b?x", ("https", "a.b", "/?x")),
    ],
)
def test_urls(url: str, parts: tuple[str, str, str]) -> None:
    assert split(url) == parts


def test_requests_as_text() -> None:
    asked = request(b"POST /v1 HTTP/1.1\r\nHost: here\r\n\r\n", b"{}", "http")
    assert asked is not None
    assert (asked.method, asked.scheme, asked.host, asked.target, asked.body) == ("POST", "http", "here", "/v1", b"{}")
    proxied = request(b"POST http://there:81/v1 HTTP/1.1\r\nHost: here\r\n\r\n", b"")
    assert proxied is not None
    assert (proxied.host, proxied.target, proxied.scheme) == ("there:81", "/v1", "http")
    assert request(b"nothing", None) is None
