"""Rules about the end of a candidate."""

from __future__ import annotations

from urllib.parse import unquote

from harness.conformance.rules.gemini.sights import Candidate
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.conformance.rules.sights import Ending
from harness.findings import Level

FINISH = Rules("GGL", dialects=["gemini"])
_WIRE = "wire/google-generatecontent.md section"
_NAMES = frozenset(
    [
        "FINISH_REASON_UNSPECIFIED",
        "STOP",
        "MAX_TOKENS",
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "IMAGE_OTHER",
        "NO_IMAGE",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
        "CONTINUATION",
        "MODEL_ARMOR",
    ]
)


@FINISH.rule(
    2,
    Level.MUST,
    "the stream has a `finishReason` for each candidate, or a block reason, or an error",
    at=Ending,
    kind="stream/truncated",
    source=f"{_WIRE} 3; BR-084; recordings, 66 of 66",
    why="There is no end marker: without a finish reason half an answer cannot be told from a whole one.",
    bad='{"candidates":[{"content":{"parts":[{"text":"Mind the"}]}}]} + end of body',
    good='{"candidates":[{"content":{"parts":[{"text":" gap."}]},"finishReason":"STOP"}]} + end of body',
    seen="cut connections; a test file of a Google SDK",
)
def every_candidate_finishes(it: Ending) -> Said:
    return it.breaches("stream/truncated") or (True if it.seen.complete or it.seen.error else None)


@FINISH.rule(
    5,
    Level.MUST,
    "`finishReason` is a name of the enum, or its number if the query asked for enum-encoding=int",
    at=Candidate,
    kind="finish/unknown-value",
    source=f"{_WIRE} 8; SDK-GGL FinishReason; recordings, 66 of 66",
    why="Clients compare names: they take any other word for an unknown reason, or refuse the chunk.",
    bad='"finishReason":"stop"',
    good='"finishReason":"STOP"',
    seen="servers that translate from other APIs",
)
def finish_reason_is_a_name(it: Candidate) -> Said:
    reason = it.finish
    if reason is None:
        return None
    if isinstance(reason, str) and reason in _NAMES:
        return True
    target = it.chunk.case.exchange.request.target
    if isinstance(reason, int) and not isinstance(reason, bool) and (not target or "enum-encoding=int" in unquote(target)):
        return True if target else None
    message = f"the finish reason is {reason!r}; a name of the enum was expected, in capitals"
    return Breach(message, f"{it.path}/finishReason", expected="STOP, MAX_TOKENS, SAFETY, …", got=reason)


@FINISH.rule(
    38,
    Level.INFO,
    "the finish reason does not say that the model broke off",
    at=Ending,
    kind="finish/abnormal",
    source="BR-088; semantics.md 4.5",
    why="There is no answer, or half a call, under status 200: taken for a stop, an agent shows nothing and asks for ever.",
    bad='"finishReason":"MALFORMED_FUNCTION_CALL"',
    good='"finishReason":"STOP"',
    seen="Gemini",
)
def model_did_not_break_off(it: Ending) -> Said:
    return it.breaches("finish/abnormal") or (True if it.seen.complete else None)
