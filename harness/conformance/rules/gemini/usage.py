"""Rules about the counts of tokens: snapshots, of which the last one with a total counts."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.gemini.sights import Chunk, StreamFacts, Total, is_bare
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_count, as_object
from harness.findings import Level

USAGE = Rules("GGL", dialects=["gemini"])
_WIRE = "wire/google-generatecontent.md section 5"
_ADDENDS = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount")


@USAGE.rule(
    20,
    Level.INFO,
    "`totalTokenCount` does not shrink from chunk to chunk",
    at=Total,
    kind="gemini/total-shrinks",
    source=f"{_WIRE}; BR-082; 4 of 27 recordings have it shrink",
    why="The counts are snapshots: clients that sum them up, or keep the largest, bill too much.",
    bad='"totalTokenCount":102, then "totalTokenCount":9',
    good='"totalTokenCount":9, then "totalTokenCount":102',
    seen="Gemini 3 with tools of the server, Gemini 2.0",
)
def totals_do_not_shrink(it: Total) -> Said:
    if it.now >= it.before:
        return True
    message = f"the total was {it.before} and is {it.now} now; the last one counts"
    path = "/usageMetadata/totalTokenCount"
    return Breach(message, path, expected=it.before, got=it.now, frame=it.frame.index, span=it.frame.span)


@USAGE.rule(
    21,
    Level.MUST,
    "the last total is the sum of prompt, candidates, thoughts and tool use",
    at=Ending,
    kind="usage/sum-wrong",
    source=f"{_WIRE}; BR-083; recordings, 64 of 64",
    why="Whoever bills by the total, or by the parts, comes to different sums.",
    bad="prompt 6, candidates 12, thoughts 88, total 18",
    good="prompt 6, candidates 12, thoughts 88, total 106",
    seen="servers that translate from other APIs, which count thoughts as output",
)
def total_is_the_sum(it: Ending) -> Said:
    usage = _last(it)
    counts = [count for name in _ADDENDS if (count := as_count(usage.get(name))) is not None]
    total = as_count(usage.get("totalTokenCount"))
    if total is None or not counts:
        return None
    if total == sum(counts):
        return True
    said = ", ".join(f"{name} {usage[name]}" for name in _ADDENDS if usage.get(name) is not None)
    return Breach(f"the total is {total}, and its parts make {sum(counts)} ({said})", expected=sum(counts), got=total)


@USAGE.rule(
    22,
    Level.INFO,
    "the last counts have `candidatesTokenCount`",
    at=Ending,
    kind="gemini/usage-without-output",
    source=f"{_WIRE}; recordings",
    why="A missing count is not zero: it was in the chunk before, or was never told.",
    bad='"promptTokenCount":87,"thoughtsTokenCount":78,"totalTokenCount":165',
    good='"promptTokenCount":87,"candidatesTokenCount":21,"thoughtsTokenCount":78,"totalTokenCount":186',
    seen="Gemini 3 with tools of the server",
)
def last_usage_counts_the_answer(it: Ending) -> Said:
    usage = _last(it)
    if usage.get("totalTokenCount") is None or not (isinstance(it.facts, StreamFacts) and it.facts.candidates):
        return None
    return True if usage.get("candidatesTokenCount") is not None else Breach("the last counts lack `candidatesTokenCount`")


@USAGE.rule(
    23,
    Level.INFO,
    "usage in the middle of a stream has counts",
    at=Chunk,
    kind="gemini/usage-without-counts",
    source=f"{_WIRE}; recordings",
    why="Clients that take any usage for the counts overwrite them with nothing: the last one with a total counts.",
    bad='"usageMetadata":{"trafficType":"ON_DEMAND"}',
    good='"usageMetadata":{"promptTokenCount":31,"totalTokenCount":31,"trafficType":"ON_DEMAND"}',
    seen="Vertex",
)
def usage_has_counts(it: Chunk) -> Said:
    usage = as_object(it.raw.get("usageMetadata"))
    if not usage or (is_bare(usage) and it.facts.bare_usage):
        return None
    return Breach("usage that only says `trafficType`", "/usageMetadata", got=usage) if is_bare(usage) else True


def _last(it: Ending) -> dict[str, Any]:
    """The counts that count: those in the body."""
    return as_object(as_object(it.seen.body).get("usageMetadata"))
