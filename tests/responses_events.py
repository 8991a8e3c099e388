"""Events of a Responses stream, made by hand for tests."""

from __future__ import annotations

import json
from typing import Any

from harness import StreamCollector, framer
from harness.collector import Collected

RESPONSE = {"id": "resp_1", "object": "response", "created_at": 1700000000, "status": "in_progress", "model": "m", "output": []}
USAGE = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
    "output_tokens": 4,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 13,
}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind if kind in ("error", "keepalive") else f"response.{kind}", **fields}


def created(**fields: Any) -> dict[str, Any]:
    return event("created", response=RESPONSE | fields)


def ended(*output: Any, word: str = "completed", **fields: Any) -> dict[str, Any]:
    return event(word, response=RESPONSE | {"status": word, "usage": USAGE, "output": list(output)} | fields)


def added(index: int | None, **item: Any) -> dict[str, Any]:
    return event("output_item.added", **({} if index is None else {"output_index": index}), item=item)


def done(index: int | None, **item: Any) -> dict[str, Any]:
    return event("output_item.done", **({} if index is None else {"output_index": index}), item=item)


def message(*content: Any, id: str = "msg_1", **fields: Any) -> dict[str, Any]:
    item = {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": list(content)}
    return item | fields


def text(value: str = "", **fields: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": value, "annotations": []} | fields


def call(arguments: str = "", id: str = "fc_1", **fields: Any) -> dict[str, Any]:
    item = {"type": "function_call", "id": id, "call_id": "call_1", "name": "tide", "arguments": arguments}
    return item | {"status": "completed" if arguments else "in_progress"} | fields


def part(kind: str, index: int, value: dict[str, Any], item: str = "msg_1", **fields: Any) -> dict[str, Any]:
    return event(f"content_part.{kind}", item_id=item, output_index=index, content_index=0, part=value) | fields


def delta(value: Any, index: int = 0, item: str = "msg_1", kind: str = "output_text", **fields: Any) -> dict[str, Any]:
    where = {"content_index": 0} if kind in ("output_text", "refusal", "reasoning_text") else {}
    return event(f"{kind}.delta", item_id=item, output_index=index, delta=value) | where | fields


def arguments(value: Any, index: int = 0, item: str = "fc_1", **fields: Any) -> dict[str, Any]:
    return delta(value, index, item, "function_call_arguments") | fields


def said(value: str) -> list[dict[str, Any]]:
    """A whole message of one text, at index 0, in the order of the API."""
    return [
        added(0, **message(status="in_progress")),
        part("added", 0, text()),
        *(delta(word) for word in value.split(" ", 1)[:1]),
        *(delta(" " + rest) for rest in value.split(" ", 1)[1:]),
        event("output_text.done", item_id="msg_1", output_index=0, content_index=0, text=value),
        part("done", 0, text(value)),
        done(0, **message(text(value))),
    ]


def collected(*events: Any, request: Any = None) -> Collected:
    """The events as a body, through framer and collector; a string is sent as it is."""
    frames = framer("sse")
    collector = StreamCollector("openai-responses", request)
    for number, each in enumerate(events):
        if isinstance(each, dict):
            data = json.dumps({**each, "sequence_number": number} if "type" in each else each)
            name = f"event: {each['type']}\n" if isinstance(each.get("type"), str) else ""
            collector.extend(frames.feed(f"{name}data: {data}\n\n".encode()))
        else:
            collector.extend(frames.feed(f"data: {each}\n\n".encode()))
    collector.extend(frames.close())
    return collector.close()


def kinds(out: Collected) -> list[str]:
    return [note.kind for note in out.notes]
