"""What each API says in the course of a turn: the payloads, event by event, as they look on the wire.

Whole envelopes on every event, padding where the API pads. Gemini and Ollama send whole calls, so their argument fragments
come as one object; in a turn without text Gemini streams one argument piece by piece, as it does when asked to.
"""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

Event = tuple[str, dict[str, Any]]
"""Its name, where the API names events outside the payload, and the payload."""

_WORDS = ("a", " river", " keeps", " no", " minutes", " re", "counted", ",", " then", " set", " down", ".\n\n", ' "so"')
_MORE_WORDS = (" façade", " 水", "曜", " 🌊", " `let`", "\n- ", " und", " über", " {y}", " 2.72")
_VALUES = ("north", "south", 31, 0.25, False, "señal", "l m")
_CREATED = 1_790_000_000


class Turn:
    """What is to be said, and the padding that goes with it; the same one for the same sizes."""

    def __init__(self, deltas: int, calls: int, fragments: int) -> None:
        self._random = random.Random(20)
        self.texts = [self._random.choice(_WORDS + _MORE_WORDS) for _ in range(deltas)]
        self.calls = [self._call(fragments) for _ in range(calls)]
        self.usage = (111, deltas + calls * fragments)

    def _call(self, fragments: int) -> list[str]:
        """The fragments of one JSON object."""
        values = [json.dumps(self._random.choice(_VALUES)) for _ in range(max(fragments - 2, 0))]
        return ['{"cells":[', *(f",{v}" if i else v for i, v in enumerate(values)), "]}"]

    def padding(self) -> str:
        return "abcdefghijklmnopqrstuvwxyz0123456789"[: self._random.randint(2, 16)]


