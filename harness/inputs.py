"""What `check` takes: raw captures, scenario files, exchange folders and cassettes, as exchanges with their dialect.

The formats: `.sse` and `.ndjson` hold the bytes of a body; `.hex` holds them in hexadecimal, white space ignored; `.bin` and
anything else holds them as they are; `.json` holds one document, a JSON-array stream, or a scenario (the format under
"Conventions" in bug-reports.md). Recordings of other programs are what `importing` makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from harness import cassette as cassettes
from harness import dialects, payload
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Cassette, Chunk, Exchange, Headers, Request
from harness.detection import detect
from harness.dialects import Dialect
from harness.errors import InputError, UnsupportedDialectError
from harness.importing import Import, Told
from harness.importing.bodies import FRAMINGS, unhexed
from harness.importing.forms import form_of
from harness.importing.source import Source

_SCENARIO = "scenario/1"
_FORM = "docs/check.md has the form of scenario files"


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Cancelling(_Settings):
    """When the caller cancels: once it was told so many events of this kind or topic."""

    kind: str
    count: int = Field(default=1, ge=1)


class Subscriber(_Settings):
    """One that listens; with `reads_after` not before the turn has ended."""

    name: str
    buffer: int = Field(default=100, ge=1)
    on_full: Literal["drop", "block"] = "drop"
    reads_after: Literal["end"] | None = None

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.on_full == "block" and self.reads_after:
            raise ValueError("a subscriber that is waited for must read before the end")
        return self


class Client(_Settings):
    """How the client of a scenario behaves. `clock` is the time at which it begins; without it, now."""

    max_retries: int | None = Field(default=None, ge=0)
    clock: AwareDatetime | None = None
    cancel_after_events: Cancelling | None = None
    subscribers: tuple[Subscriber, ...] = ()
    record_then_replay: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input: the exchanges of its attempts in order, and the dialect, `detected` or told; of a scenario that says how its
    client behaves, that too."""

    name: str
    dialect: Dialect
    detected: bool
    exchanges: tuple[Exchange, ...]
    provider: str = "unknown"
    client: Client | None = None


def load(path: Path, dialect: str | None = None) -> Iterator[Input]:
    """What a file or folder holds; several inputs for several cassettes. Raises `InputError`."""
    told = dialects.dialect(dialect) if dialect is not None else None
    if path.is_dir() or path.suffix in (".yaml", ".yml"):
        yield from _of_cassettes(path, told)
        return
    source = Source(path)
    form = form_of(source).name
    if form not in ("body", "vcrpy") or (form == "vcrpy" and source.is_packed):
        yield from _of_import(path, told)
        return
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", where=str(path), hint="give a file or a folder that is there"
        ) from None
    if path.suffix == ".hex":
        data = unhexed(data, path)
    document = _document(data) if path.suffix not in (".sse", ".ndjson") else None
    if document is not None and str(document.get("format", "")).startswith("scenario"):
        yield _of_scenario(path, document, told)
    elif document is not None and "interactions" in document:
        yield from _of_cassettes(path, told)
    else:
        yield _of_body(path, data, told, streamed=document is None)


def _of_cassettes(path: Path, told: Dialect | None) -> Iterator[Input]:
    found = False
    for case in cassettes.load(path):
        found = True
        yield _of_cassette(case, told)
    if not found:
        hint = "give a capture, a cassette, or a folder of cassettes or exchange folders"
        raise InputError("nothing there can be checked", where=str(path), hint=hint)


def _of_import(path: Path, told: Dialect | None) -> Iterator[Input]:
    """What a recording of another program holds."""
    with Import(path, Told(dialect=told.name if told is not None else None)) as job:
        for made in job:
            yield _of_cassette(made.cassette, told)


def _of_cassette(case: Cassette, told: Dialect | None) -> Input:
    side = case.stream or case.reference
    api = told or dialects.dialect(case.dialect)
    exchanges = (side,) if side else ()
    return Input(name=case.id, dialect=api, detected=False, exchanges=exchanges, provider=case.provider)


def _of_body(path: Path, data: bytes, told: Dialect | None, *, streamed: bool) -> Input:
    """A body of which nothing else is known: one that is a single document answers a request that asked for no stream."""
    exchange = Exchange(request=_asking(streamed), chunks=(Chunk(data=data),))
    plain = b"".join(chunk.data for chunk in DecodedBody(exchange))
    api = told or detect(plain, FRAMINGS.get(path.suffix))
    if api is None:
        hint = f"say which API it is with --dialect ({', '.join(dialects.names())})"
        begins = f"it begins {payload.quote(plain, 60)}" if plain else "it is empty"
        raise InputError(f"nothing in it looks like a stream of a known API: {begins}", where=str(path), hint=hint)
    return Input(name=path.name, dialect=api, detected=told is None, exchanges=(exchange,))


def _asking(streamed: bool = True) -> Request:
    """A request of unknown content that asks for a stream, or not, as far as a body can."""
    return Request(target="", body=b'{"stream": true}' if streamed else b'{"stream": false}')


class _Read(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str | None = None
    hex: str | None = None
    hex_each_byte: str | None = None
    repeat: dict[str, Any] | None = None
    wait_s: FiniteFloat | None = None


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
    client: Client | None = None


def _of_scenario(path: Path, value: dict[str, Any], told: Dialect | None) -> Input:
    try:
        scenario = _Scenario.model_validate(value)
        attempts = tuple(_attempt(a) for a in scenario.exchanges)
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(step) for step in first["loc"])
        raise InputError(f"{at}: {first['msg']}", where=str(path), hint=_FORM) from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"a read of the scenario cannot be understood: {error}", where=str(path), hint=_FORM) from None
    if scenario.format != _SCENARIO:
        raise InputError(f"scenario format {scenario.format!r} is not known", where=str(path), hint=f"expected {_SCENARIO}")
    if not attempts:
        raise InputError("the scenario has no exchange", where=str(path), hint=_FORM)
    try:
        api = told or dialects.dialect(scenario.api)
    except UnsupportedDialectError as error:
        error.where = f"{path}, api"
        raise
    return Input(name=path.name, dialect=api, detected=False, exchanges=attempts, client=scenario.client)


def _attempt(attempt: _Attempt) -> Exchange:
    at = 0.0
    chunks = []
    for read in attempt.reads:
        at += read.wait_s or 0.0
        chunks += [Chunk(at=at, data=piece) for piece in _pieces(read)]
    endings: dict[str, Literal["eof", "reset", "timeout"]] = {"eof": "eof", "reset": "reset", "stall": "timeout"}
    return Exchange(
        request=_asking(),
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


def _document(data: bytes) -> dict[str, Any] | None:
    """The data as one JSON object, if it is one."""
    if data.lstrip()[:1] != b"{" or payload.is_several(data):
        return None
    try:
        value = payload.from_text(data.decode("utf-8", "replace"), constants=True)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
