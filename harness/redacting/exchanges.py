"""An exchange without its secrets: request line, header fields and both bodies.

Of a request's header fields only those are kept that are known to be harmless, since clients and gateways invent new ones for
keys; of a response all but those with a telling name. What is left out is covered, not dropped, so that one sees that it was
there. The credentials of a request are looked for everywhere else in it: servers repeat them in refusals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from urllib.parse import unquote

from harness.cassette.decoding import Decoder, is_encoded
from harness.cassette.model import Chunk, Exchange, Headers, Request
from harness.json_spans import locate
from harness.redacting.bodies import redacted_body
from harness.redacting.looks import find
from harness.redacting.placeholders import is_placeholder, placeholder, placeholder_text

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
        "transfer-encoding",
        "user-agent",
        "x-amzn-bedrock-accept",
        "x-goog-api-client",
    }
)
"""Header fields of a request that are kept."""
CREDENTIALS = re.compile(r"cookie|token(?!s|-count)|secret|credential|auth|api-?key|jwt|passw|signature", re.IGNORECASE)
"""Names of header fields that carry a credential; `token` is one, `tokens` are counted."""
TELLING = re.compile(
    rf"{CREDENTIALS.pattern}|organi[sz]ation|project|account|user(?!-agent)|tenant|email|client-ip|real-ip|connecting-ip"
    r"|forwarded|session",
    re.IGNORECASE,
)
"""Names of header fields that say who asked."""
_QUERY = re.compile(r"key|token|secret|sig|auth|credential|password", re.IGNORECASE)
_HARMLESS = re.compile(r"max_?tokens|x-amz-signedheaders", re.IGNORECASE)
_SCHEME = re.compile(r"(?:bearer|basic|token|digest|aws4-hmac-sha256)\s+", re.IGNORECASE)
_OF_SIGNATURE = re.compile(r"(?:Credential|Signature|Nonce)=([^,\s]+)", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^/?#@\s]+(?=@)")
_IN_ADDRESS = re.compile(r"(?<=[?&;])([^?&;=#\s]+)=([^?&;#\s>\"',]+)")
_HEXADECIMAL = re.compile(r"(?<=/)[0-9a-f]{32}(?=/|$)")
_RESOURCE = re.compile(
    r"^[^.]+(?=\.(?:openai\.azure\.com|services\.ai\.azure\.com|cognitiveservices\.azure\.com)(?::|$))", re.IGNORECASE
)
_USERS = ("/user", "/safety_identifier", "/metadata/user_id")
"""Where a request says for whom it is made."""
_SHORTEST = 8
_HEAD = 64
_CODED = ("content-encoding", "content-length")


def redacted(exchange: Exchange, secrets: Iterable[str] = ()) -> Exchange:
    """The exchange without secrets, those of `secrets` among them, whatever they look like.

    A body that is compressed is kept as it came if nothing in it is secret, else uncompressed, with the cuts of the original.
    """
    known = (*secrets, *credentials(exchange.request))
    plain, unpacked = _plain(exchange)
    chunks = redacted_chunks(plain, known)
    if chunks == plain:
        chunks, unpacked = exchange.chunks, False
    fields = exchange.headers.fields
    kept = [field for field in fields if not (unpacked and field[0].lower() in _CODED)]
    return replace(
        exchange,
        request=redacted_request(exchange.request, secrets),
        headers=Headers([(n, placeholder_text(v) if TELLING.search(n) else _value(v, known)) for n, v in kept]),
        chunks=chunks,
    )


def redacted_chunks(chunks: Sequence[Chunk], secrets: Iterable[str] = ()) -> tuple[Chunk, ...]:
    """The pieces of a body without secrets, wherever it was cut; as many pieces, as long, at the same times."""
    body = b"".join(chunk.data for chunk in chunks)
    clean = redacted_body(body, secrets)
    if clean == body:
        return tuple(chunks)
    ends = accumulate((len(chunk.data) for chunk in chunks), initial=0)
    return tuple(replace(chunk, data=clean[a:b]) for chunk, (a, b) in zip(chunks, pairwise(ends), strict=True))


def credentials(request: Request) -> Iterator[str]:
    """What a request proves its identity with: keys in its header fields and in its address."""
    for name, value in request.headers.fields:
        if CREDENTIALS.search(name):
            bare = _SCHEME.sub("", value, count=1)
            yield from (v for v in (bare, *_cookies(name, bare)) if _is_worth(v))
    for field in request.target.partition("?")[2].split("&"):
        name, _, value = field.partition("=")
        if is_secret_parameter(name):
            yield from (v for v in {value, unquote(value)} if _is_worth(v))


def uncompressed(exchange: Exchange) -> bytes:
    """The body, as far as it can be undone."""
    return b"".join(chunk.data for chunk in _plain(exchange)[0])


def is_secret_parameter(name: str) -> bool:
    """Whether a parameter of a query with this name is a secret."""
    return _QUERY.search(unquote(name)) is not None and _HARMLESS.search(name) is None


def covered(text: str, secrets: Iterable[str] = ()) -> str:
    """A text of one line without secrets."""
    letters = list(text)
    for spot in find(text, secrets):
        letters[spot.start : spot.end] = placeholder_text(text[spot.start : spot.end])
    return "".join(letters)


def _cookies(name: str, value: str) -> list[str]:
    return [cookie.partition("=")[2] for cookie in value.split("; ")] if "cookie" in name.lower() else []


def _is_worth(value: str) -> bool:
    """Whether a credential is one, and not a word that may stand anywhere."""
    return len(value) >= _SHORTEST and not is_placeholder(value)


def _plain(exchange: Exchange) -> tuple[tuple[Chunk, ...], bool]:
    """The pieces as they were before a content encoding, and whether they had one that could be undone."""
    encoding, head = exchange.headers.get("content-encoding", ""), exchange.body[:_HEAD]
    if not is_encoded(encoding, head) and head[:2] != b"\x1f\x8b":
        return exchange.chunks, False
    decoder = Decoder(encoding, head)
    pieces = [replace(chunk, data=b"".join(decoder.feed(chunk.data))) for chunk in exchange.chunks]
    rest = b"".join(decoder.close())
    if decoder.findings:
        return exchange.chunks, False
    if rest and pieces:
        pieces[-1] = replace(pieces[-1], data=pieces[-1].data + rest)
    return tuple(pieces), True


def redacted_request(request: Request, secrets: Iterable[str] = ()) -> Request:
    """The request without secrets, as a recording has it."""
    secrets = (*secrets, *credentials(request))
    fields = [(name, _asked(name, value, secrets)) for name, value in request.headers.fields if name.lower() != "host"]
    return replace(
        request,
        host=_host(request.host),
        target=_target(request.target, secrets),
        headers=Headers(fields),
        body=None if request.body is None else _body(request.body, secrets),
    )


def _asked(name: str, value: str, secrets: Sequence[str]) -> str:
    """The value of a request's header field; of a credential its scheme is kept."""
    if name.lower() in _KEPT:
        return _value(value, secrets)
    scheme = _SCHEME.match(value)
    if scheme is None:
        return placeholder_text(value)
    start = scheme.end()
    if scheme[0].lower().startswith("aws4"):
        return value[:start] + _OF_SIGNATURE.sub(lambda of: of[0][: -len(of[1])] + placeholder_text(of[1]), value[start:])
    return value[:start] + placeholder_text(value[start:])


