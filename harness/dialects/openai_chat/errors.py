"""Errors of Chat Completions and of the servers that imitate it (wire/openai-chat.md section 9)."""

from __future__ import annotations

from typing import Any

from harness.api_error import ApiError, api_error


def error_in(payload: dict[str, Any], event: str | None) -> ApiError | None:
    """The error that a payload of a stream carries, if it does.

    Known forms: a truthy `error` in a chunk, alone or beside choices; an event named `error` with a flat body; older vLLM's
    `object: error`; Groq's `x_groq.error`.
    """
    error = payload.get("error") or (payload.get("x_groq") or {}).get("error")
    if not error and (event == "error" or payload.get("object") == "error"):
        error = payload
    return read_error_object(error) if error else None


def read_error_object(error: Any, status: int | None = None, retry_after: float | None = None) -> ApiError:
    """An error object, or whatever stands in its place. The code `error.code` may be a word or a number."""
    if not isinstance(error, dict):
        return api_error(error, status=status, retry_after=retry_after, raw=error)
    message = error.get("message")
    if not isinstance(message, str) or not message:
        message = error.get("details") or error.get("detail") or error.get("msg")
    code = error.get("code", error.get("status_code"))
    return api_error(
        message,
        status=status,
        type=error.get("type"),
        code=code,
        param=error.get("param"),
        retry_after=retry_after,
        raw=error,
    )
