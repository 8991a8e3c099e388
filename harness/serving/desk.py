"""What a request gets: bytes in, an exchange to be played out. Here is no network and no clock.

A request is for the turn of a cassette, for something beside it (`auxiliary`), for the server's own pages (`/-/…`), or it is a
miss, which is answered with what is nearest.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, parse_qsl

from harness import dialects
from harness.cassette.model import Cassette, Chunk, Exchange, Headers, Request
from harness.errors import InputError
from harness.replay.faults.catalogue import called
from harness.replay.faults.named import Called, staged
from harness.replay.faults.primitives import FaultError
from harness.serving.address import Address, parse
from harness.serving.auxiliary import auxiliary, json_exchange
from harness.serving.entry import Entry, Log
from harness.serving.library import Library, Near, Recording

_COUNTED = 10_000  # addresses whose requests are counted
_MOST_FAULTS = 8  # in a row
_OURS = "x-streamproof"
_Key = tuple[str | None, str | None, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Answer:
    """An exchange to be played. `timed`: its times are to be kept even by a server that does not wait."""

    exchange: Exchange
    timed: bool = False


class _Miss(Exception):
    """There is no answer; `hint` says what to do, `more` what is near."""

    def __init__(self, note: str, hint: str, **more: Any) -> None:
        super().__init__(note)
        self.note = note
        self.hint = hint
        self.more = more


class Desk:
    """Answers requests, and remembers nothing of them but how many there were at each address."""

    def __init__(self, library: Library, log: Log) -> None:
        self._library = library
        self._log = log
        self._counts: OrderedDict[_Key, int] = OrderedDict()

    def answer(self, request: Request, entry: Entry) -> Answer:
        """What a request gets; the entry is told of it."""
        address = parse(request.target, self._library.__contains__, self._library.deepest)
        entry.session, entry.cassette, entry.faults = address.session, address.cassette, address.faults
        try:
            return self._answered(request, address, entry)
        except _Miss as miss:
            entry.side, entry.note = "miss", miss.note
            return Answer(_missed(miss))

    def forget(self, session: str) -> None:
        """Count the requests of a session from 0 again."""
        for key in [key for key in self._counts if key[0] == session]:
            del self._counts[key]

    def _answered(self, request: Request, address: Address, entry: Entry) -> Answer:
        if address.lost is not None:
            near = self._library.close(address.lost)
            raise _Miss(f"no cassette is called {address.lost}", "`streamproof cassettes` lists the ids", nearest=near)
        if address.rest.startswith("/-/"):
            entry.side = "auxiliary"
            return Answer(self._own(address.rest))
        asked = replace(request, target=address.rest)
        found = self._of_cassette(address.cassette, asked) if address.cassette is not None else self._library.find(asked)
        if found is None:
            return self._beside(asked, address, entry)
        entry.cassette, entry.side = found.cassette.id, "stream" if found.streamed else "plain"
        entry.note = _other_query(asked, found.exchange.request)
        return self._with_faults(found, address)

    def _of_cassette(self, name: str, asked: Request) -> Recording | None:
        """The side of a cassette that is asked for; None if no turn is asked for at all."""
        case = self._library.get(name)
        if case is None:
            return None
        api = dialects.dialect(case.dialect)
        if not api.matches(asked.method, asked.target, asked.json):
            return None
        streamed = api.streams(asked.target, asked.json)
        exchange, other = (case.stream, case.reference) if streamed else (case.reference, case.stream)
        if exchange is None and other is not None and other.status >= 400:  # a refusal answers whatever was asked
            return Recording(cassette=case, exchange=other, streamed=not streamed)
        if exchange is None:
            lacking = "no stream" if streamed else "no plain twin"
            raise _Miss(f"{lacking}: {name} holds the other one only", "ask for that, or choose another cassette")
        return Recording(cassette=case, exchange=exchange, streamed=streamed)

    def _beside(self, asked: Request, address: Address, entry: Entry) -> Answer:
        """The answer to a request for no recorded turn."""
        case = self._library.get(address.cassette) if address.cassette is not None else None
        models = [case.model] if case is not None and case.model else self._library.models()
        found = auxiliary(asked, asked.target, models)
        if found is not None:
            entry.side = "auxiliary"
            return Answer(found)
        if case is not None:
            raise _foreign(asked, case)
        raise _unrecorded(asked, self._library.nearest(asked))

    def _with_faults(self, found: Recording, address: Address) -> Answer:
        if len(address.faults) > _MOST_FAULTS:
            raise _Miss(f"{len(address.faults)} faults in a row", f"{_MOST_FAULTS} are possible")
        faults = [_fault(text) for text in address.faults]
        attempt = self._count(address.key)
        api = dialects.dialect(found.cassette.dialect)
        try:
            exchange = staged(found.exchange, api, faults, attempt, streamed=found.streamed)
        except FaultError as error:
            raise _Miss(f"the fault cannot be: {error.message}", error.hint or "choose another cassette") from error
        return Answer(exchange, any(fault.fault.timed for fault in faults))

    def _count(self, key: _Key) -> int:
        count = self._counts.pop(key, 0)
        self._counts[key] = count + 1
        if len(self._counts) > _COUNTED:
            self._counts.popitem(last=False)
        return count

    def _own(self, rest: str) -> Exchange:
        """The server's own pages."""
        path, _, query = rest.partition("?")
        if path == "/-/log":
            session = parse_qs(query).get("session", [None])[0]
            return _lines(entry.as_dict() for entry in self._log.entries(session))
        if path == "/-/cassettes":
            return _lines({"id": case.id, "dialect": case.dialect, "model": case.model} for case in self._library)
        if path == "/-/health":
            return json_exchange(200, {"cassettes": len(self._library)})
        raise _Miss(f"there is no {path}", "there are /-/log, /-/cassettes and /-/health")


