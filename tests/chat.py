"""Chat Completions streams of our own making: payloads, frames, and what the collector makes of them."""

from __future__ import annotations

import json
from typing import Any

from harness import StreamCollector
from harness.collector import Collected
from harness.framing import Frame

ENVELOPE = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_764_547_200, "model": "tide-1"}
DONE = b"[DONE]"


def chunk(*choices: dict[str, Any], **top: Any) -> dict[str, Any]:
    """A payload with these choices."""
    return {**ENVELOPE, "choices": list(choices), **top}


def choice(delta: dict[str, Any] | None = None, finish: str | None = None, index: Any = 0, **more: Any) -> dict[str, Any]:
    return {"index": index, "delta": {} if delta is None else delta, "finish_reason": finish, **more}


def says(delta: dict[str, Any], **top: Any) -> dict[str, Any]:
    """A payload with one choice that is not finished."""
    return chunk(choice(delta), **top)


def text(content: str | None, **more: Any) -> dict[str, Any]:
    return says({"content": content, **more})


def opens(content: str | None, **more: Any) -> dict[str, Any]:
    """The payload that opens a turn; it says whose the turn is."""
    return says({"role": "assistant", "content": content, **more})


def calls(*fragments: dict[str, Any]) -> dict[str, Any]:
    return says({"tool_calls": list(fragments)})


def head(index: int | None, id: str | None, name: str | None, arguments: Any = "") -> dict[str, Any]:
    """The fragment that opens a call; what is None is left out."""
    function = {"name": name, "arguments": arguments} if name is not None else {"arguments": arguments}
    fragment = {"index": index, "id": id, "type": "function", "function": function}
    return {field: value for field, value in fragment.items() if value is not None}


def more(index: int | None, arguments: str | None) -> dict[str, Any]:
    """A fragment that continues a call."""
    fragment: dict[str, Any] = {"function": {"arguments": arguments}}
    return fragment if index is None else {"index": index, **fragment}


def stops(finish: str = "stop", **top: Any) -> dict[str, Any]:
    return chunk(choice({}, finish), **top)


def encoded(payload: Any) -> bytes:
    return payload if isinstance(payload, bytes) else json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()


def frames(*payloads: Any) -> list[Frame]:
    """Frames of payloads, which are bytes or values to encode."""
    return [Frame(number, None, encoded(payload)) for number, payload in enumerate(payloads)]


def collect(*payloads: Any, dialect: str = "openai-chat", request: Any = None, end: bool = True) -> Collected:
    """What a stream of these payloads comes to; `end`: followed by the sentinel."""
    collector = StreamCollector(dialect, request)
    collector.extend(frames(*payloads, *([DONE] if end else [])))
    return collector.close()


def kinds(out: Collected) -> list[str]:
    return [note.kind for note in out.notes]


def message(out: Collected) -> Any:
    return out.body["choices"][0]["message"]
