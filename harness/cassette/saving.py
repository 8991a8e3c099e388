"""Writing a cassette file: an ordinary vcrpy cassette, with what vcrpy has no place for under `metadata.streamproof`.

Header fields of one name are kept in their order; between names vcrpy's format has none. Files are UTF-8, as vcrpy reads
them wherever that is Python's default (on Windows before Python 3.15: with PYTHONUTF8=1).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path

import yaml
from pydantic import ValidationError

from harness import dialects
from harness.cassette import interactions, libyaml
from harness.cassette.metadata import described, misfit
from harness.cassette.model import Cassette, Exchange
from harness.cassette.scalars import scalar
from harness.errors import CassetteError, Where


def save(cassette: Cassette, path: Path) -> None:
    """Write a cassette to `path`, whole or not at all; the same cassette gives the same bytes.

    Raises `CassetteError` for a cassette that could not be read back, or if the file cannot be written, and
    `UnsupportedDialectError`.
    """
    data = rendered(cassette)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise CassetteError(f"cannot be written: {error.strerror}", where=str(path)) from None


def rendered(cassette: Cassette, *, metadata: bool = True) -> bytes:
    """The contents of a cassette's file, with our metadata or without. Raises like `save`."""
    sides = [side for side in (cassette.stream, cassette.reference) if side is not None]
    if not sides:
        raise CassetteError("a cassette needs a stream or a reference", where=cassette.id)
    dialects.dialect(cassette.dialect)
    try:
        said = libyaml.dump({"metadata": {"streamproof": described(cassette)}}) if metadata else ""
        text = "".join(("version: 1\ninteractions:\n", *map(_interaction, sides), said))
        return text.encode()
    except ValidationError as error:
        raise misfit(error, Where(cassette=cassette.id), "") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise CassetteError(f"cannot be written as YAML: {error}", where=cassette.id) from None


def _interaction(side: Exchange) -> str:
    request = side.request
    asked = {"method": request.method, "uri": interactions.uri(request), "headers": _headers(request.headers.fields)}
    answered = {"status": {"code": side.status, "message": _phrase(side.status)}, "headers": _headers(side.headers.fields)}
    return "".join(
        (
            "- request:\n",
            libyaml.dump(asked, 4),
            f"    body: {scalar(request.body, 6)}",
            "  response:\n",
            libyaml.dump(answered, 4),
            f"    body:\n      string: {scalar(side.body, 8)}",
        )
    )


def _headers(fields: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = {}
    for name, value in fields:
        by_name.setdefault(name, []).append(value)
    return by_name


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
