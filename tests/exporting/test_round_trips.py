"""What is exported comes back: bytes, pieces, times, endings."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
import vcr

from harness import cassette, exporting
from harness.cassette.model import Cassette, Chunk, Exchange, Headers, Request
from harness.errors import HarnessError, InputError
from harness.importing import Import
from tests import chat
from tests.exchanges import cassette as case_of
from tests.exchanges import completion, document, exchange, sse
from tests.importing.served import FRAMES, ODD, WORDS, ZIPPED

URL = "https://api.example.com/v1/chat/completions"
BODIES = {
    "text": (WORDS, {}),
    "odd": (ODD, {}),
    "binary": (FRAMES, {"content-type": "application/vnd.amazon.eventstream"}),
    "zipped": (ZIPPED, {"content-encoding": "gzip"}),
    "replaced": (sse(chat.text("\ufffd"), chat.stops()), {}),
    "zeros": (WORDS + b"\x00\r\x85", {}),
    "empty": (b"", {}),
}


def pair(body: bytes = WORDS, headers: dict[str, str] | None = None, **more: Any) -> Cassette:
    request = Request(
        host="api.example.com",
        target="/v1/chat/completions?a=1&b",
        headers=Headers([("content-type", "application/json")]),
        body='{"model":"tide-1", "stream":true, "é":1}'.encode(),
    )
    places = sorted({0, 1, len(body) // 2, len(body)})
    chunks = tuple(Chunk(data=body[a:b], at=0.25 * b) for a, b in pairwise(places) if b > a)
    fields = {"content-type": "text/event-stream", "x-many": "1"} | (headers or {})
    stream = Exchange(request=request, headers=Headers([*fields.items(), ("x-many", "2")]), chunks=chunks, **more)
    twin = document(completion({"content": "Hello"}))
    plain = Exchange(
        request=Request(host="api.example.com", target=request.target, body='{"model":"tide-1","é":1}'.encode()),
        headers=twin.headers,
        chunks=twin.chunks,
    )
    return case_of(stream, plain, id="openai-chat/example/a-case", provider="example")


def read_back(paths: list[Path], folder: Path) -> Cassette:
    with Import(folder if len(paths) > 1 else paths[0]) as job:
        (made,) = job
    return made.cassette


def same(side: Exchange | None, back: Exchange | None) -> None:
    assert side is not None
    assert back is not None
    assert (back.body, back.status, back.wire) == (side.body, side.status, side.wire)
    assert back.request.body == side.request.body
    assert (back.request.method, back.request.host, back.request.target) == (
        side.request.method,
        side.request.host,
        side.request.target,
    )
    assert sorted(back.headers.fields) == sorted(side.headers.fields)


@pytest.mark.parametrize("format", ["vcrpy", "har", "raw"])
@pytest.mark.parametrize("body", BODIES)
def test_a_pair_comes_back(format: str, body: str, tmp_path: Path) -> None:
    case = pair(*BODIES[body])
    paths = exporting.write(case, format, tmp_path)
    back = read_back(paths, tmp_path)
    same(case.stream, back.stream)
    same(case.reference, back.reference)


@pytest.mark.parametrize("format", ["har", "raw"])
@pytest.mark.parametrize("ending", ["eof", "reset", "timeout"])
def test_pieces_times_and_endings_come_back(format: str, ending: Any, tmp_path: Path) -> None:
    case = pair(ending=ending, wire="reconstructed")
    back = read_back(exporting.write(case, format, tmp_path), tmp_path)
    assert case.stream is not None
    assert back.stream is not None
    assert (back.stream.chunks, back.stream.ending, back.stream.wire) == (case.stream.chunks, ending, "reconstructed")


def test_vcrpy_replays_it_and_finds_nothing_of_ours(tmp_path: Path) -> None:
    case = pair()
    (path,) = exporting.write(case, "vcrpy", tmp_path)
    assert b"streamproof" not in path.read_bytes()
    assert case.stream is not None
    with vcr.use_cassette(str(path), record_mode="none", match_on=["uri", "body"]), httpx.Client() as client:
        answer = client.post("https://api.example.com/v1/chat/completions?a=1&b", content=case.stream.request.body)
    assert answer.content == WORDS


def test_an_archive_is_one_that_others_read(tmp_path: Path) -> None:
    """With the fields that HAR 1.2 says must be there."""
    (path,) = exporting.write(pair(ending="reset"), "har", tmp_path)
    log = json.loads(path.read_bytes())["log"]
    assert log.keys() == {"version", "creator", "entries"}
    stream = log["entries"][0]
    assert {"startedDateTime", "time", "request", "response", "cache", "timings"} <= stream.keys()
    assert stream["timings"].keys() == {"send", "wait", "receive"}
    assert {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"} <= stream[
        "request"
    ].keys()
    assert stream["request"]["queryString"] == [{"name": "a", "value": "1"}, {"name": "b", "value": ""}]
    assert {"status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize"} <= stream[
        "response"
    ].keys()
    assert stream["response"]["content"]["text"] == WORDS.decode()
    assert stream["response"]["_error"] == "net::ERR_CONNECTION_RESET"
    assert stream["time"] == 250.0 * len(WORDS)


def test_raw_files(tmp_path: Path) -> None:
    paths = exporting.write(pair(), "raw", tmp_path)
    names = {path.relative_to(tmp_path).as_posix() for path in paths}
    both = ("request.json", "response.json", "response.head", "timing.json")
    assert names == {
        *(f"a-case-{kind}/{name}" for kind in ("stream", "plain") for name in both),
        "a-case-stream/body.sse",
        "a-case-plain/body.json",
    }
    assert (tmp_path / "a-case-stream" / "body.sse").read_bytes() == WORDS
    head = (tmp_path / "a-case-stream" / "response.head").read_bytes()
    assert head.startswith(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
    assert head.endswith(b"x-many: 2\r\n\r\n")


def test_a_request_that_raw_files_cannot_hold(tmp_path: Path) -> None:
    stream = exchange(WORDS)
    case = case_of(Exchange(request=Request(target="/v1", body=b"\xff"), chunks=stream.chunks))
    with pytest.raises(InputError, match="--format vcrpy and --format har can"):
        exporting.write(case, "raw", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over_unless_told(tmp_path: Path) -> None:
    exporting.write(pair(), "raw", tmp_path)
    kept = tmp_path / "a-case-stream" / "body.sse"
    kept.write_bytes(b"mine")
    with pytest.raises(HarnessError, match="is there already"):
        exporting.write(pair(), "raw", tmp_path)
    assert kept.read_bytes() == b"mine"
    exporting.write(pair(), "raw", tmp_path, force=True)
    assert kept.read_bytes() == WORDS


def test_a_format_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"no format is called 'pcap' \(there are vcrpy, har, raw, pytest\)"):
        exporting.write(pair(), "pcap", tmp_path)


@pytest.mark.parametrize("format", ["vcrpy", "har", "raw"])
def test_every_shipped_cassette_comes_back(format: str, tmp_path: Path) -> None:
    """Refused requests come back without their twins: nobody can tell that they belong together."""

    def told(side: Exchange) -> Any:
        return side.status, side.body, *(() if format == "vcrpy" else (side.ending, side.chunks))

    for number, case in enumerate(cassette.load(cassette.shipped())):
        folder = tmp_path / str(number)
        paths = exporting.write(case, format, folder)
        with Import(folder if len(paths) > 1 else paths[0]) as job:
            back = [side for made in job for side in (made.cassette.stream, made.cassette.reference) if side is not None]
        sides = [side for side in (case.stream, case.reference) if side is not None]
        assert sorted(map(told, back), key=repr) == sorted(map(told, sides), key=repr), case.id
