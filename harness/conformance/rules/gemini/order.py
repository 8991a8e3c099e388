"""The order of what a stream of `generateContent` sends, in tables: of a candidate, its thoughts, its code, its calls."""

from __future__ import annotations

from harness.conformance.rules.order import END, Row, Table
from harness.conformance.rules.rule import Rules
from harness.findings import Level

ORDER = Rules("GGL", dialects=["gemini"])
_WIRE = "wire/google-generatecontent.md section"

_FINISH_IS_LAST = ORDER.order(
    4,
    Level.SHOULD,
    "the chunk with a candidate's `finishReason` is its last one",
    kind="delta/after-finish",
    source=f"{_WIRE} 2; recordings, 27 of 27",
    why="A client that stops at the finish reason loses what comes after it.",
    bad='{"finishReason":"STOP"}, then a chunk with more text',
    good='all text, then {"finishReason":"STOP"}',
    seen="turns with several rounds of code execution; two test files of the Google SDKs",
)
_OPENS_WITH_NAME = ORDER.order(
    14,
    Level.MUST,
    "a call whose arguments are streamed opens with `name` and `willContinue: true`",
    kind="gemini/partial-args-orphan",
    source=f"{_WIRE} 4; recordings, 5 of 5; BR-093",
    why="Pieces without an open call belong to nothing: clients drop them, or make a call without a name of them.",
    bad='{"functionCall":{"partialArgs":[{"jsonPath":"$.port","stringValue":"Ribe"}]}} as the first part',
    good='{"functionCall":{"name":"tide","willContinue":true}}, then the pieces',
)
_TEXT_IS_CLOSED = ORDER.order(
    17,
    Level.MUST,
    "a streamed text argument is ended by an entry without `willContinue` before another path begins",
    kind="gemini/partial-args-open",
    source=f"{_WIRE} 4; SDK-GGL PartialArg.will_continue: another entry of this path is expected to follow",
    why="Clients that keep one text open add the next path's text to it, or never hand the argument out.",
    bad='"$.port" with willContinue, then "$.day"',
    good='"$.port" with willContinue, "$.port" without it, then "$.day"',
)
_CLOSED_BY_EMPTY = ORDER.order(
    18,
    Level.INFO,
    "an open call is closed by an empty `functionCall`",
    kind="gemini/call-not-closed",
    source=f"{_WIRE} 4; a recorded call ends with a number instead",
    why="A client that waits for the empty `functionCall` never sees this call end: its end must be told by what follows.",
    bad='{"functionCall":{"partialArgs":[…]}} without willContinue as the last part of a call',
    good='{"functionCall":{}}',
    seen="Vertex, with an array as argument",
)
_EMPTY_CLOSES = ORDER.order(
    19,
    Level.MUST,
    "an empty `functionCall` closes an open call",
    kind="gemini/call-end-orphan",
    source=f"{_WIRE} 4; recordings",
    why="With none open, clients make a call without a name of it.",
    bad='{"functionCall":{}} as the first part',
    good='{"functionCall":{}} after the last piece of a call',
)
_LATE_THOUGHT = ORDER.order(
    28,
    Level.SHOULD,
    "thoughts come before the answer's text; between steps with tools there may be new ones",
    kind="thought/after-answer",
    source=f"{_WIRE} 3 and 6; recordings",
    why="Clients that show the answer once the thoughts are over put the late ones into it, or drop them.",
    bad='{"text":"Nine."}, then {"text":"Let me see","thought":true}',
    good='{"text":"Let me see","thought":true}, then {"text":"Nine."}',
)
_CODE_THEN_RESULT = ORDER.order(
    35,
    Level.MUST,
    "every `codeExecutionResult` follows its `executableCode`, with the same id if they have one",
    kind="gemini/code-order",
    source=f"{_WIRE} 2; SDK-GGL Part; recordings, where code that only searches files has no result at all",
    why="Clients pair code and result by their order: a result alone, or that of other code, is shown under the wrong code.",
    bad='{"codeExecutionResult":{…}}, then {"executableCode":{…}}',
    good='{"executableCode":{…}}, then {"codeExecutionResult":{…}}',
)

