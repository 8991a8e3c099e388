"""Exchange folders: one recorded exchange as a handful of files.

    request.json     method, path with its query, headers; the body as a value in `body` or `json`, or as `text`
    response.json    status, headers, and optionally body_file, wire, chunk_sizes; or
    response.head    the status line and the header fields as they came
    body.*           the body as sent, after transfer coding; or response.body
    timing.json      optional: `body` has [seconds, bytes so far] for each piece, `end` says how it ended

Above many of them a `MANIFEST.jsonl` may tell what each one is, in folders `api/id`, and which are each other's twins. Where
there is none, NAME-stream and NAME-plain beside each other are twins, and the request tells the API.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from harness.cassette import pairing
from harness.cassette.metadata import cut, whole
from harness.cassette.model import Cassette, Chunk, Ending, Exchange, Headers, Provenance, Request
from harness.errors import CassetteError

MANIFEST = "MANIFEST.jsonl"
_PROVIDERS = ("llamacpp", "litellm", "portkey", "ollama-openai-proxy", "cyllama")
"""Servers that answered on this machine, known by the folder above: `llamacpp-tools` is llamacpp with other settings."""


def is_exchange(folder: Path) -> bool:
    return (folder / "request.json").is_file()


class Shelf:
    """The exchange folders below `root`. Ids are paths below it.

    A folder that is the twin of a stream among them makes no cassette of its own, nor does a request to an API that nobody
    knows.
    """

    def __init__(self, root: Path, folders: Iterable[Path]) -> None:
        library = _Library()
        self._root = root
        self._entries = {folder: library.entry(folder) for folder in folders}
        streams = (entry for entry in self._entries.values() if entry.is_stream)
        self._twins = {entry.twin.folder.absolute() for entry in streams if entry.twin is not None}

    def take(self, folder: Path) -> Cassette | None:
        """The cassette that a folder makes, if it makes one; it can be taken once."""
        entry = self._entries.pop(folder)
        if folder.absolute() in self._twins or entry.dialect is None:
            return None
        below = folder.relative_to(self._root).as_posix()
        return entry.cassette(folder.name if below == "." else below)


class _Library:
    """The manifests that lie above exchange folders, each read once."""

    def __init__(self) -> None:
        self._manifests: dict[Path, dict[str, dict[str, Any]] | None] = {}

    def entry(self, folder: Path) -> _Entry:
        for root in (folder, *folder.absolute().parents):
            if (rows := self.manifest(root)) is not None:
                row = rows.get(folder.absolute().relative_to(root.absolute()).as_posix())
                return _Entry(self, folder) if row is None else _Listed(self, folder, root, row)
        return _Entry(self, folder)

    def manifest(self, root: Path) -> dict[str, dict[str, Any]] | None:
        """The rows of a manifest by the folders that they describe; None where there is none."""
        if root not in self._manifests:
            file = root / MANIFEST
            self._manifests[root] = _rows(file) if file.is_file() else None
        return self._manifests[root]


class _Entry:
    """An exchange folder, and what it is in a cassette."""

    def __init__(self, library: _Library, folder: Path) -> None:
        self.library = library
        self.folder = folder

    @cached_property
    def exchange(self) -> Exchange:
        return exchange(self.folder)

    @cached_property
    def dialect(self) -> str | None:
        api = pairing.api_of(self.exchange.request)
        return api.name if api is not None else None

    @cached_property
    def is_stream(self) -> bool:
        api = pairing.api_of(self.exchange.request)
        return api is not None and pairing.is_stream(self.exchange, api)

    @cached_property
    def twin(self) -> _Entry | None:
        """The folder with the non-streaming answer, for a stream that has one."""
        name = self.folder.name
        beside = self.folder.with_name(f"{name.removesuffix('-stream')}-plain")
        if not name.endswith("-stream") or not is_exchange(beside):
            return None
        twin = _Entry(self.library, beside)
        return twin if twin.exchange.status < 400 and not twin.is_stream else None

    def cassette(self, name: str) -> Cassette:
        parent, request = self.folder.absolute().parent.name, self.exchange.request
        known = (p for p in _PROVIDERS if parent == p or parent.startswith(f"{p}-"))
        scenario = self.folder.name
        twin = self.twin if self.is_stream else None
        return Cassette(
            id=name,
            dialect=self.dialect or "",
            provider=next(known, None) or pairing.provider_of(request),
            model=pairing.model_of(request),
            scenario=scenario.removesuffix("-stream").removesuffix("-plain"),
            stream=self.exchange if self.is_stream else None,
            reference=self._reference(twin),
            pair_kind="exact" if twin is not None else None,
        )

    def _reference(self, twin: _Entry | None) -> Exchange | None:
        if not self.is_stream:
            return self.exchange
        return twin.exchange if twin is not None else None


class _Listed(_Entry):
    """An exchange folder that a manifest tells about."""

    def __init__(self, library: _Library, folder: Path, root: Path, row: dict[str, Any]) -> None:
        super().__init__(library, folder)
        self._root = root
        self._row = row

    @cached_property
    def dialect(self) -> str | None:
        return str(self._row["api"])

    @cached_property
    def is_stream(self) -> bool:
        return bool(self._row.get("streaming")) and self._row.get("status", 200) < 400

    @cached_property
    def twin(self) -> _Entry | None:
        """Of several twins each serves one of the streams that share them, as long as there are enough."""
        api, partners = self._row["api"], self._row.get("pair_with") or []
        rows = self.library.manifest(self._root) or {}
        if not partners:
            return None
        sharing = rows.get(f"{api}/{partners[0]}", {}).get("pair_with") or [self._row["id"]]
        rank = sharing.index(self._row["id"]) if self._row["id"] in sharing else 0
        folder = self._root / api / partners[rank % len(partners)]
        return self.library.entry(folder) if is_exchange(folder) else None

    def cassette(self, name: str) -> Cassette:
        row = self._row
        twin = self.twin if self.is_stream else None
        return Cassette(
            id=name,
            dialect=str(row["api"]),
            provider=row.get("provider") or "unknown",
            model=row.get("model"),
            scenario=row["id"],
            stream=self.exchange if self.is_stream else None,
            reference=self._reference(twin),
            pair_kind=row.get("pair_kind") if twin is not None else None,
            provenance=Provenance(
                kind="recorded" if row.get("origin", "recorded") == "recorded" else "authored",
                by=row.get("repo"),
                note=row.get("notes"),
            ),
            features=tuple(row.get("features") or ()),
            quirks=tuple(row.get("quirks") or ()),
        )


def _rows(file: Path) -> dict[str, dict[str, Any]]:
    rows = {}
    for number, line in enumerate(_read(file).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            rows[f"{row['api']}/{row['id']}"] = row
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            place, hint = f"{file}, line {number}", "a line is an object with `api` and `id`"
            raise CassetteError(f"is no line of a manifest: {error!r}", where=place, hint=hint) from None
    return rows


def exchange(folder: Path) -> Exchange:
    """The exchange in a folder. Raises `CassetteError`."""
    request = _object(folder / "request.json")
    status, headers, about = _response(folder)
    body = _read(_body_file(folder, about))
    timing = _object(folder / "timing.json") if (folder / "timing.json").is_file() else {}
    return Exchange(
        request=_request(request, folder),
        status=status,
        headers=headers,
        chunks=_chunks(folder, body, about, timing),
        ending=_ending(timing, headers),
        wire="reconstructed" if about.get("wire") == "reconstructed" else "original",
    )


def _request(request: dict[str, Any], folder: Path) -> Request:
    value = request.get("body", request.get("json"))
    body = None
    if isinstance(request.get("text"), str):
        body = request["text"].encode("utf-8", "surrogatepass")
    elif value is not None:
        body = json.dumps(value, separators=(",", ":")).encode()
    target = request.get("path")
    if not isinstance(target, str) or not target.startswith("/"):
        raise CassetteError(f"expected a path, got {target!r:.80}", where=f"{folder / 'request.json'}, path")
    return Request(
        method=str(request.get("method") or "POST"),
        scheme=str(request.get("scheme") or "https"),
        host=str(request.get("host") or ""),
        target=target,
        headers=_headers(request, folder / "request.json"),
        body=body,
    )


def _response(folder: Path) -> tuple[int, Headers, dict[str, Any]]:
    """Status, headers, and what else `response.json` tells."""
    if (folder / "response.json").is_file():
        about = _object(folder / "response.json")
        status = about.get("status", 200)
        if type(status) is not int:
            raise CassetteError(f"expected a status code, got {status!r:.80}", where=f"{folder / 'response.json'}, status")
        return status, _headers(about, folder / "response.json"), about
    if (folder / "response.head").is_file():
        return *_head(folder / "response.head"), {}
    hint = "an exchange folder has a response.json or a response.head"
    raise CassetteError("there is no response", where=str(folder), hint=hint)


def _headers(holder: dict[str, Any], file: Path) -> Headers:
    fields = holder.get("headers") or {}
    if not isinstance(fields, dict):
        raise CassetteError("expected an object of names and values", where=f"{file}, headers")
    values = ((n, v) for n, value in fields.items() for v in (value if isinstance(value, list) else [value]))
    return Headers([(name, str(value)) for name, value in values])


def _head(file: Path) -> tuple[int, Headers]:
    lines = _read(file).decode("latin-1").replace("\r\n", "\n").split("\n")
    words = lines[0].split(" ", 2)
    if not words[0].startswith("HTTP/") or len(words) < 2 or not words[1].isdigit():
        raise CassetteError(f"expected a status line, got {lines[0]!r:.80}", where=f"{file}, line 1")
    fields = [line.partition(":") for line in lines[1:] if ":" in line]
    return int(words[1]), Headers([(name.strip(), value.strip()) for name, _, value in fields])


def _body_file(folder: Path, about: dict[str, Any]) -> Path:
    named = about.get("body_file")
    bodies = [folder / named] if isinstance(named, str) else [folder / "response.body", *sorted(folder.glob("body.*"))]
    found = next((file for file in bodies if file.is_file()), None)
    if found is None:
        missing = named if isinstance(named, str) else "response.body or body.*"
        raise CassetteError(f"there is no {missing}", where=str(folder), hint="an empty body is an empty file")
    return found


def _chunks(folder: Path, body: bytes, about: dict[str, Any], timing: dict[str, Any]) -> tuple[Chunk, ...]:
    sizes, marks = about.get("chunk_sizes"), timing.get("body")
    try:
        if marks is not None:
            return cut(body, [(float(at), int(end)) for at, end in marks])
        if sizes is not None:
            return cut(body, [(0.0, end) for end in accumulate(sizes)])
    except (ValueError, TypeError, OverflowError) as error:
        place = folder / ("response.json" if marks is None else "timing.json")
        raise CassetteError(f"the pieces do not fit the body: {error}", where=str(place)) from None
    return whole(body)


def _ending(timing: dict[str, Any], headers: Headers) -> Ending:
    """How the recorder saw the body end. Closing is an end in order only where the head promised no other."""
    end = str(timing.get("end") or "")
    if end in ("", "final chunk", "content-length reached"):
        return "eof"
    if "timeout" in end.lower():
        return "timeout"
    promised = "chunked" in headers.get("transfer-encoding", "").lower() or "content-length" in headers
    return "reset" if promised or end != "connection closed" else "eof"


def _object(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(_read(file))
    except (ValueError, RecursionError) as error:
        raise CassetteError(f"is not JSON: {error}", where=str(file)) from None
    if not isinstance(value, dict):
        raise CassetteError(f"expected an object, got {value!r:.80}", where=str(file))
    return value


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CassetteError(f"cannot be read: {error.strerror}", where=str(file)) from None
