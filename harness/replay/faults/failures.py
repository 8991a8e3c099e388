"""Faults that make the turn fail: cuts, resets, stalls, damage, errors in the stream and before it. Whoever reads must say so,
and retry where that is promised."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import Any

from harness.cassette.model import Chunk, Ending, Exchange, Headers
from harness.dialects import Dialect
from harness.replay.faults import errors
from harness.replay.faults.making import Framed, end_of_turn, ended, framed, middle, number, reel_of, unanswered
from harness.replay.faults.named import Change, Effect, NamedFault
from harness.replay.faults.primitives import FaultError
from harness.replay.reel import Reel

_PAGE = b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n"
_STATUSES = {
    400: "The request is refused as wrong",
    401: "The key is refused",
    403: "The key does not allow this",
    404: "There is no such model",
    429: "Too many requests",
    500: "The server failed",
    503: "The service is not available",
    504: "The server took too long",
    529: "The service is overloaded",
}
_PASSING = (429, 500, 503, 529)
"""Statuses after which clients try again."""
_WITH_HINT = (429, 503)
"""Those that say when."""


def _truncated(reel: Reel, argument: str) -> None:
    del reel.pieces[middle(reel, argument) :]


def _end(reel: Reel) -> int:
    end = end_of_turn(reel)
    if end == len(reel.pieces):
        raise FaultError("the turn never ends")
    return end


def _before_the_end(reel: Reel, _: str) -> None:
    del reel.pieces[_end(reel) :]


def _in_a_frame(reel: Reel, argument: str) -> None:
    _halve(reel, min(middle(reel, argument), end_of_turn(reel), len(reel.pieces) - 1))


def _in_the_end(reel: Reel, _: str) -> None:
    _halve(reel, _end(reel))


def _halve(reel: Reel, place: int) -> None:
    """Of this frame half comes, of those after it nothing."""
    piece = reel.pieces[place]
    piece.raw = piece.raw[: (piece.start + piece.end) // 2]
    del reel.pieces[place + 1 :]


def _then(change: Framed, ending: Ending) -> Change:
    """A cut after which the connection ends like this."""
    cut = framed(change)

    def made(exchange: Exchange, dialect: Dialect, argument: str) -> Exchange:
        return ended(cut(exchange, dialect, argument), ending)

    return made


def _empty(exchange: Exchange, _: Dialect, __: str) -> Exchange:
    return replace(exchange, headers=_unsized(exchange), chunks=(), ending="eof")


def _only_the_head(ending: Ending) -> Change:
    def made(exchange: Exchange, _: Dialect, __: str) -> Exchange:
        return replace(exchange, chunks=(), ending=ending)

    return made


def _no_answer(ending: Ending) -> Change:
    return lambda exchange, _, __: unanswered(exchange, ending)


def _short(exchange: Exchange, dialect: Dialect, _: str) -> Exchange:
    """Half of a body whose length was promised."""
    kept = min(len(exchange.body) // 2, _before_end_of_turn(exchange, dialect))
    if not kept:
        raise FaultError("the body has no half")
    fields = [(name, value) for name, value in _unsized(exchange).fields if name.lower() != "transfer-encoding"]
    headers = Headers([*fields, ("content-length", str(len(exchange.body)))])
    return replace(exchange, headers=headers, chunks=_first_bytes(exchange, kept), ending="reset")


def _before_end_of_turn(exchange: Exchange, dialect: Dialect) -> int:
    """How many bytes come before the frame that ends the turn; all, of an answer that is no stream."""
    try:
        reel = reel_of(exchange, dialect)
    except FaultError:
        return len(exchange.body)
    return sum(len(piece.raw) for piece in reel.pieces[: end_of_turn(reel)])


def _first_bytes(exchange: Exchange, left: int) -> tuple[Chunk, ...]:
    chunks = []
    for chunk in exchange.chunks:
        chunks.append(replace(chunk, data=chunk.data[:left]))
        left -= len(chunks[-1].data)
    return tuple(chunk for chunk in chunks if chunk.data)


def _short_gzip(exchange: Exchange, dialect: Dialect, argument: str) -> Exchange:
    """What came of a compressed body when half of its frames had been sent."""
    reel = reel_of(exchange, dialect)
    _truncated(reel, argument)
    plain = reel.exchange()
    if not plain.chunks:
        raise FaultError("nothing comes before the frame that ends the turn")
    packed = gzip.compress(plain.body + b"\n", mtime=0)
    fields = [(n, v) for n, v in plain.headers.fields if n.lower() != "content-encoding"]
    headers = Headers([*fields, ("content-encoding", "gzip")])
    return replace(plain, headers=headers, chunks=(Chunk(data=packed[: len(packed) - 12], at=plain.chunks[-1].at),))


def _flipped(offset: int) -> Framed:
    """A byte of a frame's checksum is another one."""

    def made(reel: Reel, argument: str) -> None:
        piece = reel.pieces[min(middle(reel, argument), len(reel.pieces) - 1)]
        at = piece.start + offset if offset >= 0 else piece.end + offset
        piece.raw = piece.raw[:at] + bytes([piece.raw[at] ^ 0xFF]) + piece.raw[at + 1 :]

    return made


def _error(reel: Reel, argument: str) -> None:
    errors.fail_with(reel, middle(reel, argument))


def _error_first(reel: Reel, _: str) -> None:
    errors.fail_with(reel, 0)


def _error_late(reel: Reel, _: str) -> None:
    errors.fail_with(reel, _end(reel))