CANDIDATE = Table(
    name="a Gemini candidate",
    rows=(
        Row("it goes on", "content", "it goes on"),
        Row("it goes on", "finish", "it has finished"),
        Row("it has finished", "content", "it goes on", _FINISH_IS_LAST, "more of a candidate that has its finish reason"),
        Row("it has finished", "finish", "it has finished", _FINISH_IS_LAST, "a second finish reason for a candidate"),
        Row("it has finished", END, "it has finished"),
    ),
)
THOUGHTS = Table(
    name="thoughts and answer of a Gemini candidate",
    rows=(
        Row("before the answer", "thought", "before the answer"),
        Row("before the answer", "answer", "in the answer"),
        Row(
            "in the answer",
            "thought",
            "in the answer",
            _LATE_THOUGHT,
            "a thought after text of the answer, with no step between",
        ),
        Row("in the answer", "a step", "before the answer"),
        Row("in the answer", END, "in the answer"),
    ),
)
CODE = Table(
    name="code that Gemini runs",
    rows=(
        Row("no code waits", "code", "code waits"),
        Row("no code waits", "result", "no code waits", _CODE_THEN_RESULT, "a result although no code waits for one"),
        Row("code waits", "code", "code waits"),
        Row("code waits", "result", "no code waits"),
        Row("code waits", "result of other code", "no code waits", _CODE_THEN_RESULT, "a result with another id than the code"),
    ),
)
_NO_OPENING = "pieces of arguments although no call is open; a part with `name` and `willContinue: true` was due first"
CALL = Table(
    name="a streamed call of Gemini",
    rows=(
        Row("no call is open", "name, more to come", "a call is open"),
        Row(
            "no call is open",
            "name and pieces, no more",
            "no call is open",
            _OPENS_WITH_NAME,
            "a call with pieces of arguments that does not say `willContinue: true`",
        ),
        Row("no call is open", "pieces, more to come", "a call is open", _OPENS_WITH_NAME, _NO_OPENING),
        Row("no call is open", "last pieces", "no call is open", _OPENS_WITH_NAME, _NO_OPENING),
        Row(
            "no call is open",
            "more to come",
            "no call is open",
            _OPENS_WITH_NAME,
            "`willContinue` without a name, although no call is open",
        ),
        Row("no call is open", "empty", "no call is open", _EMPTY_CLOSES, "an empty functionCall although no call is open"),
        Row("a call is open", "pieces, more to come", "a call is open"),
        Row("a call is open", "more to come", "a call is open"),
        Row("a call is open", "empty", "no call is open"),
        Row("a call is open", "last pieces", "no call is open", _CLOSED_BY_EMPTY, "the call ends with its last piece"),
        Row(
            "a call is open", "name, more to come", "a call is open", _CLOSED_BY_EMPTY, "the call ends where the next one opens"
        ),
        Row(
            "a call is open",
            "name and pieces, no more",
            "no call is open",
            _OPENS_WITH_NAME,
            "a call with pieces of arguments that does not say `willContinue: true`",
        ),
        Row("a call is open", "another part", "no call is open", _CLOSED_BY_EMPTY, "the call ends where another part begins"),
        Row("a call is open", "finish", "no call is open", _CLOSED_BY_EMPTY, "the call ends with the finish reason"),
    ),
)
PATH = Table(
    name="the text arguments of a streamed call",
    rows=(
        Row("no text is open", "text goes on", "a text is open"),
        Row("a text is open", "text goes on", "a text is open"),
        Row("a text is open", "text ends", "no text is open"),
        Row(
            "a text is open",
            "another path",
            "no text is open",
            _TEXT_IS_CLOSED,
            "a path although the one before says that it goes on",
        ),
    ),
)
