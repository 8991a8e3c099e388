"""Which API a recorded request is of, who answered it, and which two of many are a stream and its non-streaming twin."""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
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


def paired(exchanges: Sequence[Exchange], name: str) -> list[Cassette]:
    """The turns among the exchanges, streams with their twins, in the order of their first exchange.

    A twin asks for the same but for the stream. Of several, the first stream has the first twin. `name` is the id of a
    single cassette; several have `name#number`, where the number is that of the stream, or of the answer without one.
    """
    apis = {number: api for number, side in enumerate(exchanges) if (api := api_of(side.request)) is not None}
    streams = {number for number, api in apis.items() if is_stream(exchanges[number], api)}
    twins: dict[Hashable, deque[int]] = defaultdict(deque)
    for number in sorted(apis.keys() - streams):
        if exchanges[number].status < 400:
            twins[_asks(exchanges[number].request, number)].append(number)
    pairs: dict[int, int] = {}
    for number in sorted(streams):
        same = twins.get(_asks(exchanges[number].request, number))
        if same:
            pairs[number] = same.popleft()
    firsts = sorted(apis.keys() - pairs.values(), key=lambda number: min(number, pairs.get(number, number)))
    return [
        _cassette(
            exchanges[number],
            apis[number],
            name if len(firsts) == 1 else f"{name}#{number}",
            stream=number in streams,
            twin=exchanges[pairs[number]] if number in pairs else None,
        )
        for number in firsts
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


def _cassette(first: Exchange, api: Dialect, name: str, *, stream: bool, twin: Exchange | None) -> Cassette:
    return Cassette(
        id=name,
        dialect=api.name,
        provider=provider_of(first.request),
        model=model_of(first.request),
        stream=first if stream else None,
        reference=twin if stream else first,
        pair_kind="exact" if twin is not None else None,
    )


def _asks(request: Request, number: int) -> Hashable:
    """What a request asks for apart from the stream, which APIs ask for with a field, or with a word in the path."""
    if request.body is None:
        return number  # like no other: nobody knows what it asked for
    path = _STREAM_WORD.sub("", request.target.partition("?")[0]).lower()
    body: object = request.json
    if isinstance(body, dict):
        body = {name: value for name, value in body.items() if name not in _STREAM_FIELDS}
    try:
        asked = json.dumps(body, sort_keys=True) if body is not None else request.body
    except RecursionError:
        asked = request.body
    return request.method, request.host.lower(), path, asked
