"""Reading cassette files: vcrpy's format (`version: 1`), read without vcrpy, which has no place for all that we know.

A file of ours holds the streaming request and its non-streaming twin, and says what they are under `metadata.streamproof`.
Any other vcrpy cassette is read too, in YAML and in JSON: `pairing` finds out what is in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from harness import dialects
from harness.cassette import interactions, libyaml, pairing
from harness.cassette.metadata import Metadata, cut, misfit, provenance
from harness.cassette.model import Cassette, Exchange
from harness.errors import CassetteError, UnsupportedDialectError, Where

VERSION = 1
_METADATA = "/metadata/streamproof"
_INTERACTIONS = re.compile(rb"""^["']?interactions["']?[ ]*:|"interactions"\s*:""", re.MULTILINE)


def read(path: Path, name: str, *, among_others: bool = False) -> list[Cassette]:
    """The cassettes of a file: one of ours, or what pairs and single turns another vcrpy cassette holds.

    `name` is the id of a cassette that has none of its own. A file that is no cassette, or has no interaction with a known
    API, is an error, or holds none where it stands `among_others`. Raises `CassetteError` and `UnsupportedDialectError`.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CassetteError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if among_others and not _INTERACTIONS.search(data):
        return []
    found = _cassettes(data, path, name)
    if not found and not among_others:
        hint = f"known are {', '.join(dialects.names())}"
        raise CassetteError("no interaction is a request to a known API", where=str(path), hint=hint)
    return found


def _cassettes(data: bytes, path: Path, name: str) -> list[Cassette]:
    value = _json(data, path) if path.suffix.lower() == ".json" else _yaml(data, path)
    recorded = _interactions(value, path)
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and "streamproof" in metadata:
        return [_ours(metadata["streamproof"], recorded, path)]
    exchanges = [interactions.exchange(entry, number, path) for number, entry in enumerate(recorded)]
    return pairing.paired(exchanges, name)


def _json(data: bytes, path: Path) -> Any:
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        place = f"{path}, line {error.lineno}, column {error.colno}"
        raise CassetteError(f"is not JSON: {error.msg}", where=place) from None
    except (ValueError, RecursionError) as error:
        raise CassetteError(f"is not JSON: {error}", where=str(path)) from None


def _yaml(data: bytes, path: Path) -> Any:
    try:
        return libyaml.load(data)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path)
        raise CassetteError(f"is not YAML: {error.problem or error.context}", where=place) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CassetteError(f"is not YAML: {str(error).splitlines()[0]}", where=str(path)) from None


def _interactions(value: Any, path: Path) -> list[Any]:
    if isinstance(value, list) and value and isinstance(value[0], dict) and "request" in value[0]:
        raise CassetteError("a cassette of vcrpy before version 1.0", where=str(path), hint="record it again")
    if isinstance(value, dict) and "http_interactions" in value:
        raise CassetteError("a cassette of Ruby's VCR, not of vcrpy", where=str(path))
    recorded = value.get("interactions") if isinstance(value, dict) else None
    if not isinstance(recorded, list):
        hint = "a cassette has `version: 1` and a list of `interactions`"
        raise CassetteError("is no cassette", where=str(path), hint=hint)
    version = value.get("version", VERSION)
    if type(version) is not int or version < 1:
        raise CassetteError(f"the version {version!r} is none", where=_at(path, "/version"), hint=f"write {VERSION}")
    if version > VERSION:
        message = f"the format has version {version}, and {VERSION} is the newest known here"
        raise CassetteError(message, where=_at(path, "/version"), hint="update streamproof")
    return recorded


def _ours(block: Any, recorded: list[Any], path: Path) -> Cassette:
    where = Where(cassette=str(path))
    try:
        metadata = Metadata.model_validate(block)
    except ValidationError as error:
        raise misfit(error, where, _METADATA) from None
    try:
        dialect = dialects.dialect(metadata.dialect).name
    except UnsupportedDialectError as error:
        error.where = _at(path, f"{_METADATA}/dialect")
        raise
    _check_numbers(metadata, len(recorded), path)
    return Cassette(
        id=metadata.id,
        dialect=dialect,
        provider=metadata.provider,
        model=metadata.model,
        scenario=metadata.scenario,
        stream=_side(metadata.stream, metadata, recorded, path),
        reference=_side(metadata.reference, metadata, recorded, path),
        match=metadata.match,
        pair_kind=metadata.pair_kind,
        provenance=provenance(metadata.provenance),
        features=tuple(metadata.features),
        quirks=tuple(metadata.quirks),
    )


def _check_numbers(metadata: Metadata, count: int, path: Path) -> None:
    """Whether every number of an interaction is that of one."""
    named: dict[str, Mapping[int, Any]] = {
        name: {number: None} for name in ("stream", "reference") if (number := getattr(metadata, name)) is not None
    }
    if not named:
        raise CassetteError("neither a stream nor a reference is named", where=_at(path, _METADATA))
    if metadata.stream == metadata.reference:
        raise CassetteError("the stream and its reference are one interaction", where=_at(path, f"{_METADATA}/reference"))
    for name, numbers in (named | {"wire": metadata.wire, "chunks": metadata.chunks, "ending": metadata.ending}).items():
        for number in numbers:
            if number >= count:
                message = f"there is no interaction {number}; the file has {count}, counted from 0"
                raise CassetteError(message, where=_at(path, f"{_METADATA}/{name}"))


def _side(number: int | None, metadata: Metadata, recorded: list[Any], path: Path) -> Exchange | None:
    if number is None:
        return None
    plain = interactions.exchange(recorded[number], number, path)
    chunks = plain.chunks
    if (marks := metadata.chunks.get(number)) is not None:
        try:
            chunks = cut(plain.body, marks)
        except ValueError as error:
            hint = "a body that was edited needs its chunks corrected, or left out"
            raise CassetteError(str(error), where=_at(path, f"{_METADATA}/chunks/{number}"), hint=hint) from None
    return Exchange(
        request=plain.request,
        status=plain.status,
        headers=plain.headers,
        chunks=chunks,
        ending=metadata.ending.get(number, "eof"),
        wire=metadata.wire.get(number, "original"),
    )


def _at(path: Path, pointer: str) -> Where:
    return Where(cassette=str(path), path=pointer)
