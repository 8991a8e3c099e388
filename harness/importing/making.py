"""Cassettes of what a file holds: streams with their twins, named, with their provenance. The verb of the room is `read`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain, count
from pathlib import Path

from harness import cassette as cassettes
from harness import dialects
from harness.cassette import pairing
from harness.cassette.model import Cassette, Exchange, Provenance
from harness.detection import detect
from harness.errors import InputError
from harness.importing.bodies import is_document
from harness.importing.forms import Form, form_of
from harness.importing.found import Found, Told
from harness.importing.source import Source
from harness.importing.spool import Spool

OURS = "cassettes"
"""What the format of cassettes and exchange folders is called."""

_NO_API = "it is no request to a known API"
_NOT_IN_NAMES = re.compile(r"[^a-z0-9.]+")
_LONGEST_NAME = 60
_OWN = re.compile(rb"^ +(?:\"|')?streamproof(?:\"|')?:|\"streamproof\"\s*:", re.MULTILINE)
_TELLING = ("event-stream", "ndjson", "eventstream", "json")
"""In the media types of answers that may be turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A cassette, and what the format could not keep of it."""

    cassette: Cassette
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Note:
    """What is known of an exchange that was put aside."""

    found: Found
    facts: pairing.Facts


class Import(AbstractContextManager["Import"]):
    """Reads a file or folder at once, and then gives the cassettes it makes, one in memory at a time.

    `clean` is done to every exchange before it is put aside. `form` names the format; without it, the file tells. `progress` is
    told how many bytes have been read. After reading, `names` are the ids of the cassettes, and `passed` counts the exchanges
    of which none is made, by reason. Raises `InputError`.
    """

    def __init__(
        self,
        path: Path,
        told: Told | None = None,
        *,
        form: str | None = None,
        clean: Callable[[Exchange], Exchange] | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        self.passed: Counter[str] = Counter()
        self.names: list[str] = []
        self.form = OURS
        self._told = told or Told()
        self._clean = clean or (lambda exchange: exchange)
        self._path = path
        self._notes: list[_Note] = []
        self._pairs: list[tuple[int, int | None]] = []
        self._spool = Spool()
        try:
            self._ready = self._read(form, progress)
        except BaseException:
            self._spool.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        self._spool.__exit__()

    def __iter__(self) -> Iterator[Made]:
        if self._ready:
            for case in cassettes.load(self._path):
                sides = {name: self._clean(side) for name in ("stream", "reference") if (side := getattr(case, name))}
                yield Made(cassette=replace(case, **sides))  # type: ignore[arg-type]
            return
        for name, (first, twin) in zip(self.names, self._pairs, strict=True):
            yield self._made(name, first, twin)

    def _read(self, form: str | None, progress: Callable[[int], object] | None) -> bool:
        """Put aside what is in the file; True if it holds cassettes already, which are read when they are asked for."""
        if form in (None, OURS) and (self._path.is_dir() or form == OURS or _is_ours(self._path)):
            self.names = [case.id for case in cassettes.load(self._path)]
            if not self.names:
                hint = "files of other formats are given one by one, by their names"
                raise InputError("there is no cassette and no exchange folder in it", where=str(self._path), hint=hint)
            return True
        source = Source(self._path, progress)
        kind: Form = form_of(source, form)
        self.form = kind.name
        for found in kind.read(source, self._told):
            self._take(found)
        self._pairs = pairing.pairs([note.facts for note in self._notes])
        self.names = self._named(source.stem)
        if not self._pairs:
            said = ", ".join(f"{reason} ({number})" for reason, number in self.passed.items()) or "there is no exchange in it"
            hint = f"known are {', '.join(dialects.names())}; --dialect says it where a path does not"
            raise source.error(f"nothing in it can be imported: {said}", hint=hint)
        return False

    def _take(self, found: Found) -> None:
        number = len(self._notes)
        facts = _facts(found, self._told, number)
        reason = _NO_API if facts.api is None else found.unusable
        if reason is not None:
            self.passed[reason] += 1
            return
        clean = self._clean(found.exchange)
        self._spool.add(clean)
        thin = replace(
            found, on=_date(found.on), exchange=Exchange(request=replace(clean.request, body=_asked(found)), status=0)
        )
        self._notes.append(_Note(thin, facts))

    def _named(self, stem: str) -> list[str]:
        """The ids `<dialect>/<provider>/<scenario>`: scenarios have the name that the file gives them, else that of the file,
        and a number where several would have one."""
        bases = [self._base(first, stem) for first, _ in self._pairs]
        several = Counter(bases)
        width = len(str(max(several.values(), default=0)))
        numbers = {base: count(1) for base in several}
        names: dict[str, None] = {}
        for base in bases:
            numbered = (f"{base}-{number:0{width}}" for number in numbers[base])
            free = (name for name in chain([base] if several[base] == 1 else (), numbered) if name not in names)
            names[next(free)] = None
        return list(names)

    def _base(self, number: int, stem: str) -> str:
        note = self._notes[number]
        return "/".join((note.facts.api or "", slug(self._provider(note.found)), slug(note.found.name or stem)))

    def _provider(self, found: Found) -> str:
        return self._told.provider or found.provider or pairing.provider_of(found.exchange.request)

    def _made(self, name: str, first: int, twin: int | None) -> Made:
        note = self._notes[first]
        found, facts = note.found, note.facts
        lost = tuple(dict.fromkeys((*found.lost, *(self._notes[twin].found.lost if twin is not None else ()))))
        side, other = self._spool[first], self._spool[twin] if twin is not None else None
        case = Cassette(
            id=name,
            dialect=facts.api or "",
            provider=self._provider(found),
            model=_writable(self._told.model or found.model or pairing.model_of(found.exchange.request)),
            scenario=name.rpartition("/")[2],
            stream=side if facts.stream else None,
            reference=other if facts.stream else side,
            pair_kind="exact" if twin is not None else None,
            provenance=Provenance(kind=found.kind, on=found.on, by=found.by, note=_said(self.form, lost)),
        )
        return Made(cassette=case, lost=lost)


def slug(text: str) -> str:
    """A text as part of a name of a file."""
    return _NOT_IN_NAMES.sub("-", text.lower())[:_LONGEST_NAME].strip("-.") or "unnamed"


def check_free(paths: list[Path], *, force: bool = False, written: Container[Path] = ()) -> None:
    """Whether nothing would be written over but what is there already, and that only if it is to be forced; what was just
    `written` never. Raises `InputError`."""
    twice = [path for path, times in Counter(paths).items() if times > 1]
    if twice:
        raise InputError("two cassettes would be written there", where=str(twice[0]), hint="import them one by one")
    taken = [path for path in paths if path in written or (path.exists() and not force)]
    if taken:
        more = f" (and {len(taken) - 1} more)" if len(taken) > 1 else ""
        raise InputError(
            f"is there already{more}", where=str(taken[0]), hint="--force writes over it, --to takes another folder"
        )


def _is_ours(path: Path) -> bool:
    """Whether a file is a cassette with our metadata, which stand at its end or at its beginning."""
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        return False
    try:
        with path.open("rb") as file:
            head = file.read(1 << 16)
            file.seek(max(0, file.seek(0, 2) - (1 << 20)))
            return bool(_OWN.search(file.read()) or _OWN.search(head)) and b"interactions" in head
    except OSError:
        return False


def _facts(found: Found, told: Told, number: int) -> pairing.Facts:
    """The API is the one told, or that of the request, or, where the path is a gateway's own, that of the answer."""
    exchange = found.exchange
    by_request = pairing.facts(exchange, number)
    name = told.dialect or found.dialect
    if name is not None:
        api = dialects.dialect(name)
    elif by_request.api is not None or not _may_be_turn(exchange):
        return by_request
    elif (answered := detect(exchange.body)) is not None:
        api = answered
    else:
        return by_request
    if by_request.api == api.name:
        return by_request
    streams = exchange.status < 400 and not is_document(exchange)
    return replace(by_request, api=api.name, stream=streams)


def _may_be_turn(exchange: Exchange) -> bool:
    media = exchange.content_type or ""
    return exchange.request.method == "POST" and bool(exchange.body) and any(word in media for word in _TELLING)


def _asked(found: Found) -> bytes | None:
    """What of a request's body says which model was asked."""
    model = pairing.model_of(found.exchange.request)
    return json.dumps({"model": model}).encode() if model else None


def _writable(text: str | None) -> str | None:
    """A text as a file can hold it: without halves of characters."""
    return text.encode("utf-8", "replace").decode() if text else None


def _date(said: str | None) -> str | None:
    """A date as it stands in a cassette; None for what is none."""
    try:
        return date.fromisoformat(said).isoformat() if said else None
    except ValueError:
        return None


def _said(form: str, lost: tuple[str, ...]) -> str:
    return f"imported ({form})" + (f"; not kept: {', '.join(lost)}" if lost else "")
