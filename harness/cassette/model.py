"""What was recorded: exchanges as bytes with their arrival times, and a cassette that pairs a stream with its twin."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from harness import payload

Ending = Literal["eof", "reset", "timeout"]
Match = Literal["exact", "shape"]
PairKind = Literal["exact", "near"]
ProvenanceKind = Literal["recorded", "anonymized", "authored"]
Wire = Literal["original", "reconstructed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One piece of a body as it arrived, `at` seconds after the request was sent."""

    data: bytes
    at: float = 0.0


class Headers(Mapping[str, str]):
    """Header fields in their order; looked up by name in any case, the first of several with a name."""

    def __init__(self, fields: Mapping[str, str] | list[tuple[str, str]] | None = None) -> None:
        pairs = fields.items() if isinstance(fields, Mapping) else fields or ()
        self.fields: tuple[tuple[str, str], ...] = tuple((name, value) for name, value in pairs)
        self._by_name = {name.lower(): value for name, value in reversed(self.fields)}

    def __getitem__(self, name: str) -> str:
        return self._by_name[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"Headers({list(self.fields)!r})"


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request: `target` is the path with its query, `body` the bytes as sent (None: not recorded).

    `host` has the port where it is not the scheme's own; it is empty if it was not recorded.
    """

    method: str = "POST"
    scheme: str = "https"
    host: str = ""
    target: str = "/"
    headers: Headers = field(default_factory=Headers)
    body: bytes | None = None

    @cached_property
    def json(self) -> Any:
        """The body as a JSON value; None if there is none or it is no JSON."""
        return _json(self.body)


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One request and what came back.

    `chunks` hold the response body exactly as sent, after transfer coding and before any content decoding. `ending` says how
    it ended. `wire` is `original` where the bytes are the server's own, `reconstructed` where the recorder kept only the
    payloads. `status` 0 means that no response came.
    """

    request: Request = field(default_factory=Request)
    status: int = 200
    headers: Headers = field(default_factory=Headers)
    chunks: tuple[Chunk, ...] = ()
    ending: Ending = "eof"
    wire: Wire = "original"

    @cached_property
    def body(self) -> bytes:
        return b"".join(chunk.data for chunk in self.chunks)

    @cached_property
    def json(self) -> Any:
        """The response body as a JSON value; None if it is no JSON."""
        return _json(self.body)

    @property
    def content_type(self) -> str | None:
        """The media type in lower case, without parameters; None if the header was not recorded or was masked."""
        value = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        return value if "/" in value else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a cassette comes from; `on` is an ISO date."""

    kind: ProvenanceKind = "recorded"
    on: str | None = None
    by: str | None = None
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Cassette:
    """A case: a streamed exchange and its non-streaming twin, or one of them.

    `id` is `<dialect>/<provider>/<scenario>`, or for a folder of other people's exchanges the path below it. `match` says
    whether the twin's values are expected (`exact`) or only its shape (sampling differs). `stream` is None for a recording
    that has only a plain response, such as an error before the stream. `pair_kind` is another matter than `match`: whether
    the two requests are the same (`exact`) or nearly (`near`), where whoever paired them said so.
    """

    id: str
    dialect: str
    provider: str = "unknown"
    model: str | None = None
    scenario: str | None = None
    stream: Exchange | None = None
    reference: Exchange | None = None
    match: Match = "shape"
    pair_kind: PairKind | None = None
    provenance: Provenance = field(default_factory=Provenance)
    features: tuple[str, ...] = ()
    quirks: tuple[str, ...] = ()


def _json(body: bytes | None) -> Any:
    if body is None:
        return None
    try:
        text = payload.whole(body.decode(json.detect_encoding(body), "surrogatepass"))  # halves of a character, each encoded
        return payload.from_text(text, constants=True)
    except ValueError:
        return None
