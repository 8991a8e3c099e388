"""Rules about texts that come in pieces and are repeated whole: what a model says, thinks, and gives to a call."""

from __future__ import annotations

from collections.abc import Collection

from harness.conformance.rules.openai_responses.names import ARGUMENTS, GIVEN, SUMMARY, TEXTS
from harness.conformance.rules.openai_responses.sights import Summed, TextDone
from harness.conformance.rules.openai_responses.values import shown
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.dialects.openai_responses.growth import DONES
from harness.findings import Level

TEXT = Rules("RSP", dialects=["openai-responses"])


def _sum(it: Summed, families: Collection[str]) -> Said:
    """Whether a text of one of these families was repeated as the sum of its pieces."""
    if it.text.family not in families or not it.text.deltas or it.text.done_at is None:
        return None
    if it.unlike is None:
        return True
    kind = f"{it.text.family}.done"
    return Breach(
        f"{kind} says {shown(it.unlike.repeated)}, and its deltas add up to {shown(it.unlike.gathered)}",
        f"/{DONES[kind].done}",
        expected=it.unlike.gathered,
        got=it.unlike.repeated,
        frame=it.text.done_at.frame,
        span=it.text.done_at.span,
        kind="responses/done-text-mismatch",
    )


@TEXT.rule(
    23,
    Level.MUST,
    "the text in output_text.done is the sum of its deltas; so are refusals and raw reasoning",
    at=Summed,
    kind="responses/done-text-mismatch",
    source="SDK-OAI; openai-responses.md section 7; bug report BR-076",
    why="What was shown while it streamed is not what is stored.",
    bad='the deltas "Tide", " o", then the done text "Tide out"',
    good='the deltas "Tide", " out", then "Tide out"',
)
def text_is_the_sum(it: Summed) -> Said:
    return _sum(it, TEXTS)


@TEXT.rule(
    24,
    Level.MUST,
    "function_call_arguments.done has the sum of its deltas, if there are any; so do inputs and code of other tools",
    at=Summed,
    kind="responses/done-text-mismatch",
    source="openai-responses.md section 7; recordings of OpenAI",
    why="A client that runs the call by its deltas runs another one than a client that waits for done.",
    bad='the deltas {"a" and :1}, then done with {"a": 1}',
    good='the deltas {"a" and :1}, then done with {"a":1}',
)
def arguments_are_the_sum(it: Summed) -> Said:
    return _sum(it, GIVEN)


@TEXT.rule(
    25,
    Level.INFO,
    "arguments come in deltas before function_call_arguments.done",
    at=TextDone,
    kind="responses/arguments-done-only",
    source="openai-responses.md section 7; bug report BR-070, whose outcome is ok",
    why="It is legal; clients that only gather deltas run the call without arguments.",
    bad='function_call_arguments.done with {"port":"Bodo"}, and no delta before it',
    good='deltas that add up to {"port":"Bodo"}, then done',
    seen="LM Studio",
)
def arguments_in_deltas(it: TextDone) -> Said:
    if it.text.family != ARGUMENTS or not it.value or it.event.facts.resumed:
        return None
    return True if it.text.deltas else Breach("the arguments came whole, without a delta before", f"/{it.field}")


@TEXT.rule(
    29,
    Level.MUST,
    "reasoning_summary_part.added and .done stand around the text of a summary, whose done has the sum of its deltas",
    at=Summed,
    kind="responses/part-not-announced",
    source="SDK-OAI; openai-responses.md section 4; recordings of OpenAI",
    why="Clients append to the part at that index of the summary; there is none.",
    bad="reasoning_summary_text.delta before reasoning_summary_part.added",
    good="reasoning_summary_part.added, the deltas, reasoning_summary_text.done, reasoning_summary_part.done",
)
def summary_is_the_sum(it: Summed) -> Said:
    return _sum(it, (SUMMARY,))
