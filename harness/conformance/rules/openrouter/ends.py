"""Rules about how OpenRouter keeps a stream alive and ends it: comments, finish reasons, usage, errors, the marker."""

from __future__ import annotations

from harness.conformance.rules.openai_chat.sights import ChatFacts, Choice, Chunk, ErrorEvent
from harness.conformance.rules.openrouter.walk import KEEP_ALIVE, OPENROUTER, Events, KeepAlive
from harness.conformance.rules.rule import Blame, Breach, Need, Said
from harness.conformance.rules.sights import Ending, Unreadable
from harness.dialects.translating import as_objects
from harness.findings import Level


@OPENROUTER.rule(
    1,
    Level.MUST,
    "the keep-alive `OPENROUTER PROCESSING` is a comment, and never data",
    at=(KeepAlive, Unreadable),
    kind="openrouter/keep-alive",
    source="OpenRouter documentation, streaming; recordings, 20 of 20",
    why="Clients parse every payload as JSON, and fail while the model is still waiting for its turn.",
    bad="data: OPENROUTER PROCESSING",
    good=": OPENROUTER PROCESSING",
)
def keep_alive_is_a_comment(it: KeepAlive | Unreadable) -> Said:
    if isinstance(it, KeepAlive):
        return True
    return Breach("a keep-alive that is sent as data; it is a comment: `: …`") if KEEP_ALIVE in it.frame.data else None


@OPENROUTER.rule(
    2,
    Level.MUST,
    "a chat stream ends with [DONE], after an error too",
    at=Ending,
    kind="stream/done-missing",
    source="recordings, 24 of 24; wire/openrouter.md, order and usage",
    why="Clients that wait for the marker hang until the connection closes, or take the turn for one that was cut.",
    bad="usage chunk + end of stream",
    good="usage chunk, data: [DONE]",
)
def stream_has_its_marker(it: Ending) -> Said:
    facts = it.facts
    if not isinstance(facts, ChatFacts) or not (facts.chunks or facts.errors):
        return None
    if facts.done:
        return True
    noted = it.breaches("stream/done-missing", "stream/truncated")  # the collector misses it as well: one measure
    return noted or Breach("the stream ends without [DONE]")


@OPENROUTER.rule(
    3,
    Level.MUST,
    "each choice has `native_finish_reason` beside `finish_reason`",
    at=Choice,
    kind="openrouter/native-reason-missing",
    source="recordings, 720 of 720",
    why="The reason is translated: without the model's own word nobody can tell what it was.",
    bad='{"index":0,"delta":{},"finish_reason":"stop"}',
    good='{"index":0,"delta":{},"finish_reason":"stop","native_finish_reason":"end_turn"}',
)
def choice_has_the_native_reason(it: Choice) -> Said:
    if "native_finish_reason" in it.raw:
        return True
    return Breach("a choice without native_finish_reason; null says that there is none yet", it.path)


@OPENROUTER.rule(
    4,
    Level.MUST,
    "usage is sent once, before [DONE]",
    at=Ending,
    kind="usage/missing",
    source="OpenRouter documentation: always sent; recordings, 24 of 24",
    why="Credits are billed by it: clients that add up what they meet count twice, the others not at all.",
    bad="finish chunk, data: [DONE]",
    good='finish chunk, {"usage":{…}}, data: [DONE]',
)
def usage_comes_once(it: Ending) -> Said:
    facts = it.facts
    if not isinstance(facts, ChatFacts) or facts.errors or not facts.finished or not facts.done:
        return None
    if facts.usage.chunks == 1:
        return True
    if not facts.usage.chunks:
        return Breach("the turn ended without its usage")
    last = facts.usage.last
    message = f"usage was sent {facts.usage.chunks} times; once was expected"
    return Breach(message, "/usage", 1, facts.usage.chunks, frame=last.index if last else None, kind="usage/cumulative")


