"""Rules about a JSON array as a stream: Gemini without `alt=sse`."""

from __future__ import annotations

from harness.conformance.rules.rule import Rules, Said
from harness.conformance.rules.sights import Ending
from harness.findings import Level

JSA = Rules("JSA", framings=["json-array"])
GROUPS = (JSA,)


@JSA.rule(
    1,
    Level.MUST,
    "the body is one JSON array of objects",
    at=Ending,
    kind="framing/comma-missing",
    source="gemini.md: streamGenerateContent without alt=sse",
    why="A client that parses the whole body fails on it; one that parses elements as they come loses its place.",
    bad='[{"a":1}{"b":2}]',
    good='[{"a":1},{"b":2}]',
)
def body_is_an_array(it: Ending) -> Said:
    kinds = ("comma-missing", "outside-syntax", "not-an-object", "invalid-json", "non-json-data", "invalid-utf8", "bom")
    return it.breaches(*(f"framing/{kind}" for kind in kinds)) or True


@JSA.rule(
    2,
    Level.MUST,
    "the closing bracket arrives",
    at=Ending,
    kind="stream/array-unclosed",
    source="RFC 8259",
    why="Without it nobody knows whether elements are missing; a client that parses at the end gets nothing.",
    bad="[{…}, + end of stream",
    good="[{…},{…}]",
    seen="cut connections",
)
def array_is_closed(it: Ending) -> Said:
    return it.breaches("stream/array-unclosed", "framing/frame-truncated") or True


@JSA.rule(
    4,
    Level.SHOULD,
    "nothing follows the array: an error is an element of it, or all of it",
    at=Ending,
    kind="framing/trailing-data",
    source="SDK-GGL unwraps an array of one error",
    why="A client that has seen the closing bracket does not read the error behind it.",
    bad='[{…}] {"error":{…}}',
    good='[{…},{"error":{…}}]',
)
def nothing_after_the_array(it: Ending) -> Said:
    return it.breaches("framing/trailing-data") or True
