"""botocore reads Bedrock; inside Invoke the anthropic SDK reads Claude's events."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import closing
from typing import Any

from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import Message, RawMessageStreamEvent
from botocore.config import Config
from botocore.session import Session
from pydantic import TypeAdapter

from harness.cassette import Cassette
from tests.oracle.replay_server import ReplayServer
from tests.oracle.said import Said

_EVENT: TypeAdapter[RawMessageStreamEvent] = TypeAdapter(RawMessageStreamEvent)


class Bedrock:
    """Reads the two sides of a cassette."""

    def __init__(self, server: ReplayServer) -> None:
        self._server = server
        session = Session()
        session.set_credentials("AKIDEXAMPLE", "none")
        once = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=5)
        self._client = session.create_client("bedrock-runtime", "us-east-1", endpoint_url=server.url, config=once)

    def stream(self, case: Cassette) -> Said:
        assert case.stream is not None
        self._server.play(case.stream)
        if case.dialect == "bedrock-converse":
            answer = self._client.converse_stream(modelId=case.model, **case.stream.request.json)
            with closing(answer["stream"]) as events:
                return converse(events)
        answer = self._client.invoke_model_with_response_stream(modelId=case.model, body=case.stream.request.body)
        with closing(answer["body"]) as events:
            return invoked([json.loads(event["chunk"]["bytes"]) for event in events])

    def plain(self, case: Cassette) -> Said:
        assert case.reference is not None
        self._server.play(case.reference)
        if case.dialect == "bedrock-converse":
            return replied(self._client.converse(modelId=case.model, **case.reference.request.json))
        answer = self._client.invoke_model(modelId=case.model, body=case.reference.request.body)
        return answered(json.loads(answer["body"].read()))

    def close(self) -> None:
        self._client.close()


def converse(events: Iterable[dict[str, Any]]) -> Said:
    """Pieces of a stream, joined by their index; `events` is the SDK's stream, or its like."""
    blocks: dict[int, dict[str, Any]] = {}
    message: dict[str, Any] = {}
    for event in events:
        for name, fields in event.items():
            if name == "contentBlockStart":
                blocks[fields["contentBlockIndex"]] = {kind: dict(head) for kind, head in fields["start"].items()}
            elif name == "contentBlockDelta":
                _join(blocks.setdefault(fields["contentBlockIndex"], {}), fields["delta"])
            elif name in ("messageStop", "metadata"):
                message |= fields
    content = [_native(blocks[index]) for index in sorted(blocks)]
    return replied({**message, "output": {"message": {"content": content}}})


def _join(block: dict[str, Any], delta: dict[str, Any]) -> None:
    for kind, value in delta.items():
        if kind == "text":
            block["text"] = block.get("text", "") + value
        elif kind == "citation":
            block.setdefault("citations", []).append(value)
        elif kind == "toolResult":
            block["toolResult"].setdefault("content", []).extend(value)
        else:
            inside = block.setdefault(kind, {})
            for name, piece in value.items():
                inside[name] = inside[name] + piece if name in inside else piece


def _native(block: dict[str, Any]) -> dict[str, Any]:
    """The block as a reply has it."""
    if "citations" in block:
        return {"citationsContent": {"content": [{"text": block["text"]}], "citations": block["citations"]}}
    if "toolUse" in block:
        return {"toolUse": {**block["toolUse"], "input": json.loads(block["toolUse"].get("input") or "{}")}}
    thought = block.get("reasoningContent", {})
    return {"reasoningContent": {"reasoningText": thought}} if "text" in thought else block


def replied(reply: dict[str, Any]) -> Said:
    """What a reply to Converse says, as the SDK gives it."""
    usage = reply.get("usage", {})
    turn = Said(finish=reply.get("stopReason"), usage=usage, counts=(usage.get("inputTokens"), usage.get("outputTokens")))
    for block in reply["output"]["message"]["content"]:
        for kind, value in block.items():
            if kind == "text":
                turn.text += value
            elif kind == "citationsContent":
                turn.text += "".join(part["text"] for part in value["content"])
                turn.others.append(value["citations"])
            elif kind == "toolUse" and value.get("type") != "server_tool_use":
                turn.calls.append((value["name"], value["input"]))
                turn.others.append(value["toolUseId"])
            elif kind == "reasoningContent" and "reasoningText" in value:
                turn.reasoning += value["reasoningText"]["text"]
                turn.others.append(value["reasoningText"].get("signature"))
            else:
                turn.others.append(block)
    turn.others += [reply.get("additionalModelResponseFields"), reply.get("trace") or None]
    return turn


def invoked(payloads: list[dict[str, Any]]) -> Said:
    """A vendor's payloads; those of Claude through the vendor's own SDK."""
    if "type" in payloads[0]:
        return claude(payloads)
    if "messageStart" in payloads[0]:
        return nova(payloads)
    return answered(_texts(payloads))


def claude(payloads: list[dict[str, Any]]) -> Said:
    message, buffers = None, {}
    for payload in payloads:
        message = accumulate_event(event=_EVENT.validate_python(payload), current_snapshot=message, json_bufs=buffers)
    assert message is not None
    return spoken(message)


def spoken(message: Any) -> Said:
    usage = message.usage.model_dump(exclude_none=True)
    turn = Said(finish=message.stop_reason, usage=usage, counts=(usage["input_tokens"], usage["output_tokens"]))
    for block in message.content:
        if block.type == "text":
            turn.text += block.text
        elif block.type == "thinking":
            turn.reasoning += block.thinking
            turn.others.append(block.signature)
        elif block.type == "tool_use":
            turn.calls.append((block.name, block.input))
            turn.others.append(block.id)
    turn.others += [message.id, message.model, message.stop_sequence]
    return turn


def nova(payloads: list[dict[str, Any]]) -> Said:
    """Converse's events in their names; the total of tokens is counted in the plain answer only."""
    return converse({name: fields} for payload in payloads for name, fields in payload.items() if isinstance(fields, dict))


def _texts(payloads: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer of a vendor whose payloads are texts: texts are joined, of other fields the last word counts."""
    whole: dict[str, Any] = {}
    for payload in payloads:
        piece = payload["outputs"][0] if "outputs" in payload else payload
        for name, value in piece.items():
            if name in ("generation", "text", "outputText"):
                whole[name] = whole.get(name, "") + value
            elif value is not None:
                whole[name] = value
    return whole


def answered(body: dict[str, Any]) -> Said:
    """A vendor's whole answer."""
    if body.get("type") == "message":
        return spoken(Message.model_validate(body))
    if "output" in body:
        usage = {name: count for name, count in body["usage"].items() if name != "totalTokens"}
        return replied({**body, "usage": usage})
    inside = next((body[name][0] for name in ("outputs", "results", "generations") if name in body), body)
    text = next(inside[name] for name in ("generation", "text", "outputText") if name in inside)
    reason = next(inside[name] for name in ("stop_reason", "finish_reason", "completionReason") if name in inside)
    given = body.get("prompt_token_count", body.get("inputTextTokenCount"))
    made = body.get("generation_token_count", inside.get("tokenCount", inside.get("totalOutputTextTokenCount")))
    return Said(text=text, finish=reason, counts=(given, made))
