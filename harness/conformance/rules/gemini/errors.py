"""Rules about errors, in the place of a stream and inside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from harness.conformance.rules.gemini.sights import ErrorChunk
from harness.conformance.rules.rule import Breach, Need, Rules, Said
from harness.conformance.rules.sights import Plain
from harness.dialects.translating import as_count, as_object, as_objects
from harness.findings import Level

ERRORS = Rules("GGL", dialects=["gemini"])
_WIRE = "wire/google-generatecontent.md section 8"
_DELAY = re.compile(r"\d+(?:\.\d+)?s", re.ASCII)


@ERRORS.rule(
    32,
    Level.MUST,
    "an error has `code`, `message` and `status`, and before the stream its code is the HTTP status",
    at=(Plain, ErrorChunk),
    kind="error/form",
    source=f"{_WIRE}; SDK-GGL errors.APIError; recordings",
    why="Clients decide by these three whether to ask again, and what to show; a code of another status misleads them.",
    bad='{"error":{"code":503,"message":"overloaded"}}',
    good='{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}',
    needs=(Need.ERROR,),
)
def errors_are_whole(it: Plain | ErrorChunk) -> Said:
    body = it.raw if isinstance(it, ErrorChunk) else _unwrapped(it.body)
    status = it.case.exchange.status if isinstance(it, Plain) else None
    if not isinstance(body, dict) or ((status or 400) < 400 and not body.get("error")):
        return None  # a text says nothing of its form; other rules ask for one (HTTP-007)
    return list(_lacks(body.get("error"), status))


def _lacks(error: Any, status: int | None) -> Iterator[Breach]:
    if not isinstance(error, dict):
        message = f"`error` is {error!r}; an object with code, message and status was expected"
        yield Breach(message, "/error", expected="code, message, status", got=error)
        return
    code = as_count(error.get("code"))
    if code is None:
        yield Breach(
            f"the error has the code {error.get('code')!r}; a number was expected", "/error/code", got=error.get("code")
        )
    elif status is not None and code != status:
        yield Breach(f"the error has the code {code} under the status {status}", "/error/code", expected=status, got=code)
    for name in ("message", "status"):
        if not isinstance(error.get(name), str) or not error[name]:
            yield Breach(f"the error has no `{name}`", f"/error/{name}", expected="a text", got=error.get(name))


@ERRORS.rule(
    33,
    Level.SHOULD,
    "an error 429 has a RetryInfo detail whose `retryDelay` is seconds, such as 34.4s",
    at=(Plain, ErrorChunk),
    kind="gemini/retry-hint",
    source=f"{_WIRE}; google.rpc.RetryInfo",
    why="There is no header for it: without the detail a client guesses, asks too early, and is refused again.",
    bad='{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34400ms"}',
    good='{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.4s"}',
    needs=(Need.ERROR,),
    profiles={"vertex": (Level.INFO, "Vertex AI sends no hint with 429 (wire/google-generatecontent.md section 8)")},
)
def quota_errors_say_when(it: Plain | ErrorChunk) -> Said:
    error = as_object(as_object(it.raw if isinstance(it, ErrorChunk) else _unwrapped(it.body)).get("error"))
    if not error or 429 not in (as_count(error.get("code")), it.case.exchange.status):
        return None
    hints = [
        d.get("retryDelay") for d in as_objects(error.get("details")) if str(d.get("@type")).endswith("google.rpc.RetryInfo")
    ]
    if not hints:
        return Breach("an error 429 that does not say when to ask again: it has no RetryInfo detail", "/error/details")
    if any(isinstance(hint, str) and _DELAY.fullmatch(hint) for hint in hints):
        return True
    return Breach(f"the delay is {hints[0]!r}; seconds with an s were expected", "/error/details", "34.4s", hints[0])


@ERRORS.rule(
    34,
    Level.SHOULD,
    "an error in a stream has `error` as its first field",
    at=ErrorChunk,
    kind="gemini/error-not-first",
    source=f"{_WIRE}; SDK-GGL tells an error by the beginning of the chunk",
    why="The Python SDK looks at the first characters only: otherwise the error passes as an answer that says nothing.",
    bad='{"responseId":"a","error":{…}}',
    good='{"error":{…}}',
)
def error_comes_first(it: ErrorChunk) -> Said:
    head = next(iter(it.raw))
    return (
        True
        if head == "error"
        else Breach(f"an error behind {head!r}; as the first field it was expected", "/error", "error", head)
    )


def _unwrapped(body: Any) -> Any:
    """Without alt=sse an error is an array of one."""
    return body[0] if isinstance(body, list) and len(body) == 1 else body
