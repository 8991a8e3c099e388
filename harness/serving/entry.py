"""The log: of every exchange what was asked, what was sent of it, how far that came, and who ended it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from harness.cassette.model import Request
from harness.redacting import redacted_request

Side = Literal["stream", "plain", "auxiliary", "miss"]
Ended = Literal["eof", "reset", "stall", "client left", "server stopped", "failed"]
KEPT = 10_000  # entries
MOST = 128 * 1024 * 1024  # bytes that they hold together, about: of requests, and of lists of sizes
_SHOWN = 65_536  # bytes of a request that are written down


@dataclass(slots=True, kw_only=True)
class Entry:
    """One exchange. It is filled in while the exchange runs; `ended` is None for so long.

    `of` is how many pieces there were to be sent, `chunks` how many were, `sizes` their bytes. An exchange whose end was
    recorded as a reset or a stall ends as `reset` or `stall` once all was sent; one that the client left earlier does not.
    """

    number: int
    request: Request
    protocol: str
    at: float
    session: str | None = None
    cassette: str | None = None
    faults: tuple[str, ...] = ()
    side: Side | None = None
    status: int = 0
    chunks: int = 0
    of: int = 0
    bytes: int = 0
    sizes: list[int] = field(default_factory=list)
    seconds: float = 0.0
    ended: Ended | None = None
    note: str = ""

    @property
    def weight(self) -> int:
        """About how many bytes it holds on to."""
        return len(self.request.body or b"") + 8 * len(self.sizes) + 2000

    def as_dict(self) -> dict[str, Any]:
        """As the log has it: the secrets of the request are covered."""
        size = len(self.request.body or b"")
        asked = redacted_request(self.request if size <= _SHOWN else replace(self.request, body=None))
        return {
            "number": self.number,
            "at": datetime.fromtimestamp(self.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "protocol": self.protocol,
            "session": self.session,
            "method": asked.method,
            "target": asked.target,
            "user_agent": asked.headers.get("user-agent"),
            "request": asked.json,
            "request_bytes": size,
            "request_sha256": sha256(self.request.body or b"").hexdigest(),
            "cassette": self.cassette,
            "faults": list(self.faults),
            "side": self.side,
            "status": self.status,
            "chunks": self.chunks,
            "of": self.of,
            "bytes": self.bytes,
            "sizes": list(self.sizes),
            "seconds": round(self.seconds, 6),
            "ended": self.ended,
            "note": self.note,
        }


class Log:
    """The latest entries, as many as there is room for; threads may read what the server's writes."""

    def __init__(self, told: Callable[[Entry], None] | None = None, most: int = MOST) -> None:
        self._entries: deque[Entry] = deque()
        self._weights: dict[int, int] = {}
        self._held = 0
        self._most = most
        self._lock = threading.Lock()
        self._told = told
        self._count = 0

    def begin(self, request: Request, protocol: str, at: float) -> Entry:
        with self._lock:
            entry = Entry(number=self._count, request=request, protocol=protocol, at=at)
            self._count += 1
            self._entries.append(entry)
            self._weigh(entry)
        return entry

    def over(self, entry: Entry) -> None:
        """The exchange has ended."""
        with self._lock:
            if entry.number in self._weights:
                self._weigh(entry)
        if self._told is not None:
            self._told(entry)

    def entries(self, session: str | None = None) -> list[Entry]:
        with self._lock:
            return [entry for entry in self._entries if session is None or entry.session == session]

    def forget(self, session: str) -> None:
        with self._lock:
            kept = [entry for entry in self._entries if entry.session != session]
            self._entries = deque(kept)
            self._weights = {entry.number: self._weights[entry.number] for entry in kept}
            self._held = sum(self._weights.values())

    def _weigh(self, entry: Entry) -> None:
        """Take note of what an entry holds; the oldest ones go where there is no room. The latest one stays."""
        self._held += entry.weight - self._weights.get(entry.number, 0)
        self._weights[entry.number] = entry.weight
        while len(self._entries) > 1 and (self._held > self._most or len(self._entries) > KEPT):
            self._held -= self._weights.pop(self._entries.popleft().number)
