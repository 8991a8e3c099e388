"""Our own pipeline over recorded exchanges: media types, encodings, documents in place of streams, statuses, empty bodies."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from dataclasses import replace
from typing import Any

import pytest

from harness import dialects
from harness.adapters import Observation, Ours
from harness.api_error import ErrorKind
from harness.cassette import decoding
from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.errors import UnsupportedDialectError
from harness.findings import Level
from tests import chat
from tests.exchanges import completion, document, exchange, sse
from tests.framing.feeding import event

TURN = sse(chat.text("Hello"), chat.text(" there"), chat.stops())
TWIN = completion({"content": "Hello there"})


def seen(given: Exchange, dialect: str = "openai-chat") -> Observation:
    return Ours().observe(given, dialect)


def kinds(observation: Observation) -> list[str]:
    return [finding.kind for finding in observation.findings]


def text(observation: Observation) -> str | None:
    return observation.response.text if observation.response else None


# whose it is


def test_an_unknown_dialect_is_named() -> None:
    with pytest.raises(UnsupportedDialectError, match=r"openai-chatt.*did you mean 'openai-chat'"):
        seen(exchange(TURN), "openai-chatt")


def test_aliases_are_dialects() -> None:
    assert text(seen(exchange(TURN), "open_router")) == "Hello there"


def test_the_adapter_has_a_name_and_a_version() -> None:
    ours = Ours()
    assert (ours.name, seen(exchange(TURN)).adapter) == ("ours", "ours")
    assert ours.version[0].isdigit()


# media types


@pytest.mark.parametrize(
    ("dialect", "body", "path", "media", "fits"),
    [
        ("openai-chat", TURN, "/v1/chat/completions", "text/event-stream", True),
        ("openai-chat", TURN, "/v1/chat/completions", "Text/Event-Stream; charset=utf-8", True),
        ("openai-chat", TURN, "/v1/chat/completions", "text/plain", False),
        ("openai-chat", TURN, "/v1/chat/completions", "application/json", False),
        ("openai-chat", TURN, "/v1/chat/completions", None, True),  # a header that was not recorded says nothing
        ("openai-chat", TURN, "/v1/chat/completions", "***", True),  # nor one that was masked
        ("ollama-chat", b'{"done":true}\n', "/api/chat", "application/x-ndjson", True),
        ("ollama-chat", b'{"done":true}\n', "/api/chat", "application/json", True),
        ("ollama-chat", b'{"done":true}\n', "/api/chat", "text/event-stream", False),
        ("gemini", b'[{"candidates":[]}]', "/v1/models/m:streamGenerateContent", "application/json", True),
        ("gemini", b'[{"candidates":[]}]', "/v1/models/m:streamGenerateContent", "text/event-stream", False),
        ("gemini", b'data: {"candidates":[]}\n\n', "/v1/models/m:streamGenerateContent?alt=sse", "text/event-stream", True),
        (
            "bedrock-converse",
            event("messageStop", b"{}"),
            "/model/m/converse-stream",
            "application/vnd.amazon.eventstream",
            True,
        ),
        ("bedrock-converse", event("messageStop", b"{}"), "/model/m/converse-stream", "application/json", False),
    ],
)
def test_the_media_type_must_be_that_of_the_framing(
    dialect: str, body: bytes, path: str, media: str | None, fits: bool
) -> None:
    found = [f for f in seen(exchange(body, media=media, path=path), dialect).findings if f.kind == "http/content-type"]
    assert (found == []) is fits
    assert all(f.level is Level.MUST and f.rule == "HTTP-001" and f.expected and f.got for f in found)


def test_a_page_in_the_place_of_a_stream_is_quoted() -> None:
    page = b"<!DOCTYPE html><title>502 Bad Gateway</title>"
    observation = seen(exchange(page, media="text/html; charset=utf-8"))
    (finding,) = [f for f in observation.findings if f.kind == "http/content-type"]
    assert finding.message == f"status 200 with text/html, where text/event-stream is due; the body begins {page.decode()!r}"
    assert "stream/empty" in kinds(observation)
    assert (observation.response, observation.complete) == (None, False)
    assert observation.error is not None
    assert observation.error.kind is ErrorKind.TRUNCATED


# documents


def test_a_document_is_the_whole_turn() -> None:
    observation = seen(document(TWIN))
    assert (text(observation), observation.body, observation.complete, observation.findings) == ("Hello there", TWIN, True, ())


def test_a_document_where_a_stream_was_asked_for() -> None:
    for media in ("application/json", None, "text/event-stream"):
        observation = seen(exchange(chat.encoded(TWIN), media=media))
        assert (text(observation), observation.complete, kinds(observation)) == ("Hello there", True, ["http/content-type"])


def test_a_stream_where_a_document_was_asked_for() -> None:
    observation = seen(replace(document(TURN), headers=Headers({"content-type": "text/event-stream"})))
    assert (text(observation), observation.complete) == ("Hello there", True)


def test_a_document_of_an_api_that_streams_by_its_path() -> None:
    body = {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}
    assert text(seen(document(body, path="/v1/models/m:generateContent"), "gemini")) == "a"


@pytest.mark.parametrize("error", [{"message": "no", "type": "server_error"}, "no"])
@pytest.mark.parametrize("streamed", [True, False])
def test_an_error_under_status_200(error: Any, streamed: bool) -> None:
    body = {"error": error}
    observation = seen(exchange(chat.encoded(body), media="application/json") if streamed else document(body))
    assert observation.error is not None
    assert observation.error.message == "no"
    assert (observation.response, observation.complete) == (None, False)
    assert "error/in-band" in kinds(observation)


@pytest.mark.parametrize("body", [b"", b" ", b"null", b"5", b'"x"', b"[]", b"{", b"\xff", b"<html>", b"{}"])
@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "gemini", "bedrock-converse", "ollama-chat"])
def test_bodies_that_say_nothing(body: bytes, streamed: bool, dialect: str) -> None:
    """None of them is a turn, and none is a crash."""
    observation = seen(exchange(body) if streamed else document(body), dialect)
    assert text(observation) is None
    if body != b"{}":
        assert not observation.complete
        assert observation.error is not None
        assert "stream/empty" in kinds(observation) or "stream/truncated" in kinds(observation)


@pytest.mark.parametrize("depth", [100, 300, 900, 5_000])
@pytest.mark.parametrize("streamed", [True, False])
def test_a_document_may_be_nested_as_deeply_as_it_likes(depth: int, streamed: bool) -> None:
    deep = b'{"error":null,"x":' + b'{"a":' * depth + b"1" + b"}" * (depth + 1)
    observation = seen(exchange(deep) if streamed else document(deep))
    assert json.dumps(observation.body) is not None
    assert observation.complete is (depth == 100)


# statuses


@pytest.mark.parametrize("status", [400, 404, 429, 500, 529, 599])
@pytest.mark.parametrize("body", [b"", b'{"error":{"message":"no"}}', b"<html>no</html>", TURN])
def test_an_error_status_is_an_error_whatever_the_body(status: int, body: bytes) -> None:
    observation = seen(exchange(body, status=status, media=None))
    assert observation.error is not None
    assert observation.error.status == status
    assert (kinds(observation), observation.response, observation.complete) == (["error/http"], None, False)
    assert observation.findings[0].level is Level.INFO


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_refusal_may_be_compressed(encoding: str) -> None:
    body = chat.encoded({"error": {"message": "too fast", "type": "rate_limit_error"}})
    packed = gzip.compress(body) if encoding == "gzip" else zlib.compress(body)
    observation = seen(exchange(packed, status=429, media="application/json", content_encoding=encoding))
    assert observation.error is not None
    assert (observation.error.message, observation.error.kind) == ("too fast", ErrorKind.RATE_LIMITED)


def test_no_response_at_all() -> None:
    observation = seen(replace(exchange(b"", media=None, ending="reset"), status=0))
    assert (observation.complete, observation.response) == (False, None)
    assert {"stream/empty", "stream/reset"} <= set(kinds(observation))


# endings


@pytest.mark.parametrize(
    ("ending", "kind"), [("eof", ErrorKind.TRUNCATED), ("reset", ErrorKind.TRUNCATED), ("timeout", ErrorKind.TIMEOUT)]
)
def test_a_stream_that_stops_in_the_middle(ending: Any, kind: ErrorKind) -> None:
    observation = seen(exchange(sse(chat.text("Hel"), end=False), ending=ending))
    assert observation.error is not None
    assert (observation.error.kind, observation.error.retryable, text(observation)) == (kind, True, "Hel")
    (cut,) = [f for f in observation.findings if f.kind == "stream/truncated"]
    assert cut.level is (Level.MUST if ending == "eof" else Level.INFO)


@pytest.mark.parametrize("ending", ["reset", "timeout"])
def test_a_turn_that_was_whole_before_the_connection_broke(ending: Any) -> None:
    observation = seen(exchange(TURN, ending=ending))
    assert (observation.error, observation.complete) == (None, True)


def test_a_last_event_without_its_blank_line() -> None:
    """Clients of the standard drop it; some of an API's own take it, and then it is no MUST."""
    chat_body, gemini_body = TURN[:-2], b'data: {"candidates":[{"finishReason":"STOP"}]}'
    strict = seen(exchange(chat_body))
    assert strict.complete
    assert "framing/unterminated-marker" in kinds(strict)
    for dialect in ("openai-chat", "gemini", "openai-responses"):
        observation = seen(exchange(gemini_body), dialect)
        (finding,) = [f for f in observation.findings if f.kind == "framing/unterminated-event"]
        assert finding.level is (Level.SHOULD if dialects.dialect(dialect).flushes_at_eof else Level.MUST)


