"""Bedrock's Converse API, and gateways that speak it.

`vocabulary` has the names, `translator` with `blocks` turns events into edits, `reader` reads a reply; what both of AWS's
APIs share stands in `harness.dialects.aws`. The facts stand in wire/bedrock-converse.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.api_error import ApiError
from harness.dialects.aws import read_http_error, union_member
from harness.dialects.base import BaseDialect
from harness.dialects.bedrock_converse import differences
from harness.dialects.bedrock_converse.reader import read, read_call
from harness.dialects.bedrock_converse.request import build
from harness.dialects.bedrock_converse.translator import ConverseTranslator
from harness.edits import Path
from harness.request import RequestParts, TurnRequest
from harness.response import Response, ToolCall


class BedrockConverse(BaseDialect):
    name = "bedrock-converse"
    framings = ("event-stream",)
    vendors = frozenset({"bedrock"})
    volatile = differences.VOLATILE
    enumerations = differences.ENUMERATIONS
    free = differences.FREE

    def kind(self, path: Path, element: dict[str, Any]) -> str | None:
        """A block, and a few things in blocks, have one member, which names their kind."""
        return union_member(path, element) or super().kind(path, element)

    def matches(self, method: str, path: str, body: Any) -> bool:
        return path.partition("?")[0].endswith(("/converse", "/converse-stream"))

    def streams(self, path: str, body: Any) -> bool:
        return path.partition("?")[0].endswith("/converse-stream")

    def translator(self, request: Any = None) -> ConverseTranslator:
        return ConverseTranslator(request)

    def read(self, body: Any) -> Response:
        return read(body)

    def read_call(self, element: dict[str, Any]) -> ToolCall:
        return read_call(element)

    def build_request(self, request: TurnRequest, *, stream: bool = True) -> RequestParts:
        return build(request, stream)

    def read_error(self, status: int, headers: Mapping[str, str], body: Any) -> ApiError:
        return read_http_error(status, headers, body)


DIALECT = BedrockConverse()
