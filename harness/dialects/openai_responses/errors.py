"""Errors of the Responses API, before and inside a stream (wire/openai-responses.md section 9)."""

from __future__ import annotations

from typing import Any

from harness.api_error import ApiError, api_error


def error_in(body: dict[str, Any], event: str | None) -> ApiError | None:
    """The error that a payload carries, if it does: an `error` event, flat or nested, or a gateway's `{"error": …}`."""
    error = body.get("error")
    if error:
        return read_error_object(error)
    if body.get("type") == "error" or (event == "error" and "type" not in body):
        flat = {name: value for name, value in body.items() if name != "type" or value != "error"}
        return read_error_object(flat)
    return None


def read_error_object(error: Any, status: int | None = None) -> ApiError:
    """An error object, or whatever stands in its place."""
    if not isinstance(error, dict):
        return api_error(error, status=status, raw=error)
    message = next((m for n in ("message", "detail", "msg") if isinstance(m := error.get(n), str) and m), None)
    return api_error(
        message, status=status, type=error.get("type"), code=error.get("code"), param=error.get("param"), raw=error
    )
