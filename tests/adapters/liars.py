"""Adapters that lie: each reads as we do, but for one thing that people have got wrong before.

They are the proof that laws of readers can fail. A `Lie` names the law, a shipped cassette on which the honest reader keeps it,
and the laws that follow from it (`also`). To add one: a function from an exchange to another one (what a bad framer or
translator would have read), or from an observation to another one (what a bad collector would have told).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from harness.adapters import Observation, Ours
from harness.adapters.scenario import Played
from harness.api_error import ErrorKind
from harness.cassette.model import Chunk, Exchange
from harness.dialects import Dialect
from harness.inputs import Client
from harness.loop.events import ArtifactEvent
from harness.replay.faults import FaultError, Lose, Pick, faulty
from harness.replay.reel import Reel
from harness.response import FinishReason, Reasoning, Text, ToolCall

CHAT = "openai-chat/llamacpp/text"
CALL = "openai-chat/llamacpp/tool-call"
CALLS = "openai-chat/llamacpp/parallel-tool-calls"
RESPONSES = "openai-responses/llamacpp/text"
MESSAGES = "anthropic-messages/llamacpp/text"
LINES = "ollama-chat/ollama/text"
ARRAY = "gemini/google/array-text"
FRAMES = "bedrock-converse/bedrock/text"

Reads = Callable[[Exchange, str], Exchange]
Tells = Callable[[Observation, Exchange, str], Observation]


class Liar:
    """Reads what `reads` makes of an exchange, and tells what `tells` makes of what it read."""

    name = "liar"
    version = "1"

    def __init__(self, reads: Reads | None = None, tells: Tells | None = None) -> None:
        self._ours = Ours(loop=True)
        self._reads = reads or (lambda exchange, _: exchange)
        self._tells = tells or (lambda seen, _, __: seen)

    def observe(self, exchange: Exchange, dialect: str) -> Observation:
        return self._tells(self._ours.observe(self._reads(exchange, dialect), dialect), exchange, dialect)

    def play(self, exchanges: Sequence[Exchange], dialect: Dialect, client: Client) -> Played:
        return self._ours.play(exchanges, dialect, client)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lie:
    """`liar` breaks the law `rule` and those in `also`, and no others, on a cassette on which we keep it."""

    rule: str
    cassette: str
    liar: Callable[[], Liar]
    also: tuple[str, ...] = ()


def reading(rule: str, cassette: str, reads: Reads, *also: str) -> Lie:
    return Lie(rule=rule, cassette=cassette, liar=lambda: Liar(reads=reads), also=also)


def telling(rule: str, cassette: str, tells: Tells, *also: str) -> Lie:
    return Lie(rule=rule, cassette=cassette, liar=lambda: Liar(tells=tells), also=also)


# bad framers: other bytes


def with_body(exchange: Exchange, body: bytes) -> Exchange:
    return replace(exchange, chunks=(Chunk(data=body),))


def substituting(pattern: bytes, by: bytes) -> Reads:
    """Takes some bytes for others."""
    return lambda exchange, _: with_body(exchange, re.sub(pattern, by, exchange.body))


def decodes_each_read(exchange: Exchange, dialect: str) -> Exchange:
    chunks = tuple(replace(c, data=c.data.decode(errors="replace").encode()) for c in exchange.chunks)
    return replace(exchange, chunks=chunks)


def frames_each_read(exchange: Exchange, dialect: str) -> Exchange:
    """What is left over of a read is forgotten."""
    kept = []
    for chunk in exchange.chunks:
        data, whole = chunk.data, b""
        while len(data) >= 12 and len(data) >= (length := int.from_bytes(data[:4])) >= 16:
            whole, data = whole + data[:length], data[length:]
        kept.append(replace(chunk, data=whole))
    return replace(exchange, chunks=tuple(kept))


def takes_one_line_of_each_read(exchange: Exchange, dialect: str) -> Exchange:
    """Bytes wait for the end of their line, but of several lines in one read the first is used."""
    kept, held = [], b""
    for chunk in exchange.chunks:
        held += chunk.data
        if b"\n" in held:
            line, *others = held.split(b"\n")
            kept.append(replace(chunk, data=line + b"\n"))
            held = others[-1]
    return replace(exchange, chunks=tuple(kept))


def parses_comments(exchange: Exchange, dialect: str) -> Exchange:
    for line in re.split(rb"\r?\n", exchange.body):
        if line.startswith(b":"):
            json.loads(line)
    return exchange


def counts_all_braces(exchange: Exchange, dialect: str) -> Exchange:
    """Elements end where as many braces are closed as were opened; what is no JSON then is dropped."""
    elements, depth, start, body = [], 0, 0, exchange.body
    for place, byte in enumerate(body):
        if byte == ord("{"):
            start = start if depth else place
            depth += 1
        elif byte == ord("}"):
            depth -= 1
            if depth == 0:
                elements.append(body[start : place + 1])
    return with_body(exchange, b"[" + b",".join(e for e in elements if is_json(e)) + b"]")


def is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


# bad translators: other payloads


def rebuilds_from_items(exchange: Exchange, dialect: str) -> Exchange:
    """What the terminal event says of the output is not looked at."""
    reel = Reel(exchange, dialect)
    for piece in reel.pieces:
        value = reel.payload(piece)
        if isinstance(value, dict) and value.get("type") == "response.completed":
            reel.write(piece, {**value, "response": {**value["response"], "output": []}})
    return reel.exchange()


def reads_past_the_end(exchange: Exchange, dialect: str) -> Exchange:
    try:
        return faulty(exchange, dialect, Lose(Pick("data", "[DONE]", None)))
    except FaultError:  # there is no marker
        return exchange


def begins_anew(exchange: Exchange, dialect: str) -> Exchange:
    """An empty delta in the midst of a turn resets the message."""
    reel = Reel(exchange, dialect)
    empty = [{"index": 0, "delta": {}, "finish_reason": None}]
    resets = [n for n, p in enumerate(reel.pieces) if (v := reel.payload(p)) and v.get("choices") == empty]
    del reel.pieces[1 : (resets or [0])[-1]]
    return reel.exchange()


def joins_base64(exchange: Exchange, dialect: str) -> Exchange:
    """Two fragments of a blob, as one string."""
    reel = Reel(exchange, dialect)
    blobs: dict[int, Any] = {}
    for piece in list(reel.pieces):
        value = reel.payload(piece)
        blob = value.get("delta", {}).get("reasoningContent", {}).get("redactedContent")
        if blob is None:
            continue
        index = value["contentBlockIndex"]
        if index in blobs:
            first = reel.payload(blobs[index])
            first["delta"]["reasoningContent"]["redactedContent"] += blob
            reel.write(blobs[index], first)
            reel.pieces.remove(piece)
        else:
            blobs[index] = piece
    return reel.exchange()


# bad collectors: other turns


def parted(seen: Observation, change: Callable[[Any], Any]) -> Observation:
    """Every part of the turn, changed; None drops it."""
    if seen.response is None:
        return seen
    parts = tuple(new for part in seen.response.parts if (new := change(part)) is not None)
    return replace(seen, response=replace(seen.response, parts=parts))


def texts(change: Callable[[str], str]) -> Tells:
    return lambda seen, _, __: parted(seen, lambda p: replace(p, text=change(p.text)) if isinstance(p, Text) else p)


def calls(change: Callable[[ToolCall], ToolCall]) -> Tells:
    return lambda seen, _, __: parted(seen, lambda p: change(p) if isinstance(p, ToolCall) else p)


def body(change: Callable[[Any], Any]) -> Tells:
    """The native body of a streamed turn, changed in place."""

    def tells(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
        if not seen.frames or not seen.body:
            return seen
        copied = json.loads(json.dumps(seen.body))
        change(copied)
        return replace(seen, body=copied)

    return tells


def of_the_twin(tells: Tells) -> Tells:
    return lambda seen, exchange, dialect: seen if seen.frames else tells(seen, exchange, dialect)


def response(**changes: Any) -> Callable[[Observation], Observation]:
    return lambda seen: seen if seen.response is None else replace(seen, response=replace(seen.response, **changes))


def random_ids() -> Liar:
    numbers = count()
    return Liar(tells=calls(lambda call: replace(call, id=f"call_{next(numbers)}", synthetic_id=True)))


def merges_calls(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    if seen.response is None or len(seen.response.tool_calls) < 2:
        return seen
    first, *others = seen.response.tool_calls
    merged = replace(first, arguments="".join(call.arguments for call in (first, *others)))
    kept = [part for part in seen.response.parts if not isinstance(part, ToolCall)]
    return replace(seen, response=replace(seen.response, parts=(*kept, merged)))


def swaps_calls(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    if seen.response is None:
        return seen
    kept = [part for part in seen.response.parts if not isinstance(part, ToolCall)]
    return replace(seen, response=replace(seen.response, parts=(*kept, *reversed(seen.response.tool_calls))))


def sums_usage(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    if seen.response is None or not seen.frames:
        return seen
    reports = [int(n) for n in re.findall(rb'"candidatesTokenCount": ?(\d+)', exchange.body)]
    usage = seen.response.usage and replace(seen.response.usage, output_tokens=sum(reports))
    return replace(seen, response=replace(seen.response, usage=usage))


def forgets_usage(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    """The usage of the last chunk, whatever it is."""
    last = None
    for piece in Reel(exchange, dialect).pieces:
        if piece.frame.data == b"[DONE]":
            break
        last = piece
    return seen if last is None or b'"usage":{' in last.frame.data else response(usage=None)(seen)


def counts_one_more(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    usage = seen.response.usage if seen.response is not None else None
    return seen if usage is None else response(usage=replace(usage, output_tokens=(usage.output_tokens or 0) + 1))(seen)


def adds_a_text(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    if seen.response is None or seen.response.text is not None:
        return seen
    return replace(seen, response=replace(seen.response, parts=(Text(text=""), *seen.response.parts)))


def doubles_signatures(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    return parted(seen, lambda p: replace(p, signature=p.signature * 2) if getattr(p, "signature", None) else p)


def drops_empty_parts(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    kept = parted(seen, lambda p: None if isinstance(p, (Text, Reasoning)) and not p.text else p)
    return replace(kept, body=None)


def invents_a_stop(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    if seen.error is None or seen.error.kind is not ErrorKind.TRUNCATED:
        return seen
    return replace(response(finish_reason=FinishReason.STOP, raw_finish_reason="stop")(seen), error=None, complete=True)


def swallows_errors(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    return replace(seen, error=None) if any(f.kind == "error/in-band" for f in seen.findings) else seen


def forgets_what_came(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    return replace(seen, response=None) if any(f.kind == "error/in-band" for f in seen.findings) else seen


def is_strict(events: bool) -> Tells:
    """Fails over fields, or events, that it does not know."""

    def tells(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
        for unknown in seen.unknown:
            if (unknown.where.path or "").startswith("event:") is events:
                raise ValueError(f"{unknown.where.path}: extra inputs are not permitted")
        return seen

    return tells


def stops_by_the_reason(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    if seen.response is None or seen.response.raw_finish_reason != "stop":
        return seen
    return response(finish_reason=FinishReason.STOP)(parted(seen, lambda p: None if isinstance(p, ToolCall) else p))


def ends_too_early(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    """The end is told before the last delta."""
    events = list(seen.events or ())
    last = max((n for n, event in enumerate(events) if isinstance(event, ArtifactEvent)), default=None)
    if last is not None:
        events.append(events.pop(last))
    return replace(seen, events=tuple(events))


def tells_backwards(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    """Deltas in another order; everything else in its place."""
    events = list(seen.events or ())
    places = [n for n, event in enumerate(events) if isinstance(event, ArtifactEvent) and event.topic == "text_delta"]
    values = [events[n].value for n in places]  # type: ignore[attr-defined]
    for place, value in zip(places, reversed(values), strict=True):
        events[place] = replace(events[place], value=value)
    return replace(seen, events=tuple(events))


def shifts_offsets(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    def shifted(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: v + 1 if name in ("endIndex", "end_index") else shifted(v) for name, v in value.items()}
        return [shifted(v) for v in value] if isinstance(value, (list, tuple)) else value

    return parted(seen, lambda p: replace(p, annotations=tuple(shifted(p.annotations))) if isinstance(p, Text) else p)


def keeps_the_last_logprobs(given: Any) -> None:
    logprobs = given["choices"][0]["logprobs"]
    logprobs["content"] = logprobs["content"][-1:]


def says_more(seen: Observation, exchange: Exchange, dialect: str) -> Observation:
    """A plain answer with a field that streams never have."""
    candidate = {**seen.body["candidates"][0], "avgLogprobs": -0.25}
    return replace(seen, body={**seen.body, "candidates": [candidate]})


def sets_roles(given: Any) -> None:
    given["choices"][0]["message"]["role"] = "assistant"


# bad loops


class Retries(Liar):
    """Asks again, whatever it has told by then."""

    def play(self, exchanges: Sequence[Exchange], dialect: Dialect, client: Client) -> Played:
        if len(exchanges) == 1:
            return super().play(exchanges, dialect, client)
        never = client.model_copy(update={"max_retries": 0})
        one, other = (super(Retries, self).play([exchange], dialect, never) for exchange in exchanges[:2])
        return replace(other, requests=2, events=(*one.events[:-1], *other.events))


class GoesOn(Liar):
    """Tells one more delta after it was cancelled."""

    def play(self, exchanges: Sequence[Exchange], dialect: Dialect, client: Client) -> Played:
        played = super().play(exchanges, dialect, client)
        told = [event for event in played.events if isinstance(event, ArtifactEvent)]
        return replace(played, events=(*played.events, *told[-1:])) if client.cancel_after_events else played


class LeavesOpen(Liar):
    """Does not let go of its response."""

    def play(self, exchanges: Sequence[Exchange], dialect: Dialect, client: Client) -> Played:
        played = super().play(exchanges, dialect, client)
        return replace(played, open=1) if client.cancel_after_events else played


FRAMING = [
    reading("SSE-002", "openai-chat/llamacpp/unicode", decodes_each_read),
    reading("SSE-004", CHAT, substituting("\u2028|\u2029|\u0085".encode(), b"\n")),
    reading("SSE-006", CHAT, parses_comments),
    reading("SSE-007", CHAT, substituting(rb"(?m)^data:.", b"data: ")),
    reading("SSE-010", CHAT, substituting(rb"(?m)^(data:.*\n)(?=data:)", rb"\1\n")),
    reading("SSE-018", CHAT, substituting(rb"(?m)^\{.*\n", b"")),
    reading("NDJ-002", LINES, substituting("\u0085|\u2028|\u2029".encode(), b"\n")),
    reading("JSA-003", ARRAY, counts_all_braces),
    reading("EVS-011", FRAMES, frames_each_read, "REASM-007"),
    telling("BDR-031", FRAMES, is_strict(events=True)),
]

FORMS = [
    telling("REASM-001", CALL, body(lambda b: b["choices"][0]["message"]["tool_calls"][0].update(index=0)), "REASM-003"),
    telling("REASM-002", CHAT, body(lambda b: b.update(object="chat.completion.chunk"))),
    telling("REASM-003", CHAT, body(lambda b: b.pop("created"))),
    telling("REASM-004", CHAT, body(lambda b: b.update(created=str(b["created"])))),
    telling("REASM-013", CHAT, body(sets_roles)),
    telling("REASM-021", CHAT, is_strict(events=False)),
    telling("REASM-022", MESSAGES, is_strict(events=True)),
    reading("REASM-023", RESPONSES, rebuilds_from_items),
    telling("REASM-027", FRAMES, of_the_twin(lambda seen, _, __: response(raw_finish_reason="max_tokens")(seen))),
    telling("REASM-029", "gemini/vertex/text", of_the_twin(says_more)),
    telling("REASM-028", FRAMES, of_the_twin(counts_one_more)),
]

TEXTS = [
    telling("REASM-005", CHAT, texts(lambda text: text[1:2] + text[:1] + text[2:])),
    telling("REASM-006", CHAT, texts(lambda text: text[1:])),
    telling("REASM-006", CHAT, texts(lambda text: text[:1] + text)),
    reading("REASM-007", LINES, takes_one_line_of_each_read),
    Lie(rule="REASM-008", cassette="gemini/vertex/tool-call", liar=random_ids),
    telling("REASM-014", CALL, adds_a_text),
    telling("REASM-016", "bedrock-converse/bedrock/reasoning", doubles_signatures),
    telling("REASM-017", "bedrock-converse/bedrock/reasoning-redacted", drops_empty_parts),
    reading("REASM-026", "bedrock-converse/bedrock/reasoning-redacted", joins_base64),
    telling("REASM-030", "openai-chat/llamacpp/logprobs", body(keeps_the_last_logprobs), "REASM-003"),
    reading("REASM-031", CHAT, substituting(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}", rb"\\ufffd")),
    telling("REASM-034", "gemini/google/citations", shifts_offsets),
]

CALLING = [
    telling("REASM-009", CALLS, merges_calls),
    telling("REASM-009", CALLS, swaps_calls),
    telling("REASM-010", CALL, calls(lambda call: replace(call, name=call.name * 2))),
    telling("REASM-010", CALL, calls(lambda call: replace(call, id=call.id * 2))),
    telling("REASM-011", "gemini/google/text", sums_usage, "REASM-028"),
    telling("REASM-012", "openai-chat/llamacpp/usage", forgets_usage),
    telling(
        "REASM-015",
        "bedrock-converse/bedrock/tool-call-no-arguments",
        calls(lambda call: replace(call, arguments="null" if call.arguments == "{}" else call.arguments)),
    ),
    telling("REASM-032", CALL, stops_by_the_reason),
]

ENDS = [
    telling("REASM-018", CHAT, invents_a_stop),
    telling("REASM-019", "ollama-chat/ollama/error-in-stream", swallows_errors),
    telling("REASM-019", "ollama-chat/ollama/error-in-stream", forgets_what_came),
    Lie(rule="REASM-020", cassette=CHAT, liar=Retries),
    reading("REASM-024", CHAT, reads_past_the_end),
    reading("REASM-025", CHAT, begins_anew),
    telling("REASM-033", CHAT, ends_too_early),
    telling("REASM-033", CHAT, tells_backwards),
    Lie(rule="REASM-036", cassette=CHAT, liar=GoesOn),
    Lie(rule="REASM-036", cassette=CHAT, liar=LeavesOpen),
]

LIES = [*FRAMING, *FORMS, *TEXTS, *CALLING, *ENDS]
