"""Bedrock's InvokeModel: the model vendors' own payloads in Bedrock's frames (wire/bedrock-converse.md section 8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from authoring.blocks import Block, Call, Text, Thought
from authoring.case import Service
from authoring.converse import ANSWERING, ASKING, JSON, SERVICE, STREAM, block_events, native, path
from authoring.wire import Cut, compact, event, inner
from harness.cassette import Cassette, Exchange
from harness.cassette.model import Ending

INVOKE = Service(
    dialect="bedrock-invoke",
    provider="bedrock",
    host=SERVICE.host,
    asking=ASKING,
    answering=ANSWERING,
    source="written from wire/bedrock-converse.md section 8; proved with botocore 1.44.8 and anthropic 2.14.0",
)
CLAUDE = "anthropic.claude-haiku-4-5-20251001-v1:0"
NOVA = "amazon.nova-lite-v1:0"

Object = dict[str, Any]


def turn(
    scenario: str,
    model: str,
    request: Object,
    payloads: Sequence[Object],
    answer: Object,
    counts: tuple[int, int],
    *,
    cut: Cut = "each",
) -> Cassette:
    """A turn by what the vendor sends. Bedrock adds its counts to the last payload, or puts them into headers."""
    given, answered = counts
    metrics = {"inputTokenCount": given, "outputTokenCount": answered, "invocationLatency": 938, "firstByteLatency": 371}
    ended = [*payloads[:-1], {**payloads[-1], "amazon-bedrock-invocationMetrics": metrics}]
    counted = [
        ("x-amzn-bedrock-input-token-count", str(given)),
        ("x-amzn-bedrock-output-token-count", str(answered)),
        ("x-amzn-bedrock-invocation-latency", "1164"),
    ]
    plain = INVOKE.plain(INVOKE.request(f"{path(model)}/invoke", request), JSON, compact(answer), more=counted)
    return INVOKE.case(scenario, model, streamed(model, request, chunks(ended), cut=cut), plain)


def chunks(payloads: Sequence[Object]) -> list[bytes]:
    return [event("chunk", inner(payload), number) for number, payload in enumerate(payloads)]


def streamed(model: str, request: Object, events: Sequence[bytes], *, cut: Cut = "each", ending: Ending = "eof") -> Exchange:
    ask = INVOKE.request(f"{path(model)}/invoke-with-response-stream", request)
    named = [("x-amzn-bedrock-content-type", JSON)]
    return INVOKE.streamed(ask, STREAM, events, cut=cut, ending=ending, more=named)


def claude(
    scenario: str,
    request: Object,
    blocks: Sequence[Block],
    counts: tuple[int, int],
    *,
    stop: str = "end_turn",
    sequence: str | None = None,
    cut: Cut = "each",
) -> Cassette:
    """A turn of Claude's: Messages events without their SSE."""
    given, answered = counts
    usage = {"input_tokens": given, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {"model": "claude-haiku-4-5-20251001", "id": f"msg_bdrk_01{scenario.title().replace('-', '')}"}
    message |= {"type": "message", "role": "assistant"}
    head = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}
    ending = {"stop_reason": stop, "stop_sequence": sequence}
    payloads = [
        {"type": "message_start", "message": head},
        *(payload for index, block in enumerate(blocks) for payload in _claudes(index, block)),
        {"type": "message_delta", "delta": ending, "usage": {**usage, "output_tokens": answered}},
        {"type": "message_stop"},
    ]
    content = [_begun(block) | _grown(block) for block in blocks]
    answer = {**message, "content": content, **ending, "usage": {**usage, "output_tokens": answered}}
    return turn(f"anthropic-{scenario}", CLAUDE, request, payloads, answer, counts, cut=cut)


def _claudes(index: int, block: Block) -> Iterator[Object]:
    yield {"type": "content_block_start", "index": index, "content_block": _begun(block)}
    for delta in _deltas(block):
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _begun(block: Block) -> Object:
    match block:
        case Text():
            return {"type": "text", "text": ""}
        case Thought():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Call():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
    raise ValueError(block)


def _grown(block: Block) -> Object:
    """What the pieces of a block come to."""
    match block:
        case Text():
            return {"text": block.whole}
        case Thought():
            return {"thinking": "".join(block.pieces), "signature": block.signature}
        case Call():
            return {"input": block.arguments}
    raise ValueError(block)


def _deltas(block: Block) -> Iterator[Object]:
    match block:
        case Text():
            yield from ({"type": "text_delta", "text": piece} for piece in block)
        case Thought():
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in block.pieces)
            yield {"type": "signature_delta", "signature": block.signature}
        case Call():
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in block.pieces)


def nova(
    scenario: str,
    request: Object,
    blocks: Sequence[Block],
    counts: tuple[int, int],
    *,
    stop: str = "end_turn",
    cut: Cut = "each",
) -> Cassette:
    """A turn of Nova's: the events of Converse, wrapped in their names. Every piece of a text is a block of its own."""
    given, answered = counts
    apart = [piece for block in blocks for piece in (map(Text, zip(block)) if isinstance(block, Text) else [block])]
    usage = {"inputTokens": given, "outputTokens": answered}
    cached = {"cacheReadInputTokenCount": 0, "cacheWriteInputTokenCount": 0}
    payloads: list[Object] = [
        {"messageStart": {"role": "assistant"}},
        *({name: payload} for index, block in enumerate(apart) for name, payload in block_events(index, block)),
        {"messageStop": {"stopReason": stop}},
        {"metadata": {"usage": {**usage, **cached}, "metrics": {}, "trace": {}}},
    ]
    message = {"content": [native(block) for block in blocks], "role": "assistant"}
    answer = {"output": {"message": message}, "stopReason": stop, "usage": {**usage, "totalTokens": sum(counts), **cached}}
    return turn(f"nova-{scenario}", NOVA, request, payloads, answer, counts, cut=cut)
