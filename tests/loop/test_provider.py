"""The dialect provider: a request goes out, artifacts come in, and a turn ends well or fails with its partial response."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from harness.api_error import ErrorKind
from harness.errors import HarnessError
from harness.loop.artifacts import Artifact, ArtifactKind, Finish, Settled, Side, TextDelta
from harness.loop.provider import DialectProvider, ProviderFailure, wire_request, with_options
from harness.loop.wire import Chunk, WireError, WireRequest
from harness.request import RequestParts, Role, Turn, TurnRequest
from harness.response import FinishReason, Text, Usage
from tests.chat import DONE, stops, text
from tests.exchanges import sse
from tests.laws.cases import Stream, each_stream
from tests.loop.running import rounds, run

USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
GOOD = sse(text("Hæl"), text("lo"), stops(usage=USAGE), DONE)


class Wire:
    """A transport whose one answer is given; it is also that answer. `then` is raised after the last piece."""

    def __init__(self, *pieces: bytes, status: int = 200, then: BaseException | None = None, **headers: str) -> None:
        self.pieces = pieces
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.then = then
        self.asked: list[WireRequest] = []
        self.closed = 0
        self.given = 0

    async def send(self, request: WireRequest) -> Wire:
        self.asked.append(request)
        if isinstance(self.then, WireError) and not self.pieces:
            raise self.then
        return self

    async def chunks(self) -> AsyncIterator[Chunk]:
        for piece in self.pieces:
            self.given += 1
            yield Chunk(data=piece, at=float(self.given))
        if self.then is not None:
            raise self.then

    async def aclose(self) -> None:
        self.closed += 1


def ask(wire: Wire, dialect: str = "openai-chat", **options: Any) -> list[Artifact]:
    """What comes of a turn; the response must have been let go of, however it ended."""
    stream = options.pop("stream", True)
    told: list[Artifact] = []

    async def emit(artifact: Artifact) -> None:
        told.append(artifact)

    request = TurnRequest(model="m", turns=(Turn(role=Role.USER, parts=(Text(text="?"),)),), **options)
    try:
        run(DialectProvider(dialect, wire, stream=stream, now=lambda: 0.0).invoke(request, emit))
    finally:
        assert wire.closed or not wire.given
    return told


def failure(wire: Wire, dialect: str = "openai-chat", **options: Any) -> ProviderFailure:
    with pytest.raises(ProviderFailure) as caught:
        ask(wire, dialect, **options)
    return caught.value


def pieces(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


def test_a_turn_is_shown_and_then_settled() -> None:
    told = ask(Wire(GOOD))
    assert told[:2] == [TextDelta("Hæl", ("text", 0)), TextDelta("lo", ("text", 0))]
    assert isinstance(told[2], Settled)
    assert told[2].parts == (Text(text="Hællo"),)
    assert told[2].response is not None
    assert told[3:] == [
        Side(kind=ArtifactKind.USAGE, value=Usage(input_tokens=3, output_tokens=2, total_tokens=5)),
        Side(kind=ArtifactKind.FINISH, value=Finish(reason=FinishReason.STOP, raw="stop")),
    ]


def test_nothing_depends_on_where_pieces_end() -> None:
    whole = ask(Wire(GOOD))
    assert ask(Wire(*pieces(GOOD, 1))) == whole
    packed = gzip.compress(GOOD)
    assert ask(Wire(*pieces(packed, 1), content_encoding="gzip")) == whole


def test_each_piece_is_told_before_the_next_is_read() -> None:
    wire = Wire(*pieces(GOOD, 40))
    given: list[int] = []

    async def emit(artifact: Artifact) -> None:
        given.append(wire.given)

    run(DialectProvider("openai-chat", wire).invoke(TurnRequest(model="m"), emit))
    assert given[0] < given[1] < len(wire.pieces)


@each_stream
def test_every_stream_settles_as_its_collector_says_or_fails_with_what_came(stream: Stream) -> None:
    collected = stream.collected()
    wire = Wire(*(chunk.data for chunk in stream.exchange.chunks), **dict(stream.exchange.headers))
    sent = RequestParts(path=stream.exchange.request.target, body=stream.exchange.request.json or {})
    told: list[Artifact] = []

    async def emit(artifact: Artifact) -> None:
        told.append(artifact)

    provider = DialectProvider(stream.dialect, wire, build=lambda _: sent)
    try:
        run(provider.invoke(TurnRequest(), emit))
    except ProviderFailure as error:
        failed, response = True, error.response
    else:
        failed = False
        (response,) = (artifact.response for artifact in told if isinstance(artifact, Settled))
    assert response == collected.response or (failed and response is None)
    assert failed is (collected.error is not None) or (failed and not collected.complete)
    assert failed is not any(isinstance(artifact, Settled) for artifact in told)


# how a turn fails


def test_a_refusal_carries_the_hint_of_its_headers() -> None:
    body = json.dumps({"error": {"message": "slow down", "type": "rate_limit_error"}}).encode()
    for header, wait in (("7", 7.0), ("Thu, 01 Jan 1970 00:01:30 GMT", 90.0)):
        error = failure(Wire(body, status=429, retry_after=header)).error
        assert (error.kind, error.status, error.message, error.retry_after) == (ErrorKind.RATE_LIMITED, 429, "slow down", wait)
    assert failure(Wire(body, status=429)).error.retry_after is None


@pytest.mark.parametrize("status", [302, 404, 500])
def test_any_status_but_success_is_a_refusal(status: int) -> None:
    failed = failure(Wire(b"<html>no model lives here</html>", status=status))
    assert failed.error.status == status
    assert failed.response is None


def test_a_refusal_that_breaks_off_is_still_one() -> None:
    assert failure(Wire(b'{"error": {"mess', status=503, then=WireError("network", "reset"))).error.status == 503


@pytest.mark.parametrize("kind", ["network", "timeout"])
def test_no_connection(kind: Any) -> None:
    error = failure(Wire(then=WireError(kind, "nobody there"))).error
    assert (error.kind.value, error.message, error.retryable) == (kind, "nobody there", True)


def test_a_reset_within_a_character_leaves_what_was_whole() -> None:
    """The frame that was cut is not guessed at: no half character, no replacement for it."""
    body = sse(text("Hav"), text("næ"), stops(), DONE)
    cut = body[: body.index("æ".encode()) + 1]
    failed = failure(Wire(cut, then=WireError("network", "connection reset")))
    assert failed.error.kind is ErrorKind.TRUNCATED
    assert failed.error.retryable
    assert "connection reset" in failed.error.message
    assert failed.response is not None
    assert failed.response.text == "Hav"


def test_what_only_the_end_of_the_body_completes_is_told_before_the_turn_fails() -> None:
    told: list[Artifact] = []

    async def emit(artifact: Artifact) -> None:
        told.append(artifact)

    wire = Wire(sse(text("Hæl"), text("lo"), end=False)[:-1])  # the last event has no blank line after it
    with pytest.raises(ProviderFailure):
        run(DialectProvider("openai-chat", wire).invoke(TurnRequest(model="m"), emit))
    assert [artifact.text for artifact in told if isinstance(artifact, TextDelta)] == ["Hæl", "lo"]


def test_a_stream_that_stalls_is_a_timeout() -> None:
    failed = failure(Wire(sse(text("Hav"), end=False), then=WireError("timeout", "nothing came")))
    assert failed.error.kind is ErrorKind.TIMEOUT


def test_a_connection_that_breaks_after_the_turn_broke_nothing() -> None:
    told = ask(Wire(GOOD, then=WireError("network", "reset")))
    assert any(isinstance(artifact, Settled) for artifact in told)


@pytest.mark.parametrize("body", [b"", b"\n\n", b": ping\n\n"])
def test_an_empty_answer_is_no_turn(body: bytes) -> None:
    failed = failure(Wire(body))
    assert failed.error.kind is ErrorKind.TRUNCATED
    assert failed.response is None


def test_an_error_in_the_stream_keeps_what_came_before() -> None:
    failed = failure(Wire(sse(text("Hav"), {"error": {"message": "overloaded", "code": 503}}, end=False)))
    assert failed.error.message == "overloaded"
    assert failed.response is not None
    assert failed.response.text == "Hav"


def test_an_error_under_status_200() -> None:
    body = json.dumps({"error": {"message": "no such model", "code": 404}}).encode()
    for stream in (True, False):
        assert failure(Wire(body), stream=stream).error.message == "no such model"


def test_a_finish_reason_that_says_that_the_model_broke_off() -> None:
    answer = {"candidates": [{"content": {"parts": []}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}
    whole = failure(Wire(json.dumps(answer).encode()), "gemini", stream=False)
    streamed = failure(Wire(sse(answer, end=False)), "gemini")
    assert whole.error.code == streamed.error.code == "MALFORMED_FUNCTION_CALL"


def test_a_prompt_that_was_blocked() -> None:
    answer = {"promptFeedback": {"blockReason": "SAFETY"}}
    for wire, stream in ((Wire(json.dumps(answer).encode()), False), (Wire(sse(answer, end=False)), True)):
        error = failure(wire, "gemini", stream=stream).error
        assert (error.kind, error.code) == (ErrorKind.CONTENT_FILTER, "SAFETY")


# one document, and other surprises

DOCUMENT = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hav"}, "finish_reason": "stop"}],
    "usage": USAGE,
}


@pytest.mark.parametrize("stream", [True, False])
def test_one_document_is_a_turn_without_fragments(stream: bool) -> None:
    body = json.dumps(DOCUMENT, indent=1).encode()
    told = ask(Wire(*pieces(body, 7)), stream=stream)
    assert isinstance(told[0], Settled)
    assert told[0].parts == (Text(text="Hav"),)
    assert [artifact.kind for artifact in told[1:]] == [ArtifactKind.USAGE, ArtifactKind.FINISH]


def test_a_stream_that_nobody_asked_for_is_a_turn_as_well() -> None:
    settled = next(artifact for artifact in ask(Wire(GOOD), stream=False) if isinstance(artifact, Settled))
    assert settled.parts == (Text(text="Hællo"),)


def test_an_array_where_events_are_usual() -> None:
    chunks = [{"candidates": [{"content": {"parts": [{"text": t}]}}]} for t in ("Ha", "v")]
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    told = ask(Wire(b" \n", *pieces(json.dumps(chunks).encode(), 9)), "gemini")
    assert [artifact.text for artifact in told if isinstance(artifact, TextDelta)] == ["Ha", "v"]


# letting go


def test_a_turn_that_is_cancelled_lets_go_of_its_response() -> None:
    async def scene() -> Wire:
        wire = Wire(GOOD)
        waits = asyncio.Event()

        async def emit(artifact: Artifact) -> None:
            await waits.wait()

        task = asyncio.create_task(DialectProvider("openai-chat", wire).invoke(TurnRequest(model="m"), emit))
        await rounds()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return wire

    assert run(scene()).closed == 1


def test_a_consumer_that_raises_ends_the_turn_and_frees_the_response() -> None:
    wire = Wire(*pieces(GOOD, 20))

    async def emit(artifact: Artifact) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError):
        run(DialectProvider("openai-chat", wire).invoke(TurnRequest(model="m"), emit))
    assert wire.closed == 1
    assert wire.given < len(wire.pieces)


# the request


def test_the_request_is_sent_as_the_dialect_builds_it() -> None:
    wire = Wire(GOOD)
    ask(wire, temperature=0.5, options={"extra_body": {"seed": 4, "stream_options": None}, "extra_headers": {"x-team": "tide"}})
    (sent,) = wire.asked
    body = json.loads(sent.body)
    assert (sent.method, sent.path, sent.headers["x-team"]) == ("POST", "/chat/completions", "tide")
    assert (body["temperature"], body["seed"], "stream_options" in body) == (0.5, 4, False)


def test_options_are_merged_deeply_and_end_in_the_query() -> None:
    parts = RequestParts(path="/x?a=1", body={"config": {"k": 1, "gone": 2}})
    merged = with_options(parts, {"extra_body": {"config": {"k": 3, "gone": None}}, "extra_query": {"b": "2 3"}})
    assert merged.body == {"config": {"k": 3}}
    assert merged.path == "/x?a=1&b=2+3"


def test_what_cannot_be_asked_is_not_sent() -> None:
    wire = Wire(GOOD)
    failed = failure(wire, "openai-responses", stop=("x",))
    assert failed.error.kind is ErrorKind.INVALID_REQUEST
    assert not failed.error.retryable
    assert wire.asked == []
    assert isinstance(failed.__cause__, HarnessError)


def test_a_name_of_no_dialect() -> None:
    with pytest.raises(HarnessError):
        DialectProvider("morse", Wire())


class BadlyClosed(Wire):
    """Lets go of its connection with an error."""

    async def aclose(self) -> None:
        await super().aclose()
        raise OSError("it was gone already")


def test_how_a_connection_is_let_go_of_changes_nothing_of_what_came() -> None:
    assert ask(BadlyClosed(GOOD)) == ask(Wire(GOOD))
    refused = failure(BadlyClosed(b'{"error":{"message":"ebb"}}', status=500))
    assert (refused.error.kind, refused.error.message) == (ErrorKind.SERVER, "ebb")


def test_a_body_that_nobody_can_decode_says_so() -> None:
    error = failure(Wire(b"\x8b\x03\x80abc", content_encoding="br")).error
    assert error.kind is ErrorKind.TRUNCATED
    assert "the content encoding 'br' cannot be decoded here" in error.message


@pytest.mark.parametrize(
    ("text", "sent"), [("\ud83d", "\\ud83d"), ("a\udc00b", "a\\udc00b"), ("\U0001f30a", "\U0001f30a"), ("\x00", "\\u0000")]
)
def test_half_a_character_goes_out_as_its_escape(text: str, sent: str) -> None:
    body = wire_request(RequestParts(path="/", body={text: [text]})).body
    assert body.decode("utf-8") == f'{{"{sent}":["{sent}"]}}'
    assert json.loads(body) == {text: [text]}


def _deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(5_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [float("nan"), float("-inf"), object(), {1, 2}, 10**5000, _deep()], ids=lambda v: type(v).__name__
)
def test_what_json_has_no_form_for_is_refused_before_it_is_sent(value: Any) -> None:
    wire = Wire(GOOD)
    refused = failure(wire, options={"extra_body": {"x": value}})
    assert (refused.error.kind, refused.error.retryable) == (ErrorKind.INVALID_REQUEST, False)
    assert "cannot be written as JSON" in refused.error.message
    assert wire.asked == []
