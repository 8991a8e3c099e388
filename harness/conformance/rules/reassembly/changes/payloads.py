"""Changes of payloads: unknown fields and events, empty ones, fields that are repeated or say something else."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from harness.cassette.model import Exchange
from harness.conformance.rules.reassembly.accounts import unpacked
from harness.conformance.rules.reassembly.changes.making import changed, inserted, rewritten
from harness.conformance.rules.reassembly.reading import Reading
from harness.dialects.translating import as_object
from harness.replay.faults import Fault, Set
from harness.replay.reel import Piece, Reel


def with_unknown_fields(it: Reading) -> Exchange | None:
    """A field that no API has, in every payload."""

    def write(reel: Reel, piece: Piece) -> None:
        value = reel.payload(piece)
        if isinstance(value, dict) and value.keys() - {"error"}:
            reel.write(piece, {**value, "streamproof_pulse": {"beat": [1]}})

    return rewritten(it, write)


def with_unknown_event(it: Reading) -> Exchange | None:
    """An event of a type that no API has, after the first one."""
    if len(it.frames) < 2:
        return None
    typed = {} if it.case.framing == "event-stream" else {"type": "streamproof.pulse"}
    return inserted(it, 1, {**typed, "beat": 1}, "streamproofPulse" if not typed else "streamproof.pulse")


def with_empty_payload(it: Reading) -> Exchange | None:
    """A ping, or a payload that says nothing, in the midst of the turn."""
    if len(it.frames) < 3 or it.account.failed is not None:
        return None
    first = Reel(it.exchange, it.dialect).payload(Reel(it.exchange, it.dialect).pieces[0])
    empty = _EMPTY.get(it.dialect.name)
    if empty is None or not isinstance(first, dict):
        return None
    name = "ping" if it.dialect.name == "anthropic-messages" else None
    return inserted(it, 2, empty(first), name)


def _empty_chunk(first: dict[str, Any]) -> dict[str, Any]:
    envelope: dict[str, Any] = {name: first[name] for name in ("id", "object", "created", "model") if name in first}
    return {**envelope, "choices": [{"index": 0, "delta": {}, "finish_reason": None}]}


_EMPTY: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "openai-chat": _empty_chunk,
    "gemini": lambda first: {name: first[name] for name in ("modelVersion", "responseId") if name in first},
    "ollama-chat": lambda first: {
        **{name: first[name] for name in ("model", "created_at") if name in first},
        **({"response": ""} if "response" in first else {"message": {"role": "assistant", "content": ""}}),
        "done": False,
    },
    "anthropic-messages": lambda _: {"type": "ping"},
}


def with_repeated_identity(it: Reading) -> Exchange | None:
    """Every fragment of a call repeats the id, the type and the name of the call, as some servers of Chat do."""
    if it.dialect.name != "openai-chat" or not any(len(call.heads) > 1 for call in it.account.calls):
        return None
    faults: list[Fault] = []
    for call in it.account.calls:
        for spot in call.heads[1:]:
            for path, value in (("id", call.id), ("type", "function"), ("function/name", call.name)):
                faults += [Set(spot.frame, f"{spot.path}/{path}", value)] * bool(value)
    return changed(it, *faults)


ROLE = "tool"


def with_another_role(it: Reading) -> Exchange | None:
    """Wherever a role is told, it is that of a tool."""
    return changed(it, *(Set(spot.frame, spot.path, ROLE) for spot in it.account.roles)) if it.account.roles else None


def stopped_in_order(it: Reading) -> Exchange | None:
    """The finish reason says nothing of the calls that were made."""
    word = {"openai-chat": "stop", "bedrock-converse": "end_turn", "anthropic-messages": "end_turn"}.get(it.dialect.name)
    if word is None or not it.account.calls or not it.account.finishes or it.account.failed is not None:
        return None
    return changed(it, *(Set(spot.frame, spot.path, word) for spot in it.account.finishes))


def followed_by_no_usage(it: Reading) -> Exchange | None:
    """One more payload without usage after the one that reports it, as moderated turns have it."""
    counted = it.account.counted
    if it.dialect.name != "openai-chat" or counted is None or it.account.failed is not None:
        return None
    reel = Reel(it.exchange, it.dialect)
    told = as_object(reel.payload(reel.pieces[counted]))
    return inserted(it, counted + 1, {**{n: v for n, v in told.items() if n not in ("usage", "timings")}, "choices": []})


_UNEVEN = 4  # bytes: their base64 has padding


def in_small_blobs(it: Reading) -> Exchange | None:
    """Base64 in two fragments, each of them padded."""
    if it.dialect.name != "bedrock-converse":
        return None
    reel = Reel(it.exchange, it.dialect)
    for place, piece in enumerate(reel.pieces):
        payload = as_object(reel.payload(piece))
        data = unpacked(as_object(as_object(payload.get("delta")).get("reasoningContent")).get("redactedContent"))
        if data is None or len(data) <= _UNEVEN:
            continue
        second = reel.copy(piece)
        for half, part in ((piece, data[:_UNEVEN]), (second, data[_UNEVEN:])):
            blob = base64.b64encode(part).decode()
            reel.write(half, {**payload, "delta": {"reasoningContent": {"redactedContent": blob}}})
        reel.pieces.insert(place + 1, second)
        return reel.exchange()
    return None
