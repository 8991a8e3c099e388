"""Google's `generateContent`, as the Gemini API and as Vertex AI have it (wire/google-generatecontent.md).

`vocabulary` has the names; `translator` with `candidate`, `content` and `streamed_call` turns chunks into edits; `reader` reads
a `GenerateContentResponse`, `errors` reads errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.api_error import ApiError
from harness.dialects.base import BaseDialect
from harness.dialects.gemini import differences
from harness.dialects.gemini.errors import read_error_body
from harness.dialects.gemini.reader import kind_of_part, read, read_call
from harness.dialects.gemini.request import build
from harness.dialects.gemini.translator import GeminiTranslator
from harness.edits import Path
from harness.request import RequestParts, TurnRequest
from harness.response import Response, ToolCall

_PLAIN, _STREAMED = ":generateContent", ":streamGenerateContent"


_PARTS = {
    "text",
    "thought",
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
}
_CHUNKS = {"web", "retrievedContext", "maps", "image"}


class Gemini(BaseDialect):
    name = "gemini"
    framings = ("sse", "json-array")
    flushes_at_eof = True
    vendors = frozenset({"google", "vertex"})
    key_header = ("x-goog-api-key", "")
    volatile = differences.VOLATILE
    unsent = differences.UNSENT
    enumerations = differences.ENUMERATIONS
    parts = differences.PARTS
    free = differences.FREE
    choices = frozenset({"candidates"})

    def kind(self, path: Path, element: dict[str, Any]) -> str | None:
        """What a part or a grounding chunk consists of."""
        if path[-1:] == ("parts",):
            kind = kind_of_part(element)
            return kind if kind in _PARTS and (kind == "thought" or kind in element) else None
        if path[-1:] == ("groundingChunks",):
            return next((name for name in element if name in _CHUNKS), None)
        return None

    def matches(self, method: str, path: str, body: Any) -> bool:
        return _method(path).endswith((_PLAIN, _STREAMED))

    def streams(self, path: str, body: Any) -> bool:
        """Told by the method; the query only says how the stream is framed (section 1)."""
        return _method(path).endswith(_STREAMED)

    def translator(self, request: Any = None) -> GeminiTranslator:
        return GeminiTranslator(request)

    def read(self, body: Any) -> Response:
        return read(body)

    def read_call(self, element: dict[str, Any]) -> ToolCall:
        return read_call(element)

    def build_request(self, request: TurnRequest, *, stream: bool = True) -> RequestParts:
        return build(request, stream)

    def read_error(self, status: int, headers: Mapping[str, str], body: Any) -> ApiError:
        return read_error_body(body, status)


def _method(path: str) -> str:
    """The path without its query; some clients encode the colon."""
    return path.partition("?")[0].replace("%3A", ":").replace("%3a", ":")


DIALECT = Gemini()
