"""What clients ask beside the turn itself: which models there are, what they can do, what version the server is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from harness.cassette.model import Chunk, Exchange, Headers, Request

_CREATED = 1_700_000_000
_ISO = "2023-11-14T22:13:20Z"
_VERSION = "0.12.0"
_MODELS = ("/v1/models", "/openai/models", "/models")


def auxiliary(request: Request, rest: str, models: Iterable[str]) -> Exchange | None:
    """The answer to such a request; None for any other. `models` are those that are spoken of."""
    path = rest.partition("?")[0].rstrip("/")
    names = list(dict.fromkeys(models)) or ["model"]
    value = _post(request, path, names) if request.method == "POST" else _get(request, path, names)
    return json_exchange(200, value) if value is not None else None


def json_exchange(status: int, value: Any) -> Exchange:
    """A response of our own."""
    data = (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "surrogatepass")
    headers = Headers([("content-type", "application/json"), ("content-length", str(len(data)))])
    return Exchange(status=status, headers=headers, chunks=(Chunk(data=data),))


def _post(request: Request, path: str, names: list[str]) -> Any:
    if not path.endswith("/api/show"):
        return None
    asked = request.json if isinstance(request.json, dict) else {}
    return {
        "license": "",
        "modelfile": "",
        "parameters": "",
        "template": "{{ .Prompt }}",
        "details": _details(),
        "model_info": {"general.architecture": "llama", "llama.context_length": 32768},
        "capabilities": ["completion", "tools", "thinking", "vision"],
        "modified_at": _ISO,
        "model": asked.get("model") or names[0],
    }


def _get(request: Request, path: str, names: list[str]) -> Any:
    if request.method not in ("GET", "HEAD"):
        return None
    if path.endswith("/api/version"):
        return {"version": _VERSION}
    if path.endswith(("/api/tags", "/api/ps")):
        return {"models": [_local(name) for name in names]}
    if path.endswith("/v1beta/models"):
        return {"models": [_google(name) for name in names]}
    if path.endswith(_MODELS):
        return {"object": "list", "data": [_listed(name) for name in names], "has_more": False}
    head, mark, name = path.rpartition("/models/")
    if mark and name:
        return _google(name) if head.endswith("/v1beta") else _listed(name)
    return None


def _listed(name: str) -> dict[str, Any]:
    """A model as OpenAI's list has it, with the fields that Anthropic's has beside."""
    return {
        "id": name,
        "object": "model",
        "created": _CREATED,
        "owned_by": "streamproof",
        "type": "model",
        "display_name": name,
        "created_at": _ISO,
    }


def _google(name: str) -> dict[str, Any]:
    methods = ["generateContent", "streamGenerateContent", "countTokens"]
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "inputTokenLimit": 32768,
        "outputTokenLimit": 8192,
        "supportedGenerationMethods": methods,
    }


def _local(name: str) -> dict[str, Any]:
    return {"name": name, "model": name, "modified_at": _ISO, "size": 1, "digest": "0" * 64, "details": _details()}


def _details() -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": "llama",
        "families": ["llama"],
        "parameter_size": "1B",
        "quantization_level": "Q4_0",
    }
