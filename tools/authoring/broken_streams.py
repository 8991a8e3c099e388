"""Streams of Responses and of Messages that break off: no server may be asked to fail so (wire/openai-responses.md,
wire/anthropic-messages.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from authoring.case import MASKED, Service
from authoring.wire import compact, sse
from harness.cassette import Cassette

SSE = "text/event-stream; charset=utf-8"
OPENAI = Service(
    dialect="openai-responses",
    provider="openai",
    host="api.openai.com",
    asking=(("authorization", MASKED),),
    answering=(("x-request-id", "req_5b0c7a524f634b9e9c553f0f6f0d2a11"),),
    source="written from wire/openai-responses.md; proved with openai 3.57.0",
)
ANTHROPIC = Service(
    dialect="anthropic-messages",
    provider="anthropic",
    host="api.anthropic.com",
    asking=(("x-api-key", MASKED), ("anthropic-version", "2023-06-01")),
    answering=(("request-id", "req_011CVharbour"),),
    source="written from wire/anthropic-messages.md; proved with anthropic 2.14.0",
)
GPT, CLAUDE = "gpt-5-mini-2025-08-07", "claude-sonnet-5"

Object = dict[str, Any]


def cassettes() -> Iterator[Cassette]:
    error = {"type": "server_error", "code": "server_error", "message": "The server had an error.", "param": None}
    failed = {"code": error["code"], "message": error["message"]}
    ends = [
        {"type": "error", "error": error},
        {"type": "response.failed", "response": _response("failed", [], failed)},
    ]
    yield _responses("error-in-stream", [*_answering(), *ends])
    yield _responses("cut-off", _answering(), cut_off=True)
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_011"}
    yield _messages("error-in-stream", [*_speaking(), overloaded])
    yield _messages("cut-off", _speaking(), cut_off=True)


def _responses(scenario: str, events: Iterable[Object], *, cut_off: bool = False) -> Cassette:
    numbered = [{**event, "sequence_number": number} for number, event in enumerate(events)]
    request = OPENAI.request("/v1/responses", {"model": GPT, "input": "Which colour has the ferry?", "stream": True})
    return _case(OPENAI, scenario, GPT, request, numbered, cut_off)


def _messages(scenario: str, events: Iterable[Object], *, cut_off: bool = False) -> Cassette:
    asked = [{"role": "user", "content": "Which colour has the ferry?"}]
    body = {"model": CLAUDE, "max_tokens": 512, "messages": asked, "stream": True}
    return _case(ANTHROPIC, scenario, CLAUDE, ANTHROPIC.request("/v1/messages", body), events, cut_off)


def _case(service: Service, scenario: str, model: str, request: Any, events: Iterable[Object], cut_off: bool) -> Cassette:
    sent = [sse(compact(event), event["type"]) for event in events]
    if cut_off:
        sent[-1] = sent[-1][:-21]
    stream = service.streamed(request, SSE, sent, cut="threes" if cut_off else "each", ending="reset" if cut_off else "eof")
    return service.case(scenario, model, stream)


def _answering() -> Iterator[Object]:
    """A response that begins to say something."""
    item: Object = {"id": "msg_0aa1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}
    place: Object = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    part: Object = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
    yield {"type": "response.created", "response": _response("in_progress", [])}
    yield {"type": "response.in_progress", "response": _response("in_progress", [])}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.content_part.added", **place, "part": part}
    for piece in ("The ferry", " is green and"):
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}


def _response(status: str, output: list[Object], error: Object | None = None) -> Object:
    return {
        "id": "resp_0aa0",
        "object": "response",
        "created_at": 1796117400,
        "status": status,
        "background": False,
        "error": error,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": GPT,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": "medium", "summary": None},
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "user": None,
        "metadata": {},
    }


def _speaking() -> Iterator[Object]:
    """A message that begins to say something."""
    usage = {"input_tokens": 19, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
    message = {"id": "msg_01Harbour", "type": "message", "role": "assistant", "model": CLAUDE, "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "ping"}
    for piece in ("The ferry", " is green and"):
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
