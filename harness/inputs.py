"""What `check` takes: raw captures, scenario files, exchange folders and cassettes, as exchanges with their dialect.

The formats: `.sse` and `.ndjson` hold the bytes of a body; `.hex` holds them in hexadecimal, white space ignored; `.bin` and
anything else holds them as they are; `.json` holds one document, a JSON-array stream, or a scenario (the format under
"Conventions" in bug-reports.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from harness import cassette as cassettes
from harness import dialects
from harness.cassette.model import Cassette, Chunk, Exchange, Headers, Request
from harness.detection import detect
from harness.dialects import Dialect
from harness.errors import InputError

_SCENARIO = "scenario/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input: the exchanges of its attempts in order, and the dialect, `detected` or told."""

    name: str
    dialect: Dialect
    detected: bool
    exchanges: tuple[Exchange, ...]


def load(path: Path, dialect: str | None = None) -> Iterator[Input]:
    """What a file or folder holds; several inputs for several cassettes. Raises `InputError`."""
    told = dialects.dialect(dialect) if dialect is not None else None
    if path.is_dir() or path.suffix in (".yaml", ".yml"):
        yield from (_of_cassette(c, told) for c in cassettes.load(path))
        return
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if path.suffix == ".json" and (value := _json(data)) is not None and isinstance(value, dict):
        if str(value.get("format", "")).startswith("scenario"):
            yield _of_scenario(path, value, told)
            return
        if "interactions" in value:
            yield from (_of_cassette(c, told) for c in cassettes.load(path))
            return
    if path.suffix == ".hex":
        data = _unhexed(path, data)
    yield _of_body(path, data, told)


def _of_cassette(case: Cassette, told: Dialect | None) -> Input:
    side = case.stream or case.reference
    api = told or dialects.dialect(case.dialect)
    return Input(name=case.id, dialect=api, detected=False, exchanges=(side,) if side else ())


def _of_body(path: Path, data: bytes, told: Dialect | None) -> Input:
    framing = {".sse": "sse", ".ndjson": "ndjson", ".hex": "event-stream"}.get(path.suffix)
    api = told or detect(data, framing)
    if api is None:
        hint = f"say which API it is with --dialect ({', '.join(dialects.names())})"
        raise InputError("nothing in it looks like a stream of a known API", where=str(path), hint=hint)
    exchange = Exchange(request=_asking(api), chunks=(Chunk(data=data),))
    return Input(name=path.name, dialect=api, detected=told is None, exchanges=(exchange,))


def _asking(api: Dialect) -> Request:
    """A request of unknown content that asks for a stream, as far as a body can."""
    return Request(target="", body=b'{"stream": true}')


class _Read(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str | None = None
    hex: str | None = None
    hex_each_byte: str | None = None
    repeat: dict[str, Any] | None = None
    wait_s: float | None = None


class _Attempt(BaseModel):
    model_config = ConfigDict(extra="forbid")

    status: int = 200
    headers: dict[str, str] = {}
    reads: list[_Read] = []
    end: Literal["eof", "reset", "stall"] = "eof"


class _Scenario(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: str
    api: str
    exchanges: list[_Attempt]
    client: dict[str, Any] = {}


def _of_scenario(path: Path, value: dict[str, Any], told: Dialect | None) -> Input:
    try:
        scenario = _Scenario.model_validate(value)
        attempts = tuple(_attempt(a) for a in scenario.exchanges)
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(step) for step in first["loc"])
        raise InputError(f"{at}: {first['msg']}", where=str(path), hint="the format stands in docs: scenario files") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"a read of the scenario cannot be understood: {error}", where=str(path)) from None
    if scenario.format != _SCENARIO:
        raise InputError(f"scenario format {scenario.format!r} is not known", where=str(path), hint=f"expected {_SCENARIO}")
    if not attempts:
        raise InputError("the scenario has no exchange", where=str(path))
    api = told or dialects.dialect(scenario.api)
    return Input(name=path.name, dialect=api, detected=False, exchanges=attempts)


def _attempt(attempt: _Attempt) -> Exchange:
    at = 0.0
    chunks = []
    for read in attempt.reads:
        at += read.wait_s or 0.0
        chunks += [Chunk(at=at, data=piece) for piece in _pieces(read)]
    endings: dict[str, Literal["eof", "reset", "timeout"]] = {"eof": "eof", "reset": "reset", "stall": "timeout"}
    return Exchange(
        request=Request(target="", body=b'{"stream": true}'),
        status=attempt.status,
        headers=Headers(attempt.headers),
        chunks=tuple(chunks),
        ending=endings[attempt.end],
    )


def _pieces(read: _Read) -> Iterator[bytes]:
    if read.text is not None:
        yield read.text.encode("utf-8", "surrogatepass")
    if read.hex is not None:
        yield bytes.fromhex(read.hex)
    if read.hex_each_byte is not None:
        yield from (bytes([byte]) for byte in bytes.fromhex(read.hex_each_byte))
    if read.repeat is not None:
        yield str(read.repeat["text"]).encode() * int(read.repeat["times"])


def _unhexed(path: Path, data: bytes) -> bytes:
    try:
        return bytes.fromhex("".join(data.decode("ascii").split()))
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"is no hexadecimal text: {error}", where=str(path)) from None


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
