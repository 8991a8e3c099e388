"""Errors of providers: one form, and a kind that decides on retrying (semantics.md D11, Y8, P15, P18, P22; wire/*)."""

from __future__ import annotations

import email.utils
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.api_error import RETRYABLE, ApiError, ErrorKind, api_error, classify, retry_after

K = ErrorKind

BY_STATUS = {
    400: K.INVALID_REQUEST,
    401: K.AUTH,
    402: K.QUOTA,
    403: K.AUTH,
    404: K.NOT_FOUND,
    405: K.INVALID_REQUEST,
    408: K.TIMEOUT,
    409: K.SERVER,
    413: K.INVALID_REQUEST,
    418: K.INVALID_REQUEST,
    422: K.INVALID_REQUEST,
    424: K.SERVER,
    429: K.RATE_LIMITED,
    500: K.SERVER,
    501: K.SERVER,
    502: K.SERVER,
    503: K.OVERLOADED,
    504: K.TIMEOUT,
    529: K.OVERLOADED,
    599: K.SERVER,
    200: K.OTHER,
    302: K.OTHER,
    None: K.OTHER,
}


@pytest.mark.parametrize(("status", "kind"), BY_STATUS.items())
def test_P22_a_status_alone(status: int | None, kind: ErrorKind) -> None:
    assert classify(status=status, message="no") == kind
    assert api_error("no", status=status).kind == kind


BY_WORD = {
    # Chat Completions and Responses: type or code
    "rate_limit_exceeded": K.RATE_LIMITED,
    "insufficient_quota": K.QUOTA,
    "invalid_api_key": K.AUTH,
    "model_not_found": K.NOT_FOUND,
    "context_length_exceeded": K.CONTEXT_OVERFLOW,
    "content_filter": K.CONTENT_FILTER,
    "server_error": K.SERVER,
    "invalid_request_error": K.INVALID_REQUEST,
    "invalid_prompt": K.INVALID_REQUEST,
    # Anthropic
    "authentication_error": K.AUTH,
    "billing_error": K.QUOTA,
    "permission_error": K.AUTH,
    "not_found_error": K.NOT_FOUND,
    "request_too_large": K.CONTEXT_OVERFLOW,
    "rate_limit_error": K.RATE_LIMITED,
    "api_error": K.SERVER,
    "timeout_error": K.TIMEOUT,
    "overloaded_error": K.OVERLOADED,
    # Gemini
    "RESOURCE_EXHAUSTED": K.RATE_LIMITED,
    "UNAVAILABLE": K.OVERLOADED,
    "INTERNAL": K.SERVER,
    "DEADLINE_EXCEEDED": K.TIMEOUT,
    "UNAUTHENTICATED": K.AUTH,
    "PERMISSION_DENIED": K.AUTH,
    "NOT_FOUND": K.NOT_FOUND,
    "INVALID_ARGUMENT": K.INVALID_REQUEST,
    "FAILED_PRECONDITION": K.INVALID_REQUEST,
    # Bedrock, as a header, as a type, as an exception of the stream
    "throttlingException": K.RATE_LIMITED,
    "ThrottlingException:http://internal.amazon.com/": K.RATE_LIMITED,
    "com.amazon.coral#ServiceUnavailableException": K.OVERLOADED,
    "modelStreamErrorException": K.SERVER,
    "ModelErrorException": K.SERVER,
    "internalServerException": K.SERVER,
    "modelTimeoutException": K.TIMEOUT,
    "ModelNotReadyException": K.OVERLOADED,
    "ServiceQuotaExceededException": K.QUOTA,
    "AccessDeniedException": K.AUTH,
    "ResourceNotFoundException": K.NOT_FOUND,
    "validationException": K.INVALID_REQUEST,
}


@pytest.mark.parametrize(("word", "kind"), BY_WORD.items())
def test_P22_a_word_decides_before_any_number(word: str, kind: ErrorKind) -> None:
    for status in (None, 200, 400, 418, 500):
        assert classify(status=status, words=(word, None)) == kind
        assert classify(status=status, words=(5, word), code=503) == kind
        assert api_error("no", status=status, type=word).kind == kind
        assert api_error("no", status=status, code=word).kind == kind


OVERFLOWS = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Input is too long for requested model.",
    "the request exceeds the available CONTEXT SIZE",
    "Your input exceeds the context window of this model",
    "Token limit reached",
]


@pytest.mark.parametrize("message", OVERFLOWS)
@pytest.mark.parametrize("status", [None, 400, 413, 500, 429])
def test_P22_a_phrase_of_overflow_decides_before_words_and_numbers(message: str, status: int | None) -> None:
    assert (
        classify(status=status, words=("invalid_request_error", "server_error"), code=400, message=message)
        == K.CONTEXT_OVERFLOW
    )


@pytest.mark.parametrize("raw", [None, "", " \r\n"])
@pytest.mark.parametrize("status", [400, 413])
def test_P22_a_blank_400_or_413_is_an_overflow(status: int, raw: Any) -> None:
    assert api_error(raw, status=status, raw=raw).kind == K.CONTEXT_OVERFLOW


@pytest.mark.parametrize(
    ("status", "raw"), [(401, ""), (500, ""), (200, ""), (None, ""), (400, {}), (400, "no"), (413, {"error": {}})]
)
def test_P22_nothing_else_is_an_overflow_for_being_blank(status: int | None, raw: Any) -> None:
    assert api_error(raw, status=status, raw=raw).kind != K.CONTEXT_OVERFLOW


