"""Rules about the HTTP envelope: status, media type, retry hints, errors that are no stream."""

from __future__ import annotations

import math
from email.utils import parsedate_to_datetime
from typing import Any

from harness.api_error import retry_after
from harness.conformance.rules.rule import Blame, Breach, Need, Rules, Said
from harness.conformance.rules.sights import Ending, Head, Plain
from harness.findings import Level

HTTP = Rules("HTTP")
GROUPS = (HTTP,)

_RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LONG = 120.0  # seconds; the official OpenAI client does not wait longer


@HTTP.rule(
    1,
    Level.MUST,
    "a stream under status 200 has the media type of its framing",
    at=Ending,
    needs=[Need.HEADERS],
    kind="http/content-type",
    source="wire/framing.md; recordings, 364 of 364 first-party streams that have the header",
    why="Clients choose how to read a body by its media type; told JSON, they wait for the end.",
    bad="content-type: application/json over `data:` lines",
    good="content-type: text/event-stream",
    seen="Ollama Cloud, which sends NDJSON as application/json (allowed for)",
)
def media_type_fits(it: Ending) -> Said:
    return it.breaches("http/content-type") or (True if it.case.exchange.content_type else None)


@HTTP.rule(
    2,
    Level.MUST,
    "a failure before the stream has an error status and is not sent as a stream",
    at=Plain,
    needs=[Need.HEADERS],
    kind="http/error-status",
    source="SDK-OAI, SDK-GGL, OLL-SRC: clients look at the status first; BR-042",
    why="A client takes status 200 for a turn and finds none: the error surfaces as a parse failure, or as an empty answer.",
    bad='status 200, body {"error":{"code":429,"message":"…"}}',
    good='status 429, body {"error":{"message":"…"}}',
    seen="OpenRouter, once a provider was chosen",
)
def failure_has_a_status(it: Plain) -> Said:
    exchange = it.case.exchange
    failed = isinstance(it.body, dict) and bool(it.body.get("error"))
    if exchange.status >= 400:
        if exchange.content_type == "text/event-stream":
            return Breach(f"status {exchange.status} with the media type of a stream", got=exchange.content_type)
        return True
    if failed and exchange.status:
        return Breach(f"an error object under status {exchange.status}", "/error", expected="a status of 400 or more")
    return None


@HTTP.rule(
    3,
    Level.MUST,
    "who asks for a stream gets one, and who does not gets one JSON document",
    at=(Ending, Plain),
    needs=[Need.HEADERS, Need.REQUEST],
    kind="http/not-a-stream",
    source="all API references; recordings, 989 of 989",
    why="A client reads what it asked for: events from a document, or a document from events, and fails on the first byte.",
    bad='"stream": false answered with `data:` lines',
    good='"stream": false answered with one JSON document',
)
def answer_is_of_the_form_asked_for(it: Ending | Plain) -> Said:
    case = it.case
    if case.exchange.status != 200:
        return None
    asked = case.dialect.streams(case.exchange.request.target, case.request)
    got = isinstance(it, Ending)
    if asked == got:
        return True
    body = it.body if isinstance(it, Plain) else None
    if asked and isinstance(body, dict) and (body.get("error") or body.get("done_reason") in ("load", "unload")):
        return None  # a failure is another matter (HTTP-002); so is Ollama's answer to a request without messages
    forms = ("one JSON document", "a stream")
    message = f"the request asks for {forms[asked]} and is answered with {forms[got]}"
    return Breach(message, expected=forms[asked], got=forms[got])


@HTTP.rule(
    4,
    Level.SHOULD,
    "a retry hint can be read: retry-after-ms in milliseconds, retry-after in seconds or as an HTTP date",
    at=Head,
    needs=[Need.HEADERS],
    kind="http/retry-after",
    source="SDK-OAI, the code that computes how long to wait; semantics.md 3.5",
    why="A hint that cannot be read is no hint: clients fall back to their own schedule and meet the limit again.",
    bad="retry-after: soon",
    good="retry-after: 20",
)
def retry_hint_parses(it: Head) -> Said:
    headers = it.case.exchange.headers
    hints = [(name, value) for name in ("retry-after-ms", "retry-after") if (value := headers.get(name)) is not None]
    broken = [
        Breach(f"{name} is {value!r}", expected="a number, or an HTTP date", got=value)
        for name, value in hints
        if not _is_number(value) and not (name == "retry-after" and _is_date(value))
    ]
    return broken or (True if hints else None)


