"""Changes of the bytes around the payloads: other cuts, comments, fields of events written otherwise."""

from __future__ import annotations

import json
import re
from itertools import pairwise

from harness.cassette.model import Exchange
from harness.conformance.rules.reassembly.changes.making import ERRORS, changed, rewritten
from harness.conformance.rules.reassembly.reading import Reading
from harness.replay.cuts import joined, randomly, recut
from harness.replay.faults import InsertBytes, faulty
from harness.replay.reel import Piece, Reel

_FIRST = 200  # bytes of a body
_MOST_CUTS = 2_000  # in one body: a large one is cut less finely
_INSIDE = re.compile(rb"[\x80-\xbf]|(?<=\r)\n|(?<=\n)\n|(?<=\\)[u\"\\]")


# cuts


def same_bytes(it: Reading) -> Exchange | None:
    return it.exchange


def cut_finely(it: Reading) -> Exchange | None:
    """Cut inside of every character and line end, byte by byte at the beginning, and everywhere else often."""
    whole = faulty(it.exchange, it.dialect)
    body, often = whole.body, max(7, len(whole.body) // _MOST_CUTS)
    inside = [match.start() for match in _INSIDE.finditer(body)]
    places = sorted({*range(1, min(_FIRST, len(body))), *inside[:_MOST_CUTS], *range(often, len(body), often)})
    lengths = (end - start for start, end in pairwise([0, *places, len(body)]))
    return recut(whole, lengths) if body else None


def in_one_piece(it: Reading) -> Exchange | None:
    return recut(faulty(it.exchange, it.dialect), joined()) if it.frames else None


def cut_anyhow(it: Reading) -> Exchange | None:
    return recut(faulty(it.exchange, it.dialect), randomly(7, 512)) if it.frames else None


# server-sent events


def with_comments(it: Reading) -> Exchange | None:
    """Comments between events and inside of one; one of them looks like a payload."""
    if not it.frames:
        return None
    end = _line_end(it)
    comment = b': {"pulse":1}' + end + end + b": keep-alive" + end
    return changed(it, *(InsertBytes(place, comment) for place in sorted({0, len(it.frames) // 2, len(it.frames) - 1})))


def with_other_spaces(it: Reading) -> Exchange | None:
    """After the colon of `data:` stands no space, or there are three of them; JSON minds neither."""

    def write(reel: Reel, piece: Piece) -> None:
        if isinstance(reel.payload(piece), dict):
            other = b"data:" if piece.frame.index % 2 else b"data:   "
            piece.raw = re.sub(rb"(?m)^data: ?", other, piece.raw)

    return rewritten(it, write)


def in_several_lines(it: Reading) -> Exchange | None:
    """Every payload in two `data` lines, divided where JSON allows for a line end."""
    end = _line_end(it)

    def write(reel: Reel, piece: Piece) -> None:
        data = piece.frame.data
        if data[:1] == b"{" and piece.raw.count(data) == 1:
            piece.raw = piece.raw.replace(data, b"{" + end + b"data: " + data[1:])

    return rewritten(it, write)


def with_bare_error(it: Reading) -> Exchange | None:
    """An error as a bare line of JSON in the midst of a turn, as proxies write it."""
    error = ERRORS.get(it.dialect.name)
    if error is None or it.account.failed is not None or len(it.frames) < 3:
        return None
    end = _line_end(it)
    line = json.dumps(error[1], separators=(",", ":")).encode() + end + end
    return changed(it, InsertBytes(len(it.frames) // 2, line))


def _line_end(it: Reading) -> bytes:
    return b"\r\n" if b"\r\n" in it.exchange.body else b"\n"