def _page(status: int) -> Change:
    """A page for people."""

    def made(exchange: Exchange, _: Dialect, __: str) -> Exchange:
        return _answer(exchange, status, {"content-type": "text/html; charset=utf-8"}, _PAGE)

    return made


def _refusal(status: int, *, hint: bool = False, under: int | None = None) -> Change:
    """An answer with an error in the API's words; `hint`: it says after how many seconds to come back."""

    def made(exchange: Exchange, dialect: Dialect, argument: str) -> Exchange:
        headers, body = errors.refusal(dialect.name, status)
        if hint:
            headers["retry-after"] = str(number(argument, most=86_400))
        return _answer(exchange, under or status, headers, body)

    return made


def _hinted_once(status: int) -> Change:
    once = _refusal(status, hint=True)
    return lambda exchange, dialect, _: once(exchange, dialect, "1")


def _answer(exchange: Exchange, status: int, headers: dict[str, str], body: bytes) -> Exchange:
    fields = Headers([*headers.items(), ("content-length", str(len(body)))])
    return replace(exchange, status=status, headers=fields, chunks=(Chunk(data=body),), ending="eof")


def _unsized(exchange: Exchange) -> Headers:
    return Headers([field for field in exchange.headers.fields if field[0].lower() != "content-length"])


def _garbage(exchange: Exchange, _: Dialect, __: str) -> Exchange:
    """Bytes of no format at all."""
    noise = bytes((n * 37 + n // 7) % 256 for n in range(400))
    return replace(exchange, headers=_unsized(exchange), chunks=(Chunk(data=noise),), ending="eof")


def _fault(name: str, what: str, change: Change, **about: Any) -> NamedFault:
    return NamedFault(name=name, effect=Effect.FAILURE, what=what, change=change, **about)


_CUTS = (
    _fault("truncated", "The body ends in order after half of the frames, or after so many.", framed(_truncated)),
    _fault("truncated-in-frame", "The body ends in order in the middle of a frame.", framed(_in_a_frame)),
    _fault("truncated-before-end", "All came but the frame that ends the turn, and those after it.", framed(_before_the_end)),
    _fault("truncated-in-end", "The body ends within the frame that ends the turn.", framed(_in_the_end)),
    _fault("truncated-gzip", "A compressed body ends too early.", _short_gzip),
    _fault("empty", "A good status, and no body.", _empty, plain=True),
    _fault("short", "The connection is reset after half of a body whose length was promised.", _short, plain=True),
    _fault("reset", "The connection is reset after half of the frames, or after so many.", _then(_truncated, "reset")),
    _fault("reset-in-frame", "The connection is reset in the middle of a frame.", _then(_in_a_frame, "reset")),
    _fault("reset-before-body", "The connection is reset after the head.", _only_the_head("reset"), plain=True),
    _fault("no-answer", "The connection is reset before anything came.", _no_answer("reset"), plain=True),
    _fault(
        "no-answer-then-good",
        "The connection is reset before anything came; then all is well.",
        _no_answer("reset"),
        argument="1",
        times=1,
        plain=True,
    ),
    _fault("stall", "After half of the frames, or after so many, nothing more comes.", _then(_truncated, "timeout")),
    _fault("stall-before-body", "After the head nothing more comes.", _only_the_head("timeout"), plain=True),
    _fault("stall-before-head", "Nothing comes at all.", _no_answer("timeout"), plain=True),
)
_DAMAGE = (
    _fault("wrong-crc", "A frame's checksum is wrong.", framed(_flipped(-1), "event-stream"), framings=("event-stream",)),
    _fault(
        "wrong-prelude-crc",
        "The checksum of a frame's lengths is wrong.",
        framed(_flipped(8), "event-stream"),
        framings=("event-stream",),
    ),
    _fault(
        "wrong-length",
        "A frame says another length than it has.",
        framed(_flipped(2), "event-stream"),
        framings=("event-stream",),
    ),
    _fault("garbage", "Bytes that are no stream of any kind.", _garbage),
    _fault("html", "A page for people under a good status.", _page(200), plain=True),
    _fault("html-502", "A gateway's page for people.", _page(502), plain=True),
)
_ERRORS = (
    _fault("error-in-band", "The API's own error after half of the frames, or after so many.", framed(_error)),
    _fault("error-in-band-first", "The API's own error is the first frame.", framed(_error_first)),
    _fault("error-in-band-late", "The API's own error in the place of the end.", framed(_error_late)),
    _fault(
        "error-under-200",
        "A JSON document with the API's error, under status 200.",
        _refusal(500, under=200),
        apis=("openai-chat", "openai-responses", "gemini", "ollama-chat", "anthropic-messages"),
    ),
)
_REFUSALS = (
    *(_fault(f"http-{status}", f"{says}.", _refusal(status), plain=True) for status, says in _STATUSES.items()),
    *(
        _fault(
            f"http-{status}-retry-after",
            f"{_STATUSES[status]}, with the seconds to wait.",
            _refusal(status, hint=True),
            argument="1",
            plain=True,
        )
        for status in _WITH_HINT
    ),
    *(
        _fault(
            f"http-{status}-then-good",
            f"{_STATUSES[status]}, once or so many times; then all is well.",
            _refusal(status),
            argument="1",
            times=1,
            plain=True,
        )
        for status in _PASSING
    ),
    _fault(
        "http-429-retry-after-then-good",
        "Too many requests, with one second to wait, once or so many times; then all is well.",
        _hinted_once(429),
        argument="1",
        times=1,
        plain=True,
    ),
)
FAULTS = (*_CUTS, *_DAMAGE, *_ERRORS, *_REFUSALS)
