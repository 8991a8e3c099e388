"""The body of one response, piece by piece, as artifacts: decoding, framing, the collector, and how the turn ended.

No input or output here: pieces go in, artifacts come out, and `close` says whether the turn is one. An answer that is one
JSON document, asked for or not, is a turn as well; it has no fragments (semantics.md G4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.api_error import ApiError, ErrorKind, api_error, cut_short
from harness.cassette.decoding import Decoder
from harness.cassette.model import Chunk, Exchange
from harness.collector import StreamCollector
from harness.dialects import Dialect
from harness.edits import Edit
from harness.findings import CUT
from harness.framing import Frame, Framer, framer, framing_of
from harness.loop.artifacts import Artifact, ArtifactKind, Finish, Settled, Side
from harness.loop.deltas import Deltas
from harness.loop.wire import WireError
from harness.response import FinishReason, Response

_BROKEN = {*CUT, "framing/bad-crc"}

Watch = Callable[[Frame | None, Sequence[Edit]], None]
"""Is shown each frame with its edits, before anything of them is emitted; and at last the edits that no frame caused."""


class ProviderFailure(Exception):
    """The turn failed: `error` says how, `response` is what had come of it by then (None: nothing)."""

    def __init__(self, error: ApiError, response: Response | None = None) -> None:
        super().__init__(f"{error.kind.value}: {error.message}")
        self.error = error
        self.response = response


class Incoming:
    """One response body. `request` is the JSON body that asked for it, `streams` whether it asked for a stream, `watch` is
    shown what passes."""

    def __init__(
        self, dialect: Dialect, request: Any, streams: bool, headers: Mapping[str, str], watch: Watch | None = None
    ) -> None:
        self._dialect = dialect
        self._headers = headers
        self._watch = watch
        self._decoder = Decoder(headers.get("content-encoding"))
        self._collector = StreamCollector(dialect, request)
        self._deltas = Deltas(dialect)
        self._framer: Framer | None = None
        self._held: list[Chunk] = []
        self._document = not streams  # as far as one can tell yet
        self._begun = False
        self._at = 0.0

    def feed(self, chunk: Chunk) -> list[Artifact]:
        """The next piece; returns what can be shown of it."""
        self._at = chunk.at
        return [a for data in self._decoder.feed(chunk.data) for a in self._take(Chunk(data=data, at=chunk.at))]

    def close(self, broken: WireError | None = None) -> Iterator[Artifact]:
        """The body is over, or the connection broke. Yields the last artifacts, the whole turn among them. Raises
        `ProviderFailure` once what came before the failure is yielded."""
        for data in self._decoder.close():
            yield from self._take(Chunk(data=data, at=self._at))
        if self._framer is None:
            body = Exchange(chunks=tuple(self._held)).json
            if self._document and isinstance(body, dict):
                yield from self._settled(self._read(body))
                return
            yield from self._framed()
        if self._framer is not None:
            yield from self._added(self._framer.close(self._at))
        yield from self._settled(self._collected(broken))

    # taking pieces in

    def _take(self, chunk: Chunk) -> Iterable[Artifact]:
        if self._framer is None:
            self._held.append(chunk)
            return self._decided(chunk) if not self._begun else ()
        return self._added(self._framer.feed(chunk.data, chunk.at))

    def _added(self, frames: list[Frame]) -> list[Artifact]:
        if self._watch is None:
            self._collector.extend(frames, self._deltas)
        else:
            for frame in frames:
                edits = self._collector.add(frame)
                self._watch(frame, edits)
                self._deltas.edits(edits)
        return self._deltas.taken()

    def _decided(self, chunk: Chunk) -> Iterable[Artifact]:
        """What the body is can be told by its first byte that is no white space: a stream that begins with a brace is lines
        of JSON, or no stream at all."""
        head = chunk.data.lstrip()
        if not head:
            return ()
        self._begun = True
        if framing_of(self._dialect.framings, head) != "ndjson" and head[:1] == b"{":
            self._document = True
        return () if self._document else self._framed()

    def _framed(self) -> list[Artifact]:
        """The body is a stream after all: frames, beginning with what was held back."""
        held, self._held = self._held, []
        head = next((data for chunk in held if (data := chunk.data.lstrip())), b"")
        self._framer = framer(framing_of(self._dialect.framings, head))
        return [artifact for chunk in held for artifact in self._take(chunk)]

    # how it ended

    def _read(self, body: dict[str, Any]) -> Response:
        """A turn that came whole, unless it is an error under status 200."""
        response = self._dialect.read(body)
        if body.get("error"):
            error = self._dialect.read_error(200, self._headers, body)
            raise ProviderFailure(replace(error, status=None), response)
        return response

    def _collected(self, broken: WireError | None) -> Response:
        """The turn that the frames make, unless one of them says that it failed, or it never came to its end."""
        collected = self._collector.close()
        if self._watch is not None:
            self._watch(None, self._collector.last)
        error = collected.error
        found = [*collected.notes, *(self._framer.findings if self._framer is not None else ())]
        if error is None and not collected.complete and any(f.kind in _BROKEN for f in found):
            error = cut_short(collected.missing, timed_out=broken is not None and broken.kind == "timeout")
            why = [finding.message for finding in self._decoder.findings] + ([broken.message] if broken is not None else [])
            if why:
                error = replace(error, message=f"{error.message} ({'; '.join(why)})")
        if error is not None:
            raise ProviderFailure(error, collected.response if collected.body else None)
        return collected.response

    def _settled(self, response: Response) -> list[Artifact]:
        error = failure(self._dialect, response, self._headers)
        if error is not None:
            raise ProviderFailure(error, response)
        last: list[Artifact] = [Settled(parts=response.parts, response=response)]
        if response.usage is not None:
            last.append(Side(kind=ArtifactKind.USAGE, value=response.usage))
        finish = Finish(reason=response.finish_reason, raw=response.raw_finish_reason)
        if finish.said:
            last.append(Side(kind=ArtifactKind.FINISH, value=finish))
        return last


def failure(dialect: Dialect, response: Response, headers: Mapping[str, str]) -> ApiError | None:
    """The error that a whole response is whose finish reason says that there is no turn in it (semantics.md D14)."""
    reason = response.raw_finish_reason
    if response.finish_reason is FinishReason.ERROR:
        return api_error(f"the finish reason {reason!r} says that the model broke off", code=reason)
    if response.finish_reason is FinishReason.CONTENT_FILTER and reason is None and not response.parts:
        error = dialect.read_error(200, headers, response.raw)
        blocked = error.kind is ErrorKind.CONTENT_FILTER
        return error if blocked else ApiError(kind=ErrorKind.CONTENT_FILTER, message="the prompt was blocked")
    return None
