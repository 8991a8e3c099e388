"""Errors of the Messages API (wire/anthropic-messages.md section 7)."""

from __future__ import annotations

from typing import Any

from harness.api_error import ApiError, api_error


def error_in(payload: dict[str, Any], event: str | None) -> ApiError | None:
    """The error that a payload of a stream carries, if it does: the envelope of type `error`, an event named so, or, from
    proxies, the bare error of any envelope."""
    error = payload.get("error")
    named = payload.get("type") == "error" or event == "error"
    return read_error_object(error or payload) if error or named else None


def read_error_object(error: Any, status: int | None = None) -> ApiError:
    """An error object, or whatever stands in its place; Vertex names its errors in `status` and by a number in `code`."""
    if not isinstance(error, dict):
        return api_error(error, status=status, raw=error)
    return api_error(
        error.get("message"),
        status=status,
        type=error.get("type") or error.get("status"),
        code=error.get("code"),
        raw=error,
    )
