"""Bedrock's InvokeModel: the model vendor's own body, in Bedrock's frames.

`translator` unpacks the frames and finds out whose events they are. Anthropic's and those of Chat go to the dialects of that
name, Nova's to Converse by way of `nova`, texts to the table in `texts`; `reader` reads every vendor's body. The facts stand
in wire/bedrock-converse.md section 8.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from harness.api_error import ApiError
from harness.dialects.aws import read_http_error, union_member
from harness.dialects.base import BaseDialect
from harness.dialects.bedrock_invoke import differences
from harness.dialects.bedrock_invoke.reader import read, read_call
from harness.dialects.bedrock_invoke.request import build
from harness.dialects.bedrock_invoke.translator import InvokeTranslator
from harness.edits import Path
from harness.framing import Frame
from harness.json_spans import locate
from harness.request import RequestParts, TurnRequest
from harness.response import Response, ToolCall


class BedrockInvoke(BaseDialect):
    name = "bedrock-invoke"
    framings = ("event-stream",)
    vendors = frozenset({"bedrock"})
    volatile = differences.VOLATILE
    unsent = differences.UNSENT
    padding = differences.PADDING
    enumerations = differences.ENUMERATIONS
    free = differences.FREE
    choices = frozenset({"choices", "completions", "generations", "outputs", "results"})

    def kind(self, path: Path, element: dict[str, Any]) -> str | None:
        """Blocks of Nova have one member, which names their kind; those of others a type."""
        return union_member(path, element) or super().kind(path, element)

    def matches(self, method: str, path: str, body: Any) -> bool:
        return path.partition("?")[0].endswith(("/invoke", "/invoke-with-response-stream"))

    def streams(self, path: str, body: Any) -> bool:
        return path.partition("?")[0].endswith("/invoke-with-response-stream")

    def translator(self, request: Any = None) -> InvokeTranslator:
        return InvokeTranslator(request)

    def carried(self, frame: Frame) -> tuple[bytes, tuple[int, int]] | None:
        """The vendor's payload."""
        span = locate(frame.data, "/bytes")
        if span is None:
            return None
        inside = span[0] + 1, span[1] - 1
        try:
            return base64.b64decode(frame.data[slice(*inside)], validate=True), inside
        except ValueError:
            return None

    def read(self, body: Any) -> Response:
        return read(body)

    def read_call(self, element: dict[str, Any]) -> ToolCall:
        return read_call(element)

    def build_request(self, request: TurnRequest, *, stream: bool = True) -> RequestParts:
        return build(request, stream)

    def read_error(self, status: int, headers: Mapping[str, str], body: Any) -> ApiError:
        return read_http_error(status, headers, body)


DIALECT = BedrockInvoke()
