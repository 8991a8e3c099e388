"""An exchange: the request with its head, the answer with its head, and the body cut as it was."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from itertools import accumulate

from harness.anonymizing import bodies, policy
from harness.anonymizing.texts import Texts
from harness.cassette.decoding import DecodedBody
from harness.cassette.metadata import cut
from harness.cassette.model import Chunk, Exchange, Headers
from harness.dialects import Dialect

_KEPT_HEADERS = re.compile(
    r"content-(?:type|encoding|length)|transfer-encoding|accept(?:-encoding)?|date|cache-control|connection|server|via|vary|"
    r"retry-after(?:-ms)?|"
    r"x-should-retry|x-ratelimit-(?!key).*|anthropic-(?:ratelimit-.*|version|beta|dangerous-direct-browser-access)|"
    r"openai-(?:processing-ms|version|model)|x-amzn-(?:errortype|bedrock-.*)|age|keep-alive"
)
_HOSTS = re.compile(
    r"(?:(?:localhost|127\.0\.0\.1|0\.0\.0\.0)|api\.(?:openai|anthropic|mistral|deepseek|groq|perplexity|together|cerebras|cloudflare)\.(?:com|ai)|"
    r"api\.x\.ai|api\.z\.ai|api\.together\.xyz|api\.avian\.io|api\.moonshot\.ai|api\.inference\.crusoecloud\.com|"
    r"openrouter\.ai|ollama\.com|router\.huggingface\.co|ai-gateway\.vercel\.sh|dashscope(?:-intl)?\.aliyuncs\.com|"
    r"gateway\.pydantic\.dev|[a-z]+\.inference\.heroku\.com|"
    r"bedrock-(?:runtime|mantle)\.[\w<>-]+\.(?:amazonaws\.com|api\.aws)|(?:[\w-]+-)?(?:aiplatform|generativelanguage)\.googleapis\.com)(?::\d+)?"
)
_ACCOUNT_HOSTS = re.compile(
    r"(?P<account>.+)(?P<service>\.(?:openai\.azure|services\.ai\.azure|cognitiveservices\.azure|snowflakecomputing)\.com|"
    r"\.azuredatabricks\.net|\.workers\.dev)"
)
_ROUTE = policy.words(
    "v1 v1beta v1beta1 v1alpha v2 v3 v4 api openai chat completions responses messages model models converse "
    "converse-stream invoke invoke-with-response-stream projects locations publishers google anthropic meta mistralai "
    "deployments serving-endpoints compatible-mode router generate paas coding cortex inference featherless-ai global "
    "us eu generateContent streamGenerateContent rawPredict streamRawPredict alt sse beta true false api-version "
    "%24alt json enum-encoding int %3Benum-encoding%3Dint json%3Benum-encoding%3Dint accounts ai groq endpoints "
    "not-recorded"
)
_OWNERS = ("projects", "accounts", "deployments", "endpoints")
_STEP = re.compile(r"[^/?&=:]+")
_PUBLIC = re.compile(r"[a-z]{2,9}-[a-z]+\d?(?:-?\d)?|\d{4}-\d\d-\d\d(?:-preview)?|%24alt|v\d\w*")


def anonymized(exchange: Exchange, dialect: Dialect, texts: Texts, model: str | None) -> Exchange:
    """The exchange in other words; pieces, times and the ending stay."""
    request = exchange.request
    asked = replace(
        request,
        host=_host(request.host, texts),
        target=_target(request.target, texts, model),
        headers=_headers(request.headers, texts),
        body=None if request.body is None else bodies.document(request.body, dialect, texts),
    )
    plain = list(DecodedBody(exchange))
    body = b"".join(chunk.data for chunk in plain)
    new = _body(exchange, body, dialect, texts)
    return replace(
        exchange,
        request=asked,
        headers=_headers(exchange.headers, texts),
        chunks=_chunks(exchange, plain, body, new),
    )


def _body(exchange: Exchange, body: bytes, dialect: Dialect, texts: Texts) -> bytes:
    request = exchange.request
    streamed = exchange.status < 400 and dialect.streams(request.target, request.json)
    if not streamed or (body[:1] == b"{" and "ndjson" not in dialect.framings):
        return bodies.document(body, dialect, texts)
    return bodies.Body(body, dialect, request.json, texts).replaced()


def _chunks(exchange: Exchange, plain: list[Chunk], body: bytes, new: bytes) -> tuple[Chunk, ...]:
    """The pieces of the new body, cut where the old ones were; of a compressed body, where their contents were."""
    if body == exchange.body:
        ends = accumulate(len(chunk.data) for chunk in exchange.chunks)
        return cut(new, [(chunk.at, end) for chunk, end in zip(exchange.chunks, ends, strict=True)])
    squeeze = zlib.compressobj(wbits=31)
    out, done = [], 0
    for chunk in plain:
        data = squeeze.compress(new[done : done + len(chunk.data)]) + squeeze.flush(zlib.Z_SYNC_FLUSH)
        done += len(chunk.data)
        out.append(Chunk(at=chunk.at, data=data))
    return (*out, Chunk(at=out[-1].at if out else 0.0, data=squeeze.flush()))


def _headers(headers: Headers, texts: Texts) -> Headers:
    return Headers(
        [(name, value if _KEPT_HEADERS.fullmatch(name.lower()) else texts.text(value)) for name, value in headers.fields]
    )


def _host(host: str, texts: Texts) -> str:
    if not host or _HOSTS.fullmatch(host):
        return host
    known = _ACCOUNT_HOSTS.fullmatch(host)
    return texts.text(known["account"]) + known["service"] if known else texts.text(host)


def _target(target: str, texts: Texts, model: str | None) -> str:
    """Names of accounts, projects and keys in a path and its query become others; the API's own words and the model stay."""
    before = ""

    def step(match: re.Match[str]) -> str:
        nonlocal before
        word, above = match[0], before
        before = word
        if above in _OWNERS:
            return texts.text(word)
        at_model = above in ("model", "models") and not word.startswith("arn")
        if word in _ROUTE or at_model or _PUBLIC.fullmatch(word) or (model and word in model):
            return word
        return texts.text(word) if above != model else word

    return _STEP.sub(step, target)
