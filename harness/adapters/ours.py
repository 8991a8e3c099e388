"""Our own pipeline as a system under test: frames, edits and collector over a recorded exchange, and the loop around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from harness import dialects, payload
from harness.adapters.observation import Observation, Watch
from harness.api_error import cut_short
from harness.cassette.decoding import DecodedBody
from harness.cassette.model import Exchange
from harness.collector import Collected, StreamCollector
from harness.dialects import Dialect
from harness.errors import Where
from harness.findings import CUT, LOST, Finding, Level
from harness.framing import blocks, framer
from harness.framing import framing_of as choose
from harness.loop.incoming import failure

if TYPE_CHECKING:
    from harness.adapters.scenario import Played
    from harness.inputs import Client

MEDIA_TYPES = {
    "sse": ("text/event-stream",),
    "ndjson": ("application/x-ndjson", "application/json"),  # Ollama Cloud says application/json
    "json-array": ("application/json",),
    "event-stream": ("application/vnd.amazon.eventstream",),
}


class Ours:
    """The adapter `ours`. `loop` says whether the loop is to tell of each exchange as well."""

    name = "ours"

    def __init__(self, *, loop: bool = False) -> None:
        self._loop = loop

    @property
    def version(self) -> str:
        try:
            return version("streamproof")
        except PackageNotFoundError:  # run from a checkout that was never installed
            return "0+unknown"

    def observe(self, exchange: Exchange, dialect: str | Dialect, watch: Watch | None = None) -> Observation:
        """What our pipeline makes of an exchange, streamed or not; `watch` may look on where it is a stream. Raises
        `UnsupportedDialectError`, and nothing else."""
        api = dialects.dialect(dialect) if isinstance(dialect, str) else dialect
        seen = self._collected(exchange, api, watch)
        if not self._loop:
            return seen
        from harness.adapters.recorded import events_of

        return replace(seen, events=events_of(exchange, api))

    def play(self, exchanges: Sequence[Exchange], dialect: str | Dialect, client: Client) -> Played:
        """What our loop does as this client, whose requests these exchanges answer one after the other."""
        from harness.adapters import scenario

        return scenario.play(exchanges, dialects.dialect(dialect) if isinstance(dialect, str) else dialect, client)

    def _collected(self, exchange: Exchange, api: Dialect, watch: Watch | None) -> Observation:
        body = DecodedBody(exchange)
        exchange = replace(exchange, chunks=tuple(body))
        if exchange.status >= 400:
            return self._refused(exchange, api, body.findings)
        if exchange.status and not api.streams(exchange.request.target, exchange.request.json) and _is_document(exchange):
            return self._document(exchange, api, body.findings)
        return self._streamed(exchange, api, body.findings, watch)

    def _refused(self, exchange: Exchange, api: Dialect, findings: list[Finding]) -> Observation:
        """An answer with an error status is an error, whatever its body."""
        body = exchange.json if exchange.json is not None else exchange.body.decode(errors="replace")
        error = api.read_error(exchange.status, exchange.headers, body)
        finding = Finding(kind="error/http", message=f"HTTP {exchange.status}: {error.message}", where=Where())
        return Observation(adapter=self.name, error=error, findings=tuple(f.ruled(api.name) for f in [*findings, finding]))

    def _document(self, exchange: Exchange, api: Dialect, findings: list[Finding]) -> Observation:
        """One JSON document: the whole turn at once, or a failure under status 200."""
        body = exchange.json
        response = api.read(body)
        in_body = isinstance(body, dict) and bool(body.get("error"))
        error = api.read_error(exchange.status, exchange.headers, body) if in_body else failure(api, response, exchange.headers)
        if error is not None:
            findings = [*findings, Finding(kind="error/in-band", message=f"an error under status 200: {error.message}")]
        return Observation(
            adapter=self.name,
            response=None if in_body else response,
            body=body,
            error=error,
            complete=error is None,
            findings=tuple(f.ruled(api.name) for f in findings),
        )

    def _streamed(self, exchange: Exchange, api: Dialect, findings: list[Finding], watch: Watch | None = None) -> Observation:
        head = next((data for chunk in exchange.chunks if (data := chunk.data.lstrip())), b"")
        framing = framing_of(api, head)
        findings = [*findings, *_content_type(exchange, framing)]
        if framing != "ndjson" and head[:1] == b"{" and _is_document(exchange):
            if not any(f.kind == "http/content-type" for f in findings):
                message = "the body is one JSON document, where a stream was asked for"
                findings.append(Finding(kind="http/content-type", message=message))
            return self._document(exchange, api, findings)
        frames = framer(framing)
        collector = StreamCollector(api, exchange.request.json, watch.payload if watch is not None else None)
        for chunk in exchange.chunks:
            for block in blocks(chunk.data):
                complete = frames.feed(block, chunk.at)
                if watch is not None:
                    watch.piece(block)
                    watch.frames(complete)
                collector.extend(complete)
        last = frames.close(exchange.chunks[-1].at if exchange.chunks else 0.0)
        if watch is not None:
            watch.frames(last)
        collector.extend(last)
        return self._observation(exchange, api, collector.close(), [*findings, *frames.findings])

    def _observation(self, exchange: Exchange, api: Dialect, collected: Collected, findings: list[Finding]) -> Observation:
        error = collected.error
        findings += collected.notes
        if error is not None:
            findings.append(Finding(kind="error/in-band", message=f"the turn failed in band: {error.message}"))
        if api.flushes_at_eof:
            findings = [replace(f, graded=Level.SHOULD) if f.kind == "framing/unterminated-event" else f for f in findings]
        if exchange.ending != "eof":
            kind, says = ("stream/reset", "was reset") if exchange.ending == "reset" else ("stream/stalled", "timed out")
            findings.append(Finding(kind=kind, message=f"the recording ends because the connection {says}"))
            findings = [replace(f, graded=Level.INFO) if f.kind in LOST else f for f in findings]
        if error is None and not collected.complete and any(f.kind in CUT or f.kind == "framing/bad-crc" for f in findings):
            error = cut_short(collected.missing, timed_out=exchange.ending == "timeout")
        empty = not collected.body
        return Observation(
            adapter=self.name,
            response=None if empty else collected.response,
            body=collected.body,
            error=error,
            complete=collected.complete,
            findings=tuple(f.ruled(api.name) for f in sorted(findings, key=_place)),
            unknown=collected.unknown,
            disagreements=collected.disagreements,
            frames=collected.frames,
        )


def framing_of(api: Dialect, head: bytes) -> str:
    """How a body that begins with `head` is framed: the dialect's usual way, or by its first byte where it has two."""
    return choose(api.framings, head)


def _is_document(exchange: Exchange) -> bool:
    """Whether the body is one JSON object. One that begins otherwise, perhaps after a mark of its encoding, is not parsed."""
    body = exchange.body
    head = (body.lstrip() if body[:1].isspace() else body)[:4]
    return b"{" in head and not payload.is_several(body) and isinstance(exchange.json, dict)


def _content_type(exchange: Exchange, framing: str) -> Iterable[Finding]:
    """The media type must be that of the framing; a header that was not recorded says nothing (rule HTTP-001)."""
    media = exchange.content_type
    if media is None or media in MEDIA_TYPES[framing] or exchange.status == 0:
        return
    message = f"status {exchange.status} with {media}, where {MEDIA_TYPES[framing][0]} is due"
    if framing != "json-array" and not media.endswith("json"):
        message += f"; the body begins {payload.quote(exchange.body, 80)}"
    yield Finding(kind="http/content-type", message=message, expected=MEDIA_TYPES[framing][0], got=media)


def _place(finding: Finding) -> tuple[Any, ...]:
    end = 1 << 62
    span = finding.where.span or (end, end)
    return (span, finding.where.frame if finding.where.frame is not None else end)
