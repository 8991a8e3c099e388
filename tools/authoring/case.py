"""Bytes into cassettes: requests, answers, and where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from authoring.wire import Cut, arriving, compact
from harness.cassette import Cassette, Chunk, Exchange, Headers, Provenance, Request
from harness.cassette.model import Ending

DATE = "Tue, 01 Dec 2026 09:30:00 GMT"
MASKED = "***"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One API of one provider: what all its cassettes have in common."""

    dialect: str
    provider: str
    host: str
    scheme: str = "https"
    asking: tuple[tuple[str, str], ...] = ()
    """Header fields of requests, beside the content type."""
    answering: tuple[tuple[str, str], ...] = ()
    """Header fields of answers, beside the content type and what HTTP itself needs."""
    source: str = ""

    def case(self, scenario: str, model: str, stream: Exchange, reference: Exchange | None = None) -> Cassette:
        return Cassette(
            id=f"{self.dialect}/{self.provider}/{scenario}",
            dialect=self.dialect,
            provider=self.provider,
            model=model,
            scenario=scenario,
            stream=stream,
            reference=reference,
            match="exact",
            provenance=Provenance(kind="authored", on="2026-12-01", by="tools/authored_cassettes.py", note=self.source),
        )

    def request(self, target: str, body: Any) -> Request:
        fields = [("content-type", "application/json"), *self.asking]
        host = self.host
        return Request(scheme=self.scheme, host=host, target=target, headers=Headers(fields), body=compact(body).encode())

    def streamed(
        self,
        request: Request,
        content_type: str,
        events: Sequence[bytes],
        *,
        cut: Cut = "each",
        ending: Ending = "eof",
        more: Sequence[tuple[str, str]] = (),
    ) -> Exchange:
        fields = [("content-type", content_type), ("transfer-encoding", "chunked"), ("date", DATE), *self.answering, *more]
        return Exchange(request=request, headers=Headers(fields), chunks=arriving(events, cut), ending=ending)

    def plain(
        self,
        request: Request,
        content_type: str,
        body: str,
        *,
        status: int = 200,
        more: Sequence[tuple[str, str]] = (),
    ) -> Exchange:
        """An answer in one piece, be it a turn or a refusal."""
        data = body.encode()
        length = ("content-length", str(len(data)))
        fields = [("content-type", content_type), length, ("date", DATE), *self.answering, *more]
        return Exchange(request=request, status=status, headers=Headers(fields), chunks=(Chunk(data=data, at=0.731),))