@OPENROUTER.rule(
    5,
    Level.INFO,
    "the chunk with usage has no choices",
    at=Chunk,
    kind="openrouter/usage-choice",
    source="recordings: 23 of 24 have a choice with an empty delta",
    why="OpenAI has none there: clients that look for empty choices miss the usage.",
    bad='{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"usage":{…}}',
    good='{"choices":[],"usage":{…}}',
    seen="OpenRouter",
    blame=Blame.NOBODY,
)
def usage_stands_alone(it: Chunk) -> Said:
    if not it.raw.get("usage"):
        return None
    return Breach("the chunk with usage has a choice", "/choices", [], it.choices) if it.choices else True


@OPENROUTER.rule(
    6,
    Level.INFO,
    "the chunk with usage does not repeat the finish reason",
    at=Chunk,
    kind="openrouter/finish-repeated",
    source="recordings of 2026: 13 of 13; those of 2025 have null",
    why="Clients that end a turn at each finish reason end it twice.",
    bad='"finish_reason":"stop", then "finish_reason":"stop" beside the usage',
    good='"finish_reason":"stop", then "finish_reason":null beside the usage',
    seen="OpenRouter",
    blame=Blame.NOBODY,
)
def usage_repeats_no_reason(it: Chunk) -> Said:
    if not it.raw.get("usage"):
        return None
    finished = {choice.index for choice in it.facts.choices.values() if choice.finish is not None}
    for position, raw in enumerate(as_objects(it.raw.get("choices"))):
        reason = raw.get("finish_reason")
        if isinstance(reason, str) and reason and any(raw.get("index") == index for index in finished):
            return Breach("the finish reason once more, beside the usage", f"/choices/{position}/finish_reason", None, reason)
    return True


@OPENROUTER.rule(
    10,
    Level.MUST,
    "an error in mid-stream has `error.code` and `error.message`",
    at=ErrorEvent,
    needs=[Need.ERROR],
    kind="error/form",
    source="OpenRouter documentation, errors; wire/openrouter.md, errors",
    why="The code decides whether to try again; a text in its place makes clients fail on the error itself.",
    bad='"error":"Provider returned error"',
    good='"error":{"code":502,"message":"Provider returned error"}',
)
def error_has_code_and_message(it: ErrorEvent) -> Said:
    error = it.raw.get("error")
    if not isinstance(error, dict):
        return Breach(f"the error is {error!r}; an object with code and message was expected", "/error", got=error)
    lacks = [] if type(error.get("code")) in (int, str) else ["code"]
    lacks += [] if isinstance(error.get("message"), str) else ["message"]
    return Breach(f"an error without {' and '.join(lacks)}", "/error", got=error) if lacks else True


@OPENROUTER.rule(
    11,
    Level.SHOULD,
    'the chunk with an error has the finish reason "error"',
    at=ErrorEvent,
    needs=[Need.ERROR],
    kind="openrouter/error-unfinished",
    source="OpenRouter documentation, errors in mid-stream",
    why="Clients that only read choices see a stream that goes on, and then a turn without an end.",
    bad='{"error":{…},"choices":[{"index":0,"delta":{},"finish_reason":null}]}',
    good='{"error":{…},"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}',
    seen="OpenRouter in 2025",
)
def error_is_a_finish(it: ErrorEvent) -> Said:
    reasons = [choice.get("finish_reason") for choice in as_objects(it.raw.get("choices"))]
    if "error" in reasons:
        return True
    got = reasons[0] if reasons else None
    return Breach("the chunk with the error has no finish reason `error`", "/choices/0/finish_reason", "error", got)


@OPENROUTER.rule(
    12,
    Level.INFO,
    "events of Responses are named, and no [DONE] ends them, as at OpenAI",
    at=Events,
    dialects=["openai-responses"],
    kind="openrouter/responses-framing",
    source="recordings, 7 of 7: events without names, and [DONE] at the end",
    why="Clients that dispatch on the name of an event see none; those that parse every payload fail on the marker.",
    bad='data: {"type":"response.created",…} without a name, data: [DONE] at the end',
    good='event: response.created + data: {"type":"response.created",…}',
    seen="OpenRouter",
    blame=Blame.NOBODY,
)
def responses_are_openais(it: Events) -> Said:
    if not it.named and not it.unnamed:
        return None
    said = ["events have no names"] if it.unnamed else []
    said += ["[DONE] ends the stream"] if it.marked else []
    return Breach(" and ".join(said)) if said else True
