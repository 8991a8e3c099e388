"""The order of events of a response, of its items, their parts, calls and tools, as tables (openai-responses.md section 4).

The rules that tables judge are declared here as well; their ids are what the rows name.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.conformance.rules.order import ANY, END, Row, Table
from harness.conformance.rules.rule import Need, Rules
from harness.findings import Level

ORDER_OF_EVENTS = Rules("RSP", dialects=["openai-responses"])
"""The rules about order."""
LOST = "connection lost"
DONE = "[DONE]"
_STATES = "openai-responses.md section 4"

FIRST = ORDER_OF_EVENTS.order(
    1,
    Level.MUST,
    "the first event is response.created or response.queued (or an error, or the point at which a stream is resumed)",
    kind="responses/first-event",
    source=f"{_STATES}; SDK-OAI: the accumulator raises on anything else",
    why="The official client has no response to put items into and raises on the first event.",
    bad='a stream that begins with {"type":"response.output_item.added",…}',
    good='{"type":"response.created","response":{…,"output":[]}} first',
    seen="resumed streams that were cut by hand",
)
LAST = ORDER_OF_EVENTS.order(
    2,
    Level.MUST,
    "the stream ends with response.completed, response.incomplete or response.failed, unless an error event ended it",
    kind="stream/truncated",
    source=f"{_STATES}; SDK-OAI; OR-SPEC; bug report BR-063",
    why="Without it the turn has no status, no usage and no final output: the answer may be half of one.",
    bad="output_item.done, then the body ends",
    good='output_item.done, then {"type":"response.completed","response":{…}}',
    seen="cut connections, proxies with a time limit",
)
NOTHING_AFTER = ORDER_OF_EVENTS.order(
    3,
    Level.MUST,
    "no event follows the terminal event, not even a second one; only [DONE] may",
    kind="stream/data-after-done",
    source=f"{_STATES}; OR-SPEC",
    why="Clients stop reading at the terminal event: what follows is lost, or belongs to another turn.",
    bad="response.completed, then response.output_text.delta",
    good="response.completed, then the end of the body",
)
ADDED_FIRST = ORDER_OF_EVENTS.order(
    13,
    Level.MUST,
    "response.output_item.added comes before any other event of its output_index",
    kind="responses/item-not-announced",
    source=f"{_STATES}; OR-SPEC; SDK-OAI raises; bug report BR-066",
    why="Clients put texts into the item at that index of their list; there is none yet.",
    bad="response.output_text.delta at output_index 1, which was never added",
    good="response.output_item.added at output_index 1, then its events",
)
ADDED_ONCE = ORDER_OF_EVENTS.order(
    14,
    Level.MUST,
    "an output_index is added once",
    kind="responses/index-collision",
    source="OR-SPEC; SDK-OAI raises on duplicates; bug report BR-074",
    why="The index is the key of an item: a second item at it takes the first one's place, or its texts are welded together.",
    bad="a message and then a function_call, both added at output_index 0",
    good="the message at output_index 0, the function_call at 1",
    seen="concatenated streams",
)
PART_FIRST = ORDER_OF_EVENTS.order(
    21,
    Level.MUST,
    "content_part.added (or reasoning_part.added) comes before the deltas of text, refusal or reasoning of its content_index",
    kind="responses/part-not-announced",
    source=f"{_STATES}; OR-SPEC; bug report BR-067",
    why="Clients append to the part at that index of the item's content; the official one raises IndexError.",
    bad="output_item.added, then output_text.delta",
    good="output_item.added, content_part.added, then output_text.delta",
    seen="llama.cpp (reasoning), servers in the style of Mistral.rs",
)
CLOSING = ORDER_OF_EVENTS.order(
    28,
    Level.MUST,
    "what is open is closed from the inside out: the text's done, content_part.done, output_item.done, and nothing after it",
    kind="responses/close-order",
    source=f"{_STATES}; OR-SPEC",
    why="Clients that show a part or run a call when its item is done do so with half of it.",
    bad="output_item.done, then content_part.done of the same item",
    good="output_text.done, content_part.done, output_item.done",
)
SUMMARY_PARTS = "RSP-029"  # in `text`, since it is about more than order
TOOL_STEPS = ORDER_OF_EVENTS.order(
    44,
    Level.SHOULD,
    "status events of a tool keep their order: in_progress; searching, interpreting or generating; completed or failed",
    kind="responses/status-order",
    source="SDK-OAI, names of the events; recordings of all hosted tools",
    why="A progress display runs backwards, or never ends.",
    bad="web_search_call.completed, then web_search_call.searching",
    good="web_search_call.in_progress, .searching, .completed",
)
ERROR_FAILS = ORDER_OF_EVENTS.order(
    37,
    Level.MUST,
    "an error event is followed by response.failed",
    kind="responses/error-without-failed",
    needs=[Need.ERROR],
    source=f"{_STATES}; OR-SPEC; BR-064 and BR-065 end with the error alone",
    why="Clients that wait for a terminal event report a cut connection instead of the error, or wait for ever.",
    bad='{"type":"error",…}, then the body ends',
    good='{"type":"error",…}, then {"type":"response.failed",…}',
    seen="gateways",
)
ARGUMENTS_DONE = ORDER_OF_EVENTS.order(
    50,
    Level.MUST,
    "a function_call item gets function_call_arguments.done before its output_item.done",
    kind="responses/arguments-done-missing",
    source="bug report BR-071; recordings: 28 of 28",
    why="Clients that run a call when its arguments are done never run it, those without arguments above all.",
    bad='output_item.added, then output_item.done with "arguments":"{}"',
    good="output_item.added, function_call_arguments.done, output_item.done",
    seen="vLLM, llama.cpp",
)
RESPONSE = Table(
    name="A stream of Responses",
    ends=frozenset({END, LOST, "completed", "incomplete", "failed"}),
    rows=(
        Row("not begun", "created", "open"),
        Row("not begun", "queued", "open"),
        Row("not begun", "resumed", "open"),
        Row("not begun", "error", "failed"),
        Row("not begun", DONE, "not begun"),
        Row("not begun", END, "not begun"),
        Row("not begun", LOST, "not begun"),
        *(
            Row("not begun", word, "over", FIRST, "the turn ends before response.created")
            for word in ("completed", "incomplete", "failed")
        ),
        Row("not begun", ANY, "open", FIRST, "this comes before response.created, which is the first event of a response"),
        *(Row("open", word, "over") for word in ("completed", "incomplete", "failed")),
        Row("open", "error", "failed"),
        Row("open", END, "over", LAST, "the body ends without response.completed, response.incomplete or response.failed"),
        Row("open", LOST, "over", LAST, "the connection is lost before response.completed, .incomplete or .failed"),
        Row("failed", "failed", "over"),
        *(
            Row("failed", word, "over", ERROR_FAILS, "an error came, and then an end that is not response.failed")
            for word in ("completed", "incomplete")
        ),
        Row("failed", END, "over", ERROR_FAILS, "the body ends after an error event; response.failed was expected"),
        Row("over", DONE, "over"),
        Row("over", END, "over"),
        Row("over", LOST, "over"),
        Row("over", ANY, "over", NOTHING_AFTER, "this comes after the terminal event, where only [DONE] may come"),
    ),
)

ITEM = Table(
    name="An output item of Responses",
    rows=(
        Row("not there", "added", "open"),
        Row("not there", "resumed", "open"),
        Row("not there", "null", "not announced"),
        Row(
            "not there",
            "event",
            "not announced",
            ADDED_FIRST,
            "its item was never added; response.output_item.added comes first",
        ),
        Row("not there", "done", "closed", ADDED_FIRST, "an item is done that was never added"),
        Row("not announced", "added", "open"),
        Row("not announced", "done", "closed"),
        Row("open", "added", "open", ADDED_ONCE, "an item is added at an output_index that has one already"),
        Row("open", "done", "closed"),
        Row("closed", "added", "open", ADDED_ONCE, "an item is added at an output_index that has had one"),
        Row("closed", "event", "closed", CLOSING, "its item is done already; nothing of an item comes after that"),
        Row("closed", "done", "closed", CLOSING, "an item is done twice"),
    ),
)


def _part(announced: str, outside: str) -> Iterator[Row]:
    """A part and its text: `announced` is broken by what comes without a part, `outside` by a text after its end."""
    never = "the part that it belongs to was never added"
    yield Row("not there", "added", "open")
    yield Row("not there", "added with text", "filled")
    yield Row("not there", "resumed", "open")
    yield Row("not there", "delta", "not announced", announced, never)
    yield Row("not there", "text done", "not announced", announced, never)
    yield Row("not there", "done", "closed", announced, "a part is done that was never added")
    yield Row("not announced", "added", "open")
    yield Row("not announced", "done", "closed")
    yield Row("open", "text done", "text done")
    yield Row("open", "done", "closed", CLOSING, "a part is done before its text is")
    yield Row("open", "item done", "closed", CLOSING, "the item is done, and a text in it is not")
    yield Row("filled", "delta", "open")
    yield Row("filled", "text done", "text done")
    yield Row("filled", "done", "closed")
    yield Row("filled", "item done", "closed", CLOSING, "the item is done, and a part of it is not")
    yield Row("text done", "done", "closed")
    yield Row("text done", "delta", "text done", outside, "a piece of a text that is done already")
    yield Row("text done", "item done", "closed", CLOSING, "the item is done, and a part of it is not")
    for symbol in ("delta", "text done", "done"):
        yield Row("closed", symbol, "closed", outside, "its part is done already")


PART = Table(name="A content part of Responses", rows=tuple(_part(PART_FIRST, CLOSING)))
SUMMARY = Table(name="A part of a reasoning summary", rows=tuple(_part(SUMMARY_PARTS, SUMMARY_PARTS)))

CALL = Table(
    name="A function call of Responses",
    rows=(
        Row("open", "arguments done", "told"),
        Row("open", "item done", "told", ARGUMENTS_DONE, "a call is done, and function_call_arguments.done never came"),
    ),
)

TOOL = Table(
    name="A hosted tool of Responses",
    rows=(
        Row("not begun", "in_progress", "in progress"),
        Row("not begun", "working", "at work"),
        Row("not begun", "over", "over"),
        Row("in progress", "working", "at work"),
        Row("in progress", "over", "over"),
        Row("at work", "in_progress", "in progress", TOOL_STEPS, "the tool was at work already"),
        Row("at work", "over", "over"),
        Row("over", "in_progress", "over", TOOL_STEPS, "the tool was done already"),
        Row("over", "working", "over", TOOL_STEPS, "the tool was done already"),
        Row("over", "over", "over", TOOL_STEPS, "the tool was done already"),
    ),
)
