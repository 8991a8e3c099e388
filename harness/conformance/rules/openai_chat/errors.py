"""Rules about errors inside a Chat stream."""

from __future__ import annotations

from harness.conformance.rules.openai_chat.sights import ErrorEvent, rules
from harness.conformance.rules.rule import Breach, Need, Said
from harness.dialects.translating import as_object
from harness.findings import Level

ERRORS = rules()


@ERRORS.rule(
    44,
    Level.MUST,
    "an error event has an `error` with a message",
    at=ErrorEvent,
    needs=[Need.ERROR],
    kind="error/detail-lost",
    source="SDK-OAI: an event with a true `error` is raised, with its `message`; BR-036 to BR-040",
    why="Clients look for `error.message`. In another form the error is not seen at all, or says nothing.",
    bad='data: {"error":{"code":1}}, or {"object":"error","message":"out of memory"}',
    good='data: {"error":{"message":"out of memory","type":"server_error","code":null}}',
    seen="older vLLM (`object: error`)",
)
def an_error_has_a_message(it: ErrorEvent) -> Said:
    error = it.raw.get("error")
    if not error:
        return Breach("an error event without a true `error`; clients do not see that it is one", got=it.raw)
    message = as_object(error).get("message")
    if isinstance(message, str) and message:
        return True
    return Breach("an error without a message; `error.message` says what happened", "/error", got=error)


@ERRORS.rule(
    46,
    Level.INFO,
    "an error event has no name",
    at=ErrorEvent,
    needs=[Need.ERROR],
    kind="error/event-name",
    source="recordings of Groq; the events of Chat Completions have no names",
    why="Clients that skip events with names, or wait for one of their own, do not see the error.",
    bad="event: error, data: {…}",
    good='data: {"error":{…}}',
    seen="Groq",
)
def an_error_has_no_name(it: ErrorEvent) -> Said:
    return True if not it.frame.name else Breach(f"the error event has the name {it.frame.name!r}", got=it.frame.name)
