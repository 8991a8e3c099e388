"""What a recording gathers: each exchange as bytes, with the time at which each piece passed.

Pieces are kept as the client got them, so that a fault at the border of two can be played again (BR-062). The clock is read
when a piece has come, before the client sees it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime

from harness import dialects
from harness.cassette import pairing
from harness.cassette.model import Cassette, Chunk, Ending, Exchange, Headers, Provenance, Request
from harness.errors import CassetteError
from harness.redacting import redacted
from harness.redacting.exchanges import credentials


class Take:
    """One exchange while it passes. Without a head no response came; with no end it was left, which counts as a reset."""

    def __init__(self, request: Request, clock: Callable[[], float]) -> None:
        self._request = request
        self._clock = clock
        self._start = clock()
        self._status = 0
        self._headers = Headers()
        self._chunks: list[Chunk | tuple[float, bytes]] = []
        self._ending: Ending | None = None

    @property
    def over(self) -> bool:
        return self._ending is not None

    def head(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """The response began."""
        self._status = status
        self._headers = Headers(list(headers))

    def chunk(self, data: bytes, at: float | None = None) -> None:
        """A piece of the body came, `at` seconds after the request where that is known better than by the clock."""
        if data:
            self._chunks.append((self._clock(), data) if at is None else Chunk(data=data, at=at))

    def taps(self) -> tuple[Callable[[tuple[float, bytes]], None], Callable[[], float]]:
        """For whoever has a piece every few microseconds: what takes a piece with the time of the clock, and the clock."""
        return self._chunks.append, self._clock

    def end(self, ending: Ending) -> None:
        """The exchange is over; only the first end counts."""
        self._ending = self._ending or ending

    def exchange(self) -> Exchange:
        """What has passed so far, with all it holds."""
        return Exchange(
            request=self._request,
            status=self._status,
            headers=self._headers,
            chunks=tuple(self._pieces()),
            ending=self._ending or "reset",
        )

    def _pieces(self) -> Iterator[Chunk]:
        for piece in self._chunks:
            if isinstance(piece, Chunk):
                yield piece
            elif piece[1]:
                yield Chunk(data=piece[1], at=round(piece[0] - self._start, 6))


class Recorder:
    """The exchanges of one or several transports in the order of their requests.

    `by` says in cassettes who recorded. `secrets` are left out of what is given out, whatever they look like, as are those that
    can be told by their looks or names (`redacting`). `clock` counts seconds, `today` is the date of the recording.
    """

    def __init__(
        self,
        *,
        by: str | None = None,
        secrets: Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._by = by
        self._secrets = tuple(secrets)
        self._clock = clock
        self._today = today
        self._takes: list[Take] = []

    def take(self, request: Request) -> Take:
        """A request is sent."""
        take = Take(request, self._clock)
        self._takes.append(take)
        return take

    @property
    def open(self) -> int:
        """How many exchanges are not over yet."""
        return sum(not take.over for take in self._takes)

    @property
    def taken(self) -> list[Exchange]:
        """The same as `exchanges`, with all secrets: nothing to be written down."""
        return [take.exchange() for take in self._takes]

    @property
    def exchanges(self) -> list[Exchange]:
        """What was recorded, without secrets; of those that still go on what has passed so far."""
        recorded = self.taken
        known = (*self._secrets, *dict.fromkeys(found for exchange in recorded for found in credentials(exchange.request)))
        return [redacted(exchange, known) for exchange in recorded]

    def cassettes(self, name: str, *, dialect: str | None = None, provider: str | None = None) -> list[Cassette]:
        """The turns that were recorded, streams with their twins; retries and other turns are cassettes of their own.

        The API is found by the request unless `dialect` says it. `name` is the id of a single cassette; several have
        `name#number`. Raises `CassetteError` if no request was to a known API, and `UnsupportedDialectError`.
        """
        found = pairing.paired(self.exchanges, name)
        if not found:
            hint = f"known are {', '.join(dialects.names())}"
            raise CassetteError("nothing was recorded that is of a known API", where=name, hint=hint)
        told = dialects.dialect(dialect).name if dialect is not None else None
        origin = Provenance(kind="recorded", on=self._today().isoformat(), by=self._by)
        return [
            replace(case, dialect=told or case.dialect, provider=provider or case.provider, provenance=origin) for case in found
        ]
