"""Changes of what the turn says, wherever the stream tells it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from harness.cassette.model import Exchange
from harness.conformance.rules.reassembly.accounts import Block, Spot
from harness.conformance.rules.reassembly.changes.making import changed
from harness.conformance.rules.reassembly.reading import Change, Reading
from harness.replay.faults import Fault, Set
from harness.replay.reel import Piece, Reel


def spoken(it: Reading) -> Block | None:
    """The last text of the turn that has a fragment."""
    blocks = [block for block in it.account.texts.values() if any(block.fragments)]
    return blocks[-1] if blocks and it.account.failed is None else None


def ending_in(words: str) -> Change:
    """The last text of the turn ends in these words, wherever the stream tells it."""

    def change(it: Reading) -> Exchange | None:
        block = spoken(it)
        return None if block is None else changed(it, *more(block.spots[-1:], words), *more(block.repeats, words))

    return change


def more(spots: Iterable[Spot], words: str) -> list[Fault]:
    return [Set(spot.frame, spot.path, lambda old: f"{old or ''}{words}") for spot in spots]


MARK = "<mark>"
HALVES = ("\ud83d", "\ude00")

marked = ending_in(MARK)


def with_character(it: Reading) -> Exchange | None:
    """A character outside the basic plane between two fragments of a text."""
    spots = _neighbours(it)
    return None if spots is None else changed(it, Set(spots[0].frame, spots[0].path, lambda old: f"{old}\N{GRINNING FACE}"))


def with_halves(it: Reading) -> Exchange | None:
    """The same character as two escapes, one at the end of a fragment and one at the beginning of the next."""
    spots = _neighbours(it)
    if spots is None:
        return None
    reel = Reel(it.exchange, it.dialect)
    for spot, text in zip(spots, ("{}" + HALVES[0], HALVES[1] + "{}"), strict=True):
        Set(spot.frame, spot.path, lambda old, text=text: text.format(old)).apply(reel)
        piece = reel.pieces[spot.frame]
        reel.write_data(piece, _ascii(reel, piece))
    return reel.exchange()


def _neighbours(it: Reading) -> tuple[Spot, Spot] | None:
    """Two fragments of one text that nobody repeats, in frames that hold their payload as it is."""
    if it.account.failed is not None or it.dialect.name == "bedrock-invoke":
        return None
    for block in it.account.texts.values():
        said = [spot for spot, text in zip(block.spots, block.fragments, strict=True) if text]
        if len(said) > 1 and block.whole is None and said[0].frame != said[1].frame:
            return said[0], said[1]
    return None


def _ascii(reel: Reel, piece: Piece) -> bytes:
    return json.dumps(reel.payload(piece), separators=(",", ":")).encode()


def with_another_ending(it: Reading) -> Exchange | None:
    """The terminal event says that the last text of the turn ends in other words than were streamed."""
    block = spoken(it)
    if it.dialect.name != "openai-responses" or block is None or it.account.marked is None:
        return None
    repeats = [spot for spot in block.repeats if spot.frame == it.account.marked]
    return changed(it, *more(repeats, MARK)) if repeats else None
