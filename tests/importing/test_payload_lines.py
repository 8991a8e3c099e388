"""Payloads line by line, as applications log them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import checking, inputs
from harness.importing import Import, Told
from harness.importing.event_frames import frame, split
from tests import chat
from tests.exchanges import sse
from tests.framing.feeding import event
from tests.importing.making import failed, made, only, side, written

PAYLOADS = [chat.text("Hel"), chat.text("lo"), chat.stops()]
LINES = [chat.encoded(payload).decode() for payload in PAYLOADS]
MESSAGES: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "c"}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]
GEMINI = [
    {"candidates": [{"content": {"parts": [{"text": "Hel"}], "role": "model"}}], "modelVersion": "g"},
    {"candidates": [{"content": {"parts": [{"text": "lo"}], "role": "model"}, "finishReason": "STOP"}], "modelVersion": "g"},
]
OLLAMA = [
    {"model": "o", "message": {"role": "assistant", "content": "Hello"}, "done": False},
    {"model": "o", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
]
CONVERSE = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hello"}}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"messageStop": {"stopReason": "end_turn"}},
    {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}}},
]


def lines(payloads: list[Any]) -> str:
    return "".join(f"{json.dumps(payload)}\n" for payload in payloads)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(LINES),
        "\n".join(f"data: {line}" for line in LINES) + "\ndata: [DONE]\n",
        "\n".join(f"data:{line}" for line in LINES) + "\n",
        "\r\n".join(LINES) + "\r\n[DONE]\r\n",
        "\n\n".join(LINES) + "\n",
        "".join(f"2026-11-30 12:00:00,000 DEBUG client: chunk data: {line}\n" for line in LINES),
        "".join(f"12:00 [worker-1] {line}\n" for line in LINES) + "12:01 [worker-1] finished\n",
        "".join(json.dumps({"at": 1, "level": "debug", "chunk": payload}) + "\n" for payload in PAYLOADS),
        "".join(json.dumps({"message": f"data: {line}", "logger": "a.b"}) + "\n" for line in LINES),
    ],
)
def test_every_way_of_logging_gives_the_turn(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, "app.log", text)
    (one,) = made(path)
    with Import(path) as job:
        assert job.form == "payloads"
    assert (one.cassette.dialect, side(one).wire, side(one).content_type) == (
        "openai-chat",
        "reconstructed",
        "text/event-stream",
    )
    assert side(one).body.replace(b"data: [DONE]\n\n", b"") == sse(*PAYLOADS, end=False).replace(b'", "', b'","')
    (given,) = inputs.load(path)
    response = checking.check(given).seen.response
    assert response is not None
    assert response.text == "Hello"


@pytest.mark.parametrize(
    ("payloads", "dialect"),
    [
        (MESSAGES, "anthropic-messages"),
        (GEMINI, "gemini"),
        (CONVERSE, "bedrock-converse"),
        ([{"event": p} for p in OLLAMA], "ollama-chat"),
    ],
)
def test_every_api(payloads: list[Any], dialect: str, tmp_path: Path) -> None:
    path = written(tmp_path, "app.jsonl", lines(payloads))
    (given,) = inputs.load(path)
    checked = checking.check(given)
    assert given.dialect.name == dialect
    assert checked.seen.response is not None
    assert (checked.seen.response.text, checked.seen.complete) == ("Hello", True)


def test_events_are_named_as_their_payloads_are(tmp_path: Path) -> None:
    body = side(only(written(tmp_path, "a.jsonl", lines(MESSAGES)))).body
    assert body.startswith(b'event: message_start\ndata: {"type"')


def test_lines_of_ollama_are_a_body_as_they_are(tmp_path: Path) -> None:
    data = lines(OLLAMA)
    with Import(written(tmp_path, "a.jsonl", data)) as job:
        assert job.form == "body"
        (one,) = job
    assert (side(one).body, side(one).wire) == (data.encode(), "original")


def test_a_turn_ends_where_its_api_says_so(tmp_path: Path) -> None:
    found = made(written(tmp_path, "a.log", "\n".join([*LINES, "[DONE]", *LINES, "[DONE]"])))
    assert [one.cassette.id for one in found] == ["openai-chat/unknown/a-1", "openai-chat/unknown/a-2"]
    assert len({side(one).body for one in found}) == 1
    assert len(made(written(tmp_path, "b.log", lines(MESSAGES + MESSAGES)))) == 2


def test_what_is_not_kept_is_told(tmp_path: Path) -> None:
    text = "starting\n" + "".join(f"12:00 {line}\n" for line in LINES)
    lost = only(written(tmp_path, "a.log", text)).lost
    assert {"lines that hold no payload (1)", "what stands beside payloads in their lines", "the framing of the payloads"} <= {
        *lost
    }


def test_lines_of_nothing_we_know(tmp_path: Path) -> None:
    path = written(tmp_path, "a.log", '{"a": 1}\n{"b": 2}\n')
    assert "the payloads are of no known API" in failed(path).message
    assert "no line holds a payload" in failed(written(tmp_path, "b.log", "x\ny\n"), form="payloads").message


def test_a_dialect_that_is_told(tmp_path: Path) -> None:
    one = only(written(tmp_path, "a.log", '{"a": 1}\n{"b": 2}\n'), Told(dialect="gemini"))
    assert (one.cassette.dialect, side(one).body) == ("gemini", b'data: {"a": 1}\n\ndata: {"b": 2}\n\n')


@pytest.mark.parametrize("name", ["a.sse", "a.txt", "a"])
def test_a_stream_is_a_body_and_not_lines(name: str, tmp_path: Path) -> None:
    with Import(written(tmp_path, name, sse(*PAYLOADS))) as job:
        assert job.form == "body"


def test_frames_are_those_of_bedrock() -> None:
    assert frame("messageStart", b"{}") == event("messageStart", b"{}")
    assert b":exception-type" in frame("throttlingException", b"{}")
    for bad in (b"[]", b"{}", b'{"a":{},"b":{}}', b'{"a":1}', b"nil"):
        with pytest.raises(ValueError):
            split(bad)
