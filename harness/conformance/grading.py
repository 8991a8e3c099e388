"""The grade of one cell: what a client said of a turn, beside what the bytes that it was sent say (product contract, section
7).

Facts: text, reasoning, the calls with their order, ids, names and arguments, the finish reason, the counts of tokens, and
whether the turn failed. Each is right, has to be dug out of raw data (`lossy`), or is wrong; the worst of them is the cell's
grade.

What is right is what our own pipeline reads out of the bytes, which the laws of reassembly hold to a second, independent
account of them. Where a stream breaks its API's contract, a client that refuses it with an error of its own has told the truth.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from harness import payload
from harness.adapters import Observation
from harness.adapters.process import Answer, Ending
from harness.adapters.protocol import Failure, Said, ToldCall, ToldResponse
from harness.api_error import ApiError, ErrorKind
from harness.conformance.verdict import Grade
from harness.conformance.words import meaning, says_none
from harness.errors import Where
from harness.findings import Finding, Level
from harness.response import FinishReason, Refusal, Response, ToolCall, Usage

_ORDER = (Grade.PASS, Grade.LOSSY, Grade.WRONG, Grade.CRASH, Grade.HANG)
_MOST = 2000  # characters of an exception that are kept
_EARLY = (FinishReason.LENGTH, FinishReason.CONTENT_FILTER, FinishReason.ERROR)
"""Ends that a client may tell as an exception."""
_FAILED = (FinishReason.ERROR, FinishReason.CONTENT_FILTER, FinishReason.CANCELLED)
"""Finish reasons that say that a turn failed."""
_CUT = (ErrorKind.TRUNCATED, ErrorKind.NETWORK, ErrorKind.TIMEOUT)
"""Failures that the server has no words for: the stream just ends."""
_HIDDEN = "subject/failure-hidden"
_BUGS = re.compile(
    r"(^|\.)(Type|Key|Index|Attribute|Assertion|Value|Unbound\w*|Name|Recursion|Unicode\w*|Reference|Range|Syntax|Zero\w*)Error$"
)
"""Exceptions by which programs fail, and not by which they say that a turn failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A grade and what it rests on: of each fact that is not right, what was expected, and what was said."""

    grade: Grade
    findings: tuple[Finding, ...] = ()


def grade(right: Observation, said: Said | None, answer: Answer, omits: Collection[str] = ()) -> Graded:
    """Grade what a client said of a turn whose bytes say what `right` does; `answer` tells how the question ended. Whoever asks
    has looked at the server's log before: a client that waits for bytes that were never sent is not the one that hangs.

    `omits` are facts that the client has no place for (`FACTS`, and names of counts): it need not tell them, but if it does
    they must be right. Ids that it omits it may make up.
    """
    if said is None:
        return _silent(answer)
    if said.unsupported is not None:
        return Graded(grade=Grade.UNSUPPORTED, findings=(_finding("subject/unsupported", said.unsupported, level=Level.INFO),))
    found = [*_outside(said), *(_failed(right, said.error) if said.error else _told(right, said, omits))]
    worst = max((of for of, _ in found), key=_ORDER.index, default=Grade.PASS)
    findings = [finding for _, finding in found]
    if worst is not Grade.PASS and right.error is None and (broken := _broken(right)):
        message = f"the stream itself is broken: {', '.join(broken)}"
        findings.append(_finding("subject/broken-stream", message, level=Level.INFO))
    return Graded(grade=worst, findings=tuple(findings))


def _silent(answer: Answer) -> Graded:
    kind, of, message = {
        Ending.HANG: ("subject/hung", Grade.HANG, "the whole response was sent, and the client never came to an end"),
        Ending.EXIT: ("subject/exited", Grade.CRASH, "the client's process ended in the middle of the turn"),
        Ending.MEMORY: ("subject/memory", Grade.CRASH, "the client's process took all the memory that it may have"),
        Ending.GARBAGE: ("subject/garbage", Grade.CRASH, "what stands on standard output is not the reply"),
    }[answer.ending]
    return Graded(grade=of, findings=(_finding(kind, message, got=answer.evidence[:_MOST]),))


_Found = tuple[Grade, Finding]


def _outside(said: Said) -> Iterator[_Found]:
    if said.outside:
        message = "the client tried to reach other machines than this one; it was refused"
        yield Grade.WRONG, _finding("subject/outside", message, got=said.outside)


def _failed(right: Observation, error: Failure) -> Iterator[_Found]:
    """The client says that the turn failed: right where it did, and its own affair where the stream is broken."""
    told = {"type": error.type, "message": error.message[:_MOST]}
    if right.error is not None:
        return
    broken = _broken(right)
    bug = bool(_BUGS.search(error.type))
    own = not error.type.startswith("builtins.") and not bug
    early = right.response is not None and right.response.finish_reason in _EARLY
    named = right.response is not None and (right.response.raw_finish_reason or "\0") in error.message
    if early and (named or (own and not broken)):
        message = "the client tells this end as an error of its own, and keeps what was said before it apart"
        yield Grade.LOSSY, _finding("subject/finish", message, level=Level.INFO, expected=_shown(right.response), got=told)
        return
    if broken and not bug:
        message = f"the client refuses a stream that breaks its API's contract: {', '.join(broken)}"
        yield Grade.PASS, _finding("subject/refused", message, level=Level.INFO, got=told)
        return
    message = "the client fails on a turn that can be read to its end"
    yield Grade.CRASH, _finding("subject/failed", message, expected=_shown(right.response), got=told)


def _broken(right: Observation) -> list[str]:
    """The kinds of what is wrong with the stream itself."""
    return sorted({f.kind for f in right.findings if f.level is Level.MUST})


def _told(right: Observation, said: Said, omits: Collection[str]) -> Iterator[_Found]:
    """The client says that the turn succeeded."""
    if right.error is not None:
        yield from _hidden(right, right.error, said, omits)
        return
    wanted, got = right.response or Response(), said.response or ToldResponse()
    raw = _Raw(said.raw, omits)
    yield from _text(wanted, got, raw)
    yield from _reasoning(wanted, got, raw)
    yield from _calls(wanted, got, raw)
    yield from _finish(wanted, got, raw)
    yield from _usage(wanted, got, raw, _billed(right.body))


def _hidden(right: Observation, error: ApiError, said: Said, omits: Collection[str]) -> Iterator[_Found]:
    """The client reports success of a turn that failed. A finish reason that says so is as good as an exception; where a stream
    was cut and none is told, a caller who asks for it can know, unless the client never tells one."""
    told = said.response.finish_reason if said.response is not None else None
    meant = meaning(told)
    sent = right.response.raw_finish_reason if right.response is not None else None
    if meant in _FAILED or (told is not None and told == sent):
        return
    expected = {"kind": error.kind.value, "message": error.message[:_MOST]}
    unsaid = (told is None and "finish" not in omits) or meant is FinishReason.OTHER
    kept = _Raw(said.raw)
    if unsaid and (error.kind in _CUT or any(kept.says(str(word)) for word in (error.message, error.type, error.code) if word)):
        sign = "no finish reason" if told is None else f"the finish reason {told!r}"
        message = f"the turn failed ({error.kind.value}), and the only sign of it is {sign}"
        yield Grade.LOSSY, _finding(_HIDDEN, message, level=Level.INFO, expected=expected, got=_of(said.response))
        return
    message = f"the turn failed ({error.kind.value}), and the client reports success with the finish reason {told!r}"
    yield Grade.WRONG, _finding(_HIDDEN, message, expected=expected, got=_of(said.response))


def _text(wanted: Response, got: ToldResponse, raw: _Raw) -> Iterator[_Found]:
    refusal = "".join(part.text for part in wanted.parts if isinstance(part, Refusal))
    text = wanted.text or ""
    if (got.text or "") not in (text, text or refusal, text + refusal):
        yield _lacking("text", text, got.text, raw.says(text), not got.text)


def _reasoning(wanted: Response, got: ToldResponse, raw: _Raw) -> Iterator[_Found]:
    if (got.reasoning or "") != (wanted.reasoning or "") and (got.reasoning or "reasoning" not in raw.omits):
        expected = wanted.reasoning or ""
        yield _lacking("reasoning", expected, got.reasoning, raw.says(expected), not got.reasoning)


def _calls(wanted: Response, got: ToldResponse, raw: _Raw) -> Iterator[_Found]:
    due, told = wanted.tool_calls, got.tool_calls
    if len(due) != len(told):
        rest = iter(due)
        some = all(any(_is(call, other) for call in rest) for other in told)  # nothing was added or changed
        shown = [_call(call) for call in due], [call.model_dump() for call in told]
        yield _lacking("calls", *shown, all(raw.has(call.name) for call in due), some and len(told) < len(due))
        return
    places = {other.id: number for number, other in enumerate(told)}
    if [call.id for call in due] != list(places) and sorted(call.id for call in due) == sorted(map(str, places)):
        ids = [call.id for call in due], list(places)
        yield Grade.WRONG, _finding("subject/calls", "the calls come in another order", expected=ids[0], got=ids[1])
        told = [told[places[call.id]] for call in due]
    for number, (call, other) in enumerate(zip(due, told, strict=True)):
        yield from _one_call(f"/tool_calls/{number}", call, other, raw)


def _is(call: ToolCall, other: ToldCall) -> bool:
    return call.name == other.name and _same_arguments(call, other.arguments)


def _one_call(place: str, call: ToolCall, other: ToldCall, raw: _Raw) -> Iterator[_Found]:
    if other.name != call.name:
        yield _lacking("name", call.name, other.name, raw.has(call.name), not other.name, path=f"{place}/name")
    if not call.synthetic_id and call.id and other.id != call.id and "id" not in raw.omits:
        yield _lacking("id", call.id, other.id, raw.has(call.id), not other.id, path=f"{place}/id")
    if not _same_arguments(call, other.arguments):
        empty = other.arguments in (None, "", {})
        yield _lacking("arguments", call.shown_arguments(), other.arguments, False, empty, path=f"{place}/arguments")


def _same_arguments(call: ToolCall, told: Any) -> bool:
    if isinstance(told, str):
        if told == call.arguments:
            return True
        try:
            told = payload.from_text(told) if told.strip() else {}
        except ValueError:
            return False
    try:
        due, told = call.parsed_arguments(), {} if told is None else told
        return _equal(due, told)
    except ValueError:
        return False


def _equal(one: Any, other: Any) -> bool:
    """Whether two values are one in a language that has one sort of number: there 2.0 is 2."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _finish(wanted: Response, got: ToldResponse, raw: _Raw) -> Iterator[_Found]:
    due, told = wanted.raw_finish_reason, got.finish_reason
    if told is None and (due is None or "finish" in raw.omits):
        return
    if due is None and says_none(told):
        return
    meant = meaning(told)
    right = {wanted.finish_reason, meaning(due)}
    if FinishReason.TOOL_CALLS in right or (FinishReason.STOP in right and wanted.tool_calls):
        right |= {FinishReason.STOP, FinishReason.TOOL_CALLS}
    if any(isinstance(part, Refusal) for part in wanted.parts):
        right.add(FinishReason.CONTENT_FILTER)  # a refusal is one in the words of many
    if told == due or (meant is not None and meant in right):
        return
    yield _lacking("finish", due, told, raw.has(due), told is None)


