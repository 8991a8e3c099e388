"""Ollama's own API: lines that have the form of the whole answer (wire/ollama-chat.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from authoring.case import Service
from authoring.wire import Cut, gos
from harness.cassette import Cassette, Exchange
from harness.cassette.model import Ending

NDJSON, JSON = "application/x-ndjson", "application/json; charset=utf-8"
OLLAMA = Service(
    dialect="ollama-chat",
    provider="ollama",
    scheme="http",
    host="127.0.0.1:11434",
    source="written from wire/ollama-chat.md; proved with ollama 0.6.3",
)
CHAT, GENERATE = "/api/chat", "/api/generate"
MODEL = "qwen3:4b"

Object = dict[str, Any]


def turn(
    scenario: str,
    request: Object,
    pieces: Sequence[Object],
    counts: tuple[int, int],
    *,
    reason: str = "stop",
    last: Object | None = None,
    each: Sequence[Object] = (),
    cut: Cut = "each",
) -> Cassette:
    """A turn of either endpoint. `pieces` are what each line adds to the message, `last` what the last one does; `each` are
    fields beside it."""
    prompt, answered = counts
    durations = {"total_duration": 913140194, "load_duration": 64700750, "prompt_eval_count": prompt}
    durations |= {"prompt_eval_duration": 96678417, "eval_count": answered, "eval_duration": 731881755}
    end = {"done": True, "done_reason": reason, **durations}
    path = GENERATE if "prompt" in request else CHAT
    messages = [*pieces, last or {}]
    lines = [
        {**head(n), **_said(path, message), **(each[n] if n < len(each) else {}), "done": False}
        for n, message in enumerate(messages)
    ]
    lines[-1] |= end
    joined = {name: [entry for fields in each for entry in fields[name]] for name in (each[0] if each else ())}
    answer = {**head(len(pieces)), **_said(path, _joined(messages)), **joined, **end}
    plain = OLLAMA.plain(OLLAMA.request(path, {**request, "stream": False}), JSON, gos(answer))
    return OLLAMA.case(scenario, MODEL, streamed(request, lines, cut=cut), plain)


def streamed(
    request: Object, lines: Sequence[Object], *, cut: Cut = "each", ending: Ending = "eof", left: int | None = None
) -> Exchange:
    """The streamed side; of the last line perhaps only `left` bytes."""
    path = GENERATE if "prompt" in request else CHAT
    events = [f"{gos(line)}\n".encode() for line in lines]
    events[-1] = events[-1][:left]
    return OLLAMA.streamed(OLLAMA.request(path, {**request, "stream": True}), NDJSON, events, cut=cut, ending=ending)


def at_once(scenario: str, request: Object, body: Object, status: int = 200) -> Cassette:
    """What comes in one piece whether or not a stream was asked for: refusals, and models that are only loaded."""
    sides = [
        OLLAMA.plain(OLLAMA.request(CHAT, {**request, "stream": stream}), JSON, gos(body), status=status)
        for stream in (True, False)
    ]
    return OLLAMA.case(scenario, request["model"], *sides)


def asks(text: str | list[Object], **fields: Any) -> Object:
    """The body of a request to the chat, as the vendor's client writes it: `tools` is always there."""
    messages = [{"role": "user", "content": text}] if isinstance(text, str) else text
    return {"model": MODEL, "messages": messages, "tools": [], **fields}


def tool(name: str, description: str, **properties: str) -> Object:
    fields = {field: {"type": "string", "description": says} for field, says in properties.items()}
    schema = {"type": "object", "required": list(fields), "properties": fields}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def texts(*pieces: str, kind: str = "content") -> Iterator[Object]:
    return ({kind: piece} for piece in pieces)


def call(number: int, id: str, name: str, **arguments: Any) -> Object:
    return {"id": id, "function": {"index": number, "name": name, "arguments": arguments}}


def head(line: int) -> Object:
    """What every line says; the time moves on."""
    return {"model": MODEL, "created_at": f"2026-12-01T09:30:00.{384200117 + line * 23817309:09}Z"}


def _said(path: str, message: Object) -> Object:
    if path == CHAT:
        return {"message": {"role": "assistant", "content": "", **message}}
    return {"response": message.get("content", ""), **{name: text for name, text in message.items() if name != "content"}}


def _joined(messages: Sequence[Object]) -> Object:
    whole: Object = {}
    for message in messages:
        for name, value in message.items():
            whole[name] = whole[name] + value if name in whole else value
    return whole
