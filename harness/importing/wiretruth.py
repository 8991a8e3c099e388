"""Fixtures of wiretruth (`wiretruth.fixture/v1`): the exchanges of a scenario, their bodies in one of five forms."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from harness.cassette.model import Chunk, Exchange, Headers, ProvenanceKind, Request
from harness.importing.found import PIECES, TIMES, Found, Told
from harness.importing.source import Source

FORMAT = "wiretruth.fixture/v1"
_PROVIDERS = {
    "openai-chat": ("openai-chat", "openai"),
    "openai-responses": ("openai-responses", "openai"),
    "anthropic": ("anthropic-messages", "anthropic"),
    "gemini": ("gemini", "google"),
    "ollama": ("ollama-chat", "ollama"),
    "ollama-openai": ("openai-chat", "ollama"),
}
"""Its names of wire APIs: the dialect, and who answers."""


def read(source: Source, told: Told) -> Iterator[Found]:
    """The exchanges in order. Raises `InputError`."""
    fixture = _document(source)
    provider = fixture.get("provider")
    dialect, vendor = _PROVIDERS.get(provider if isinstance(provider, str) else "", (None, None))
    if dialect is None:
        raise source.error(f"is of an API that is not known here: {provider!r}", at="provider")
    origin = fixture.get("provenance")
    origin = origin if isinstance(origin, dict) else {}
    kind: ProvenanceKind = "recorded" if fixture.get("tier") == "recorded" else "authored"
    on = origin.get("recorded_at")
    model, asked = origin.get("requested_model"), origin.get("request")
    for number, value in enumerate(fixture["exchanges"]):
        try:
            exchange, lost = _exchange(value, asked, origin.get("raw_sha256"))
        except (KeyError, TypeError, ValueError, AttributeError, binascii.Error) as error:
            raise source.error(f"is no exchange of a fixture: {error!r}", at=f"exchanges[{number}]") from None
        yield Found(
            exchange=exchange,
            lost=lost,
            dialect=dialect,
            provider=vendor,
            model=model if isinstance(model, str) else None,
            name=_name(fixture),
            on=on[:10] if isinstance(on, str) else None,
            by=str(origin.get("recorder") or "wiretruth"),
            kind=kind,
        )


def _document(source: Source) -> dict[str, Any]:
    try:
        value = json.loads(source.whole())
    except (ValueError, RecursionError) as error:
        raise source.error(f"is not JSON: {error}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise source.error(f"is no fixture in the format {FORMAT}")
    if not isinstance(value.get("exchanges"), list):
        raise source.error("has no list of exchanges", at="exchanges")
    return value


def _name(fixture: dict[str, Any]) -> str | None:
    scenario = fixture.get("scenario")
    return scenario.replace(".", "-") if isinstance(scenario, str) else None


def _exchange(value: dict[str, Any], asked: Any, digest: Any) -> tuple[Exchange, tuple[str, ...]]:
    """The exchange, and what is not kept of it; `digest` is that of the body, as it was before the fixture was written."""
    match, response = value["match"], value["response"]
    ((form, content),) = response["body"].items()
    pieces, lost = _BODIES[form](content)
    same = isinstance(digest, str) and sha256(b"".join(pieces)).hexdigest() == digest
    if form == "json" and same:
        lost = (TIMES, PIECES)
    body = json.dumps(asked, ensure_ascii=False, indent=2).encode() + b"\n" if isinstance(asked, dict) else None
    return (
        Exchange(
            request=Request(method=str(match["method"]), target=str(match["path"]), body=body),
            status=int(response["status"]),
            headers=Headers({str(name): str(text) for name, text in response["headers"].items()}),
            chunks=tuple(Chunk(data=piece) for piece in pieces if piece),
            ending="reset" if response.get("end") == "abort" else "eof",
            wire="original" if same or (form != "json" and digest is None) else "reconstructed",
        ),
        lost,
    )


def _json(value: Any) -> tuple[list[bytes], tuple[str, ...]]:
    return [json.dumps(value, ensure_ascii=False).encode()], (TIMES, PIECES, "the spaces of the JSON")


_BODIES: dict[str, Callable[[Any], tuple[list[bytes], tuple[str, ...]]]] = {
    "json": _json,
    "sse": lambda events: ([event.encode() for event in events], (TIMES, PIECES)),
    "ndjson": lambda lines: ([line.encode() + b"\n" for line in lines], (TIMES, PIECES)),
    "chunks_b64": lambda chunks: ([base64.b64decode(chunk, validate=True) for chunk in chunks], (TIMES,)),
    "text": lambda text: ([text.encode()], (TIMES, PIECES)),
}
