"""A `TurnRequest` as a request of InvokeModel: the body that the model's vendor wants (wire/bedrock-converse.md section 8).

Vendors that take a prompt as one text, with marks of their own for who speaks, are not asked here: Converse does that for them.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from harness import dialects
from harness.dialects.asking import unsupported
from harness.request import RequestParts, TurnRequest

_MESSAGES_VERSION = "bedrock-2023-05-31"
_CHAT = ("openai.", "deepseek.v3", "qwen.", "moonshot", "minimax.", "zai.", "google.gemma", "nvidia.", "mistral.ministral")


def build(request: TurnRequest, stream: bool) -> RequestParts:
    body = _body(request)
    method = "invoke-with-response-stream" if stream else "invoke"
    return RequestParts(path=f"/model/{quote(request.model, safe='')}/{method}", body=body)


def _body(request: TurnRequest) -> dict[str, Any]:
    """The body, which names neither the model nor whether it is to be streamed."""
    model = request.model
    if "anthropic." in model:
        body = _of("anthropic-messages", request)
        return {"anthropic_version": _MESSAGES_VERSION, **body}
    if "amazon.nova" in model:
        body = _of("bedrock-converse", request)
        extra = body.pop("additionalModelRequestFields", {})
        return {"schemaVersion": "messages-v1", **body, **extra}
    if any(name in model for name in _CHAT):
        return _of("openai-chat", request)
    raise unsupported("InvokeModel", f"a turn of {model!r}, whose vendor takes one text", "use bedrock-converse")


def _of(api: str, request: TurnRequest) -> dict[str, Any]:
    body = dialects.dialect(api).build_request(request, stream=False).body
    body.pop("model", None)
    return body