def _usage(wanted: Response, got: ToldResponse, raw: _Raw, billed: dict[str, set[int]]) -> Iterator[_Found]:
    due, told = wanted.usage, got.usage.model_dump() if got.usage else {}
    if due is None:
        counts = {name: count for name, count in told.items() if count and count not in billed.get(name, ())}
        if counts:
            yield Grade.WRONG, _finding("subject/usage", "counts of tokens that nobody sent", expected=None, got=counts)
        return
    for name, right in _rights(due):
        count = told.get(name)
        if (
            count in right
            or count in billed.get(name, ())
            or (not count and not any(right))
            or (count is None and {name, "usage"} & {*raw.omits})
        ):
            continue
        expected = min(value for value in right if value is not None)
        detail = name not in ("input_tokens", "output_tokens")
        if count is None and (detail or raw.has(expected)):
            grade, level = Grade.LOSSY, Level.INFO
            if name == "total_tokens" and told.get("input_tokens") and told.get("output_tokens"):
                continue  # whoever has both can add them up
        else:
            grade, level = Grade.WRONG, Level.MUST
        message = f"{name}: {'lost' if count is None else 'another count'}"
        yield grade, _finding("subject/usage", message, level=level, path=f"/usage/{name}", expected=expected, got=count)


def _billed(body: Any) -> dict[str, set[int]]:
    """Counts that stand elsewhere in the body: of several runs of the model the sums, which are what is paid for, and what
    Bedrock measured of an invocation."""
    metrics = body.get("amazon-bedrock-invocationMetrics") if isinstance(body, dict) else None
    if isinstance(metrics, dict):
        told = [count if isinstance(count := metrics.get(f"{side}TokenCount"), int) else 0 for side in ("input", "output")]
        return {"input_tokens": {told[0]}, "output_tokens": {told[1]}, "total_tokens": {sum(told)}}
    runs = body["usage"].get("iterations") if isinstance(body, dict) and isinstance(body.get("usage"), dict) else None
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        return {}

    def over(key: str) -> int:
        return sum(count for run in runs if isinstance(count := run.get(key), int))

    plain, output = over("input_tokens"), over("output_tokens")
    cached, written = over("cache_read_input_tokens"), over("cache_creation_input_tokens")
    inputs = {plain, plain + cached + written}
    totals = {count + output for count in inputs}
    names = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_write_tokens")
    return dict(zip(names, (inputs, {output}, totals, {cached}, {written}), strict=True))


