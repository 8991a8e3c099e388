"""The order of a Chat stream: how it ends, what may follow an error, and what a choice is still allowed after its finish."""

from __future__ import annotations

from harness.conformance.rules.openai_chat.sights import rules
from harness.conformance.rules.order import ANY, END, Row, Table
from harness.findings import Level

ENDS = rules()

BEGUN = "a chunk; a choice is unfinished"
FINISHED = "a chunk; every choice has its finish reason"
ERROR = "an error event"
CONTENT = "content, refusal or calls"
FINISH = "a finish reason"
DONE = "[DONE]"

_DONE = ENDS.order(
    1,
    Level.MUST,
    "a stream ends with `data: [DONE]`, unless an error ended it",
    kind="stream/done-missing",
    source="SDK-OAI: the stream helper reads until it; recordings, 56 of 56; BR-033",
    why="Clients that wait for the marker hang until the connection closes, or report a turn that was complete as cut off.",
    bad='… "finish_reason":"stop" …, end of the body',
    good='… "finish_reason":"stop" …, data: [DONE]',
    seen="gpustack, Perplexity, the Hugging Face router",
)
_FINISH = ENDS.order(
    14,
    Level.MUST,
    "each choice gets exactly one finish reason before the stream ends, unless an error ended it",
    kind="stream/finish-missing",
    source="SDK-OAI, `ChatCompletionChunk.choices[].finish_reason`; recordings, 56 of 56; BR-028, BR-031, BR-032",
    why="Without a reason nobody can tell a complete answer from one that was cut off; with two, a turn ends twice.",
    bad='deltas, then data: [DONE]; or "finish_reason":"stop" on two chunks of a choice',
    good='"finish_reason":null on every chunk of a choice but the last, which has "stop"',
    seen="Snowflake (none); OpenRouter, Avian, Doubleword (two)",
)
_AFTER_FINISH = ENDS.order(
    17,
    Level.MUST,
    "no content, refusal or call follows the finish reason of its choice",
    kind="delta/after-finish",
    source="wire/openai-chat.md section 3; recordings, 56 of 56",
    why="Clients hand a choice over at its finish reason; what comes later is lost, or is taken for another answer.",
    bad='{"delta":{},"finish_reason":"stop"}, then {"delta":{"content":"!"}}',
    good='{"delta":{"content":"!"}}, then {"delta":{},"finish_reason":"stop"}',
    seen="OpenRouter, Together",
)
_AFTER_ERROR = ENDS.order(
    45,
    Level.SHOULD,
    "nothing but [DONE] follows an error event",
    kind="error/followed",
    source="wire/openai-chat.md section 9: every server closes after an error",
    why="Clients raise at the error and close; what follows is read by nobody.",
    bad='data: {"error":{…}}, then data: {"choices":[{"delta":{"content":"…"}}]}',
    good='data: {"error":{…}}, then the end of the body, or data: [DONE]',
)

_BEFORE, _OPEN, _ENDING, _FAILED, _CLOSED = (
    "no choice yet",
    "in the middle",
    "every choice has finished",
    "after an error",
    "closed",
)
_NO_CHOICE = "the stream ends before any choice began; every choice asked for is due, each with its finish reason"

ORDER = Table(
    name="A Chat stream",
    ends=frozenset({DONE, END}),
    rows=(
        Row(_BEFORE, BEGUN, _OPEN),
        Row(_BEFORE, FINISHED, _ENDING),
        Row(_BEFORE, ERROR, _FAILED),
        Row(_BEFORE, DONE, _CLOSED, _FINISH, _NO_CHOICE),
        Row(_BEFORE, END, _CLOSED, _FINISH, _NO_CHOICE, "stream/truncated"),
        Row(_OPEN, FINISHED, _ENDING),
        Row(_OPEN, ERROR, _FAILED),
        Row(_OPEN, DONE, _CLOSED),
        Row(_OPEN, END, _CLOSED),
        Row(_ENDING, BEGUN, _OPEN),
        Row(_ENDING, ERROR, _FAILED),
        Row(_ENDING, DONE, _CLOSED),
        Row(_ENDING, END, _CLOSED, _DONE, "the stream ends without [DONE], although every choice has finished; send it last"),
        Row(_FAILED, DONE, _CLOSED),
        Row(_FAILED, END, _CLOSED),
        Row(_FAILED, ANY, _FAILED, _AFTER_ERROR, "a payload after an error event; the stream should be closed there"),
    ),
)

CHOICE_ORDER = Table(
    name="A choice",
    ends=frozenset({DONE, END}),
    rows=(
        Row("begun", FINISH, "finished"),
        Row(
            "begun",
            DONE,
            "ended",
            _FINISH,
            "[DONE] comes before the finish reason of this choice; send one, or nobody can tell that it is complete",
        ),
        Row(
            "begun",
            END,
            "ended",
            _FINISH,
            "the body ends before the finish reason of this choice: it was cut",
            "stream/truncated",
        ),
        Row("finished", CONTENT, "finished", _AFTER_FINISH, "content after the finish reason of its choice; it belongs before"),
        Row(
            "finished",
            FINISH,
            "finished",
            _FINISH,
            "a second finish reason for one choice; the first one ended it",
            "finish/repeated",
        ),
        Row("finished", DONE, "ended"),
        Row("finished", END, "ended"),
    ),
)
