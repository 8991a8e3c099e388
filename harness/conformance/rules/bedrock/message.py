"""Rules about a message of Converse as a whole: its role, its stop reason, its counts."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.bedrock.order import BEDROCK
from harness.conformance.rules.bedrock.sights import Closing, Event
from harness.conformance.rules.rule import Blame, Breach, Said
from harness.findings import Level

REASONS = (
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "guardrail_intervened",
    "content_filtered",
    "malformed_model_output",
    "malformed_tool_use",
    "model_context_window_exceeded",
)
_COUNTS = ("inputTokens", "outputTokens", "totalTokens")
_UNMODELLED = ("serverToolUsage", "cacheReadInputTokenCount", "cacheWriteInputTokenCount")
_MODEL = "service model"


@BEDROCK.rule(
    2,
    Level.MUST,
    "messageStart.role is assistant",
    at=Event,
    kind="delta/role-invalid",
    source=f"{_MODEL}, ConversationRole; recordings, 25 of 25",
    why="Clients append the message to the conversation as it is: as the user's, it makes the next request invalid.",
    bad='messageStart {"role":"user"}',
    good='messageStart {"role":"assistant"}',
)
def role_is_assistant(it: Event) -> Said:
    if it.name != "messageStart":
        return None
    role = it.raw.get("role")
    return True if role == "assistant" else Breach(f"the role is {role!r}", f"{it.path}/role", "assistant", role)


@BEDROCK.rule(
    6,
    Level.MUST,
    "a payload of Converse is the event itself: its name stands in the header only",
    at=Event,
    kind="bedrock/wrapped",
    source="BOTO, the parser of event streams; recordings, 617 of 617. Nova's events inside Invoke are wrapped, and must be",
    why="SDKs wrap the payload in its name themselves, and look for the fields one level too high.",
    bad='messageStop, with the payload {"messageStop":{"stopReason":"end_turn"}}',
    good='messageStop, with the payload {"stopReason":"end_turn"}',
    seen="fixtures that were written from what an SDK shows",
)
def payload_is_bare(it: Event) -> Said:
    if it.nova:
        return None
    message = f"the payload is wrapped in {it.path[1:]!r}; its fields should stand at the top"
    return Breach(message, it.path) if it.wrapped else True


@BEDROCK.rule(
    18,
    Level.MUST,
    "stopReason is one of the API's nine words",
    at=(Event, Closing),
    kind="finish/unknown-value",
    source=f"{_MODEL}, StopReason; wire/bedrock-converse.md section 6",
    why="Clients that map reasons fall back to a default, or raise.",
    bad='"stopReason":"stop"',
    good='"stopReason":"end_turn"',
    seen="gateways",
)
def reason_is_known(it: Event | Closing) -> Said:
    if isinstance(it, Closing):  # one that lacks is reported at the end
        return it.ending.breaches("stream/finish-missing") or None if it.facts is not None else None
    reason = it.raw.get("stopReason")
    if it.name != "messageStop" or reason is None:
        return None
    if reason in REASONS:
        return True
    return Breach(f"the stop reason {reason!r} is none of {', '.join(REASONS)}", f"{it.path}/stopReason", list(REASONS), reason)


@BEDROCK.rule(
    19,
    Level.MUST,
    "a message with a call for the client does not stop with end_turn, and one that stops with tool_use has such a call",
    at=Event,
    kind="finish/stop-with-tool-calls",
    source="Converse documentation, tool use; recordings, 49 of 49",
    why="Loops that go by the stop reason end the turn and never run the call, or wait for the result of a call that is none.",
    bad='a block with toolUse, then "stopReason":"end_turn"',
    good='a block with toolUse, then "stopReason":"tool_use"',
    seen="gateways",
)
def reason_fits_the_calls(it: Event) -> Said:
    if it.name != "messageStop":
        return None
    reason, calls = it.raw.get("stopReason"), it.facts.calls
    path = f"{it.path}/stopReason"
    if reason == "tool_use":
        message = "the stop reason is tool_use, and no block has a call for the client"
        return True if calls else Breach(message, path, got=reason, kind="finish/calls-missing")
    if reason == "end_turn" and calls:
        return Breach(f"the stop reason is end_turn after {calls} calls for the client", path, "tool_use", reason)
    return None


@BEDROCK.rule(
    20,
    Level.MUST,
    "metadata has a usage with inputTokens, outputTokens and totalTokens (inside Invoke, Nova has no total)",
    at=Event,
    kind="usage/count-missing",
    source=f"{_MODEL}, TokenUsage, all three required; wire/bedrock-converse.md section 8 for Nova",
    why="Typed clients fail on the event; others count the turn as free.",
    bad='"usage":{"inputTokens":9,"outputTokens":4}',
    good='"usage":{"inputTokens":9,"outputTokens":4,"totalTokens":13}',
    seen="gateways",
)
def usage_is_complete(it: Event) -> Said:
    if it.name != "metadata":
        return None
    lacks = [name for name in (_COUNTS[:2] if it.nova else _COUNTS) if _count(it.usage.get(name)) is None]
    message = f"usage lacks {', '.join(lacks)}, or has no number there"
    return Breach(message, f"{it.path}/usage", got=it.raw.get("usage")) if lacks else True


@BEDROCK.rule(
    21,
    Level.MUST,
    "totalTokens is not less than inputTokens and outputTokens together",
    at=Event,
    kind="usage/sum-wrong",
    source="wire/bedrock-converse.md section 5: it may be more, by what caches count; recordings, 49 of 49",
    why="Budgets that go by the total let too much pass.",
    bad='"inputTokens":9,"outputTokens":4,"totalTokens":9',
    good='"inputTokens":9,"outputTokens":4,"totalTokens":13',
)
def total_is_not_too_small(it: Event) -> Said:
    given, answered, total = (_count(it.usage.get(name)) for name in _COUNTS)
    if it.name != "metadata" or given is None or answered is None or total is None:
        return None
    if total >= given + answered:
        return True
    message = f"totalTokens is {total}, less than {given} + {answered}"
    return Breach(message, f"{it.path}/usage/totalTokens", f">= {given + answered}", total)


@BEDROCK.rule(
    22,
    Level.INFO,
    "payloads of Converse have no padding beside the fields of the service model",
    at=Event,
    dialects=["bedrock-converse"],
    kind="bedrock/padding",
    source="recordings, 617 of 617 have `p`: letters that hide the size of the event",
    why="Whoever stores events stores the padding; strict models of the payload refuse it.",
    bad='{"contentBlockIndex":0,"p":"abcdefgh"}',
    good='{"contentBlockIndex":0}',
    seen="AWS",
    blame=Blame.NOBODY,
)
def payload_has_no_padding(it: Event) -> Said:
    if it.facts.padded:
        return None  # said once
    return Breach("the payload has padding in `p`", "/p") if "p" in it.raw and not it.wrapped else True


@BEDROCK.rule(
    23,
    Level.INFO,
    "usage has only what the service model names",
    at=Event,
    dialects=["bedrock-converse"],
    kind="bedrock/unmodelled",
    source="recordings: `serverToolUsage`, which botocore drops; wire/bedrock-converse.md section 2",
    why="Clients over an SDK never see these fields, clients over HTTP do.",
    bad='"usage":{"inputTokens":9,"outputTokens":4,"totalTokens":13,"serverToolUsage":{}}',
    good='"usage":{"inputTokens":9,"outputTokens":4,"totalTokens":13}',
    seen="AWS",
    blame=Blame.NOBODY,
)
def usage_is_modelled(it: Event) -> Said:
    if it.name != "metadata" or not it.usage:
        return None
    more = [name for name in _UNMODELLED if name in it.usage]
    message = f"usage has {', '.join(more)}, which the service model lacks"
    return Breach(message, f"{it.path}/usage/{more[0]}") if more else True


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
