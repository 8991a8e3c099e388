"""vcrpy and pytest-recording: YAML, JSON, either of them in gzip; one interaction in memory at a time.

vcrpy joins a stream into one body. It may have decoded it, and then it has taken the header of the encoding away.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.cassette import interactions
from harness.cassette.decoding import is_encoded
from harness.cassette.model import Exchange, Headers
from harness.errors import CassetteError, Where
from harness.importing.found import ENCODING, PIECES, TIMES, Found, Told
from harness.importing.json_items import Damaged, Items
from harness.importing.source import MOST, Source
from harness.importing.yaml_items import YamlItems

_VERSION = 1
_NONE = (
    (b"http_interactions", "is a cassette of Ruby's VCR, not of vcrpy"),
    (b"- request", "is a cassette of vcrpy before version 1.0"),
)


def read(source: Source, told: Told) -> Iterator[Found]:
    """The interactions in order. Raises `InputError`; a version that is not known is found out at the end, where it stands."""
    is_json = source.head.lstrip()[:1] in (b"{", b"[")
    items: Items | YamlItems = (
        Items(source.pieces(), ("interactions",), MOST) if is_json else YamlItems(source.pieces(), "interactions")
    )
    number = -1
    try:
        for number, item in enumerate(items):
            yield _found(source, _value(item), number)
    except Damaged as error:
        raise source.error(f"is no whole cassette: {error}", at=f"interactions[{number + 1}]") from None
    except (ValueError, RecursionError) as error:
        raise source.error(f"cannot be read: {error}", at=f"interactions[{number + 1}]") from None
    if not items.found:
        message = next((text for mark, text in _NONE if source.head.startswith(mark)), "is no cassette: it has no interactions")
        raise source.error(message, hint="record it again" if "vcrpy before" in message else None)
    _check(source, items.beside.get("version", _VERSION))


def _check(source: Source, version: Any) -> None:
    if type(version) is not int or version != _VERSION:
        message = f"the format of the cassette has version {version!r}, and {_VERSION} is what is known here"
        raise source.error(message, at="version", hint="record it with a vcrpy that writes version 1, or update streamproof")


def _value(item: Any) -> Any:
    return json.loads(item) if isinstance(item, bytes) else item


def _found(source: Source, value: Any, number: int) -> Found:
    try:
        exchange = interactions.exchange(value, number, source.path)
    except CassetteError as error:
        raise source.error(error.message, at=error.where.path if isinstance(error.where, Where) else None) from None
    recorded = value.get("recorded_at") if isinstance(value, dict) else None
    on = recorded[:10] if isinstance(recorded, str) else None
    lost = [PIECES, TIMES]
    encoding = exchange.headers.get("content-encoding", "")
    if encoding and exchange.body and not is_encoded(encoding, exchange.body[:64]):
        exchange = _decoded(exchange)
        lost.append(ENCODING)
    return Found(exchange=exchange, lost=tuple(lost), on=on, by="vcrpy")


def _decoded(exchange: Exchange) -> Exchange:
    """The exchange without the header that is no longer true."""
    kept = [(name, value) for name, value in exchange.headers.fields if name.lower() != "content-encoding"]
    return replace(exchange, headers=Headers(kept), wire="reconstructed")
