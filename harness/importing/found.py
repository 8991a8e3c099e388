"""What a reader of a format finds in a file, and what it is told beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.cassette.model import Exchange, ProvenanceKind

PIECES = "where pieces ended"
TIMES = "arrival times"
REQUEST = "the request"
HEAD = "the head of the response"
ENDING = "how the response ended"
ENCODING = "the content encoding: the bytes are those after decoding"
"""What formats cannot keep, in the words of their reports."""

NO_BODY = "the body of the response is not in the file"
NO_ANSWER = "no response came"
"""Why there is nothing to be had of an exchange."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One exchange, and what the file says of it. `lost` is what the format could not keep; `unusable` says why there is
    nothing to be had of the exchange, such as a body that is not in the file.

    `dialect`, `provider`, `model` and `name` are None where the file has no word on them; then they are found out. `on` is an
    ISO date, `by` the program that recorded.
    """

    exchange: Exchange
    lost: tuple[str, ...] = ()
    unusable: str | None = None
    dialect: str | None = None
    provider: str | None = None
    model: str | None = None
    name: str | None = None
    on: str | None = None
    by: str | None = None
    kind: ProvenanceKind = "recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What whoever imports knows better than the file.

    `head` is a file with the head of the response, as `curl -D` writes it; `request` one with the body of the request.
    """

    dialect: str | None = None
    provider: str | None = None
    model: str | None = None
    url: str | None = None
    head: Path | None = None
    request: Path | None = None
