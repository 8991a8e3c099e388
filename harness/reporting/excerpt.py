"""The bytes that a finding points at, as a line of text with carets under them; and how recorded text is shown at all."""

from __future__ import annotations

import re

from rich.cells import cell_len

_MOST_CARETS = 60
_MOST_LINES = 2
_MOST_MARKED = 4096
_LINE = re.compile(rb"[^\r\n]+")


def excerpt(body: bytes, span: tuple[int, int], width: int, *, ascii: bool = False) -> tuple[str, str]:
    """(line, carets) of at most `width` columns: the line of the body that `span` begins in, cut around it.

    What is not printable, and not text at all, is shown as a dot; in `ascii` letters outside it are written as escapes.
    """
    start, end = span
    left = max(body.rfind(b"\n", 0, start) + 1, start - 4 * width)
    right = body.find(b"\n", start)
    right = min(len(body) if right < 0 else right, start + 4 * width)
    before, marked = _dotted(body[left:start], ascii), _dotted(body[start : max(start, min(end, right))], ascii)
    after = _dotted(body[min(end, right) : right], ascii)
    cut = "..." if ascii else "…"
    room = width - 2 * len(cut)
    kept = _tail(before, max(room // 2, room - cell_len(marked) - 12))
    line = (cut if kept != before else "") + kept
    shown = _head(marked + after, room - cell_len(kept))
    rest = cut if shown != marked + after else ""
    carets = "^" * max(1, min(cell_len(marked), cell_len(shown), _MOST_CARETS))
    return line + shown + rest, " " * cell_len(line) + carets


def lines_of(body: bytes, span: tuple[int, int]) -> list[tuple[int, int]]:
    """The lines of text that a span lies on, as spans of their own, as far as it is worth showing them: an event of two lines,
    its name and its data, says little by its name."""
    start, end = span
    marked = body[start : min(end, start + _MOST_MARKED)]
    if not marked.startswith(b"event:"):
        return [span]
    found = [(match.start() + start, match.end() + start) for match in _LINE.finditer(marked)]
    return found[:_MOST_LINES] or [span]


def harmless(text: str, *, ascii: bool = False) -> str:
    """Recorded text as a terminal may have it: what is not printable, or no letter of ASCII, is written as an escape."""
    if ascii:
        for letter, plain in _PLAIN:
            text = text.replace(letter, plain)
    shown = (c if c.isprintable() and (c.isascii() or not ascii) else c.encode("unicode_escape").decode() for c in text)
    return text if text.isprintable() and (text.isascii() or not ascii) else "".join(shown)


_PLAIN = (("·", "-"), ("–", "-"), ("…", "..."), ("\N{NO-BREAK SPACE}", " "), ("\N{NARROW NO-BREAK SPACE}", " "), ("→", "->"))


def _dotted(data: bytes, ascii: bool) -> str:
    dot = "." if ascii else "·"
    shown = "".join(letter if letter.isprintable() else dot for letter in data.decode(errors="replace"))
    return shown.encode("ascii", "backslashreplace").decode() if ascii else shown


def _tail(text: str, room: int) -> str:
    while cell_len(text) > room:
        text = text[max(1, len(text) - room) :] if len(text) > room else text[1:]
    return text


def _head(text: str, room: int) -> str:
    text = text[: max(room, 0)]
    while cell_len(text) > room:
        text = text[:-1]
    return text
