"""Servers and cassettes for the tests of serving."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from harness.cassette.model import Cassette
from harness.serving import Served, serving
from tests import chat
from tests.exchanges import cassette, document, exchange, sse
from tests.serving.speaking import ASKS

EBB, ERROR, CUT, ALONE = (f"openai-chat/here/{name}" for name in ("ebb", "error", "cut", "alone"))
BODY = sse(chat.text("Ebb"), chat.text(" and flow, é"), chat.stops())
PLAIN = {"id": "chatcmpl-1", "object": "chat.completion", "choices": []}


def cases() -> list[Cassette]:
    streamed = exchange(BODY, request=ASKS, pieces=40)
    plain = document(json.dumps(PLAIN).encode())
    refused = document({"error": {"message": "no"}}, status=429, retry_after="7")
    return [
        cassette(streamed, plain, id=EBB, model="tide-1"),
        cassette(None, refused, id=ERROR, model="tide-2"),
        cassette(exchange(BODY[:90], request={**ASKS, "n": 2}, pieces=40, ending="reset"), id=CUT),
        cassette(exchange(BODY, request={**ASKS, "n": 3}), id=ALONE),
    ]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving(cases(), stall=0.05) as served:
        yield served
