"""Payloads that say the same otherwise: unknown fields and events, padding, another order, other escapes, smaller pieces of
text. The turn must come out the same."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from harness.replay.faults.making import Framed, framed, with_payloads
from harness.replay.faults.named import neutral
from harness.replay.faults.primitives import FaultError
from harness.replay.reel import Reel

_NOTHING = "streamproof_invented"
_INVENTED: dict[str, Any] = {"by": "streamproof", "list": [1, None, "é"], "deep": {"ok": True}}
_PADDING = {"openai-chat": "obfuscation", "openai-responses": "obfuscation", "bedrock-converse": "p", "bedrock-invoke": "p"}
"""The field that vendors pad their payloads with."""
_PADDED = {"openai-responses": ".delta"}
_TEXTS = {
    "openai-chat": ("choices", 0, "delta", "content"),
    "gemini": ("candidates", 0, "content", "parts", 0, "text"),
    "bedrock-converse": ("delta", "text"),
    "ollama-chat": ("message", "content"),
    "anthropic-messages": ("delta", "text"),
}
"""Where a payload has the next piece of the text."""
_ALIGNED = ("logprobs", "citations", "thoughtSignature", "finishReason", "groundingMetadata", "tool_calls", "thinking", "done")
"""What belongs to the very piece of text that it comes with."""


def _rewritten(change: Callable[[dict[str, Any], int], Any]) -> Framed:
    """Another value for each payload that is an object."""

    def made(reel: Reel, _: str) -> None:
        for place, piece in enumerate(with_payloads(reel)):
            reel.write(piece, change(reel.payload(piece), place))

    return made


def _respelled(spell: Callable[[Any], str]) -> Framed:
    """The same JSON, spelled otherwise."""

    def made(reel: Reel, _: str) -> None:
        changed = False
        for piece in with_payloads(reel):
            new = spell(json.loads(piece.frame.data)).encode("utf-8", "surrogatepass")
            changed = changed or new != piece.frame.data
            reel.write_data(piece, new)
        if not changed:
            raise FaultError("the payloads are spelled so already")

    return made


def _padded(reel: Reel, _: str) -> None:
    field, numbers = _PADDING[reel.api.name], random.Random(1)  # noqa: S311 - lengths only
    for piece in reel.pieces:
        value = json.loads(piece.frame.data) if piece.frame.data[:1] == b"{" else None
        if isinstance(value, dict) and _is_padded(reel.api.name, value):
            reel.write_data(piece, _spelled({**value, field: "abcdefghijklmnopqrstuvwxyzABCDEF"[: numbers.randint(1, 32)]}))


def _is_padded(dialect: str, value: dict[str, Any]) -> bool:
    """Vendors pad every payload, or those of which the type ends like this."""
    return str(value.get("type", "")).endswith(_PADDED.get(dialect, ""))


def _spelled(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _unknown_events(reel: Reel, _: str) -> None:
    """An event of a kind that nobody knows after every third."""
    for place in range(len(reel.pieces) - 2, 0, -3):
        piece = reel.copy(reel.pieces[place])
        if piece.frame.name is None:
            continue
        reel.write_data(piece, piece.frame.data, _NOTHING)
        reel.write_data(piece, _spelled({"type": _NOTHING, "detail": _INVENTED}))
        reel.pieces.insert(place, piece)


def _pings(reel: Reel, _: str) -> None:
    for place in range(len(reel.pieces) - 2, 0, -2):  # the last one may be cut
        piece = reel.copy(reel.pieces[place])
        reel.write_data(piece, b'{"type": "ping"}', "ping")
        reel.pieces.insert(place, piece)


def _split_texts(reel: Reel, _: str) -> None:
    """Each piece of text comes in two."""
    way, changed = _TEXTS[reel.api.name], False
    for place in range(len(reel.pieces) - 2, -1, -1):  # the last one may be cut
        piece = reel.pieces[place]
        value = reel.payload(piece)
        holder = _holder(value, way)
        if holder is None or len(holder[way[-1]]) < 2 or any(_mentions(value, name) for name in _ALIGNED):
            continue
        whole, half, copy = holder[way[-1]], len(holder[way[-1]]) // 2, reel.copy(piece)
        holder[way[-1]] = whole[:half]
        reel.write(piece, value)
        holder[way[-1]] = whole[half:]
        reel.write(copy, value)
        reel.pieces.insert(place + 1, copy)
        changed = True
    if not changed:
        raise FaultError("no piece of text can be split")


def _holder(value: Any, way: tuple[str | int, ...]) -> Any:
    """What holds the text at the end of the way, if there is one, and no other beside it."""
    for step in way[:-1]:
        if isinstance(step, int) and isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict):
            value = value.get(step)
    return value if isinstance(value, dict) and isinstance(value.get(way[-1]), str) else None


def _mentions(value: Any, name: str) -> bool:
    """Whether a field of this name says anything, at any depth."""
    if isinstance(value, dict):
        return bool(value.get(name)) or any(_mentions(inner, name) for inner in value.values())
    return isinstance(value, list) and any(_mentions(inner, name) for inner in value)


def _invented(value: dict[str, Any], _: int) -> dict[str, Any]:
    return {_NOTHING: _INVENTED, **value, f"{_NOTHING}_too": None}


FAULTS = (
    neutral("unknown-fields", "Each payload has fields that nobody knows.", framed(_rewritten(_invented))),
    neutral(
        "unknown-events",
        "Events of a kind that nobody knows.",
        framed(_unknown_events),
        apis=("openai-responses", "bedrock-converse", "anthropic-messages"),
    ),
    neutral("pings", "A ping before every second event.", framed(_pings), apis=("anthropic-messages",)),
    neutral("padding", "Payloads are padded to hide how long they are.", framed(_padded), apis=tuple(_PADDING)),
    neutral(
        "reordered-fields",
        "The fields of each payload in another order.",
        framed(_rewritten(lambda value, _: dict(reversed(value.items())))),
    ),
    neutral("spaced-json", "White space inside the JSON.", framed(_respelled(lambda v: json.dumps(v, ensure_ascii=False)))),
    neutral(
        "escaped-json",
        "Letters beyond ASCII are escaped.",
        framed(_respelled(lambda v: json.dumps(v, separators=(",", ":")))),
    ),
    neutral("split-texts", "Each piece of text comes in two payloads.", framed(_split_texts), apis=tuple(_TEXTS)),
)
