"""What stands in the file of a cassette beside the two exchanges that are replayed: exchanges with other servers, such as one
that gives out tokens, names of header fields, notes, comments. Whoever gets the file gets these too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from harness.cassette import interactions, libyaml
from harness.cassette.model import Exchange
from harness.errors import CassetteError
from harness.redacting.cassettes import Leak, leaks_of_exchange, leaks_of_text
from harness.redacting.exchanges import credentials

_SUFFIXES = (".yaml", ".yml", ".json")
_INTERACTIONS = re.compile(rb"""^["']?interactions["']?[ ]*:|"interactions"\s*:""", re.MULTILINE)
_COMMENT = re.compile(r"^[ ]*#.*$", re.MULTILINE)
_READ = {
    "request": ("uri", "method", "body", "headers"),
    "response": ("body", "content", "headers", "status_code"),
    "streamproof": ("id", "provider", "model"),
    "provenance": ("by", "note"),
}
"""By the name of a mapping, what of it is part of an exchange or of a cassette and is looked at there."""


def print_of(exchange: Exchange) -> tuple[str, int, int]:
    """What tells an exchange from the others of a file."""
    return exchange.request.target, hash(exchange.request.body), hash(exchange.body)


def leaks_beside(path: Path, read: Container[tuple[str, int, int]]) -> Iterator[tuple[Path, Leak]]:
    """What looks like a secret in the files of cassettes at `path`, but not in the exchanges whose prints are `read`."""
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        hidden = file != path and any(part.startswith(".") for part in file.relative_to(path).parts)
        if file.suffix.lower() in _SUFFIXES and not hidden and file.is_file():
            for leak in _of_file(file, read):
                yield file, leak


def _of_file(file: Path, read: Container[tuple[str, int, int]]) -> Iterator[Leak]:
    data, is_json = file.read_bytes(), file.suffix.lower() == ".json"
    if not _INTERACTIONS.search(data):
        return
    try:
        value = json.loads(data) if is_json else libyaml.load(data)
    except (yaml.YAMLError, ValueError, RecursionError):
        return  # whoever loads the cassette says so
    recorded = value.get("interactions") if isinstance(value, dict) else None
    if not isinstance(recorded, list):
        return
    for number, entry in enumerate(recorded):
        exchange = _exchange(entry, number, file)
        if exchange is not None and print_of(exchange) not in read:
            yield from leaks_of_exchange(exchange, f"interaction {number}", tuple(credentials(exchange.request)))
    for at, text in _texts(value, "", ""):
        yield from leaks_of_text(text, "file", at, ())
    if not is_json:
        bodies = _bodies(recorded)
        for comment in _COMMENT.finditer(data.decode("utf-8", "replace")):
            if comment[0].strip() not in bodies:
                yield from leaks_of_text(comment[0].strip(), "file", "comment", ())


def _exchange(entry: Any, number: int, file: Path) -> Exchange | None:
    try:
        return interactions.exchange(entry, number, file)
    except CassetteError:
        return None


def _bodies(recorded: list[Any]) -> str:
    """The texts of the bodies: a line of one may begin like a comment."""
    return "\n".join(text for entry in recorded for _, text in _texts(entry, "", "", skip={}))


def _texts(value: Any, at: str, name: str, skip: Mapping[str, tuple[str, ...]] = _READ) -> Iterator[tuple[str, str]]:
    """Every text of a document with its place, names included; those that `skip` names by their mapping are not."""
    if isinstance(value, (str, bytes)):
        yield at, value if isinstance(value, str) else value.decode("latin-1")
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in skip.get(name, ()):
                if key == "headers" and isinstance(inner, dict):
                    yield from ((f"{at}/headers", str(field)) for field in inner)
                continue
            if isinstance(inner, (str, int)) and not isinstance(inner, bool):
                yield f"{at}/{key}", f'"{key}": "{inner}"'
            else:
                yield at, str(key)
                yield from _texts(inner, f"{at}/{key}", str(key), skip)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{at}/{number}", name, skip)