def test_findings_stand_in_the_order_of_the_bytes() -> None:
    body = b"garbage\n\n" + sse(b'{"broken', chat.text("a"), b"\xff", end=False)
    spans = [f.where.span for f in seen(exchange(body)).findings if f.where.span]
    assert len(spans) >= 3
    assert spans == sorted(spans)


# content encodings


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACKED = {"gzip": gzip.compress, "x-gzip": gzip.compress, "deflate": zlib.compress}


@pytest.mark.parametrize("pieces", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        *((name, pack(TURN)) for name, pack in PACKED.items()),
        ("GZIP", gzip.compress(TURN)),
        (" gzip ", gzip.compress(TURN)),
        ("deflate", _raw_deflate(TURN)),
        ("gzip", gzip.compress(TURN[:50]) + gzip.compress(TURN[50:])),
        ("identity", TURN),
        ("", TURN),
        ("gzip", TURN),  # a recorder that decoded the body and kept the header
        ("deflate", TURN),
        ("br", TURN),
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_body_is_decoded_as_its_header_says(encoding: str, body: bytes, pieces: int) -> None:
    observation = seen(exchange(body, pieces=pieces, content_encoding=encoding))
    assert (text(observation), observation.complete, kinds(observation)) == ("Hello there", True, [])


def test_pieces_keep_their_times() -> None:
    packer = zlib.compressobj(wbits=31)
    events = [b"data: " + chat.encoded(payload) + b"\n\n" for payload in (chat.text("a"), chat.stops())]
    pieces = [packer.compress(e) + packer.flush(zlib.Z_SYNC_FLUSH) for e in events] + [packer.flush()]
    chunks = tuple(Chunk(data=data, at=float(n)) for n, data in enumerate(pieces))
    body = decoding.DecodedBody(replace(exchange(b""), chunks=chunks))
    assert [(c.at, c.data) for c in body] == [(0.0, events[0]), (1.0, events[1])]


def test_gzip_that_no_header_tells_of() -> None:
    observation = seen(exchange(gzip.compress(TURN)))
    (finding,) = observation.findings
    assert (finding.kind, finding.level, finding.rule) == ("http/content-encoding", Level.MUST, "HTTP-006")
    assert "no header says so" in finding.message
    assert (text(observation), observation.complete) == ("Hello there", True)


@pytest.mark.parametrize(("damage", "says"), [("cut", "ends too early"), ("garbage", "is damaged"), ("checksum", "is damaged")])
def test_a_compressed_body_that_is_damaged(damage: str, says: str) -> None:
    packed = gzip.compress(TURN)
    body = {"cut": packed[:-9], "garbage": packed[:10] + b"\xff" * 40, "checksum": packed[:-8] + bytes(8)}[damage]
    observation = seen(exchange(body, content_encoding="gzip"))
    (finding,) = [f for f in observation.findings if f.kind == "http/content-encoding"]
    assert says in finding.message


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_an_encoding_that_cannot_be_decoded_here(encoding: str) -> None:
    body = random.Random(1).randbytes(200)
    observation = seen(exchange(body, content_encoding=encoding))
    (finding,) = [f for f in observation.findings if f.kind == "http/content-encoding"]
    assert encoding in finding.message
    assert not observation.complete


@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_nothing_is_lost_where_much_comes_out_of_one_piece(size: int) -> None:
    plain = bytes(size)
    body = decoding.DecodedBody(exchange(gzip.compress(plain), content_encoding="gzip"))
    assert b"".join(chunk.data for chunk in body) == plain
    assert body.findings == []


def test_a_body_that_grows_beyond_all_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "_MOST", 3 << 20)
    body = decoding.DecodedBody(exchange(gzip.compress(bytes(64 << 20)), content_encoding="gzip"))
    assert sum(len(chunk.data) for chunk in body) <= 4 << 20
    assert "grows beyond" in body.findings[0].message


def test_the_twin_may_be_compressed_as_well() -> None:
    observation = seen(document(gzip.compress(chat.encoded(TWIN)), content_encoding="gzip"))
    assert (observation.body, observation.findings) == (TWIN, ())


# how a body is framed


@pytest.mark.parametrize("pieces", [1, 2, 7])
@pytest.mark.parametrize("white", [b"", b" \n\t" * 10])
def test_an_array_is_told_from_events_by_its_first_byte(pieces: int, white: bytes) -> None:
    chunk = {"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}
    path = "/v1/models/m:streamGenerateContent"
    array = exchange(white + chat.encoded([chunk]), media="application/json", path=path, pieces=pieces)
    events = exchange(white.replace(b"\t", b"") + sse(chunk, end=False), path=path, pieces=pieces)
    for given in (array, events):
        observation = seen(given, "gemini")
        assert (text(observation), observation.complete) == ("a", True)


def test_a_request_that_was_not_recorded() -> None:
    given = replace(exchange(TURN), request=Request())
    assert text(seen(given)) == "Hello there"