def _rights(due: Usage) -> Iterator[tuple[str, set[int | None]]]:
    """Each count with the values that are right: what an API leaves out of a count, a client may count in."""
    inputs, outputs = {due.input_tokens, due.all_input}, {due.output_tokens, due.all_output}
    sums = {i + o for i in inputs for o in outputs if i is not None and o is not None}
    told: dict[str, set[int | None]] = {
        "input_tokens": inputs,
        "output_tokens": outputs,
        "total_tokens": {due.total_tokens, *sums},
        "cached_tokens": {due.cached_tokens},
        "cache_write_tokens": {due.cache_write_tokens},
        "reasoning_tokens": {due.reasoning_tokens},
    }
    for name, values in told.items():
        if values != {None}:
            yield name, values


class _Raw:
    """What a client keeps besides: every string and number in it; and the facts that it `omits`."""

    def __init__(self, raw: Any, omits: Collection[str] = ()) -> None:
        self.omits = omits
        self._leaves = list(_leaves(raw))
        self._joined = "".join(value for value in self._leaves if isinstance(value, str))

    def says(self, text: str) -> bool:
        """Whether a text stands there, whole or in pieces one after the other."""
        return bool(text) and (any(text in v for v in self._leaves if isinstance(v, str)) or text in self._joined)

    def has(self, value: Any) -> bool:
        return value is not None and any(value == other and type(value) is type(other) for other in self._leaves)


