"""What a request tells about itself, and which two are twins."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.cassette.model import Chunk, Exchange, Request
from harness.cassette.pairing import model_of, paired, provider_of


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("api.openai.com", "openai"),
        ("API.OpenAI.com:443", "openai"),
        ("mine.openai.azure.com", "azure"),
        ("us-central1-aiplatform.googleapis.com", "vertex"),
        ("bedrock-runtime.eu-west-1.amazonaws.com", "bedrock"),
        ("localhost:11434", "ollama"),
        ("user:word@gateway.example.com:8080", "gateway.example.com"),
        ("notapi.openai.com.example.com", "notapi.openai.com.example.com"),
        ("[::1]:8080", "[::1]"),
        ("", "unknown"),
    ],
)
def test_who_answered(host: str, provider: str) -> None:
    assert provider_of(Request(host=host)) == provider


@pytest.mark.parametrize(
    ("target", "body", "model"),
    [
        ("/v1/chat/completions", {"model": "m"}, "m"),
        ("/v1beta/models/gemini-x:streamGenerateContent?alt=sse", {}, "gemini-x"),
        ("/model/some.model-v1%3A0/converse-stream", {}, "some.model-v1:0"),
        ("/v1/chat/completions", {"model": 7}, None),
        ("/v1/chat/completions", [], None),
    ],
)
def test_which_model(target: str, body: Any, model: str | None) -> None:
    assert model_of(Request(target=target, body=json.dumps(body).encode())) == model


@pytest.mark.parametrize(
    ("stream", "plain", "body"),
    [
        ("/v1beta/models/m:streamGenerateContent?alt=sse", "/v1beta/models/m:generateContent", {}),
        ("/model/m/converse-stream", "/model/m/converse", {}),
        ("/model/m/invoke-with-response-stream", "/model/m/invoke", {"anthropic_version": "x"}),
        ("/api/generate", "/api/generate", {"stream": False}),
    ],
)
def test_every_way_of_asking_for_a_stream(stream: str, plain: str, body: dict[str, Any]) -> None:
    asked = {name: value for name, value in body.items() if name != "stream"}
    sides = [_exchange(plain, {"q": 1, **body}, b"plain"), _exchange(stream, {"q": 1, **asked}, b"stream")]
    (case,) = paired(sides, "name")
    assert (case.stream, case.reference) == (sides[1], sides[0])


def test_other_questions_are_no_twins() -> None:
    sides = [
        _exchange("/v1/chat/completions", {"q": 1, "stream": True}, b"s"),
        _exchange("/v1/chat/completions", {"q": 1.5}, b"p"),
        _exchange("/other/v1/chat/completions", {"q": 1}, b"p"),
    ]
    assert [(case.stream is None, case.reference is None) for case in paired(sides, "n")] == [
        (False, True),
        (True, False),
        (True, False),
    ]


def test_requests_that_are_no_json_are_compared_as_they_are() -> None:
    request = Request(target="/api/chat", body=b"[" * 100_000)
    assert [case.id for case in paired([Exchange(request=request)] * 2, "n")] == ["n#0", "n#1"]


def _exchange(target: str, body: dict[str, Any], answer: bytes) -> Exchange:
    request = Request(host="h", target=target, body=json.dumps(body).encode())
    return Exchange(request=request, chunks=(Chunk(data=answer),))
