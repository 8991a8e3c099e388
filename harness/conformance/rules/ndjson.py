"""Rules about lines of JSON."""

from __future__ import annotations

from harness.conformance.rules.rule import Rules, Said
from harness.conformance.rules.sights import Ending
from harness.findings import Level

NDJ = Rules("NDJ", framings=["ndjson"])
GROUPS = (NDJ,)


@NDJ.rule(
    1,
    Level.MUST,
    "each line is one JSON object",
    at=Ending,
    kind="framing/non-json-data",
    source="OLL-SRC: one encoder call for each response",
    why="Clients parse line by line; a line of two objects, or of half a one, ends the turn with an exception.",
    bad='{"a":1}{"b":2}',
    good='{"a":1} LF {"b":2} LF',
)
def lines_are_objects(it: Ending) -> Said:
    kinds = ("framing/invalid-json", "framing/non-json-data", "framing/not-an-object", "framing/invalid-utf8")
    return it.breaches(*kinds) or True


@NDJ.rule(
    3,
    Level.MUST,
    "the last line is ended by a line feed, or is complete JSON",
    at=Ending,
    kind="framing/frame-truncated",
    source="OLL-SRC",
    why="Half a line is no object: the end of the turn, and its counts, are lost.",
    bad='{"done":fal + end of stream',
    good='{"done":true} LF',
    seen="cut connections",
)
def last_line_is_whole(it: Ending) -> Said:
    return it.breaches("framing/frame-truncated") or True


@NDJ.rule(
    4,
    Level.SHOULD,
    "there are no blank lines and no byte-order mark",
    at=Ending,
    kind="framing/blank-line",
    source="OLL-SRC; SDK-OLL raises on a blank line",
    why="The official client takes an empty line for broken JSON.",
    bad="an empty line between two objects",
    good="one object after the other",
)
def no_blank_lines(it: Ending) -> Said:
    return it.breaches("framing/blank-line", "framing/bom") or True


@NDJ.rule(
    5,
    Level.MUST,
    "nothing follows the line that says done",
    at=Ending,
    kind="stream/data-after-done",
    source="OLL-SRC",
    why="Clients stop at the line that says done; what comes later is lost.",
    bad='a line with content after {"done":true}',
    good='{"done":true} as the last line',
)
def nothing_after_the_last_object(it: Ending) -> Said:
    return it.breaches("stream/data-after-done") or (True if it.seen.complete else None)
