"""The bytes that a finding points at, as a line of text with carets under them."""

from __future__ import annotations

from rich.cells import cell_len

_MOST_CARETS = 60


def excerpt(body: bytes, span: tuple[int, int], width: int) -> tuple[str, str]:
    """(line, carets) of at most `width` columns: the line of the body that `span` begins in, cut around it.

    What is not printable, and not text at all, is shown as a dot.
    """
    start, end = span
    left = body.rfind(b"\n", 0, start) + 1
    right = body.find(b"\n", start)
    right = len(body) if right < 0 else right
    left = max(left, start - 4 * width)
    right = min(right, start + 4 * width)
    before, marked = _shown(body[left:start]), _shown(body[start : max(start, min(end, right))])
    after = _shown(body[min(end, right) : right])
    room = width - 1
    kept = _tail(before, max(room // 2, room - cell_len(marked) - 12))
    line = ("…" if kept != before else "") + kept
    column = cell_len(line)
    shown = _head(marked + after, room - column)
    rest = "…" if shown != marked + after else ""
    carets = "^" * max(1, min(cell_len(_head(marked, room - column)), _MOST_CARETS))
    return line + shown + rest, " " * column + carets


def _shown(data: bytes) -> str:
    return "".join(letter if letter.isprintable() else "·" for letter in data.decode(errors="replace"))


def _tail(text: str, room: int) -> str:
    while cell_len(text) > room:
        text = text[max(1, len(text) - room) :] if len(text) > room else text[1:]
    return text


def _head(text: str, room: int) -> str:
    text = text[: max(room, 0)]
    while cell_len(text) > room:
        text = text[:-1]
    return text
