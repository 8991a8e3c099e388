"""Secrets that travel in the head of an exchange never reach a cassette.

Of a request's header fields only those are kept whose values are known to say nothing of the caller; of a response's, all but
those that name the caller or let somebody in. What is left out is masked, not dropped, so that one sees that it was there.
Bodies are kept as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import unquote

from harness.cassette.model import Exchange, Headers, Request

MASK = "***"
_KEPT = frozenset(
    {
        "accept",
        "accept-encoding",
        "accept-language",
        "anthropic-beta",
        "anthropic-version",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "openai-beta",
        "user-agent",
        "x-amzn-bedrock-accept",
        "x-goog-api-client",
    }
)
"""Header fields of a request that are kept."""
_TELLING = re.compile(r"cookie|token(?!s)|secret|credential|auth|api-?key|organi[sz]ation|project|account|user|email|client-ip")
"""Names of header fields of a response that are masked; `token` is one, `tokens` are counted."""
_QUERY = re.compile(r"key|token|secret|sig|auth|credential|password", re.IGNORECASE)
_HARMLESS = frozenset({"maxtokens", "max_tokens"})


def masked(exchange: Exchange) -> Exchange:
    """The exchange without secrets in its request line and its header fields."""
    return replace(
        exchange,
        request=_request(exchange.request),
        headers=Headers([(n, MASK if _TELLING.search(n.lower()) else v) for n, v in exchange.headers.fields]),
    )


def _request(request: Request) -> Request:
    fields = [
        (name, value if name.lower() in _KEPT else MASK) for name, value in request.headers.fields if name.lower() != "host"
    ]
    return replace(request, host=request.host.rpartition("@")[2], target=_target(request.target), headers=Headers(fields))


def _target(target: str) -> str:
    path, mark, query = target.partition("?")
    return path + mark + "&".join(_fields(query.split("&")))


def _fields(fields: Iterable[str]) -> Iterable[str]:
    for field in fields:
        name, mark, _ = field.partition("=")
        secret = _QUERY.search(unquote(name)) and name.lower() not in _HARMLESS
        yield f"{name}={MASK}" if mark and secret else field
