"""What the server answered whose exchanges the fixtures hold: tools/import_fixtures.py asks it with the real tools."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests import chat
from tests.exchanges import completion, sse
from tests.framing.feeding import event

CHAT, OLLAMA, CONVERSE = "/v1/chat/completions", "/api/chat", "/model/tide-1/converse-stream"
KEY = "sk-not-a-real-key-0123456789"
QUESTION = "Wann ist Flut in Börkum?"
ANSWER = "Flut ist um 12:40 Uhr – schönes Wetter 🌊."


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to one model name. The body is sent in `pieces`; `cut`: the connection breaks then."""

    pieces: tuple[bytes, ...]
    media: str = "text/event-stream; charset=utf-8"
    status: int = 200
    path: str = CHAT
    encoding: str | None = None
    chunked: bool = True
    cut: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)


def pieces(body: bytes, *places: int) -> tuple[bytes, ...]:
    edges = sorted({0, len(body), *(place for place in places if 0 < place < len(body))})
    return tuple(body[start:end] for start, end in pairwise(edges))


def _words() -> bytes:
    words = (chat.text(word) for word in ANSWER.split(" "))
    return sse(chat.says({"role": "assistant", "content": ""}), *words, chat.stops())


WORDS = _words()
WAVE = WORDS.index("🌊".encode()) + 2  # inside the character
LINES = b"".join(
    chat.encoded({"model": "ollama", "created_at": "2026-11-30T12:00:00Z", **line}) + b"\n"
    for line in (
        {"message": {"role": "assistant", "content": "Um 12"}, "done": False},
        {"message": {"role": "assistant", "content": ":40 Uhr."}, "done": False},
        {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop", "eval_count": 4},
    )
)
FRAMES = (
    event("messageStart", b'{"role":"assistant"}')
    + event("contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"text":"Um 12:40 Uhr."}}')
    + event("contentBlockStop", b'{"contentBlockIndex":0}')
    + event("messageStop", b'{"stopReason":"end_turn"}')
    + event("metadata", b'{"usage":{"inputTokens":4,"outputTokens":5,"totalTokens":9},"metrics":{"latencyMs":9}}')
)
ZIPPED = gzip.compress(WORDS, mtime=0)
ODD = sse(chat.text("a\u2028b\u0085c")).replace(b"\n\n", b"\r\n\r\n") + b": \xff\xfe no UTF-8\r\r" + sse(chat.stops())
DOCUMENT = json.dumps(completion({"content": ANSWER}), ensure_ascii=False).encode()

ANSWERS = {
    "text": Answer(pieces=pieces(WORDS, 1, 40, WAVE, WORDS.index(b"[DONE]"))),
    "plain": Answer(pieces=(DOCUMENT,), media="application/json", chunked=False),
    "zipped": Answer(pieces=pieces(ZIPPED, 5, 60), encoding="gzip"),
    "odd": Answer(pieces=pieces(ODD, 100)),
    "cut": Answer(pieces=pieces(WORDS[:300], 200), cut=True),
    "refused": Answer(pieces=(b'{"error":{"message":"slow down","type":"rate_limit"}}',), media="application/json", status=429),
    "ollama": Answer(pieces=pieces(LINES, 90), media="application/x-ndjson", path=OLLAMA),
    "converse": Answer(pieces=pieces(FRAMES, 50, 51), media="application/vnd.amazon.eventstream", path=CONVERSE),
}
"""By the name of the model; `plain` is the twin of `text`."""


def asked(name: str) -> dict[str, Any]:
    """The request that the answer was to."""
    model = "text" if name == "plain" else name
    if name == "converse":
        return {"messages": [{"role": "user", "content": [{"text": QUESTION}]}]}
    body = {"model": model, "messages": [{"role": "user", "content": QUESTION}]}
    return body if name == "plain" else {**body, "stream": True}


def request_body(name: str) -> bytes:
    return json.dumps(asked(name), ensure_ascii=False).encode()
