"""The order of lines in a stream of Ollama."""

from __future__ import annotations

from harness.conformance.rules.order import ANY, END, Row, Table
from harness.conformance.rules.rule import Rules
from harness.findings import Level

OLLAMA = Rules("OLL", dialects=["ollama-chat"])

_DONE = OLLAMA.order(
    1,
    Level.MUST,
    "the last line says done: true, and all others done: false",
    kind="stream/truncated",
    source="OLL-SRC; recordings, 19 of 19; not applicable after a line with an error",
    why="Without the last line nobody knows why the model stopped, nor whether it did.",
    bad='{"message":{…},"done":false} + end of stream',
    good='{"message":{…},"done":true,"done_reason":"stop"}',
    seen="cut connections; old servers, when the model repeats itself and they break off",
)
_FAILED = OLLAMA.order(
    20,
    Level.MUST,
    "a line with an error is the last one",
    kind="error/not-last",
    source="OLL-SRC: the handler returns",
    why="Clients raise at the error; what follows is never read.",
    bad='{"error":"…"}, then {"message":{…},"done":true}',
    good='{"error":"…"} as the last line',
)

ORDER = Table(
    name="ollama-chat",
    ends=frozenset({"done", END}),
    rows=(
        Row("open", "line", "open"),
        Row("open", "done", "done"),
        Row("open", "error", "failed"),
        Row("open", END, "open", _DONE, "the stream ends before a line that says done: true"),
        Row("failed", END, "failed"),
        Row("failed", ANY, "failed", _FAILED, "a line follows the error; clients have stopped reading by then"),
    ),
)
