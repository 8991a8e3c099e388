"""The order of events in a stream of Messages: around the message, and of its blocks."""

from __future__ import annotations

from harness.conformance.rules.order import ANY, END, Row, Table
from harness.conformance.rules.rule import Rules
from harness.findings import Level

ANTHROPIC = Rules("ANT", dialects=["anthropic-messages", "bedrock-invoke"])

START = "message_start"
BLOCK = "content_block_start"
DELTA = "content_block_delta"
STRAY = "content_block_delta of a block that is not open"
STOP = "content_block_stop"
STRAY_STOP = "content_block_stop of a block that is not open"
ENDING = "message_delta"
FINAL = "message_stop"
ERROR = "error"

_FIRST = ANTHROPIC.order(
    1,
    Level.MUST,
    "the first event but pings is message_start, and there is one; an error may come in its place",
    kind="anthropic/message-start",
    source="SDK-ANT, accumulate_event: raises on anything else; recordings, 85 of 85",
    why="The SDK raises when another event comes first, and takes a second message_start for the start of another answer.",
    bad="event: content_block_start as the first event",
    good="event: message_start, then event: content_block_start",
    seen="proxies that send it again when they fall back to another server",
)
_LAST = ANTHROPIC.order(
    2,
    Level.MUST,
    "the last event is message_stop, unless an error ended the turn",
    kind="stream/truncated",
    source="SDK-ANT; recordings, 84 of 85, the other one a mock server's that was cut",
    why="Without it nobody knows whether the answer is whole; clients that wait for it hang until the connection closes.",
    bad="event: message_delta + end of stream",
    good="event: message_delta, event: message_stop + end of stream",
    seen="cut connections",
)
_OPEN = ANTHROPIC.order(
    6,
    Level.MUST,
    "one block is open at a time, and content_block_delta and content_block_stop name it",
    kind="anthropic/block-not-open",
    source="recordings, 85 of 85; wire/anthropic-messages.md section 3",
    why="Clients that keep the block that is open append the piece to the wrong one.",
    bad='block 1 is open, and a delta says "index":0',
    good='block 1 is open, and a delta says "index":1',
    seen="llama.cpp (all stops at the end); gateways that interleave the pieces of parallel calls",
)
_STOPS = ANTHROPIC.order(
    7,
    Level.MUST,
    "each block has its content_block_stop before the next block starts, and before message_delta",
    kind="anthropic/block-not-stopped",
    source="SDK-ANT: a block is handed over at its stop; wire/anthropic-messages.md section 3",
    why="Clients hand over a text or run a call at the stop of its block: without it the call is never run.",
    bad="content_block_start 0, content_block_start 1",
    good="content_block_start 0, content_block_stop 0, content_block_start 1",
    seen="llama.cpp: all stops come at the end, one after the other",
)
_FAILED = ANTHROPIC.order(
    20,
    Level.MUST,
    "nothing follows an error event",
    kind="error/not-last",
    source="SDK-ANT: raises at the error; wire/anthropic-messages.md section 7",
    why="Clients raise at the error and close; a message_stop after it tells others that all went well.",
    bad="event: error, then event: message_stop",
    good="event: error + end of stream",
)

_BEFORE = "before the message"
_BEGUN = "in the message"
_STOPPED = "the message has stopped"
_BROKEN = "after an error"
_TOO_EARLY = "an event before message_start; clients make the message of that one"

ORDER = Table(
    name="A stream of Messages",
    rows=(
        Row(_BEFORE, START, _BEGUN),
        Row(_BEFORE, ERROR, _BROKEN),
        *(Row(_BEFORE, early, _BEGUN, _FIRST, _TOO_EARLY) for early in (BLOCK, DELTA, STOP, ENDING)),
        Row(_BEFORE, FINAL, _STOPPED, _FIRST, _TOO_EARLY),
        Row(_BEFORE, END, _BEFORE, _LAST, "the stream ends before the message began: no message_stop"),
        Row(_BEGUN, START, _BEGUN, _FIRST, "a second message_start in one stream; the message goes on after the first"),
        Row(_BEGUN, FINAL, _STOPPED),
        Row(_BEGUN, ERROR, _BROKEN),
        Row(_BEGUN, END, _BEGUN, _LAST, "the stream ends without message_stop: it was cut"),
        Row(_STOPPED, END, _STOPPED),
        Row(
            _STOPPED,
            ANY,
            _STOPPED,
            _LAST,
            "an event after message_stop; clients have stopped reading by then",
            "stream/data-after-done",
        ),
        Row(_BROKEN, END, _BROKEN),
        Row(_BROKEN, ANY, _BROKEN, _FAILED, "an event after the error; clients have stopped reading by then"),
    ),
)

_NONE_OPEN = "no block is open; the block that is meant has stopped, or never started"
_NOT_OVER = "the block that is open has no content_block_stop yet; send it first"

BLOCKS = Table(
    name="The blocks of a message",
    rows=(
        Row("between blocks", BLOCK, "a block is open"),
        *(Row("between blocks", stray, "between blocks", _OPEN, _NONE_OPEN) for stray in (STRAY, STRAY_STOP)),
        Row("between blocks", ENDING, "content is over"),
        Row("a block is open", BLOCK, "a block is open", _STOPS, f"a block starts, and {_NOT_OVER}"),
        Row("a block is open", DELTA, "a block is open"),
        Row("a block is open", STRAY, "a block is open", _OPEN, "a delta names another block than the one that is open"),
        Row("a block is open", STOP, "between blocks"),
        Row("a block is open", STRAY_STOP, "a block is open", _OPEN, "a stop names another block than the one that is open"),
        Row("a block is open", ENDING, "content is over", _STOPS, f"message_delta comes, and {_NOT_OVER}"),
        Row("a block is open", FINAL, "content is over", _STOPS, f"message_stop comes, and {_NOT_OVER}"),
        Row("content is over", BLOCK, "a block is open", _STOPS, "a block starts after message_delta; content is over by then"),
        *(Row("content is over", stray, "content is over", _OPEN, _NONE_OPEN) for stray in (STRAY, STRAY_STOP)),
    ),
)
