"""Rows P11–P23 of semantics.md 5.3: asking again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime

import pytest

from harness import dialects
from harness.api_error import ApiError, ErrorKind
from harness.errors import HarnessError
from harness.loop.artifacts import TextDelta
from harness.loop.cancel import Cancel
from harness.loop.events import Event, NoticeEvent
from harness.loop.provider import DialectProvider
from harness.loop.retry import RetryPolicy
from harness.loop.wire import Chunk, WireRequest
from harness.request import RequestParts
from harness.response import FinishReason

from .scripted import Scripted, answer, ask, error, failure, text_of

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
YEAR = 365 * 24 * 3600
TURN = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,'
    b'"delta":{"role":"assistant","content":"Answer"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


class Reply:
    """A response as a transport gives it."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    async def chunks(self) -> AsyncIterator[Chunk]:
        yield Chunk(at=0.0, data=self.body)

    async def aclose(self) -> None:
        pass


class Server:
    """A transport that gives its replies one after another."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[WireRequest] = []

    async def send(self, request: WireRequest) -> Reply:
        self.requests.append(request)
        return self.replies.pop(0)


def refused(hint: Mapping[str, str]) -> Reply:
    return Reply(429, hint, b'{"error":{"message":"slow down","type":"rate_limit_error"}}')


def served(*replies: Reply) -> DialectProvider:
    parts = RequestParts(path="/chat/completions", body={"stream": True})
    return DialectProvider("openai-chat", Server(*replies), build=lambda request: parts, now=lambda: NOON)


def says(message: str) -> dict[str, object]:
    """The body of an error, as all APIs read it: AWS has the message at the top, the others below `error`."""
    return {"message": message, "error": {"message": message}}


def test_P11_two_rate_limits_then_an_answer() -> None:
    provider = Scripted([failure()], [failure()], answer("at last"))
    asked = ask(provider)
    assert len(provider.requests) == 3
    assert (asked.reply.ok, text_of(asked.reply.turn)) == (True, "at last")
    assert asked.told[:4] == ["submitted", "request", "notice", "notice"]
    assert [(n.level, n.attempt, n.max_attempts, n.delay) for n in asked.of("notice")] == [
        ("warning", 1, 3, 1.0),
        ("warning", 2, 3, 2.0),
    ]
    assert asked.waits == [1.0, 2.0]


def test_P12_after_the_last_retry_the_error_is_the_reply() -> None:
    provider = Scripted([failure("first")], [failure("second")], [failure("last")])
    asked = ask(provider, retry=RetryPolicy(max_retries=2))
    assert len(provider.requests) == 3
    assert asked.reply.error_message == "last"
    assert asked.told == ["submitted", "request", "notice", "notice", "error"]


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, ErrorKind.AUTH), (403, ErrorKind.AUTH), (400, ErrorKind.INVALID_REQUEST), (404, ErrorKind.NOT_FOUND)],
)
def test_P13_an_error_that_asking_again_does_not_mend_is_one_call(status: int, kind: ErrorKind) -> None:
    provider = Scripted([failure("no", status=status)])
    asked = ask(provider)
    assert len(provider.requests) == 1
    assert isinstance(asked.reply.error, ApiError)
    assert asked.reply.error.kind is kind
    assert asked.told == ["submitted", "request", "error"]


def test_P14_no_retries_is_one_call() -> None:
    provider = Scripted([failure()], answer("never"))
    assert not ask(provider, retry=RetryPolicy.none()).reply.ok
    assert len(provider.requests) == 1


@pytest.mark.parametrize("draw", [0.0, 0.99])
def test_P15_the_wait_that_the_server_asks_for_is_kept_exactly(draw: float) -> None:
    asked = ask(Scripted([failure(retry_after=47.3)], answer("ok")), random=lambda: draw)
    assert asked.waits == [47.3]
    assert asked.of("notice")[0].delay == 47.3


def test_P15_no_wait_at_all_is_a_hint_too_and_a_policy_may_not_care() -> None:
    assert ask(Scripted([failure(retry_after=0.0)], answer("ok"))).waits == []
    deaf = RetryPolicy(respect_retry_after=False)
    assert ask(Scripted([failure(retry_after=47.3)], answer("ok")), retry=deaf).waits == [1.0]


def test_P15_a_server_that_asks_for_a_year_is_not_waited_for() -> None:
    provider = served(refused({"retry-after": str(YEAR)}))
    asked = ask(provider)
    assert isinstance(asked.reply.error, ApiError)
    assert (asked.reply.error.kind, asked.reply.error.retry_after) == (ErrorKind.RATE_LIMITED, YEAR)
    assert (asked.waits, asked.told) == ([], ["submitted", "request", "error"])


def test_P15_a_year_is_waited_for_if_the_policy_says_so() -> None:
    patient = RetryPolicy(max_retry_after=None)
    assert ask(Scripted([failure(retry_after=YEAR)], answer("ok")), retry=patient).waits == [YEAR]


@pytest.mark.parametrize("retry", [1, 2, 3, 4, 5, 6])
def test_P16_without_a_hint_the_wait_grows_and_is_spread(retry: int) -> None:
    policy, base = RetryPolicy(), min(2.0 ** (retry - 1), 30.0)
    assert policy.delay(retry, error(), lambda: 0.0) == pytest.approx(base * 0.8)
    assert policy.delay(retry, error(), lambda: 0.5) == pytest.approx(base)
    assert base <= (policy.delay(retry, error(), lambda: 1 - 2**-53) or 0) <= base * 1.2


def test_P16_a_429_without_a_hint_waits_as_the_policy_says() -> None:
    asked = ask(served(refused({}), Reply(200, {}, TURN)), random=lambda: 0.0)
    assert (asked.reply.ok, asked.waits) == (True, [0.8])


@pytest.mark.parametrize("retry", [6, 60, 2_000, 10**9])
def test_P17_a_large_number_of_retries_waits_no_longer_than_the_cap(retry: int) -> None:
    assert RetryPolicy().delay(retry, error(), lambda: 0.5) == 30.0


def test_P17_there_is_no_retry_before_the_first() -> None:
    with pytest.raises(HarnessError, match="no retry number 0"):
        RetryPolicy().delay(0, error())


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "1.5"}, 1.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:07 GMT"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, None),  # over already: no wait
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, 1.0),  # what cannot be read is no hint
        ({"retry-after": "nan"}, 1.0),
        ({"retry-after": ""}, 1.0),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
    ],
)
def test_P18_retry_after_in_seconds_milliseconds_and_as_a_date(headers: dict[str, str], wait: float | None) -> None:
    asked = ask(served(refused(headers), Reply(200, {}, TURN)))
    assert asked.reply.ok
    assert asked.waits == ([] if wait is None else [wait])


def test_P19_a_turn_that_is_cancelled_before_it_starts_never_starts() -> None:
    cancel, provider = Cancel(), Scripted(answer("never"))
    cancel.cancel()
    asked = ask(provider, cancel=cancel)
    assert (asked.reply.cancelled, asked.events, provider.requests) == (True, [], [])


def test_P19_cancelled_between_failure_and_retry_there_is_no_further_call() -> None:
    cancel, provider = Cancel(), Scripted([failure(retry_after=0.0)], answer("never"))

    def stop(event: Event) -> None:
        if isinstance(event, NoticeEvent):
            cancel.cancel()

    asked = ask(provider, cancel=cancel, emit=stop)
    assert (len(provider.requests), asked.reply.stop) == (1, FinishReason.CANCELLED)
    assert asked.told == ["submitted", "request", "notice", "cancelled"]


def test_P19_cancelled_during_the_wait_it_returns_at_once() -> None:
    cancel, provider = Cancel(), Scripted([failure(retry_after=500.0)], answer("never"))

    async def sleep(seconds: float) -> None:
        asyncio.get_running_loop().call_soon(cancel.cancel)
        await asyncio.sleep(seconds)  # in earnest: the test's deadline is what it must not reach

    asked = ask(provider, cancel=cancel, sleep=sleep)
    assert (len(provider.requests), asked.reply.stop) == (1, FinishReason.CANCELLED)
    assert asked.told[-1] == "cancelled"


def test_P19_cancelled_during_a_wait_on_a_clock_of_ones_own_there_is_no_further_call() -> None:
    cancel, provider = Cancel(), Scripted([failure()], answer("never"))

    async def sleep(seconds: float) -> None:
        cancel.cancel()

    assert ask(provider, cancel=cancel, sleep=sleep).reply.cancelled
    assert len(provider.requests) == 1


def test_P20_buffered_nobody_sees_an_attempt_that_failed() -> None:
    provider = Scripted([TextDelta("lost"), failure()], [TextDelta("also lost"), failure()], answer("kept"))
    asked = ask(provider, retry=RetryPolicy(buffered=True))
    deltas = [event.value.text for event in asked.of("artifact") if event.topic == "text_delta"]
    assert ("".join(deltas), text_of(asked.reply.turn)) == ("kept", "kept")
    assert asked.told[:5] == ["submitted", "request", "notice", "notice", "streaming"]


def test_P20_buffered_the_last_attempt_is_shown_even_if_it_failed() -> None:
    provider = Scripted([TextDelta("lost"), failure()], [TextDelta("shown"), failure("for good")])
    asked = ask(provider, retry=RetryPolicy(max_retries=1, buffered=True))
    assert [event.value.text for event in asked.of("artifact") if event.topic == "text_delta"] == ["shown"]
    assert (asked.reply.error_message, asked.told[-1]) == ("for good", "error")


def test_P21_live_what_was_shown_is_not_asked_for_again() -> None:
    provider = Scripted([TextDelta("Here is"), failure()], answer("Here is the plan"))
    asked = ask(provider)
    assert len(provider.requests) == 1
    assert (asked.reply.ok, asked.reply.error_message) == (False, "slow down")
    assert [getattr(part, "text", None) for part in asked.reply.partial] == ["Here is"]
    assert "notice" not in asked.told


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (429, says("slow down"), ErrorKind.RATE_LIMITED, True),
        (401, says("who are you"), ErrorKind.AUTH, False),
        (403, says("not you"), ErrorKind.AUTH, False),
        (400, says("This model's MAXIMUM CONTEXT length is 9"), ErrorKind.CONTEXT_OVERFLOW, False),
        (422, says("prompt is too long"), ErrorKind.CONTEXT_OVERFLOW, False),
        (400, "", ErrorKind.CONTEXT_OVERFLOW, False),
        (413, "  \n", ErrorKind.CONTEXT_OVERFLOW, False),
        (400, says("no such field"), ErrorKind.INVALID_REQUEST, False),
        (500, says("oops"), ErrorKind.SERVER, True),
        (502, "<html>bad gateway</html>", ErrorKind.SERVER, True),
        (503, "", ErrorKind.OVERLOADED, True),
        (504, "", ErrorKind.TIMEOUT, True),
        (529, says("busy"), ErrorKind.OVERLOADED, True),
        (418, says("short and stout"), ErrorKind.INVALID_REQUEST, False),
    ],
)
@pytest.mark.parametrize("api", dialects.names())
def test_P22_statuses_and_bodies_are_told_apart(api: str, status: int, body: object, kind: ErrorKind, retryable: bool) -> None:
    read = dialects.dialect(api).read_error(status, {}, body)
    assert (read.kind, read.retryable, read.status) == (kind, retryable, status)


def test_P23_credentials_that_can_be_renewed_are_renewed_once() -> None:
    seen: list[ApiError] = []

    async def refresh(refusal: ApiError) -> bool:
        seen.append(refusal)
        return True

    provider = Scripted([failure("expired", status=401)], answer("in"))
    asked = ask(provider, retry=RetryPolicy.none(), refresh=refresh)
    assert (len(provider.requests), asked.reply.ok, asked.waits) == (2, True, [])
    assert [refusal.message for refusal in seen] == ["expired"]

    provider = Scripted([failure("expired", status=401)])
    asked = ask(provider, refresh=refresh)
    assert (len(provider.requests), asked.reply.error_message) == (2, "expired")


def test_P23_renewing_does_not_count_as_a_retry() -> None:
    provider = Scripted([failure()], [failure("expired", status=401)], [failure()], answer("in"))
    asked = ask(provider, retry=RetryPolicy(max_retries=2), refresh=lambda refusal: True)
    assert (len(provider.requests), asked.reply.ok) == (4, True)
    assert [notice.attempt for notice in asked.of("notice")] == [1, 1, 2]


def test_P23_credentials_that_cannot_be_renewed_leave_the_error() -> None:
    def broken(refusal: ApiError) -> bool:
        raise OSError("the key store is gone")

    for refresh in (lambda refusal: False, broken):
        provider = Scripted([failure("expired", status=401)], answer("never"))
        asked = ask(provider, refresh=refresh)
        assert (len(provider.requests), asked.reply.error_message) == (1, "expired")


def test_a_failure_that_is_no_providers_is_not_tried_again() -> None:
    provider = Scripted([ValueError("a bug")], answer("never"))
    asked = ask(provider)
    assert (len(provider.requests), asked.reply.error_message) == (1, "a bug")
    assert isinstance(asked.reply.error, ValueError)
