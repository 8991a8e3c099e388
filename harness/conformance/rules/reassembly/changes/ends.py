"""Changes of how a turn ends: cut off, failed, or followed by something."""

from __future__ import annotations

import json

from harness.cassette.model import Exchange
from harness.conformance.rules.reassembly.changes.making import ERRORS, OVERLOADED
from harness.conformance.rules.reassembly.changes.texts import spoken
from harness.conformance.rules.reassembly.reading import Reading
from harness.replay.reel import Reel, message


def cut_short(it: Reading) -> Exchange | None:
    """The body ends just before the turn's end condition is met."""
    if not it.account.ended or it.account.failed is not None:
        return None
    last = len(it.frames) - 1
    while last > 0 and it.told(it.frames[:last]).ended:
        last -= 1
    reel = Reel(it.exchange, it.dialect)
    del reel.pieces[last:]
    return reel.exchange()


def failing(it: Reading) -> Exchange | None:
    """The server gives up in the midst of the turn, with an error inside the stream that is worth another attempt."""
    error = ERRORS.get(it.dialect.name)
    begun = _amid_the_text(it)
    if begun is None or it.account.failed is not None:
        return None
    reel = Reel(it.exchange, it.dialect)
    piece = reel.copy(reel.pieces[begun])
    if it.case.framing == "event-stream":
        piece.raw = _exception()
        piece.start, piece.end = 0, len(piece.raw)
    elif error is not None:
        name, payload = error
        if name is not None and piece.frame.name is not None:
            reel.write_data(piece, piece.frame.data, name)
        reel.write(piece, payload)
    reel.pieces[begun + 1 :] = [piece]
    return reel.exchange()


def _amid_the_text(it: Reading) -> int | None:
    """The frame of a fragment of a text, with as many before it as after it, and the end still to come."""
    blocks, end = it.account.texts.values(), len(it.frames) if it.account.marked is None else it.account.marked
    said = [spot.frame for block in blocks for spot, text in zip(block.spots, block.fragments, strict=True) if text]
    frames = sorted(frame for frame in said if frame < end)
    return frames[len(frames) // 2] if frames else None


def _exception() -> bytes:
    """A frame that says that the model is asked too often."""
    headers = {":exception-type": "throttlingException", ":content-type": "application/json", ":message-type": "exception"}
    encoded = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + len(value).to_bytes(2, "big") + value.encode()
        for name, value in headers.items()
    )
    return message(encoded, json.dumps({"message": OVERLOADED}).encode())


def after_the_end(it: Reading) -> Exchange | None:
    """The last fragment of a text once more, after the terminal marker."""
    block = spoken(it)
    if block is None or it.account.marked is None or it.dialect.name in ("gemini", "bedrock-invoke"):
        return None
    reel = Reel(it.exchange, it.dialect)
    if it.case.framing == "sse" and not reel.pieces[-1].raw.endswith((b"\n\n", b"\r\n\r\n")):
        return None
    reel.pieces.append(reel.copy(reel.pieces[block.spots[-1].frame]))
    return reel.exchange()
