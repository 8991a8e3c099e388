"""Bedrock's Converse: turns told as content blocks (wire/bedrock-converse.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from authoring.blocks import Block, Call, Cited, Redacted, Text, Thought
from authoring.case import MASKED, Service
from authoring.wire import Cut, compact, event
from harness.cassette import Cassette, Exchange
from harness.cassette.model import Ending

STREAM, JSON = "application/vnd.amazon.eventstream", "application/json"
ASKING = (("authorization", MASKED), ("x-amz-date", "20261201T093000Z"))
ANSWERING = (("x-amzn-requestid", "5b0c7a52-4f63-4b9e-9c55-3f0f6f0d2a11"),)
SERVICE = Service(
    dialect="bedrock-converse",
    provider="bedrock",
    host="bedrock-runtime.us-east-1.amazonaws.com",
    asking=ASKING,
    answering=ANSWERING,
    source="written from wire/bedrock-converse.md and wire/framing.md; proved with botocore 1.44.8",
)
HAIKU = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
NOVA = "us.amazon.nova-2-lite-v1:0"

Object = dict[str, Any]
Named = tuple[str, Object]
"""The name of an event and its payload."""


def deltas(block: Block) -> Iterator[Object]:
    """What the pieces of a block are on the wire."""
    match block:
        case Text():
            yield from ({"text": piece} for piece in block)
        case Cited():
            yield from ({"text": piece} for piece in block.text)
            yield from ({"citation": citation} for citation in block.citations)
        case Thought():
            yield from ({"reasoningContent": {"text": piece}} for piece in block.pieces)
            if block.signature:
                yield {"reasoningContent": {"signature": block.signature}}
        case Redacted():
            yield {"reasoningContent": {"redactedContent": block.data}}
        case Call():
            yield from ({"toolUse": {"input": piece}} for piece in block.pieces)


def start(block: Block) -> Object | None:
    """The head of a block; text and reasoning have none."""
    match block:
        case Call():
            return {"toolUse": {"toolUseId": block.id, "name": block.name}}
    return None


def native(block: Block) -> Object:
    """The block of a message that is not streamed."""
    match block:
        case Text():
            return {"text": block.whole}
        case Cited():
            return {"citationsContent": {"content": [{"text": block.text.whole}], "citations": list(block.citations)}}
        case Thought():
            signed = {"signature": block.signature} if block.signature else {}
            return {"reasoningContent": {"reasoningText": {"text": "".join(block.pieces), **signed}}}
        case Redacted():
            return {"reasoningContent": {"redactedContent": block.data}}
        case Call():
            return {"toolUse": {"toolUseId": block.id, "name": block.name, "input": block.arguments}}


def block_events(index: int, block: Block, *, stop: bool = True) -> Iterator[Named]:
    place = {"contentBlockIndex": index}
    if (head := start(block)) is not None:
        yield "contentBlockStart", {**place, "start": head}
    yield from (("contentBlockDelta", {**place, "delta": delta}) for delta in deltas(block))
    if stop:
        yield "contentBlockStop", place


def turn(
    scenario: str,
    request: Object,
    blocks: Sequence[Block],
    counts: tuple[int, int],
    *,
    model: str = HAIKU,
    stop: str = "end_turn",
    fields: Object | None = None,
    cut: Cut = "each",
) -> Cassette:
    """A turn. `counts` are tokens in and out; `fields` are the additional ones that the request named."""
    usage: Object = {"inputTokens": counts[0], "outputTokens": counts[1], "totalTokens": sum(counts), "serverToolUsage": {}}
    added = {"additionalModelResponseFields": fields} if fields else {}
    events: list[Named] = [
        ("messageStart", {"role": "assistant"}),
        *(named for index, block in enumerate(blocks) for named in block_events(index, block)),
        ("messageStop", {"stopReason": stop, **added}),
        ("metadata", {"usage": usage, "metrics": {"latencyMs": 938}}),
    ]
    message = {"content": [native(block) for block in blocks], "role": "assistant"}
    body = {"metrics": {"latencyMs": 1164}, "output": {"message": message}, "stopReason": stop, "usage": usage}
    ask = SERVICE.request(f"{path(model)}/converse", request)
    plain = SERVICE.plain(ask, JSON, compact({**body, **added}))
    return SERVICE.case(scenario, model, streamed(request, frames(events), model, cut), plain)


def frames(events: Sequence[Named]) -> list[bytes]:
    return [event(name, payload, number) for number, (name, payload) in enumerate(events)]


def streamed(
    request: Object, events: Sequence[bytes], model: str = HAIKU, cut: Cut = "each", ending: Ending = "eof"
) -> Exchange:
    ask = SERVICE.request(f"{path(model)}/converse-stream", request)
    return SERVICE.streamed(ask, STREAM, events, cut=cut, ending=ending)


def path(model: str) -> str:
    return f"/model/{quote(model, safe='')}"


def refused(
    service: Service,
    scenario: str,
    model: str,
    request: Object,
    methods: tuple[str, str],
    status: int,
    named: str,
    message: str,
) -> Cassette:
    """A request that is refused, with and without a stream; the name of the failure stands in a header."""
    kind = ("x-amzn-errortype", f"{named}:http://internal.amazon.com/coral/com.amazon.bedrock/")
    sides = [
        service.plain(
            service.request(f"{path(model)}/{method}", request), JSON, compact({"message": message}), status=status, more=[kind]
        )
        for method in methods
    ]
    return service.case(scenario, model, *sides)


def asks(text: str | list[Object], **fields: Any) -> Object:
    messages = [said("user", {"text": text})] if isinstance(text, str) else text
    return {"messages": messages, "inferenceConfig": {"maxTokens": 512, "temperature": 0.0}, **fields}


def said(role: str, *content: Object) -> Object:
    return {"role": role, "content": list(content)}


def tool(name: str, description: str, **properties: str) -> Object:
    fields = {field: {"type": "string", "description": says} for field, says in properties.items()}
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}
