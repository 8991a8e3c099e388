"""Rules about the events that carry the response: created, queued, in_progress, completed, incomplete, failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.conformance.rules.openai_responses.facts import ResponseFacts
from harness.conformance.rules.openai_responses.sights import Lifecycle, Terminal
from harness.conformance.rules.openai_responses.values import shown, unlike
from harness.conformance.rules.openai_responses.walk import head
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.conformance.rules.sights import Ending
from harness.findings import Level

LIFECYCLE = Rules("RSP", dialects=["openai-responses"])
_REASONS = ("max_output_tokens", "content_filter", "max_messages", "steered")
_STATUS = {"created": ("in_progress", "queued")}
"""The statuses that an event may tell; any other tells its own name."""


@LIFECYCLE.rule(
    4,
    Level.INFO,
    "the stream ends with [DONE] (Open Responses asks for it, OpenAI never sends it)",
    at=Ending,
    kind="stream/done-missing",
    source="OR-SPEC has it as a MUST; OpenAI's recordings never have it: 0 of 70",
    why="Clients that wait for it wait until the connection closes; clients that never heard of it must skip it.",
    bad="response.completed, then the end of the body",
    good="response.completed, then data: [DONE]",
    seen="OpenAI, Azure, DeepSeek, Bedrock mantle, xAI",
)
def ends_with_done(it: Ending) -> Said:
    facts = it.facts
    if not isinstance(facts, ResponseFacts) or facts.over_at is None:
        return None
    if facts.done:
        return True
    return Breach("the stream ends with its terminal event, without [DONE]", frame=facts.over_at.frame, span=facts.over_at.span)


@LIFECYCLE.rule(
    9,
    Level.MUST,
    "response.id is the same in all lifecycle events",
    at=Lifecycle,
    kind="responses/response-changed",
    source="SDK-OAI raises; openai-responses.md section 7",
    why="The id continues the conversation and fetches the response again; the wrong one does neither.",
    bad='created with "id":"resp_1", completed with "id":"resp_2"',
    good='"id":"resp_1" in both',
    seen="proxies, concatenated fixtures",
)
def one_response_id(it: Lifecycle) -> Said:
    first, got = it.event.facts.head.get("id"), it.raw.get("id")
    if first is None and got is None:
        return Breach(f"{it.event.kind} has a response without an id", "/response", expected="a text")
    if first is None:
        return None
    if not unlike(first, got):
        return True
    message = f"{it.event.kind} says {shown(got)}, and the response began as {shown(first)}"
    return Breach(message, "/response/id", expected=first, got=got)


@LIFECYCLE.rule(
    10,
    Level.MUST,
    "created_at, model, instructions and the number, types and names of tools do not change between lifecycle events",
    at=Lifecycle,
    kind="responses/response-changed",
    source="openai-responses.md section 7; recordings: 70 of 70",
    why="Clients take these from the first event: cost is computed for the wrong model, records do not match.",
    bad='created with "model":"gpt-5-mini", completed with "model":"gpt-5-nano"',
    good='"model":"gpt-5-mini" in both',
    seen="model routers",
)
def lasting_fields(it: Lifecycle) -> Said:
    if not it.event.facts.head:
        return None
    return list(_changed(it, head(it.raw))) or True


def _changed(it: Lifecycle, now: dict[str, Any]) -> Iterator[Breach]:
    for name, first in it.event.facts.head.items():
        if name != "id" and name in it.raw and unlike(first, now.get(name)):
            message = f"{name} is {shown(now.get(name))} in {it.event.kind} and was {shown(first)} before"
            yield Breach(message, f"/response/{name}", expected=first, got=now.get(name))


@LIFECYCLE.rule(
    11,
    Level.MUST,
    'response.created, .queued and .in_progress have "output":[], and no usage',
    at=Lifecycle,
    kind="responses/begins-full",
    source="openai-responses.md section 3; recordings: 70 of 70",
    why="The official client appends items to this list: without it the first item raises, with items in it they are doubled.",
    bad='response.created with "usage":{…}, or without output',
    good='response.created with "output":[] and "usage":null',
    seen="llama.cpp (no output)",
)
def begins_empty(it: Lifecycle) -> Said:
    if isinstance(it, Terminal) or it.word not in ("created", "queued", "in_progress"):
        return None
    broken = []
    if it.raw.get("output") != []:
        got = it.raw.get("output")
        message = f"{it.event.kind} has {shown(got)} as output; an empty list was expected"
        broken.append(Breach(message, "/response/output", expected=[], got=got))
    if it.raw.get("usage") is not None:
        message = f"{it.event.kind} tells usage already; null was expected"
        broken.append(Breach(message, "/response/usage", got=it.raw["usage"]))
    return broken or True


@LIFECYCLE.rule(
    12,
    Level.MUST,
    "response.status is the one of its event; created says in_progress or queued",
    at=Lifecycle,
    kind="responses/terminal-status-mismatch",
    source="SDK-OAI; openai-responses.md section 8",
    why="Clients decide by status, not by the event's name: the turn never ends, or a cut answer counts as whole.",
    bad='response.completed with "status":"in_progress"',
    good='response.completed with "status":"completed"',
)
def status_of_the_event(it: Lifecycle) -> Said:
    due, got = _STATUS.get(it.word, (it.word,)), it.raw.get("status")
    if isinstance(got, str) and got in due:
        return True
    message = f"{it.event.kind} has the status {shown(got)}; {' or '.join(due)} was expected"
    return Breach(message, "/response/status", expected=due[0], got=got)


@LIFECYCLE.rule(
    34,
    Level.MUST,
    "response.completed has usage, and total_tokens is input_tokens plus output_tokens",
    at=Terminal,
    kind="responses/usage-wrong",
    source="SDK-OAI; openai-responses.md section 7; recordings: all that are complete",
    why="It is the only place where usage is told: costs are lost, or counted wrongly.",
    bad='"usage":null in response.completed',
    good='"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13}',
    seen="old local servers",
)
def completed_has_usage(it: Terminal) -> Said:
    if it.word != "completed":
        return None
    usage = it.raw.get("usage")
    if not isinstance(usage, dict):
        return Breach(f"response.completed has {shown(usage)} as usage; counts were expected", "/response/usage", got=usage)
    given, taken, total = (usage.get(f"{name}_tokens") for name in ("input", "output", "total"))
    if type(given) is not int or type(taken) is not int or type(total) is not int:
        counts = ", ".join(map(shown, (given, taken, total)))
        message = f"usage has {counts} as input, output and total tokens; three numbers were expected"
        return Breach(message, "/response/usage", got=usage)
    if given + taken == total:
        return True
    message = f"{given} input and {taken} output tokens are not {total} in total"
    return Breach(message, "/response/usage/total_tokens", expected=given + taken, got=total)


@LIFECYCLE.rule(
    35,
    Level.MUST,
    f"response.incomplete has incomplete_details.reason, one of {', '.join(_REASONS)}",
    at=Terminal,
    kind="responses/incomplete-reason",
    source="SDK-OAI, IncompleteDetails; openai-responses.md section 8; bug report BR-080",
    why="Nobody can tell whether to ask for more tokens or to give up.",
    bad='response.incomplete with "incomplete_details":null',
    good='"incomplete_details":{"reason":"max_output_tokens"}',
)
def incomplete_says_why(it: Terminal) -> Said:
    if it.word != "incomplete":
        return None
    details = it.raw.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if isinstance(reason, str) and reason in _REASONS:
        return True
    message = f"the response is incomplete for the reason {shown(reason)}; one of {', '.join(_REASONS)} was expected"
    return Breach(message, "/response/incomplete_details", got=details)


@LIFECYCLE.rule(
    45,
    Level.MUST,
    "response.completed has no error and no incomplete_details, or null there",
    at=Terminal,
    kind="responses/completed-with-error",
    source="SDK-OAI",
    why="One half of the clients shows the answer, the other half raises.",
    bad='response.completed with "error":{"code":"server_error",…}',
    good='response.completed with "error":null',
)
def completed_without_error(it: Terminal) -> Said:
    if it.word != "completed":
        return None
    set_ = [name for name in ("error", "incomplete_details") if it.raw.get(name) is not None]
    return [Breach(f"response.completed has {name}", f"/response/{name}", got=it.raw[name]) for name in set_] or True
