"""How a change is made: faults on the exchange, or its frames written anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.cassette.model import Exchange
from harness.conformance.rules.reassembly.reading import Reading
from harness.replay.faults import Fault, FaultError, faulty
from harness.replay.reel import Piece, Reel

_MOST_CHANGED = 200  # frames of one stream


def changed(it: Reading, *faults: Fault) -> Exchange | None:
    """The exchange with these faults; None where one of them finds nothing to change, or something odd in the way."""
    try:
        return faulty(it.exchange, it.dialect, *faults)
    except (FaultError, LookupError, TypeError, ValueError):
        return None


def rewritten(it: Reading, write: Callable[[Reel, Piece], None]) -> Exchange | None:
    """The exchange with its frames written anew, one by one."""
    if not it.frames:
        return None
    reel = Reel(it.exchange, it.dialect)
    for piece in reel.pieces[:_MOST_CHANGED]:
        write(reel, piece)
    return reel.exchange()


def inserted(it: Reading, place: int, payload: Any, name: str | None = None) -> Exchange | None:
    """One more frame before the frame `place`, written like the one before it; its event has this name if that had one."""
    reel = Reel(it.exchange, it.dialect)
    piece = reel.copy(reel.pieces[place - 1])
    if name is not None and piece.frame.name is not None:
        reel.write_data(piece, piece.frame.data, name)
    reel.write(piece, payload)
    reel.pieces.insert(place, piece)
    return reel.exchange()


OVERLOADED = "the server is overloaded; try again later"
ERRORS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "openai-chat": (None, {"error": {"message": OVERLOADED, "type": "overloaded", "code": "overloaded"}}),
    "openai-responses": ("error", {"type": "error", "code": "server_error", "message": OVERLOADED, "param": None}),
    "gemini": (None, {"error": {"code": 503, "message": OVERLOADED, "status": "UNAVAILABLE"}}),
    "ollama-chat": (None, {"error": OVERLOADED}),
    "anthropic-messages": ("error", {"type": "error", "error": {"type": "overloaded_error", "message": OVERLOADED}}),
}
"""How each API tells of an error in a stream: the name of its event, and its payload."""
