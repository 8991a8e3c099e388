"""Anthropic's Messages API, and those who speak it: Vertex, Bedrock's native bodies, gateways.

`vocabulary` has the names, `translator` with `blocks` turns events into edits, `reader` reads a `message`, `errors` reads
errors. The facts stand in wire/anthropic-messages.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.api_error import ApiError
from harness.dialects.anthropic_messages import differences
from harness.dialects.anthropic_messages.errors import read_error_object
from harness.dialects.anthropic_messages.reader import read, read_call
from harness.dialects.anthropic_messages.request import build
from harness.dialects.anthropic_messages.translator import MessagesTranslator
from harness.dialects.base import BaseDialect
from harness.request import RequestParts, TurnRequest
from harness.response import Response, ToolCall


class AnthropicMessages(BaseDialect):
    name = "anthropic-messages"
    vendors = frozenset({"anthropic"})
    key_header = ("x-api-key", "")
    volatile = differences.VOLATILE
    enumerations = differences.ENUMERATIONS
    parts = differences.PARTS
    free = differences.FREE

    def matches(self, method: str, path: str, body: Any) -> bool:
        route = path.partition("?")[0]
        vertex = "/publishers/anthropic/" in route and route.endswith((":rawPredict", ":streamRawPredict"))
        return route.endswith("/v1/messages") or vertex

    def streams(self, path: str, body: Any) -> bool:
        return super().streams(path, body) or path.partition("?")[0].endswith(":streamRawPredict")

    def translator(self, request: Any = None) -> MessagesTranslator:
        return MessagesTranslator(request)

    def read(self, body: Any) -> Response:
        return read(body)

    def read_call(self, element: dict[str, Any]) -> ToolCall:
        return read_call(element)

    def build_request(self, request: TurnRequest, *, stream: bool = True) -> RequestParts:
        return build(request, stream)

    def read_error(self, status: int, headers: Mapping[str, str], body: Any) -> ApiError:
        body = body[0] if isinstance(body, list) and body else body  # Vertex
        error = body.get("error", body) if isinstance(body, dict) else body
        return read_error_object(error, status)


DIALECT = AnthropicMessages()
