"""Rules about the events of Messages: their names, the first one, errors, and the marker that is not theirs."""

from __future__ import annotations

from harness.conformance.rules.anthropic.order import ANTHROPIC
from harness.conformance.rules.anthropic.sights import ErrorEvent, Event, Message, Start
from harness.conformance.rules.rule import Breach, Need, Said
from harness.conformance.rules.sights import Marker
from harness.findings import Level


@ANTHROPIC.rule(
    3,
    Level.MUST,
    "each event is named by its `event:` line, and the name is the `type` of its payload",
    at=Event,
    dialects=["anthropic-messages"],
    kind="anthropic/event-name",
    source="SDK-ANT: events without a known name are skipped; recordings, 64 of 64",
    why="The SDK looks at the name alone: an event without one does not exist, and the answer is empty.",
    bad='data: {"type":"ping"} alone',
    good='event: ping + data: {"type":"ping"}',
    seen="proxies that only pass data lines on",
)
def name_is_the_type(it: Event) -> Said:
    name = it.frame.name
    if name == it.type:
        return True
    if name is None:
        return Breach(f"an event without a name; its payload says {it.type!r}", "/type", it.type, None)
    return Breach(f"an event named {name!r} whose payload says {it.type!r}", "/type", name, it.type)


@ANTHROPIC.rule(
    13,
    Level.MUST,
    "the message in message_start is the assistant's, with an empty list of content and no stop_reason",
    at=Start,
    kind="anthropic/start-not-empty",
    source="SDK-ANT: the snapshot is this message, and blocks are appended to it; recordings, 99 of 99",
    why="Blocks are appended to what is there: content that came with the start stands before the answer, or twice.",
    bad='"content":[{"type":"text","text":"Green"}],"stop_reason":"end_turn"',
    good='"content":[],"stop_reason":null',
    seen="proxies that wrap a whole answer into a stream",
)
def message_starts_empty(it: Start) -> Said:
    content, reason = it.message.get("content"), it.message.get("stop_reason")
    broken = []
    if content != []:
        what = "no list of content" if content is None else f"the content {content!r}"
        message = f"message_start has {what}; an empty list was expected"
        broken.append(Breach(message, "/message/content", [], content))
    if (role := it.message.get("role")) is not None and role != "assistant":
        message = f"the role in message_start is {role!r}; 'assistant' was expected"
        broken.append(Breach(message, "/message/role", "assistant", role, kind="delta/role-invalid"))
    if reason is not None:
        message = f"message_start has the stop_reason {reason!r}; it comes in message_delta"
        broken.append(Breach(message, "/message/stop_reason", None, reason))
    return broken or True


@ANTHROPIC.rule(
    19,
    Level.MUST,
    'an error event is {"type":"error","error":{"type":…,"message":…}}',
    at=ErrorEvent,
    needs=[Need.ERROR],
    kind="error/form",
    source="SDK-ANT, ErrorResponse; wire/anthropic-messages.md section 7",
    why="The type decides whether to try again; without it an overloaded server looks like a broken one.",
    bad='data: {"error":"overloaded"}',
    good='data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    seen="proxies",
)
def error_has_its_form(it: ErrorEvent) -> Said:
    kind, error = it.raw.get("type"), it.raw.get("error")
    if kind != "error":
        return Breach(f"an error whose payload has the type {kind!r}; 'error' was expected", "/type", "error", kind)
    if not isinstance(error, dict):
        return Breach(f"the error is {error!r}; an object with type and message was expected", "/error", got=error)
    lacks = [name for name in ("type", "message") if not isinstance(error.get(name), str)]
    return Breach(f"an error without {' and '.join(lacks)}", "/error", got=error) if lacks else True


@ANTHROPIC.rule(
    22,
    Level.SHOULD,
    "there is no [DONE] in a stream of Messages",
    at=(Marker, Message),
    dialects=["anthropic-messages"],
    kind="stream/marker-unexpected",
    source="recordings, 49 of 49; wire/anthropic-messages.md section 3: message_stop is the end",
    why="Clients that parse every payload as JSON fail on it, after an answer that was whole.",
    bad="event: message_stop, then data: [DONE]",
    good="event: message_stop + end of stream",
    seen="proxies that serve Chat as well",
)
def no_done_marker(it: Marker | Message) -> Said:
    if isinstance(it, Message):
        return True
    return Breach("[DONE] in a stream of Messages, whose end is message_stop")
