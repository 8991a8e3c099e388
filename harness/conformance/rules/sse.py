"""Rules about the framing of server-sent events. Most of them the framer measures; here they get their words and levels.

Laws of whoever reads such a stream (cuts, comments, line ends) stand in `reassembly`.
"""

from __future__ import annotations

from harness.conformance.rules.rule import Breach, Rules, Said
from harness.conformance.rules.sights import Ending, Marker, Payload, Unreadable
from harness.dialects.translating import DONE
from harness.findings import Level

SSE = Rules("SSE", framings=["sse"])
GROUPS = (SSE,)
_WHATWG = "WHATWG HTML standard, server-sent events; wire/framing.md section 1"


@SSE.rule(
    1,
    Level.MUST,
    "the body is valid UTF-8",
    at=Ending,
    kind="framing/invalid-utf8",
    source=_WHATWG,
    why="Readers put U+FFFD in the place of what they cannot decode: a character of the answer is lost for good.",
    bad="a lone byte C3 before a line end",
    good="C3 A9",
    seen="servers that cut texts by bytes",
)
def body_is_utf8(it: Ending) -> Said:
    return it.breaches("framing/invalid-utf8") or True


@SSE.rule(
    3,
    Level.SHOULD,
    "no byte-order mark stands before the first field",
    at=Ending,
    kind="framing/bom",
    source=f"{_WHATWG}; tried: three common clients lose the first event",
    why="Clients that do not strip it do not know the field `\\ufeffdata`, and drop the first event.",
    bad="EF BB BF 64 61 74 61",
    good="64 61 74 61",
)
def no_byte_order_mark(it: Ending) -> Said:
    return it.breaches("framing/bom") or True


@SSE.rule(
    5,
    Level.SHOULD,
    "all lines of a stream end in the same way",
    at=Ending,
    kind="framing/mixed-line-ends",
    source="recordings: every first-party stream",
    why="Clients that look for one blank-line sequence see two events as one.",
    bad="the first event with LF, the second with CRLF",
    good="LF throughout",
)
def one_line_end(it: Ending) -> Said:
    return it.breaches("framing/mixed-line-ends") or True


@SSE.rule(
    8,
    Level.SHOULD,
    "`data:` is followed by a space",
    at=Ending,
    kind="framing/no-space",
    source="SDK-GGL looks for `data: `; the standard allows both",
    why="Clients that look for the six bytes `data: ` find no event at all.",
    bad='data:{"a":1}',
    good='data: {"a":1}',
    seen="a few gateways",
)
def data_has_a_space(it: Ending) -> Said:
    return it.breaches("framing/no-space") or True


@SSE.rule(
    9,
    Level.MUST,
    "the last event is ended by a blank line",
    at=Ending,
    kind="framing/unterminated-event",
    source=f"{_WHATWG}; recordings, 249 of 249",
    why="A reader of the standard dispatches an event at its blank line: without it the last payload never existed.",
    bad='data: {"finish":…} + one line end + end of stream',
    good='data: {"finish":…} + two line ends',
    seen="truncated captures, some proxies",
)
def last_event_is_ended(it: Ending) -> Said:
    if it.case.dialect.flushes_at_eof:  # its clients use what is left at the end of the stream, if it is whole
        return it.breaches("framing/frame-truncated") or True
    return it.breaches("framing/unterminated-event", "framing/frame-truncated") or True


@SSE.rule(
    11,
    Level.SHOULD,
    "every event has data",
    at=Ending,
    kind="framing/event-without-data",
    source=f"{_WHATWG}: nothing is dispatched; SDKs emit an empty one",
    why="Some clients pass an empty payload on, and it is parsed as JSON.",
    bad="event: ping + blank line",
    good="event: ping + data: {} + blank line",
)
def events_have_data(it: Ending) -> Said:
    return it.breaches("framing/event-without-data") or True


