"""Cassettes without secrets, and what secrets one holds: each `Leak` says where, and never shows more than its placeholder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from harness.cassette.model import Cassette, Exchange
from harness.redacting import bodies
from harness.redacting.exchanges import (
    CREDENTIALS,
    TELLING,
    covered,
    credentials,
    is_secret_parameter,
    redacted,
    uncompressed,
)
from harness.redacting.looks import Spot, find
from harness.redacting.placeholders import is_placeholder, placeholder, placeholder_text

_LONGEST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """Something that looks like a secret: its kind, the side of the cassette (`stream`, `reference` or `metadata`), what of
    it, the offset of its first byte there, and how it looks once it is covered."""

    kind: str
    side: str
    part: str
    offset: int
    looks: str

    def __str__(self) -> str:
        return f"{self.side}, {self.part}, byte {self.offset}: {self.kind} ({self.looks})"


def redacted_cassette(cassette: Cassette, secrets: Iterable[str] = ()) -> Cassette:
    """The cassette without secrets; those of one side are looked for in the other too."""
    sides = [side for side in (cassette.stream, cassette.reference) if side is not None]
    known = (*secrets, *(found for side in sides for found in credentials(side.request)))
    stream, reference = (None if side is None else redacted(side, known) for side in (cassette.stream, cassette.reference))
    origin = cassette.provenance
    by, note = (None if text is None else covered(text, known) for text in (origin.by, origin.note))
    return replace(
        cassette,
        provider=covered(cassette.provider, known),
        stream=stream,
        reference=reference,
        provenance=replace(origin, by=by, note=note),
    )


def leaks(cassette: Cassette, secrets: Iterable[str] = ()) -> Iterator[Leak]:
    """Everything in a cassette that looks like a secret."""
    sides = {"stream": cassette.stream, "reference": cassette.reference}
    known = (*secrets, *(found for side in sides.values() if side is not None for found in credentials(side.request)))
    for name, side in sides.items():
        if side is not None:
            yield from leaks_of_exchange(side, name, known)
    origin = cassette.provenance
    said = {"id": cassette.id, "provider": cassette.provider, "model": cassette.model, "by": origin.by, "note": origin.note}
    for part, text in said.items():
        yield from leaks_of_text(text or "", "metadata", part, known)


def leaks_of_exchange(exchange: Exchange, side: str, known: tuple[str, ...]) -> Iterator[Leak]:
    """Everything in an exchange that looks like a secret; `side` says which exchange it is."""
    request = exchange.request
    for whose, headers in (("request", request.headers), ("response", exchange.headers)):
        for name, value in headers.fields:
            yield from _of_header(name, value, side, f"{whose} header {name}", known)
    yield from leaks_of_text(request.host, side, "host", known)
    yield from _of_target(request.target, side, known)
    for part, body in (("request body", request.body or b""), ("response body", uncompressed(exchange))):
        for spot in bodies.spots(body, known):
            yield _leak(spot, side, part, placeholder(body[spot.start : spot.end]).decode("latin-1"))


def _of_header(name: str, value: str, side: str, part: str, known: tuple[str, ...]) -> Iterator[Leak]:
    """A credential's value is a secret whatever it looks like, unless it is too short for one, as `none` is."""
    found = list(leaks_of_text(value, side, part, known))
    bare = value.rpartition(" ")[2] if CREDENTIALS.search(name) else value
    if not found and TELLING.search(name) and not is_placeholder(bare) and len(bare) > 4:
        kind = "credential" if CREDENTIALS.search(name) else "account or user id"
        found = [_leak(Spot(0, len(value), kind), side, part, placeholder_text(value))]
    yield from found


def _of_target(target: str, side: str, known: tuple[str, ...]) -> Iterator[Leak]:
    found = list(leaks_of_text(target, side, "address", known))
    path, _, query = target.partition("?")
    at = len(path) + 1
    for field in query.split("&"):
        name, mark, value = field.partition("=")
        start = at + len(name) + 1
        if mark and is_secret_parameter(name) and not is_placeholder(value) and not any(leak.offset == start for leak in found):
            found.append(_leak(Spot(start, start + len(value), "key in an address"), side, "address", placeholder_text(value)))
        at += len(field) + 1
    yield from found


def leaks_of_text(text: str, side: str, part: str, known: tuple[str, ...]) -> Iterator[Leak]:
    """Everything in a text that looks like a secret; `side` and `part` say where the text stands."""
    for spot in find(text, known):
        yield _leak(spot, side, part, placeholder_text(text[spot.start : spot.end]))


def _leak(spot: Spot, side: str, part: str, looks: str) -> Leak:
    short = looks if len(looks) <= _LONGEST else f"{looks[: _LONGEST - 1]}…"
    return Leak(kind=spot.kind, side=side, part=covered(part), offset=spot.start, looks=short)
