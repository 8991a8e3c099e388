"""Exchanges put aside while a file is read, so that a stream finds its twin however far away that is: in memory as long as they
are few, in a file without a name after that."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from harness.cassette.metadata import cut
from harness.cassette.model import Exchange, Headers, Request

_IN_MEMORY = 8 << 20
_LENGTHS = struct.Struct("!QQQ")  # of the head, the request's body, the response's body


class Spool(AbstractContextManager["Spool"]):
    """Exchanges by their numbers."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  # closed below
        self._places: list[int] = []

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, exchange: Exchange) -> None:
        request = exchange.request
        asked = [request.method, request.scheme, request.host, request.target, request.headers.fields, request.body is None]
        answered = [exchange.status, exchange.headers.fields, _marks(exchange), exchange.ending, exchange.wire]
        head = json.dumps([asked, answered]).encode()
        body = request.body or b""
        self._places.append(self._file.seek(0, 2))
        self._file.write(_LENGTHS.pack(len(head), len(body), len(exchange.body)))
        for data in (head, body, exchange.body):
            self._file.write(data)

    def __getitem__(self, number: int) -> Exchange:
        self._file.seek(self._places[number])
        lengths = _LENGTHS.unpack(self._file.read(_LENGTHS.size))
        head, asked, answered = (self._file.read(length) for length in lengths)
        request, response = json.loads(head)
        status, fields, marks, ending, wire = response
        return Exchange(
            request=_request(request, asked),
            status=status,
            headers=_headers(fields),
            chunks=cut(answered, marks) if marks else (),
            ending=ending,
            wire=wire,
        )


def _request(values: Sequence[Any], body: bytes) -> Request:
    method, scheme, host, target, fields, has_none = values
    return Request(
        method=method,
        scheme=scheme,
        host=host,
        target=target,
        headers=_headers(fields),
        body=None if has_none else body,
    )


def _headers(fields: Sequence[Sequence[str]]) -> Headers:
    return Headers([(name, value) for name, value in fields])


def _marks(exchange: Exchange) -> list[tuple[float, int]]:
    marks, end = [], 0
    for chunk in exchange.chunks:
        end += len(chunk.data)
        marks.append((chunk.at, end))
    return marks