@SSE.rule(
    12,
    Level.SHOULD,
    "lines are comments or have one of the fields data, event, id, retry",
    at=Ending,
    kind="framing/outside-syntax",
    source=_WHATWG,
    why="Readers of the standard drop every other line, and with it the error that it may hold.",
    bad='error: {"code":500}',
    good='data: {"error":{"code":500}}',
    seen="old llama.cpp, for errors; proxies that write JSON without `data:`",
)
def only_known_fields(it: Ending) -> Said:
    return it.breaches("framing/outside-syntax") or True


@SSE.rule(
    13,
    Level.SHOULD,
    "no `id` is sent",
    at=Ending,
    kind="framing/id-field",
    source="Open Responses specification; recordings",
    why="No API of these can resume by it; a browser's EventSource would try.",
    bad="id: 17",
    good="no id",
)
def no_id(it: Ending) -> Said:
    return it.breaches("framing/id-field") or True


@SSE.rule(
    14,
    Level.MUST,
    "`retry` is a number of milliseconds, in digits",
    at=Ending,
    kind="framing/retry-field",
    source=_WHATWG,
    why="Anything else is ignored, and the client reconnects as it likes.",
    bad="retry: 3s",
    good="retry: 3000",
)
def retry_is_digits(it: Ending) -> Said:
    return it.breaches("framing/retry-field") or True


@SSE.rule(
    15,
    Level.MUST,
    "every payload is complete JSON, or the marker [DONE]",
    at=Ending,
    kind="framing/non-json-data",
    source="all APIs that stream as events; BR-045 and others",
    why="A client parses each payload alone: one that is not JSON ends the turn with an exception, or is dropped in silence.",
    bad='data: {"a":',
    good='data: {"a":1}',
    seen="cut connections, proxies",
)
def payloads_are_json(it: Ending) -> Said:
    return it.breaches("framing/invalid-json", "framing/non-json-data", "framing/not-an-object") or True


@SSE.rule(
    16,
    Level.MUST,
    "nothing but comments and blank lines follows [DONE]",
    at=(Payload, Unreadable, Marker),
    kind="stream/data-after-done",
    source="SDK-OAI stops reading there",
    why="Clients stop at the marker: what comes after it (most often usage) is lost.",
    bad='data: [DONE], then data: {"usage":…}',
    good='data: {"usage":…}, then data: [DONE]',
)
def nothing_after_done(it: Payload | Unreadable | Marker) -> Said:
    if isinstance(it, Marker):
        return True
    if not it.after_done:
        return None
    return Breach("a payload after [DONE]; clients have stopped reading by then, so that it was not used")


@SSE.rule(
    17,
    Level.SHOULD,
    "the marker is exactly [DONE]",
    at=(Marker, Payload, Unreadable),
    kind="stream/marker-form",
    source="Open Responses specification, as a literal",
    why="Clients compare bytes: another form is parsed as JSON.",
    bad='data: "[DONE]"',
    good="data: [DONE]",
)
def marker_is_exact(it: Marker | Payload | Unreadable) -> Said:
    data = it.frame.data
    if isinstance(it, Marker) and it.exact:
        return True
    if len(data) <= 12 and data.strip(b' "').upper() == DONE:
        return Breach(f"the marker is {data!r}", expected="[DONE]", got=data.decode(errors="replace"))
    return None


@SSE.rule(
    19,
    Level.SHOULD,
    "the last [DONE], and the last chunk of Gemini, are ended by a blank line",
    at=Ending,
    kind="framing/unterminated-marker",
    source=f"{_WHATWG}; recordings, 249 of 249",
    why="Lenient clients take it all the same; those that follow the standard miss it.",
    bad="data: [DONE] + end of stream",
    good="data: [DONE] + two line ends",
    seen="3 of 11 test files of the Google SDKs",
)
def last_marker_is_ended(it: Ending) -> Said:
    kinds = ["framing/unterminated-marker", *["framing/unterminated-event"] * it.case.dialect.flushes_at_eof]
    return it.breaches(*kinds) or True
