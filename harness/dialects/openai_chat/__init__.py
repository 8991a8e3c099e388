"""OpenAI Chat Completions, and every server that imitates it: providers are data, never a branch.

`vocabulary` has the names, `translator` with `message` and `tool_calls` turns chunks into edits, `reader` reads a
`chat.completion`, `errors` reads errors. The facts stand in wire/openai-chat.md and wire/openrouter.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.api_error import ApiError
from harness.dialects.base import BaseDialect
from harness.dialects.openai_chat import differences
from harness.dialects.openai_chat.errors import read_error_object
from harness.dialects.openai_chat.reader import read, read_call
from harness.dialects.openai_chat.request import build
from harness.dialects.openai_chat.translator import ChatTranslator
from harness.dialects.protocol import PathSet
from harness.request import RequestParts, TurnRequest
from harness.response import Response, ToolCall


class OpenAIChat(BaseDialect):
    name = "openai-chat"
    vendors = frozenset({"openai"})
    volatile = differences.VOLATILE
    unsent = differences.UNSENT
    padding = differences.PADDING
    enumerations = differences.ENUMERATIONS
    parts = differences.PARTS
    nullable = differences.NULLABLE
    choices = frozenset({"choices"})

    def not_asked(self, request: Any) -> PathSet:
        options = request.get("stream_options") if isinstance(request, dict) else None
        if isinstance(options, dict) and options.get("include_usage"):
            return PathSet()
        return PathSet({"usage": "sent only when stream_options.include_usage asks for it (wire/openai-chat.md section 1)"})

    def matches(self, method: str, path: str, body: Any) -> bool:
        return path.partition("?")[0].endswith("/chat/completions")

    def translator(self, request: Any = None) -> ChatTranslator:
        return ChatTranslator(request)

    def read(self, body: Any) -> Response:
        return read(body)

    def read_call(self, element: dict[str, Any]) -> ToolCall:
        return read_call(element)

    def build_request(self, request: TurnRequest, *, stream: bool = True) -> RequestParts:
        return build(request, stream)

    def read_error(self, status: int, headers: Mapping[str, str], body: Any) -> ApiError:
        error = body.get("error", body) if isinstance(body, dict) else body
        return read_error_object(error, status)


DIALECT = OpenAIChat()
