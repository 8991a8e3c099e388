"""OpenAI Responses, and the Open Responses servers: providers are data, never a branch.

`vocabulary` and `item_vocabulary` have the names, `growth` tells which events make which text grow, `output` finds the item
that an event is about, `item` and `translator` turn events into edits, `reader` reads a `response`, `errors` reads errors.
The facts stand in wire/openai-responses.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from harness.api_error import ApiError
from harness.dialects.base import BaseDialect
from harness.dialects.openai_responses import differences
from harness.dialects.openai_responses.errors import read_error_object
from harness.dialects.openai_responses.reader import read, read_call
from harness.dialects.openai_responses.request import build
from harness.dialects.openai_responses.translator import ResponsesTranslator
from harness.request import RequestParts, TurnRequest
from harness.response import Response, ToolCall


class OpenAIResponses(BaseDialect):
    name = "openai-responses"
    vendors = frozenset({"openai"})
    volatile = differences.VOLATILE
    restated = differences.RESTATED
    text_repeated_otherwise = "responses/done-text-mismatch"
    unsent = differences.UNSENT
    enumerations = differences.ENUMERATIONS
    parts = differences.PARTS
    free = differences.FREE
    echoed = differences.ECHOED

    def matches(self, method: str, path: str, body: Any) -> bool:
        """A response is created, or a stored one is fetched or resumed (`GET …/responses/ID`)."""
        steps = path.partition("?")[0].rstrip("/").split("/")
        return steps[-1:] == ["responses"] or (method.upper() == "GET" and steps[-2:-1] == ["responses"])

    def streams(self, path: str, body: Any) -> bool:
        return super().streams(path, body) or parse_qs(path.partition("?")[2]).get("stream") == ["true"]

    def translator(self, request: Any = None) -> ResponsesTranslator:
        return ResponsesTranslator(request)

    def read(self, body: Any) -> Response:
        return read(body)

    def read_call(self, element: dict[str, Any]) -> ToolCall:
        return read_call(element)

    def build_request(self, request: TurnRequest, *, stream: bool = True) -> RequestParts:
        return build(request, stream)

    def read_error(self, status: int, headers: Mapping[str, str], body: Any) -> ApiError:
        error = body.get("error") or body if isinstance(body, dict) else body
        return read_error_object(error, status)


DIALECT = OpenAIResponses()
