"""Ollama's own API: `/api/chat`, and `/api/generate` with the text at another place (wire/ollama-chat.md).

Every line of a stream has the form of the whole answer, and the server builds its non-streaming answer out of the same
lines: of a top-level field the last value counts, texts are joined, calls and log probabilities are appended. Calls come
complete, with an object for arguments; their `index` may be 0 in all of them, so that it is kept and never a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.api_error import ApiError
from harness.dialects.base import BaseDialect
from harness.dialects.ollama_chat import differences
from harness.dialects.ollama_chat.reader import read, read_call, read_error
from harness.dialects.ollama_chat.request import build
from harness.dialects.ollama_chat.translator import OllamaTranslator
from harness.request import RequestParts, TurnRequest
from harness.response import Response, ToolCall


class OllamaChat(BaseDialect):
    name = "ollama-chat"
    framings = ("ndjson",)
    vendors = frozenset({"ollama", "ollama-cloud"})
    volatile = differences.VOLATILE
    enumerations = differences.ENUMERATIONS
    parts = differences.PARTS
    nullable = differences.NULLABLE
    free = differences.FREE

    def matches(self, method: str, path: str, body: Any) -> bool:
        return path.partition("?")[0].endswith(("/api/chat", "/api/generate"))

    def streams(self, path: str, body: Any) -> bool:
        """Streaming is the default (section 1)."""
        return not (isinstance(body, dict) and body.get("stream") is False)

    def translator(self, request: Any = None) -> OllamaTranslator:
        return OllamaTranslator(request)

    def read(self, body: Any) -> Response:
        return read(body)

    def read_call(self, element: dict[str, Any]) -> ToolCall:
        return read_call(element)

    def build_request(self, request: TurnRequest, *, stream: bool = True) -> RequestParts:
        return build(request, stream)

    def read_error(self, status: int, headers: Mapping[str, str], body: Any) -> ApiError:
        return read_error(body, status)


DIALECT = OllamaChat()