def test_throttling_by_tokens_is_no_overflow() -> None:
    assert classify(status=429, words=("ThrottlingException",), message="Too many tokens, please wait") == K.RATE_LIMITED
    assert classify(status=400, words=(), message="Too many tokens") == K.CONTEXT_OVERFLOW


@pytest.mark.parametrize(
    ("words", "code", "status", "kind"),
    [
        (("invalid_request_error", "model_not_found"), None, 400, K.NOT_FOUND),  # the special word, not the general one
        (("invalid_request_error", "context_length_exceeded"), None, 400, K.CONTEXT_OVERFLOW),
        (("unheard_of", None), 429, 200, K.RATE_LIMITED),  # a number in the body, before the status
        ((None, None), "503", 200, K.OVERLOADED),
        ((None, None), 502, 400, K.SERVER),
        ((None, None), 42, 429, K.RATE_LIMITED),  # a number that is no status
        ((None, None), True, 500, K.SERVER),
        ((None, None), "5e2", 404, K.NOT_FOUND),
        ((None, None), "٥٠٣", 404, K.NOT_FOUND),
        (([], {}), 4.29, 200, K.OTHER),
    ],
)
def test_words_and_numbers_together(words: tuple[Any, ...], code: Any, status: int | None, kind: ErrorKind) -> None:
    assert classify(status=status, words=words, code=code) == kind


def test_what_is_worth_another_attempt() -> None:
    assert {kind for kind in K if api_error_of(kind).retryable} == set(RETRYABLE)
    assert {K.RATE_LIMITED, K.OVERLOADED, K.SERVER, K.NETWORK, K.TIMEOUT, K.TRUNCATED} == RETRYABLE


def api_error_of(kind: ErrorKind) -> ApiError:
    """An error of this kind as a provider sends it; kinds that no provider sends are not worth it by themselves."""
    words = {kind: word for word, kind in BY_WORD.items()}
    if kind in (K.NETWORK, K.TRUNCATED, K.CANCELLED, K.MALFORMED):
        return ApiError(kind=kind, message="", retryable=kind in RETRYABLE)
    return api_error("no", type=words.get(kind))


def test_an_error_as_json() -> None:
    error = api_error(
        "slow down", status=429, type="tokens", code="rate_limit_exceeded", param="p", retry_after=1.5, raw={"a": 1}
    )
    assert error.as_dict() == {
        "kind": "rate_limited",
        "message": "slow down",
        "status": 429,
        "type": "tokens",
        "code": "rate_limit_exceeded",
        "param": "p",
        "retryable": True,
        "retry_after": 1.5,
    }
    assert error.raw == {"a": 1}


@pytest.mark.parametrize("odd", [None, 5, [], {}, "", {"message": "deep"}])
def test_what_has_the_wrong_type_is_left_out(odd: Any) -> None:
    error = api_error(odd, type=odd, code=odd, param=odd)
    assert error.message == "the provider gave no message"
    assert error.type in (None, "")
    assert error.kind is K.OTHER


NOW = 1_764_547_200.0  # Mon, 01 Dec 2025 00:00:00 GMT


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"RETRY-AFTER": " 3 "}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After-Ms": "1500", "Retry-After": "60"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "60"}, 60.0),
        ({"retry-after-ms": "", "retry-after": "60"}, 60.0),
        ({"retry-after-ms": "inf", "retry-after": "60"}, 60.0),
        ({"retry-after": "Mon, 01 Dec 2025 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 01 Dec 2025 01:00:30 +0100"}, 30.0),
        ({"retry-after": "Mon, 01 Dec 2025 00:00:30 -0000"}, 30.0),
        ({"retry-after": "Sun, 30 Nov 2025 23:59:00 GMT"}, 0.0),
        ({"retry-after": email.utils.formatdate(NOW + 90, usegmt=True)}, 90.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "1m"}, None),
        ({"retry-after": "Mon, 99 Dec 2025 00:00:30 GMT"}, None),
        ({"retry-after": "Mon, 01 Dec 99999 00:00:30 GMT"}, None),
        ({"retry-after": "Mon, 01 Dec 2025 00:00:30 +99999999999"}, None),
        ({"retry-after": "1_000"}, None),
        ({"x-ratelimit-reset": "5"}, None),
    ],
)  # fmt: skip
def test_P18_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize(("now", "seconds"), [(-1e20, 1e20), (1e20, 0.0), (float("inf"), 0.0)])
def test_P18_a_date_can_be_asked_about_at_any_time(now: float, seconds: float) -> None:
    assert retry_after({"retry-after": "Mon, 01 Dec 2025 00:00:30 GMT"}, now) == pytest.approx(seconds)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system cannot change its time zone")
def test_P18_a_date_without_a_zone_is_utc_wherever_we_are(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("TZ", "America/New_York")
            time.tzset()
            assert retry_after({"retry-after": "Mon, 01 Dec 2025 00:00:30"}, NOW) == 30.0
            assert retry_after({"retry-after": "Mon, 01 Dec 2025 00:00:30 -0000"}, NOW) == 30.0
    finally:
        time.tzset()


@settings(deadline=None)
@given(
    st.one_of(st.text(max_size=20), st.text("0123456789.-+eE: ,GMTJanDec", max_size=30)),
    st.sampled_from(["retry-after", "retry-after-ms"]),
)
def test_P18_junk_is_ignored(value: str, name: str) -> None:
    seconds = retry_after({name: value}, NOW)
    assert seconds is None or 0 <= seconds < float("inf")
