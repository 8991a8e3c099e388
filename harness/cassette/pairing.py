"""Which API a recorded request is of, who answered it, and which two of many are a stream and its non-streaming twin."""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import unquote

from harness import dialects
from harness.cassette.model import Cassette, Exchange, Request
from harness.dialects import Dialect

_HOSTS = {
    "api.openai.com": "openai",
    "openai.azure.com": "azure",
    "services.ai.azure.com": "azure",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "google",
    "aiplatform.googleapis.com": "vertex",
    "amazonaws.com": "bedrock",
    "ollama.com": "ollama-cloud",
    "openrouter.ai": "openrouter",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.deepseek.com": "deepseek",
    "api.x.ai": "xai",
    "api.together.xyz": "together",
    "api.perplexity.ai": "perplexity",
    "api.cerebras.ai": "cerebras",
}
_OLLAMA_PORT = ":11434"
_PORT = re.compile(r":\d*$")
_MODEL_IN_PATH = re.compile(r"/models?/([^/:?]+)")
_STREAM_WORD = re.compile(r"-with-response-stream|-stream|stream", re.IGNORECASE)
_STREAM_FIELDS = ("stream", "stream_options")


@dataclass(frozen=True, slots=True)
class Facts:
    """What of an exchange decides whose twin it is: the name of its API, None for one that nobody knows; whether it is a
    streamed turn; what it asks for; whether it was answered."""

    api: str | None
    stream: bool
    asks: Hashable
    answered: bool


def facts(exchange: Exchange, number: int) -> Facts:
    """The facts of the exchange that has this number."""
    api = api_of(exchange.request)
    return Facts(
        api=None if api is None else api.name,
        stream=api is not None and is_stream(exchange, api),
        asks=asks(exchange.request, number),
        answered=exchange.status < 400,
    )


def pairs(known: Sequence[Facts]) -> list[tuple[int, int | None]]:
    """The turns among exchanges, as numbers: a stream with its twin, or one answer, in the order of their first exchange.

    A twin asks for the same but for the stream. Of several, the first stream has the first twin.
    """
    streams = [number for number, fact in enumerate(known) if fact.api is not None and fact.stream]
    twins: dict[Hashable, deque[int]] = defaultdict(deque)
    for number, fact in enumerate(known):
        if fact.api is not None and not fact.stream and fact.answered:
            twins[fact.asks].append(number)
    twin_of = {number: same.popleft() for number in streams if (same := twins.get(known[number].asks))}
    taken = set(twin_of.values())
    firsts = [number for number, fact in enumerate(known) if fact.api is not None and number not in taken]
    firsts.sort(key=lambda number: min(number, twin_of.get(number, number)))
    return [(number, twin_of.get(number)) for number in firsts]


def paired(exchanges: Sequence[Exchange], name: str) -> list[Cassette]:
    """The turns among the exchanges as cassettes.

    `name` is the id of a single one; several have `name#number`, where the number is that of the stream, or of the answer
    without one.
    """
    known = [facts(exchange, number) for number, exchange in enumerate(exchanges)]
    found = pairs(known)
    return [
        _cassette(
            exchanges[number],
            known[number],
            name if len(found) == 1 else f"{name}#{number}",
            twin=exchanges[twin] if twin is not None else None,
        )
        for number, twin in found
    ]


def api_of(request: Request) -> Dialect | None:
    """The dialect of a request."""
    matching = (api for api in dialects.registered() if api.matches(request.method, request.target, request.json))
    return next(matching, None)


def is_stream(exchange: Exchange, api: Dialect) -> bool:
    """Whether an exchange is a streamed turn: a stream was asked for and not refused."""
    return exchange.status < 400 and api.streams(exchange.request.target, exchange.request.json)


def provider_of(request: Request) -> str:
    """Who answered: known by the host, else the host itself."""
    host = request.host.lower()
    if host.endswith(_OLLAMA_PORT):
        return "ollama"
    host = _PORT.sub("", host.rpartition("@")[2])
    known = (provider for suffix, provider in _HOSTS.items() if host == suffix or host.endswith((f".{suffix}", f"-{suffix}")))
    return next(known, host or "unknown")


def model_of(request: Request) -> str | None:
    """The model that a request names, in its body or in its path."""
    body = request.json
    if isinstance(body, dict) and isinstance(body.get("model"), str):
        return str(body["model"])
    named = _MODEL_IN_PATH.search(request.target.partition("?")[0])
    return unquote(named.group(1)) if named else None


def _cassette(first: Exchange, known: Facts, name: str, *, twin: Exchange | None) -> Cassette:
    return Cassette(
        id=name,
        dialect=known.api or "",
        provider=provider_of(first.request),
        model=model_of(first.request),
        stream=first if known.stream else None,
        reference=twin if known.stream else first,
        pair_kind="exact" if twin is not None else None,
    )


def asks(request: Request, number: int) -> Hashable:
    """What a request asks for apart from the stream, which APIs ask for with a field, or with a word in the path. The request
    without a body is like no other: nobody knows what it asked for, and it has a number."""
    if request.body is None:
        return number
    path = _STREAM_WORD.sub("", request.target.partition("?")[0]).lower()
    body: object = request.json
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if name not in _STREAM_FIELDS}
    try:
        asked = json.dumps(body, sort_keys=True).encode() if body is not None else request.body
    except (RecursionError, TypeError):
        asked = request.body
    return request.method, request.host.lower(), path, sha256(asked).digest()
