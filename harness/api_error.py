"""Errors as providers send them, before or inside a stream, in one form (semantics.md D8, D11, D14; errors in wire/*).

A provider names its error by an HTTP status, by a word in the body, by a number in the body, or by an exception type. Words
decide before numbers, since an error inside a stream stands under status 200, and a 400 may be a full context.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any


class ErrorKind(StrEnum):
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    OVERLOADED = "overloaded"
    SERVER = "server"
    NETWORK = "network"
    TIMEOUT = "timeout"
    TRUNCATED = "truncated"
    AUTH = "auth"
    NOT_FOUND = "not_found"
    INVALID_REQUEST = "invalid_request"
    CONTEXT_OVERFLOW = "context_overflow"
    CONTENT_FILTER = "content_filter"
    CANCELLED = "cancelled"
    MALFORMED = "malformed"
    OTHER = "other"


_K = ErrorKind
RETRYABLE = frozenset({_K.RATE_LIMITED, _K.OVERLOADED, _K.SERVER, _K.NETWORK, _K.TIMEOUT, _K.TRUNCATED})
"""Kinds worth another attempt, as long as nothing was shown yet (semantics.md D11)."""

_STATUS = {
    400: _K.INVALID_REQUEST,
    401: _K.AUTH,
    402: _K.QUOTA,
    403: _K.AUTH,
    404: _K.NOT_FOUND,
    408: _K.TIMEOUT,
    409: _K.SERVER,
    413: _K.INVALID_REQUEST,
    422: _K.INVALID_REQUEST,
    424: _K.SERVER,
    429: _K.RATE_LIMITED,
    503: _K.OVERLOADED,
    504: _K.TIMEOUT,
    529: _K.OVERLOADED,
}

_WORDS = {
    "rate_limit_error": _K.RATE_LIMITED,
    "rate_limit_exceeded": _K.RATE_LIMITED,
    "too_many_requests": _K.RATE_LIMITED,
    "resource_exhausted": _K.RATE_LIMITED,
    "throttlingexception": _K.RATE_LIMITED,
    "insufficient_quota": _K.QUOTA,
    "billing_error": _K.QUOTA,
    "servicequotaexceededexception": _K.QUOTA,
    "overloaded": _K.OVERLOADED,
    "overloaded_error": _K.OVERLOADED,
    "unavailable": _K.OVERLOADED,
    "serviceunavailableexception": _K.OVERLOADED,
    "modelnotreadyexception": _K.OVERLOADED,
    "server_error": _K.SERVER,
    "internal_error": _K.SERVER,
    "internal_server_error": _K.SERVER,
    "api_error": _K.SERVER,
    "internal": _K.SERVER,
    "internalserverexception": _K.SERVER,
    "modelstreamerrorexception": _K.SERVER,
    "modelerrorexception": _K.SERVER,
    "vector_store_timeout": _K.TIMEOUT,
    "timeout_error": _K.TIMEOUT,
    "deadline_exceeded": _K.TIMEOUT,
    "modeltimeoutexception": _K.TIMEOUT,
    "authentication_error": _K.AUTH,
    "permission_error": _K.AUTH,
    "invalid_api_key": _K.AUTH,
    "unauthenticated": _K.AUTH,
    "permission_denied": _K.AUTH,
    "accessdeniedexception": _K.AUTH,
    "not_found_error": _K.NOT_FOUND,
    "not_found": _K.NOT_FOUND,
    "model_not_found": _K.NOT_FOUND,
    "resourcenotfoundexception": _K.NOT_FOUND,
    "context_length_exceeded": _K.CONTEXT_OVERFLOW,
    "exceed_context_size_error": _K.CONTEXT_OVERFLOW,
    "request_too_large": _K.CONTEXT_OVERFLOW,
    "cancelled": _K.CANCELLED,
    "content_filter": _K.CONTENT_FILTER,
    "bio_policy": _K.CONTENT_FILTER,
    "misalignment_policy_violation": _K.CONTENT_FILTER,
    "invalid_prompt": _K.INVALID_REQUEST,
    "invalid_request": _K.INVALID_REQUEST,
    "invalid_argument": _K.INVALID_REQUEST,
    "failed_precondition": _K.INVALID_REQUEST,
    "validationexception": _K.INVALID_REQUEST,
    "invalid_request_error": _K.INVALID_REQUEST,
}

_BLANK_MEANS_OVERFLOW = {400, 413}  # servers in front of a model refuse a request that is too long without a word

_OVERFLOW = (
    "context length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "maximum number of tokens",
    "exceeds the model's maximum",
    "token limit reached",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiError:
    """What the provider said: `kind` in our words, the rest in its own. `retry_after` is in seconds."""

    kind: ErrorKind
    message: str
    status: int | None = None
    type: str | None = None
    code: str | int | None = None
    param: str | None = None
    retryable: bool = False
    retry_after: float | None = None
    raw: Any = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind.value,
            "message": self.message,
            "status": self.status,
            "type": self.type,
            "code": self.code,
            "param": self.param,
            "retryable": self.retryable,
            "retry_after": self.retry_after,
        }


def api_error(
    message: Any,
    *,
    status: int | None = None,
    type: Any = None,
    code: Any = None,
    param: Any = None,
    retry_after: float | None = None,
    raw: Any = None,
) -> ApiError:
    """An `ApiError` with its kind worked out from the words and numbers given; whatever has the wrong type is left out."""
    said = message if isinstance(message, str) else ""
    kind = classify(status=status, words=(type, code), code=code, message=said)
    if status in _BLANK_MEANS_OVERFLOW and _is_blank(said) and _is_blank(raw):
        kind = _K.CONTEXT_OVERFLOW
    return ApiError(
        kind=kind,
        message=said or "the provider gave no message",
        status=status,
        type=type if isinstance(type, str) else None,
        code=code if isinstance(code, (str, int)) else None,
        param=param if isinstance(param, str) else None,
        retryable=kind in RETRYABLE,
        retry_after=retry_after,
        raw=raw,
    )


def classify(*, status: int | None, words: tuple[Any, ...] = (), code: Any = None, message: str = "") -> ErrorKind:
    """The kind of an error (semantics.md Y8, P22): overflow phrases, then words, then a number in the body, then the status.

    A word for throttling comes before them all."""
    found = {kind for w in words if isinstance(w, str) and (kind := _WORDS.get(_word(w))) is not None}
    throttled = _K.RATE_LIMITED in found  # AWS says "too many tokens" then, and means the minute
    if not throttled and any(phrase in message.lower() for phrase in _OVERFLOW):
        return _K.CONTEXT_OVERFLOW
    special = found - {_K.INVALID_REQUEST}  # the general word beside a special one says nothing
    if special or found:
        return next(iter(sorted(special or found)))
    number = _number(code) or status
    if number is None or number < 400:
        return _K.OTHER
    return _STATUS.get(number, _K.SERVER if number >= 500 else _K.INVALID_REQUEST)


def cut_short(missing: str | None, *, timed_out: bool = False) -> ApiError:
    """The error that a stream is that ended before its turn did; `missing` says what the turn lacks (law 6)."""
    said = api_error(f"the stream ended before the turn: {missing}")
    return replace(said, kind=_K.TIMEOUT if timed_out else _K.TRUNCATED, retryable=True)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait as the headers ask: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date.

    `now` is the time in seconds since the epoch; what cannot be read counts as absent (rows P15, P18).
    """
    by_name = {name.lower(): value for name, value in headers.items()}
    milliseconds = _seconds(by_name.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = by_name.get("retry-after", "")
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    try:
        when = parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, when.timestamp() - now)


def _seconds(text: str) -> float | None:
    """A number that one can wait for: a negative one is no wait."""
    try:
        number = float(text.replace("_", " "))  # which Python would read over
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _is_blank(said: Any) -> bool:
    return said is None or (isinstance(said, str) and not said.strip())


def _word(word: str) -> str:
    return word.split(":", maxsplit=1)[0].rsplit("#", 1)[-1].strip().lower()


def _number(code: Any) -> int | None:
    if isinstance(code, bool):
        return None
    if isinstance(code, int):
        return code if 400 <= code <= 599 else None
    return int(code) if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3 else None