def as_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def openai_chat(turn: Turn) -> Iterator[Event]:
    head = {"id": "chatcmpl-D1q8yTz0LmNw4R7", "object": "chat.completion.chunk", "created": _CREATED}
    head |= {"model": "gpt-4o-mini-2024-07-18", "service_tier": "default", "system_fingerprint": "fp_1b2c3d4e5f"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return "", {**head, "choices": [choice], "usage": None, "obfuscation": turn.padding()}

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for text in turn.texts:
        yield chunk({"content": text})
    for i, fragments in enumerate(turn.calls):
        function = {"name": f"measure_{i}", "arguments": ""}
        yield chunk({"tool_calls": [{"index": i, "id": f"call_{i}xyzUVW", "type": "function", "function": function}]})
        for fragment in fragments:
            yield chunk({"tool_calls": [{"index": i, "function": {"arguments": fragment}}]})
    yield chunk({}, "tool_calls" if turn.calls else "stop")
    asked, given = turn.usage
    usage: dict[str, Any] = {"prompt_tokens": asked, "completion_tokens": given, "total_tokens": asked + given}
    usage |= {"prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}}
    yield "", {**head, "choices": [], "usage": usage, "obfuscation": ""}


def openai_responses(turn: Turn) -> Iterator[Event]:
    for number, (name, fields) in enumerate(_responses_events(turn)):
        yield name, {"type": name, "sequence_number": number, **fields}


def _responses_events(turn: Turn) -> Iterator[Event]:
    response = {"id": "resp_9f8e7d", "object": "response", "created_at": _CREATED, "status": "in_progress", "error": None}
    response |= {"incomplete_details": None, "instructions": None, "model": "gpt-4o-mini-2024-07-18", "output": []}
    response |= {"parallel_tool_calls": True, "temperature": 1.0, "tools": [], "usage": None, "metadata": {}}
    yield "response.created", {"response": response}
    yield "response.in_progress", {"response": response}
    items: list[dict[str, Any]] = []
    if turn.texts:
        yield from _responses_message(turn, items)
    for i, fragments in enumerate(turn.calls):
        at = {"output_index": len(items)}
        item = {"id": f"fc_{i}", "type": "function_call", "arguments": "", "call_id": f"call_{i}", "name": f"measure_{i}"}
        yield "response.output_item.added", {**at, "item": {**item, "status": "in_progress"}}
        for fragment in fragments:
            fields = {"item_id": f"fc_{i}", **at, "delta": fragment, "obfuscation": turn.padding()}
            yield "response.function_call_arguments.delta", fields
        whole = "".join(fragments)
        yield "response.function_call_arguments.done", {"item_id": f"fc_{i}", **at, "arguments": whole}
        items.append({**item, "arguments": whole, "status": "completed"})
        yield "response.output_item.done", {**at, "item": items[-1]}
    asked, given = turn.usage
    usage: dict[str, Any] = {"input_tokens": asked, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": given}
    usage |= {"output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": asked + given}
    yield "response.completed", {"response": {**response, "status": "completed", "output": items, "usage": usage}}


def _responses_message(turn: Turn, items: list[dict[str, Any]]) -> Iterator[Event]:
    item = {"id": "msg_9f8e7d6c5b4a", "type": "message", "role": "assistant"}
    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
    yield "response.output_item.added", {"output_index": 0, "item": {**item, "status": "in_progress", "content": []}}
    yield "response.content_part.added", {**at, "part": part}
    for text in turn.texts:
        yield "response.output_text.delta", {**at, "delta": text, "logprobs": [], "obfuscation": turn.padding()}
    whole = "".join(turn.texts)
    yield "response.output_text.done", {**at, "text": whole, "logprobs": []}
    yield "response.content_part.done", {**at, "part": {**part, "text": whole}}
    items.append({**item, "status": "completed", "content": [{**part, "text": whole}]})
    yield "response.output_item.done", {"output_index": 0, "item": items[0]}


def gemini(turn: Turn) -> Iterator[Event]:
    asked, count = turn.usage[0], 0

    def chunk(part: dict[str, Any], **fields: object) -> Event:
        nonlocal count
        count += 1
        usage: dict[str, Any] = {"promptTokenCount": asked, "candidatesTokenCount": count, "totalTokenCount": asked + count}
        usage["promptTokensDetails"] = [{"modality": "TEXT", "tokenCount": asked}]
        candidate = {"content": {"parts": [part], "role": "model"}, "index": 0, **fields}
        named = {"modelVersion": "gemini-2.5-flash", "responseId": "zYxW9876vuTS"}
        return "", {"candidates": [candidate], "usageMetadata": usage, **named}

    for text in turn.texts:
        yield chunk({"text": text})
    for i, fragments in enumerate(turn.calls):
        if turn.texts:
            yield chunk({"functionCall": {"name": f"measure_{i}", "args": json.loads("".join(fragments))}})
            continue
        yield chunk({"functionCall": {"name": f"measure_{i}", "willContinue": True}})
        for fragment in fragments:
            said = {"jsonPath": "$.cells", "stringValue": fragment, "willContinue": True}
            yield chunk({"functionCall": {"partialArgs": [said], "willContinue": True}})
        yield chunk({"functionCall": {}})
    yield chunk({"text": ""}, finishReason="STOP")


def bedrock_converse(turn: Turn) -> Iterator[Event]:
    for name, fields in _converse_events(turn):
        yield name, {**fields, "p": turn.padding()}


def _converse_events(turn: Turn) -> Iterator[Event]:
    yield "messageStart", {"role": "assistant"}
    for text in turn.texts:
        yield "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}}
    first = 0
    if turn.texts:
        yield "contentBlockStop", {"contentBlockIndex": 0}
        first = 1
    for i, fragments in enumerate(turn.calls):
        at = {"contentBlockIndex": first + i}
        head = {"toolUseId": f"tooluse_{i}xyz", "name": f"measure_{i}"}
        yield "contentBlockStart", {**at, "start": {"toolUse": head}}
        for fragment in fragments:
            yield "contentBlockDelta", {**at, "delta": {"toolUse": {"input": fragment}}}
        yield "contentBlockStop", at
    yield "messageStop", {"stopReason": "tool_use" if turn.calls else "end_turn"}
    asked, given = turn.usage
    usage = {"inputTokens": asked, "outputTokens": given, "totalTokens": asked + given}
    yield "metadata", {"usage": usage, "metrics": {"latencyMs": 4096}}


def bedrock_invoke(turn: Turn) -> Iterator[Event]:
    for _, payload in anthropic_messages(turn):
        yield "chunk", {"bytes": b64encode(as_json(payload)).decode(), "p": turn.padding()}


def anthropic_messages(turn: Turn) -> Iterator[Event]:
    for name, fields in _anthropic_events(turn):
        yield name, {"type": name, **fields}


def _anthropic_events(turn: Turn) -> Iterator[Event]:
    asked, given = turn.usage
    usage = {"input_tokens": asked, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {"id": "msg_01xyz", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    yield "message_start", {"message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    first = 0
    if turn.texts:
        yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
        yield "ping", {}
        for text in turn.texts:
            yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text}}
        yield "content_block_stop", {"index": 0}
        first = 1
    for i, fragments in enumerate(turn.calls):
        at = {"index": first + i}
        block = {"type": "tool_use", "id": f"toolu_{i}xyz", "name": f"measure_{i}", "input": {}}
        yield "content_block_start", {**at, "content_block": block}
        for fragment in fragments:
            yield "content_block_delta", {**at, "delta": {"type": "input_json_delta", "partial_json": fragment}}
        yield "content_block_stop", at
    stop = {"stop_reason": "tool_use" if turn.calls else "end_turn", "stop_sequence": None}
    yield "message_delta", {"delta": stop, "usage": {"output_tokens": given}}
    yield "message_stop", {}


def ollama_chat(turn: Turn) -> Iterator[Event]:
    asked, given = turn.usage

    def chunk(message: dict[str, Any], done: bool = False, **fields: object) -> Event:
        head = {"model": "llama3.2", "created_at": "2026-09-21T10:13:14.159265358Z"}
        return "", {**head, "message": {"role": "assistant", **message}, "done": done, **fields}

    for text in turn.texts:
        yield chunk({"content": text})
    for i, fragments in enumerate(turn.calls):
        function = {"name": f"measure_{i}", "arguments": json.loads("".join(fragments))}
        yield chunk({"content": "", "tool_calls": [{"function": function}]})
    times = {"total_duration": 4816250000, "load_duration": 1400625, "prompt_eval_duration": 340000000}
    counts = {"prompt_eval_count": asked, "eval_count": given, "eval_duration": 4500000000}
    yield chunk({"content": ""}, True, done_reason="stop", **times, **counts)
