"""Rules about sequence numbers."""

from __future__ import annotations

from harness.conformance.rules.openai_responses.sights import Numbering
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.findings import Level

SEQUENCE = Rules("RSP", dialects=["openai-responses"])


@SEQUENCE.rule(
    6,
    Level.MUST,
    "either every typed event has a sequence_number or none has",
    at=Numbering,
    kind="responses/sequence-partial",
    source="SDK-OAI: the types have it required; recordings: 70 of 70",
    why="A client that resumes from the last number it saw gets events twice, or never.",
    bad="nine events with a sequence_number, one without",
    good="a sequence_number on each",
    seen="LiteLLM",
)
def all_or_none(it: Numbering) -> Said:
    if not it.numbered or it.bare_at is None:
        return True if it.numbered or it.bare else None
    message = (
        f"{it.bare} of the events looked at have no sequence_number, and {it.numbered} have one; this is the first without"
    )
    return Breach(message, frame=it.bare_at.frame, span=it.bare_at.span)


@SEQUENCE.rule(
    7,
    Level.MUST,
    "sequence_number grows by exactly 1",
    at=Numbering,
    kind="responses/sequence-gap",
    source="openai-responses.md section 3; recordings: 68 of 68",
    why="A gap means that events were lost, and with them a part of the answer.",
    bad='"sequence_number":5, then 41',
    good='"sequence_number":5, then 6',
    seen="fixtures that were cut by hand",
)
def no_gaps(it: Numbering) -> Said:
    more = f" (the first of {it.broken})" if it.broken > len(it.gaps) else ""
    broken = [
        Breach(
            f"sequence_number {gap.after} follows {gap.before}{more}",
            "/sequence_number",
            expected=gap.before + 1,
            got=gap.after,
            frame=gap.at.frame,
            span=gap.at.span,
        )
        for gap in it.gaps
    ]
    return broken or (True if it.followed else None)


@SEQUENCE.rule(
    8,
    Level.SHOULD,
    "the first sequence_number of a stream that is not resumed is 0",
    at=Numbering,
    kind="responses/sequence-start",
    source="openai-responses.md section 3; recordings: 68 of 68",
    why="A client takes the events before it for lost.",
    bad='response.created with "sequence_number":1',
    good='response.created with "sequence_number":0',
    seen="resumed streams",
)
def starts_at_zero(it: Numbering) -> Said:
    if it.resumed or it.first_at is None:
        return None
    if it.first == 0:
        return True
    message = f"the first sequence_number is {it.first}"
    return Breach(message, "/sequence_number", 0, it.first, frame=it.first_at.frame, span=it.first_at.span)


@SEQUENCE.rule(
    48,
    Level.SHOULD,
    "events have a sequence_number, which resuming a stream needs",
    at=Numbering,
    kind="responses/sequence-missing",
    source="SDK-OAI: the types have it required; recordings: 68 of 70; tried: SDK-OAI survives without",
    why="A stream that breaks off cannot be taken up again.",
    bad='{"type":"response.created","response":{…}}',
    good='{"type":"response.created","response":{…},"sequence_number":0}',
    seen="OpenAI before May 2025, llama.cpp",
)
def is_numbered(it: Numbering) -> Said:
    if it.numbered:
        return True
    if it.bare_at is None:
        return None
    return Breach("no event has a sequence_number; this is the first", frame=it.bare_at.frame, span=it.bare_at.span)
