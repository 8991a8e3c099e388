"""Errors of the Gemini API and of Vertex AI, before a stream and inside it (wire/google-generatecontent.md section 8)."""

from __future__ import annotations

import re
from typing import Any

from harness.api_error import ApiError, ErrorKind, api_error
from harness.dialects.translating import as_objects, as_text

_DELAY = re.compile(r"(\d+(?:\.\d+)?)s", re.ASCII)


def read_error_body(body: Any, status: int | None = None) -> ApiError:
    """The error of a body or of a chunk: `{"error": {code, message, status, details}}`, or a list of one of it. A whole
    answer to a prompt that was blocked is an error as well."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    feedback = error.get("promptFeedback") if isinstance(error, dict) else None
    if isinstance(feedback, dict) and (said := blocked(feedback)) is not None:
        return said
    if not isinstance(error, dict):
        return api_error(error, status=status, raw=error)
    return api_error(
        error.get("message"),
        status=status,
        type=error.get("status"),
        code=error.get("code"),
        retry_after=_retry_delay(error.get("details")),
        raw=error,
    )


def blocked(feedback: dict[str, Any]) -> ApiError | None:
    """The error that a blocked prompt is, though it comes with status 200 (semantics.md D14); None if it is not blocked.

    The reason may be missing beside its message: proto JSON leaves out an unspecified one.
    """
    reason, words = feedback.get("blockReason"), as_text(feedback.get("blockReasonMessage"))
    if not reason and not words:
        return None
    named = str(reason) if isinstance(reason, (str, int)) and reason else "no reason given"
    return ApiError(
        kind=ErrorKind.CONTENT_FILTER,
        message=f"the prompt was blocked ({named})" + (f": {words}" if words else ""),
        code=named,
        raw=feedback,
    )


def _retry_delay(details: Any) -> float | None:
    """The hint to wait, in seconds: it stands in a `RetryInfo` detail, not in a header."""
    for detail in as_objects(details):
        if str(detail.get("@type")).endswith("google.rpc.RetryInfo"):
            delay = _DELAY.fullmatch(str(detail.get("retryDelay")))
            if delay:
                return float(delay[1])
    return None