def _other_query(asked: Request, recorded: Request) -> str:
    """What is to be said where a recording was asked for otherwise: an API may answer in another form then."""
    one, other = (sorted(parse_qsl(request.target.partition("?")[2])) for request in (asked, recorded))
    harmless = one == other or not recorded.target
    return "" if harmless else f"recorded with the query {recorded.target.partition('?')[2] or '(none)'}"


def _fault(text: str) -> Called:
    try:
        return called(text)
    except InputError as error:
        raise _Miss(error.message, error.hint or "") from error


def _foreign(asked: Request, case: Cassette) -> _Miss:
    said = f"{case.id} speaks {case.dialect}, which {asked.method} {asked.target.partition('?')[0]} is not"
    recorded = (case.stream or case.reference or Exchange()).request
    return _Miss(said, f"it was recorded for {recorded.method} {recorded.target.partition('?')[0]}")


def _unrecorded(asked: Request, near: Near | None) -> _Miss:
    note = f"no recording answers {asked.method} {asked.target.partition('?')[0]}"
    hint = "put /c/<cassette id> before the path to get that cassette whatever is asked"
    if near is None:
        return _Miss(note, hint)
    told = [{"at": place, "asked": one, "recorded": other} for place, one, other in near.differences]
    return _Miss(note, hint, nearest=[near.recording.cassette.id], differences=told)


def _missed(miss: _Miss) -> Exchange:
    error = {"type": "streamproof_miss", "message": miss.note, "hint": miss.hint, **miss.more}
    exchange = json_exchange(404, {"error": error})
    return replace(exchange, headers=Headers([*exchange.headers.fields, (_OURS, "miss")]))


def _lines(rows: Iterable[dict[str, Any]]) -> Exchange:
    data = "".join(f"{json.dumps(row, ensure_ascii=False, default=str)}\n" for row in rows).encode("utf-8", "surrogatepass")
    fields = [("content-type", "application/x-ndjson"), ("content-length", str(len(data)))]
    return Exchange(status=200, headers=Headers(fields), chunks=(Chunk(data=data),))
