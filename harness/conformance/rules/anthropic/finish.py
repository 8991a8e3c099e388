"""Rules about the end of a message: why it stopped, and what it cost."""

from __future__ import annotations

from harness.conformance.rules.anthropic.order import ANTHROPIC
from harness.conformance.rules.anthropic.sights import Message, MessageDelta, placed
from harness.conformance.rules.rule import Blame, Breach, Said
from harness.findings import Level

_REASONS = (
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
    "compaction",
)


@ANTHROPIC.rule(
    4,
    Level.MUST,
    "a message_delta with a stop_reason comes before message_stop",
    at=Message,
    kind="stream/finish-missing",
    source="SDK-ANT, Message.stop_reason: never null in an answer that is whole",
    why="Nobody can tell an answer that is whole from one that the token limit cut, nor whether calls are to be run.",
    bad='message_delta with "stop_reason":null, then message_stop',
    good='message_delta with "stop_reason":"end_turn", then message_stop',
)
def stop_has_a_reason(it: Message) -> Said:
    if not it.whole:
        return None
    return it.ending.breaches("stream/finish-missing") or True


@ANTHROPIC.rule(
    14,
    Level.MUST,
    "stop_reason is one of the API's words",
    at=MessageDelta,
    kind="finish/unknown-value",
    source="SDK-ANT, StopReason; wire/anthropic-messages.md section 6",
    why="Typed clients refuse other words; loops that look for tool_use end the turn.",
    bad='"stop_reason":"stop"',
    good='"stop_reason":"end_turn"',
    seen="proxies that pass on the words of Chat",
)
def reason_is_known(it: MessageDelta) -> Said:
    reason = it.delta.get("stop_reason")
    if reason is None:
        return None
    if reason in _REASONS:
        return True
    return Breach(f"the stop_reason is {reason!r}, none of {', '.join(_REASONS)}", "/delta/stop_reason", list(_REASONS), reason)


@ANTHROPIC.rule(
    15,
    Level.MUST,
    "stop_reason tool_use comes with a tool_use block, and such a block never with end_turn",
    at=Message,
    kind="finish/stop-with-tool-calls",
    source="recordings, 84 of 84",
    why="Loops act on the reason: calls are not run under end_turn, and results of no call are awaited under tool_use.",
    bad="a tool_use block, then stop_reason end_turn",
    good="a tool_use block, then stop_reason tool_use",
    seen="proxies",
)
def reason_tells_of_calls(it: Message) -> Said:
    reason, calls = it.facts.stop_reason, any(block.type == "tool_use" for block in it.facts.blocks)
    if not it.whole or not (calls or reason == "tool_use"):
        return None
    if not calls:
        message = "the stop_reason is tool_use, and there is no tool_use block"
        return placed(Breach(message, "/delta/stop_reason", got=reason, kind="finish/calls-missing"), it.facts.ending)
    if reason == "end_turn":
        message = "there is a tool_use block, and the stop_reason is end_turn"
        return placed(Breach(message, "/delta/stop_reason", "tool_use", reason), it.facts.ending)
    return True


@ANTHROPIC.rule(
    16,
    Level.MUST,
    "stop_sequence is sent with stop_reason stop_sequence, and is null with any other",
    at=MessageDelta,
    kind="anthropic/stop-sequence",
    source="Anthropic documentation, stop_sequence; recordings, 99 of 99",
    why="Clients ask either of the two whether a stop sequence was met, and get two answers.",
    bad='"stop_reason":"end_turn","stop_sequence":"END"',
    good='"stop_reason":"stop_sequence","stop_sequence":"END"',
)
def sequence_goes_with_its_reason(it: MessageDelta) -> Said:
    reason, sequence = it.delta.get("stop_reason"), it.delta.get("stop_sequence")
    if reason is None or (reason == "stop_sequence") == (sequence is not None):
        return None if reason is None else True
    message = f"the stop_reason is {reason!r}, and the stop_sequence {sequence!r}"
    return Breach(message, "/delta/stop_sequence", "a text" if sequence is None else None, sequence)


@ANTHROPIC.rule(
    17,
    Level.MUST,
    "output_tokens of message_delta is there, and not less than that of message_start: it is a total",
    at=MessageDelta,
    kind="usage/decreases",
    source="Anthropic documentation: the counts are cumulative; recordings, 99 of 99",
    why="The last count takes the place of the first: the turn is billed by what came in one piece.",
    bad='message_start "output_tokens":8, message_delta "output_tokens":1',
    good='message_start "output_tokens":8, message_delta "output_tokens":40',
    seen="proxies that count each delta alone",
)
def output_is_a_total(it: MessageDelta) -> Said:
    if it.usage.get("output_tokens") is None:
        message = "message_delta has no usage with output_tokens; clients read it without looking"
        return Breach(message, "/usage" if it.usage else "", "a number", kind="usage/count-missing")
    counts = _counts(it, "output_tokens")
    if counts is None:
        return None
    before, after = counts
    if after >= before:
        return True
    message = f"output_tokens goes from {before} in message_start to {after}; it is a total, and cannot"
    return Breach(message, "/usage/output_tokens", f">= {before}", after)


@ANTHROPIC.rule(
    18,
    Level.INFO,
    "input_tokens of message_delta is that of message_start",
    at=MessageDelta,
    kind="usage/input-grows",
    source="recordings, 14 of 18 (BR-118): with hosted tools the input grows while the turn goes on",
    why="Clients that take the input from message_start alone count too little.",
    bad='message_start "input_tokens":2068, message_delta "input_tokens":22397',
    good='"input_tokens":2068 in both',
    seen="hosted tools, compaction",
    blame=Blame.NOBODY,
)
def input_stays(it: MessageDelta) -> Said:
    counts = _counts(it, "input_tokens")
    if counts is None:
        return None
    before, after = counts
    message = f"input_tokens goes from {before} in message_start to {after}; the last one counts"
    return True if before == after else Breach(message, "/usage/input_tokens", before, after)


def _counts(it: MessageDelta, name: str) -> tuple[int, int] | None:
    """A count of message_start, and the one of message_delta."""
    before, after = it.facts.usage.get(name), it.usage.get(name)
    return (before, after) if type(before) is int and type(after) is int else None
