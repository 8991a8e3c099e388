"""The floor of each dialect: the simplest loop that is right about a well-formed stream, and knows nothing else.

Cut the body at the blank line, at the line, or into binary frames with both checksums; decode; append to lists. No pieces,
no unknown fields, no errors: whatever does more costs more, and the benchmark tells how much. Each floor returns the text,
the arguments of the calls, as text or as the object that the API sent, and what stood at the end.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from binascii import crc32
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Loads = Callable[[bytes | memoryview], Any]
Said = tuple[str, list[Any], Any]

_PRELUDE = struct.Struct("!III")
_CRC = struct.Struct("!I")


def floor(dialect: str, body: bytes, loads: Loads) -> Said:
    """What the body says; `loads` decodes JSON."""
    return _FLOORS[dialect](body, loads)


# framing


def _data(body: bytes, blank: bytes = b"\n\n") -> Iterator[bytes]:
    for event in body.split(blank):
        at = event.find(b"data:")
        if at >= 0:
            yield event[at + 6 :]


def _messages(body: bytes) -> Iterator[tuple[str, memoryview]]:
    """(event type, payload) of each binary frame."""
    types: dict[bytes, str] = {}
    view, pos = memoryview(body), 0
    while pos < len(body):
        size, headers_size, prelude_crc = _PRELUDE.unpack_from(view, pos)
        end, payload = pos + size, pos + 12 + headers_size
        if crc32(view[pos : pos + 8]) != prelude_crc:
            raise ValueError("wrong checksum of a prelude")
        if crc32(view[pos : end - 4]) != _CRC.unpack_from(view, end - 4)[0]:
            raise ValueError("wrong checksum of a message")
        headers = body[pos + 12 : payload]
        name = types.get(headers)
        if name is None:
            name = types[headers] = _headers(headers)[":event-type"]
        yield name, view[payload : end - 4]
        pos = end


def _headers(block: bytes) -> dict[str, str]:
    """Headers whose values are strings."""
    headers, pos = {}, 0
    while pos < len(block):
        end = pos + 1 + block[pos]
        size = int.from_bytes(block[end + 1 : end + 3], "big")
        headers[block[pos + 1 : end].decode()] = block[end + 3 : end + 3 + size].decode()
        pos = end + 3 + size
    return headers


# decoding and gathering


def _openai_chat(body: bytes, loads: Loads) -> Said:
    calls: dict[int, tuple[str, str, list[str]]] = {}
    text, finish, usage = [], None, None
    for data in _data(body):
        if data == b"[DONE]":
            break
        chunk = loads(data)
        for choice in chunk["choices"]:
            delta = choice["delta"]
            content = delta.get("content")
            if content:
                text.append(content)
            tools = delta.get("tool_calls")
            if tools:
                for tool in tools:
                    call = calls.get(tool["index"])
                    if call is None:
                        calls[tool["index"]] = call = (tool["id"], tool["function"]["name"], [])
                    call[2].append(tool["function"]["arguments"])
            finish = choice["finish_reason"] or finish
        usage = chunk["usage"] or usage
    return "".join(text), ["".join(fragments) for _, _, fragments in calls.values()], (finish, usage)


def _openai_responses(body: bytes, loads: Loads) -> Said:
    calls: dict[str, list[str]] = {}
    text, final = [], None
    for data in _data(body):
        event = loads(data)
        name = event["type"]
        if name == "response.output_text.delta":
            text.append(event["delta"])
        elif name == "response.function_call_arguments.delta":
            calls.setdefault(event["item_id"], []).append(event["delta"])
        elif name == "response.completed":
            final = event["response"]
    return "".join(text), ["".join(fragments) for fragments in calls.values()], final


def _gemini(body: bytes, loads: Loads) -> Said:
    text, calls, finish, usage = [], [], None, None
    for data in _data(body, b"\r\n\r\n"):
        chunk = loads(data)
        for candidate in chunk["candidates"]:
            for part in candidate["content"]["parts"]:
                if "text" in part:
                    text.append(part["text"])
                elif "functionCall" in part:
                    calls.append(part["functionCall"]["args"])
            finish = candidate.get("finishReason") or finish
        usage = chunk["usageMetadata"]
    return "".join(text), calls, (finish, usage)


def _bedrock_converse(body: bytes, loads: Loads) -> Said:
    blocks: dict[int, tuple[Any, list[str]]] = {}
    stop, usage = None, None
    for name, data in _messages(body):
        event = loads(data)
        if name == "contentBlockDelta":
            delta = event["delta"]
            block = blocks.get(event["contentBlockIndex"])
            if block is None:
                blocks[event["contentBlockIndex"]] = block = (None, [])
            block[1].append(delta["text"] if "text" in delta else delta["toolUse"]["input"])
        elif name == "contentBlockStart":
            blocks[event["contentBlockIndex"]] = (event["start"], [])
        elif name == "messageStop":
            stop = event["stopReason"]
        elif name == "metadata":
            usage = event["usage"]
    texts = "".join(["".join(fragments) for start, fragments in blocks.values() if start is None])
    return texts, ["".join(fragments) for start, fragments in blocks.values() if start], (stop, usage)


def _anthropic(events: Iterable[Any]) -> Said:
    blocks: list[tuple[Any, list[str]]] = []
    stop, usage = None, None
    for event in events:
        name = event["type"]
        if name == "content_block_delta":
            delta = event["delta"]
            blocks[event["index"]][1].append(delta["text"] if delta["type"] == "text_delta" else delta["partial_json"])
        elif name == "content_block_start":
            blocks.append((event["content_block"], []))
        elif name == "message_delta":
            stop, usage = event["delta"]["stop_reason"], event["usage"]
    texts = "".join(["".join(fragments) for block, fragments in blocks if block["type"] == "text"])
    return texts, ["".join(fragments) for block, fragments in blocks if block["type"] == "tool_use"], (stop, usage)


def _anthropic_messages(body: bytes, loads: Loads) -> Said:
    return _anthropic(map(loads, _data(body)))


def _bedrock_invoke(body: bytes, loads: Loads) -> Said:
    return _anthropic([loads(b64decode(loads(data)["bytes"])) for _, data in _messages(body)])


def _ollama_chat(body: bytes, loads: Loads) -> Said:
    text, calls, last = [], [], None
    for line in body.split(b"\n"):
        if not line:
            continue
        chunk = loads(line)
        message = chunk["message"]
        text.append(message["content"])
        if "tool_calls" in message:
            calls += [call["function"]["arguments"] for call in message["tool_calls"]]
        if chunk["done"]:
            last = chunk
    return "".join(text), calls, last


_FLOORS: dict[str, Callable[[bytes, Loads], Said]] = {
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "gemini": _gemini,
    "bedrock-converse": _bedrock_converse,
    "bedrock-invoke": _bedrock_invoke,
    "ollama-chat": _ollama_chat,
    "anthropic-messages": _anthropic_messages,
}
