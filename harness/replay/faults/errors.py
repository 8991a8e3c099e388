"""What servers say when something went wrong, in the words of each API (spec, wire/*): the bodies of refusals, and errors in a
stream."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

from harness.replay.reel import Reel, message

Words = Mapping[int, str]
_OPENAI: Words = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    403: "permission_denied",
    404: "not_found_error",
    429: "rate_limit_exceeded",
}
_GOOGLE: Words = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_AMAZON: Words = {
    400: "ValidationException",
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}
_ANTHROPIC: Words = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_SAYS: Words = {
    400: "The request cannot be understood.",
    401: "The key is not valid.",
    403: "The key does not allow this.",
    404: "There is no such model.",
    429: "Too many requests.",
    500: "The server had an error.",
    502: "The server behind the gateway did not answer.",
    503: "The service is not available for now.",
    504: "The server took too long.",
    529: "The service is overloaded.",
}
_IN_STREAM = "The model broke off."
_EXCEPTION = (b":exception-type", b":content-type", b":message-type")
Body = dict[str, Any]


def _openai(status: int, says: str) -> Body:
    return {"error": {"message": says, "type": _OPENAI.get(status, "server_error"), "param": None, "code": None}}


def _google(status: int, says: str) -> Body:
    return {"error": {"code": status, "message": says, "status": _GOOGLE.get(status, "UNKNOWN")}}


def _amazon(_: int, says: str) -> Body:
    return {"message": says}


def _ollama(_: int, says: str) -> Body:
    return {"error": says}


def _anthropic(status: int, says: str) -> Body:
    return {"type": "error", "error": {"type": _ANTHROPIC.get(status, "api_error"), "message": says}, "request_id": "req_0"}


_BODIES: Mapping[str, Callable[[int, str], Body]] = {
    "gemini": _google,
    "bedrock-converse": _amazon,
    "bedrock-invoke": _amazon,
    "ollama-chat": _ollama,
    "anthropic-messages": _anthropic,
}


def refusal(dialect: str, status: int) -> tuple[dict[str, str], bytes]:
    """The header fields and the body of an answer with an error status."""
    body = _BODIES.get(dialect, _openai)(status, _SAYS.get(status, "The request failed."))
    headers = {"content-type": "application/json"}
    if _BODIES.get(dialect) is _amazon:
        headers["x-amzn-errortype"] = _AMAZON.get(status, "InternalServerException")
    return headers, json.dumps(body).encode()


def fail_with(reel: Reel, keep: int) -> None:
    """Let the stream end with an error after so many frames."""
    piece = reel.copy(reel.pieces[-1])
    if reel.framing == "event-stream":
        raw = message(_exception_headers("modelStreamErrorException"), json.dumps(_amazon(500, _IN_STREAM)).encode())
        piece.raw, piece.start, piece.end = raw, 0, len(raw)
    elif reel.api.name == "openai-responses":
        reel.write_data(piece, json.dumps(_of_responses(keep)).encode(), "error")
    else:
        body = _BODIES.get(reel.api.name, _openai)(500, _IN_STREAM)
        reel.write_data(piece, json.dumps(body).encode(), "error" if piece.frame.name else None)
    reel.pieces[keep:] = [piece]


def _of_responses(number: int) -> Body:
    return {"type": "error", "code": "server_error", "message": _IN_STREAM, "param": None, "sequence_number": number}


def _exception_headers(kind: str) -> bytes:
    values = (kind.encode(), b"application/json", b"exception")
    return b"".join(
        bytes([len(name)]) + name + b"\x07" + struct.pack("!H", len(value)) + value
        for name, value in zip(_EXCEPTION, values, strict=True)
    )
