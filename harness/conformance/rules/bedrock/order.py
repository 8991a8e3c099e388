"""The order of a Converse stream: of the events of its message, and of those of one block."""

from __future__ import annotations

from harness.conformance.rules.order import ANY, END, Row, Table
from harness.conformance.rules.rule import Rules
from harness.findings import Level

BEDROCK = Rules("BDR", dialects=["bedrock-converse", "bedrock-invoke"])

MESSAGE_START = "messageStart"
BLOCK = "an event of a block"
MESSAGE_STOP = "messageStop"
METADATA = "metadata"
FAILURE = "an exception"
START, DELTA, STOP = "contentBlockStart", "contentBlockDelta", "contentBlockStop"

_BEGINS = BEDROCK.order(
    1,
    Level.MUST,
    "a stream begins with messageStart, and has one",
    kind="bedrock/message-start",
    source="service model, ConverseStreamOutput; recordings, 25 of 25",
    why="Clients make the message when it begins; what comes before has nothing to be added to.",
    bad="contentBlockDelta as the first event",
    good="messageStart, then contentBlockDelta",
    seen="simplified fixtures",
)
_ENDS = BEDROCK.order(
    3,
    Level.MUST,
    "messageStop comes once, after all blocks, unless an exception ended the stream",
    kind="stream/truncated",
    source="wire/bedrock-converse.md section 3; recordings, 49 of 49; BR-097, BR-098",
    why="Without it nobody knows why the model stopped, nor whether it did; what follows it is not taken for part of the turn.",
    bad="contentBlockStop + end of stream",
    good='contentBlockStop, messageStop {"stopReason":"end_turn"}, metadata',
    seen="cut connections",
)
_COUNTED = BEDROCK.order(
    4,
    Level.MUST,
    "metadata comes once, unless an exception ended the stream",
    kind="stream/trailer-missing",
    source="service model; wire/bedrock-converse.md section 3; recordings, 49 of 49",
    why="It alone has the usage: without it the turn costs nothing, with two it is counted twice.",
    bad="messageStop + end of stream",
    good="messageStop, metadata",
    seen="gateways",
)
_LAST = BEDROCK.order(
    5,
    Level.SHOULD,
    "metadata comes after messageStop",
    kind="bedrock/metadata-early",
    source="wire/bedrock-converse.md section 3; recordings, 25 of 25; BR-096",
    why="Clients that take metadata for the end of the stream miss the stop reason.",
    bad="metadata, messageStop",
    good="messageStop, metadata",
    seen="fixtures; gateways",
)
_STOPS = BEDROCK.order(
    10,
    Level.MUST,
    "every block that was opened gets contentBlockStop before messageStop",
    kind="bedrock/block-not-stopped",
    source="service model; recordings, 49 of 49; BR-106",
    why="Clients hand over a call when its block stops: this one is never run.",
    bad="contentBlockDelta, messageStop",
    good="contentBlockDelta, contentBlockStop, messageStop",
    seen="fixtures; gateways",
)
_CLOSED = BEDROCK.order(
    32,
    Level.MUST,
    "no delta of a block follows its contentBlockStop",
    kind="bedrock/delta-after-stop",
    source="wire/bedrock-converse.md section 3; service model",
    why="The block was handed over when it stopped; what comes later is lost, or changes a call that has run.",
    bad="contentBlockStop of 0, contentBlockDelta of 0",
    good="contentBlockDelta of 0, contentBlockStop of 0",
)

_NEW, _OPEN, _EARLY, _STOPPED, _WHOLE, _FAILED = (
    "nothing yet",
    "a message",
    "metadata came early",
    "the message has stopped",
    "the stream is whole",
    "after an exception",
)
_TWICE = "messageStart a second time; a stream has one message"
_CUT = "the stream ends without messageStop: it was cut off, or a gateway keeps the stop reason for itself"
_LATE = "an event of a block after messageStop; it belongs before"
_ONCE_MORE = "messageStop a second time; the message had stopped"
_COUNTED_TWICE = "metadata a second time; the usage of a turn is told once"

ORDER = Table(
    name="A Converse stream",
    rows=(
        Row(_NEW, MESSAGE_START, _OPEN),
        Row(_NEW, FAILURE, _FAILED),
        Row(_NEW, END, _NEW, _ENDS, _CUT),
        Row(_NEW, MESSAGE_STOP, _STOPPED, _BEGINS, "messageStop before any messageStart; send messageStart first"),
        Row(_NEW, METADATA, _EARLY, _BEGINS, "metadata before messageStart; send messageStart first"),
        Row(_NEW, ANY, _OPEN, _BEGINS, "an event of a block before messageStart; send messageStart first"),
        Row(_OPEN, MESSAGE_START, _OPEN, _BEGINS, _TWICE),
        Row(_OPEN, MESSAGE_STOP, _STOPPED),
        Row(_OPEN, METADATA, _EARLY, _LAST, "metadata before messageStop; it is the last event"),
        Row(_OPEN, FAILURE, _FAILED),
        Row(_OPEN, END, _OPEN, _ENDS, _CUT),
        Row(_EARLY, MESSAGE_START, _EARLY, _BEGINS, _TWICE),
        Row(_EARLY, MESSAGE_STOP, _WHOLE),
        Row(_EARLY, METADATA, _EARLY, _COUNTED, _COUNTED_TWICE, "usage/repeated"),
        Row(_EARLY, FAILURE, _FAILED),
        Row(_EARLY, END, _EARLY, _ENDS, _CUT),
        Row(_STOPPED, MESSAGE_START, _STOPPED, _BEGINS, _TWICE),
        Row(_STOPPED, BLOCK, _STOPPED, _ENDS, _LATE, "stream/data-after-done"),
        Row(_STOPPED, MESSAGE_STOP, _STOPPED, _ENDS, _ONCE_MORE, "stream/data-after-done"),
        Row(_STOPPED, METADATA, _WHOLE),
        Row(_STOPPED, FAILURE, _FAILED),
        Row(_STOPPED, END, _STOPPED, _COUNTED, "the stream ends without metadata: the usage of the turn is not known"),
        Row(_WHOLE, MESSAGE_START, _WHOLE, _BEGINS, _TWICE),
        Row(_WHOLE, BLOCK, _WHOLE, _ENDS, _LATE, "stream/data-after-done"),
        Row(_WHOLE, MESSAGE_STOP, _WHOLE, _ENDS, _ONCE_MORE, "stream/data-after-done"),
        Row(_WHOLE, METADATA, _WHOLE, _COUNTED, _COUNTED_TWICE, "usage/repeated"),
        Row(_WHOLE, FAILURE, _FAILED),
    ),
)
"""Nothing is said of what follows an exception: a rule of the framing is about that."""

BLOCK_OPEN, BLOCK_STOPPED = "open", "stopped"
BLOCK_ORDER = Table(
    name="A block of Converse",
    ends=frozenset({STOP, MESSAGE_STOP}),
    rows=(
        Row(BLOCK_OPEN, STOP, BLOCK_STOPPED),
        Row(BLOCK_OPEN, MESSAGE_STOP, BLOCK_STOPPED, _STOPS, "messageStop comes while this block is open; stop it first"),
        Row(BLOCK_STOPPED, DELTA, BLOCK_STOPPED, _CLOSED, "a delta for a block that has stopped; it belongs before the stop"),
    ),
)