def _leaves(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        node = node.values()
    elif not isinstance(node, list):
        yield node
        return
    for inner in node:
        yield from _leaves(inner)


FACTS = ("reasoning", "id", "finish", "usage")
"""Facts that a client may have no place for."""
_ABOUT = {
    "text": "the text",
    "reasoning": "the reasoning",
    "calls": "the number of tool calls",
    "name": "the name of a call",
    "id": "the id of a call",
    "arguments": "the arguments of a call",
    "finish": "the finish reason",
}


def _lacking(fact: str, expected: Any, got: Any, in_raw: bool, absent: bool, path: str | None = None) -> _Found:
    """A fact that is not what the bytes say: dug for where it is absent and stands in the raw data, else wrong."""
    if absent and in_raw:
        message = f"{_ABOUT[fact]} is in the client's raw data only"
        return Grade.LOSSY, _finding(f"subject/{fact}", message, level=Level.INFO, path=path, expected=expected, got=got)
    message = f"{_ABOUT[fact]} {'is lost' if absent else 'is not what was sent'}"
    return Grade.WRONG, _finding(f"subject/{fact}", message, path=path, expected=expected, got=got)


def _finding(
    kind: str, message: str, *, level: Level | None = None, path: str | None = None, expected: Any = None, got: Any = None
) -> Finding:
    return Finding(kind=kind, message=message, where=Where(path=path), graded=level, expected=expected, got=got)


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": None if call.synthetic_id else call.id, "name": call.name, "arguments": call.shown_arguments()}


def _shown(response: Response | None) -> Any:
    return response.as_dict() if response is not None else None


def _of(response: ToldResponse | None) -> Any:
    return response.model_dump() if response is not None else None