@HTTP.rule(
    5,
    Level.INFO,
    "a retry hint is short enough for clients to wait for (120 s)",
    at=Head,
    needs=[Need.HEADERS],
    kind="http/retry-after-long",
    source="SDK-OAI: hints above two minutes are not followed",
    why="Clients with a bound do not wait and do not retry: the error reaches the user at once.",
    bad="retry-after: 3600",
    good="retry-after: 20",
    seen="daily quota limits",
    blame=Blame.NOBODY,
)
def retry_hint_is_short(it: Head) -> Said:
    headers = it.case.exchange.headers
    sent = _date(headers.get("date"))
    if sent is None and _is_date(headers.get("retry-after", "")):
        return None  # nobody knows how far away that is
    seconds = retry_after(headers, sent.timestamp() if sent is not None else 0.0)
    if seconds is None:
        return None
    return Breach(f"the hint is to wait {seconds:,.0f} s", got=seconds) if seconds > _LONG else True


@HTTP.rule(
    6,
    Level.MUST,
    "the body is encoded as content-encoding says",
    at=Ending,
    needs=[Need.HEADERS],
    kind="http/content-encoding",
    source="wire/framing.md; BR-041",
    why="A client that is not told of the compression reads noise; one that is told of another cannot read at all.",
    bad="gzip bytes and no content-encoding",
    good="content-encoding: gzip over gzip bytes",
    seen="a proxy that compresses event streams",
    changed="MUST where the bytes cannot be read as declared: BR-041 is an error. That a recorder kept the header of a body "
    "that it decoded (29 of 32 recordings that have the header) is no breach, since the bytes are readable.",
)
def body_is_encoded_as_declared(it: Ending) -> Said:
    return it.breaches("http/content-encoding") or (True if it.case.exchange.headers.get("content-encoding") else None)


@HTTP.rule(
    7,
    Level.MUST,
    "a retryable status carries the error object of the API, not a page",
    at=Plain,
    needs=[Need.ERROR],
    kind="http/error-form",
    source="wire/*.md, error tables",
    why="Clients read type, code and message from the body to decide about retrying; from a page they learn nothing.",
    bad="status 502 with <html>…",
    good='status 502 with {"error":{"message":"…","type":"server_error"}}',
    seen="proxies, content delivery networks",
    blame=Blame.GATEWAY,
)
def error_has_the_form_of_the_api(it: Plain) -> Said:
    if it.case.exchange.status not in _RETRYABLE:
        return None
    body = it.body[0] if isinstance(it.body, list) and len(it.body) == 1 else it.body
    if isinstance(body, dict) and any(body.get(name) for name in ("error", "message", "Message", "detail")):
        return True
    return Breach(f"status {it.case.exchange.status} with a body that is no error object", got=str(it.body)[:80])


@HTTP.rule(
    8,
    Level.INFO,
    "x-should-retry agrees with the class of the status",
    at=Head,
    needs=[Need.HEADERS],
    kind="http/should-retry",
    source="SDK-OAI: the header wins over the status",
    why="The header overrules what clients know of the status; it is worth knowing that it did.",
    bad="x-should-retry: true with status 400",
    good="x-should-retry: true with status 503",
    blame=Blame.NOBODY,
)
def should_retry_agrees(it: Head) -> Said:
    exchange = it.case.exchange
    said = exchange.headers.get("x-should-retry")
    if said not in ("true", "false") or exchange.status < 400:
        return None
    usual = exchange.status in _RETRYABLE
    if (said == "true") == usual:
        return True
    return Breach(f"x-should-retry: {said} with status {exchange.status}", expected=str(usual).lower(), got=said)


@HTTP.rule(
    9,
    Level.MUST,
    "the body of a stream under status 200 has a payload",
    at=Ending,
    kind="stream/empty",
    source="BR-035",
    why="A client sees a stream that opened and ended well, and an answer that says nothing.",
    bad="status 200, text/event-stream, no bytes",
    good="status 200 and at least one event, or an error status",
    seen="LM Studio, when the prompt is over its context limit",
)
def stream_has_a_payload(it: Ending) -> Said:
    return it.breaches("stream/empty") or True


@HTTP.rule(
    10,
    Level.INFO,
    "no error is delivered inside a stream that began with status 200",
    at=Ending,
    kind="error/in-band",
    source="BR-036 to BR-042, BR-064, BR-065, BR-099, BR-100, BR-111",
    why="The status was sent before the failure. The turn failed all the same, and must never be told as a success.",
    bad='data: {"error":{"message":"…"}} after three deltas',
    good="an error status before the stream, where the failure is known by then",
    seen="Groq, OpenAI, Bedrock, gateways",
    blame=Blame.NOBODY,
)
def no_error_in_band(it: Ending) -> Said:
    return it.breaches("error/in-band") or True


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value)) and float(value) >= 0
    except ValueError:
        return False


def _is_date(value: str) -> bool:
    return _date(value) is not None


def _date(value: str | None) -> Any:
    try:
        return parsedate_to_datetime(value) if value else None
    except (TypeError, ValueError, IndexError):
        return None