def _value(value: str, secrets: Sequence[str]) -> str:
    """A header's value without the secrets of addresses in it, such as that of a redirection."""
    if "/" in value or "?" in value:
        value = _USER.sub(lambda user: placeholder_text(user[0]), value)
        value = _IN_ADDRESS.sub(lambda at: f"{at[1]}={placeholder_text(at[2])}" if is_secret_parameter(at[1]) else at[0], value)
    return covered(value, secrets)


def _host(host: str) -> str:
    """The host without a user, an IP address, or the name of somebody's own resource."""
    host = host.rpartition("@")[2]
    return covered(_RESOURCE.sub(lambda name: placeholder_text(name[0]), host))


def _target(target: str, secrets: Sequence[str]) -> str:
    path, mark, query = target.partition("?")
    path = _HEXADECIMAL.sub(lambda name: placeholder_text(name[0]), path)
    return covered(path, secrets) + mark + "&".join(_parameters(query.split("&"), secrets))


def _parameters(fields: Iterable[str], secrets: Sequence[str]) -> Iterator[str]:
    for field in fields:
        name, mark, value = field.partition("=")
        yield f"{name}={placeholder_text(value)}" if mark and is_secret_parameter(name) else covered(field, secrets)


def _body(body: bytes, secrets: Sequence[str]) -> bytes:
    """A request's body, without the name of him for whom it was made."""
    clean = redacted_body(body, secrets)
    out = bytearray(clean)
    for pointer in _USERS if clean.lstrip()[:1] == b"{" else ():
        start, end = locate(clean, pointer) or (0, 0)
        if clean[start : start + 1] == b'"':
            out[start:end] = placeholder(clean[start:end])
    return bytes(out)
