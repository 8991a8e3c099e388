"""Which API a body is of: told by the bytes alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness import cassette, dialects
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Cassette, Exchange
from harness.detection import detect
from tests import chat, corpus
from tests.chat import encoded
from tests.exchanges import completion, sse
from tests.framing.feeding import event
from tests.laws.cases import CORPUS, SHIPPED, Stream, each_stream

FRAMING = {"text/event-stream": "sse", "application/vnd.amazon.eventstream": "event-stream"}


def named(body: bytes, framing: str | None = None) -> str | None:
    found = detect(body, framing)
    return found.name if found else None


def _plain(side: Exchange) -> bytes:
    return b"".join(chunk.data for chunk in DecodedBody(side))


@each_stream
def test_every_stream_is_detected(stream: Stream) -> None:
    """All shipped ones and all of the corpus, but bodies in which nothing was sent."""
    if stream.body.strip():
        assert named(stream.body) == stream.case.dialect
        framing = FRAMING.get(stream.exchange.content_type or "")
        assert named(stream.body, framing) == stream.case.dialect


def _documents() -> list[tuple[Cassette, bytes]]:
    """The answers that hold a turn: recordings of embeddings, counts and queued jobs hold none."""
    cases = [*cassette.load(cassette.shipped()), *(corpus.cases() if CORPUS else ())]
    plain = [(c, _plain(c.reference)) for c in cases if c.reference is not None and c.reference.status == 200]
    turns = [(c, body, dialects.dialect(c.dialect).read(_json(body))) for c, body in plain]
    return [(c, body) for c, body, turn in turns if turn.parts or turn.raw_finish_reason]


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def test_every_document_is_detected() -> None:
    """What Bedrock's InvokeModel answers is the body of the model's vendor, which is the better guess."""
    wrong = []
    for case, body in _documents():
        inner = {"anthropic-messages", "openai-chat", "bedrock-converse"} if case.dialect == "bedrock-invoke" else set()
        if (found := named(body)) not in {case.dialect, *inner}:
            wrong.append((case.id, found))
    assert wrong == []


@pytest.mark.parametrize("dialect", dialects.names())
def test_a_stream_is_detected_by_its_first_frames(dialect: str) -> None:
    """However it is cut, as long as something of the turn has come."""
    streams = [s for s in SHIPPED if s.case.dialect == dialect and "text" in (s.case.scenario or "")]
    assert streams
    for stream in streams:
        seen = {named(stream.body[: frame.span[1]]) for frame in stream.frames[2:]}
        assert seen <= {dialect}, stream


# what is of no API

FOREIGN = [
    b"",
    b" \r\n\t",
    b"\x00",
    b"\x00\x00\x00\x10",
    b"\xff\xfe\xfd",
    b"hello",
    b"{",
    b"{}",
    b"[]",
    b"null",
    b"12",
    b'"text"',
    b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"data:\n\n",
    b"data: {}\n\n",
    b"data: [DONE]\n\n",
    b"data: hello\n\ndata: world\n\n",
    b": comment\n\n",
    b"id: 1\nretry: 5\n\n",
    b"event: ping\ndata: {}\n\n",
    b'{"a":1}',
    b'{"a":{"b":[1,2]}}\n{"a":2}\n',
    b'[{"a":1},{"a":2}]',
    b"[1,2,3]",
    b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}',
    b'{"object":"list","data":[{"id":"gpt","object":"model"}]}',
    b'{"id":"file-1","object":"file","bytes":12,"filename":"x"}',
    b'{"object":"list","data":[{"object":"embedding","embedding":[0.1]}],"model":"m","usage":{"prompt_tokens":1}}',
    b'{"name":"Ada","email":"ada@example.org","model":"T"}',
    b'data: {"id":7,"title":"a blog post"}\n\n',
    b"version: 1\ninteractions: []\n",
    b"%PDF-1.7\n",
    b"PK\x03\x04",
    event("chunk", b"{}"),
    event("somethingElse", b'{"a":1}'),
]


@pytest.mark.parametrize("framing", [None, "sse", "ndjson", "json-array", "event-stream"])
@pytest.mark.parametrize("body", FOREIGN, ids=lambda body: repr(body[:24]))
def test_foreign_bodies_are_of_no_api(body: bytes, framing: str | None) -> None:
    assert named(body, framing) is None


# single payloads, errors, awkward shapes


@pytest.mark.parametrize(
    ("value", "dialect"),
    [
        (completion({"content": "a"}), "openai-chat"),
        ({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "text", "text": "a"}]}, "anthropic-messages"),
        (
            {"output": {"message": {"role": "assistant", "content": [{"text": "a"}]}}, "stopReason": "end_turn"},
            "bedrock-converse",
        ),
        ({"results": [{"outputText": "a", "tokenCount": 1, "completionReason": "FINISH"}]}, "bedrock-invoke"),
        ({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}, "gemini"),
        ({"model": "m", "message": {"role": "assistant", "content": "a"}, "done": True}, "ollama-chat"),
        ({"model": "m", "response": "a", "done": True, "done_reason": "stop"}, "ollama-chat"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_documents_of_every_api(value: Any, dialect: str, indent: int | None) -> None:
    assert named(json.dumps(value, indent=indent).encode()) == dialect


def test_a_framing_that_an_api_does_not_speak_rules_it_out() -> None:
    body = encoded({"model": "m", "message": {"role": "assistant", "content": "a"}, "done": True})
    assert named(body, "ndjson") == "ollama-chat"
    assert named(body, "event-stream") is None


@pytest.mark.parametrize(
    ("error", "dialect"),
    [
        ({"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": "x"}}, "openai-chat"),
        ({"error": {"code": 500, "message": "no", "status": "INTERNAL"}}, "gemini"),
    ],
)
def test_errors_are_told_by_their_details(error: Any, dialect: str) -> None:
    assert named(encoded(error)) == dialect
    assert named(sse(error, end=False)) == dialect


def test_a_first_payload_may_be_larger_than_any_buffer() -> None:
    text = "x" * (1 << 20)
    assert named(sse(chat.text(text), end=False)) == "openai-chat"
    assert (
        named(encoded({"model": "m", "message": {"role": "assistant", "content": text}, "done": False}) + b"\n{}")
        == "ollama-chat"
    )


def test_fields_of_a_providers_own_do_not_mislead() -> None:
    payload = {**chat.text("a"), "provider_metadata": {"x": 1}, "citations": ["y"], "x_cost": 3, "nonce": "z"}
    assert named(sse(*[payload] * 30)) == "openai-chat"


def test_a_payload_that_is_damaged_is_one_of_many() -> None:
    assert named(sse(b'{"broken', chat.text("a"), chat.stops())) == "openai-chat"


def test_white_space_and_a_byte_order_mark_come_first() -> None:
    for before in (b"\n\n", b"\xef\xbb\xbf", b": a comment\n\n"):
        assert named(before + sse(chat.text("a"), chat.stops())) == "openai-chat"
    assert named(b"  \n" + encoded(completion({"content": "a"}))) == "openai-chat"
