"""Faults that break a rule: what servers and gateways do otherwise than the API says. The rule that is named must fire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.cassette.model import Exchange
from harness.dialects import Dialect
from harness.replay.faults.making import reel_of
from harness.replay.faults.named import Effect, NamedFault
from harness.replay.faults.primitives import (
    PRESENT,
    Bytes,
    Drop,
    Fault,
    FaultError,
    Header,
    Insert,
    InsertBytes,
    Lose,
    Move,
    Pick,
    Repeat,
    Set,
    every,
    first,
    last,
)
from harness.replay.reel import Reel

CHAT, RESPONSES, GEMINI, CONVERSE = "openai-chat", "openai-responses", "gemini", "bedrock-converse"
OLLAMA, MESSAGES = "ollama-chat", "anthropic-messages"

_CHOICE = "/choices/0"
_FINISH = f"{_CHOICE}/finish_reason"
_CALL = f"{_CHOICE}/delta/tool_calls/0"
_INDEX, _ID, _NAME, _ARGUMENTS = f"{_CALL}/index", f"{_CALL}/id", f"{_CALL}/function/name", f"{_CALL}/function/arguments"
_GEMINI_FINISH = "/candidates/0/finishReason"
_PART = "/candidates/0/content/parts/0"

_OLLAMA_CALL = "/message/tool_calls/0"


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _piece(value: Any) -> bool:
    """Whether it is a part of a JSON text, and no whole one."""
    try:
        json.loads(value)
    except (TypeError, ValueError):
        return _text(value)
    return False


def _goes_on(call: Any) -> bool:
    """Whether a fragment of a call has a part of the arguments, and does not begin the call."""
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and _piece(function.get("arguments")) and not function.get("name")


def _of_first(choice: Any) -> bool:
    """Whether a piece of text is of the first choice."""
    delta = choice.get("delta") if isinstance(choice, dict) and choice.get("index") == 0 else None
    return isinstance(delta, dict) and _text(delta.get("content"))


def _of_text(payload: Any) -> bool:
    """Whether a payload has a piece of the text."""
    return isinstance(payload, dict) and payload.get("type") == "response.output_text.delta" and _text(payload.get("delta"))


def _begins(kind: Any) -> bool:
    return kind in ("response.created", "response.queued")


def _ends(kind: Any) -> bool:
    return kind in ("response.completed", "response.incomplete", "response.failed")


@dataclass(frozen=True, slots=True)
class Needs:
    """Changes nothing where there is such a frame."""

    at: Pick

    def apply(self, reel: Reel) -> None:
        if not self.at.positions(reel):
            raise FaultError("the stream has no such frame", hint="choose a cassette that has what the fault is about")


@dataclass(frozen=True, slots=True)
class Way:
    """How a fault is made in one API: these small changes, and the rule that they break."""

    rule: str
    faults: tuple[Fault, ...]


def way(rule: str, *faults: Fault) -> Way:
    return Way(rule, faults)


def event(kind: str, nth: int = 0) -> Pick:
    """An event of a type."""
    return Pick("/type", kind, nth)


FINISHES = first(_FINISH, _text)
ENDS_CHAT = first("data", "[DONE]")
NUMBERED = Needs(first("/sequence_number"))
GOES_ON = last(_CALL, _goes_on)
STOPS = first("event", "messageStop")
ENDS = event("message_delta")
DONE = first("/done", True)
BLOCK_STOP = first("event", "contentBlockStop")


def _fault(name: str, what: str, ways: Mapping[str, Way]) -> NamedFault:
    def change(exchange: Exchange, dialect: Dialect, _: str) -> Exchange:
        if dialect.name not in ways:
            raise FaultError(f"{name} is not told of {dialect.name}")
        reel = reel_of(exchange, dialect)
        for fault in ways[dialect.name].faults:
            fault.apply(reel)
        return reel.exchange()

    return NamedFault(
        name=name,
        effect=Effect.DEVIATION,
        what=what,
        change=change,
        rules=tuple((api, made.rule) for api, made in ways.items()),
        apis=tuple(ways),
    )


_FRAMES = (
    _fault(
        "lost-frame",
        "A frame in the middle never comes.",
        {
            RESPONSES: way("RSP-007", NUMBERED, Lose(1)),
            CONVERSE: way("BDR-010", Lose(BLOCK_STOP)),
            MESSAGES: way("ANT-007", Lose(event("content_block_stop"))),
        },
    ),
    _fault(
        "lost-start",
        "The first frame never comes.",
        {
            RESPONSES: way("RSP-001", Lose(every("/type", _begins))),
            CONVERSE: way("BDR-001", Lose(0)),
            MESSAGES: way("ANT-001", Lose(0)),
        },
    ),
    _fault(
        "lost-done",
        "The mark after the last frame never comes.",
        {CHAT: way("OAI-C-001", Lose(ENDS_CHAT))},
    ),
    _fault(
        "lost-fragment",
        "The last piece of a call's arguments never comes.",
        {
            CHAT: way("OAI-C-027", Lose(GOES_ON)),
            CONVERSE: way("BDR-016", Lose(last("/delta/toolUse/input", _piece))),
            MESSAGES: way("ANT-009", Lose(last("/delta/partial_json", _piece))),
        },
    ),
    _fault(
        "lost-text",
        "A piece of the text never comes.",
        {RESPONSES: way("RSP-023", Needs(Pick("", _of_text, 1)), Lose(first("", _of_text)))},
    ),
    _fault(
        "repeated-frame",
        "A frame comes twice.",
        {
            RESPONSES: way("RSP-007", NUMBERED, Repeat(1)),
            CONVERSE: way("BDR-001", Repeat(0)),
            MESSAGES: way("ANT-006", Repeat(event("content_block_stop"))),
        },
    ),
    _fault(
        "repeated-end",
        "The frame that ends the turn comes twice.",
        {
            RESPONSES: way("RSP-003", Repeat(first("/type", _ends))),
            CONVERSE: way("BDR-003", Repeat(STOPS)),
            OLLAMA: way("NDJ-005", Needs(Pick("data", PRESENT, 1)), Repeat(DONE)),
            MESSAGES: way("ANT-002", Repeat(event("message_stop"))),
        },
    ),
    _fault(
        "swapped-frames",
        "Two frames come in the wrong order.",
        {
            CHAT: way("OAI-C-017", Move(FINISHES, last(_CHOICE, _of_first))),
            RESPONSES: way("RSP-007", NUMBERED, Move(2, 1)),
            CONVERSE: way("BDR-005", Move(first("/usage"), STOPS)),
            MESSAGES: way("ANT-006", Move(event("content_block_stop"), Pick("/type", "content_block_delta", 0))),
        },
    ),
    _fault(
        "data-after-done",
        "A frame comes after the one that ends the turn.",
        {
            CHAT: way("SSE-016", Repeat(0, to=ENDS_CHAT), Move(ENDS_CHAT, -2)),
            OLLAMA: way("NDJ-005", Needs(Pick("data", PRESENT, 1)), Repeat(DONE)),
            GEMINI: way("GGL-003", Insert(-1, b"[DONE]", after=True)),
            MESSAGES: way("ANT-022", Insert(-1, b"[DONE]", after=True)),
        },
    ),
)
_INDEXES = (
    _fault(
        "index-missing",
        "A fragment does not say which call or block it belongs to.",
        {
            CHAT: way("OAI-C-022", Drop(last(_ARGUMENTS), _INDEX)),
            RESPONSES: way("RSP-054", Drop(last("/output_index"), "/output_index")),
            CONVERSE: way("BDR-007", Drop(last("/contentBlockIndex"), "/contentBlockIndex")),
        },
    ),
    _fault(
        "index-reused",
        "Two calls, or items, have one index.",
        {
            CHAT: way("OAI-C-025", Set(first(_INDEX, 1), _INDEX, 0)),
            RESPONSES: way("RSP-014", Set(first("/output_index", 1), "/output_index", 0)),
            OLLAMA: way("OLL-021", Set(Pick(_OLLAMA_CALL, PRESENT, 1), f"{_OLLAMA_CALL}/function/index", 0)),
        },
    ),
    _fault(
        "index-from-one",
        "Indexes count from one.",
        {
            CHAT: way("OAI-C-023", Set(every(_INDEX), _INDEX, lambda index: index + 1)),
            RESPONSES: way("RSP-015", Set(every("/output_index"), "/output_index", lambda index: index + 1)),
            CONVERSE: way("BDR-008", Set(every("/contentBlockIndex"), "/contentBlockIndex", lambda index: index + 1)),
            MESSAGES: way("ANT-005", Set(every("/index"), "/index", lambda index: index + 1)),
        },
    ),
    _fault(
        "index-of-nothing",
        "A fragment belongs to a block that was never opened.",
        {
            MESSAGES: way("ANT-006", Set(event("content_block_delta"), "/index", 9)),
            RESPONSES: way("RSP-018", Set(event("response.output_text.delta"), "/item_id", "msg_other")),
        },
    ),
)
_IDENTITY = (
    _fault(
        "call-id-missing",
        "A call has no id.",
        {
            CHAT: way("OAI-C-024", Drop(first(_NAME), _ID)),
            OLLAMA: way("OLL-009", Drop(first(_OLLAMA_CALL), f"{_OLLAMA_CALL}/id")),
        },
    ),
    _fault(
        "call-id-repeated",
        "Two calls have one id.",
        {CHAT: way("OAI-C-030", Needs(first(_INDEX, 1)), Set(every(_ID, _text), _ID, "call_0"))},
    ),
    _fault(
        "call-name-repeated",
        "The name of a call comes again with its arguments.",
        {CHAT: way("OAI-C-026", Set(GOES_ON, _NAME, "get_weather"))},
    ),
    _fault(
        "answer-id-changes",
        "The id of the answer changes in the middle.",
        {
            CHAT: way("OAI-C-004", Set(Pick("/id", _text, 1), "/id", "chatcmpl-other")),
            RESPONSES: way("RSP-009", Set(last("/response/id"), "/response/id", "resp_other")),
            GEMINI: way("GGL-006", Set(Pick("/responseId", _text, 1), "/responseId", "another")),
        },
    ),
    _fault(
        "role-missing",
        "Nothing says whose message it is.",
        {CHAT: way("OAI-C-011", Drop(first(f"{_CHOICE}/delta/role"), f"{_CHOICE}/delta/role"))},
    ),
)
_FINISHES = (
    _fault(
        "lost-finish",
        "Nothing says why the turn is over.",
        {
            CHAT: way("OAI-C-014", Set(every(_FINISH, _text), _FINISH, None)),
            GEMINI: way("GGL-002", Drop(every(_GEMINI_FINISH), _GEMINI_FINISH)),
            OLLAMA: way("OLL-002", Drop(DONE, "/done_reason")),
            MESSAGES: way("ANT-004", Set(ENDS, "/delta/stop_reason", None)),
        },
    ),
    _fault(
        "unknown-finish",
        "The turn is over for a reason that the API does not know.",
        {
            CHAT: way("OAI-C-015", Set(FINISHES, _FINISH, "eos")),
            GEMINI: way("GGL-005", Set(last(_GEMINI_FINISH), _GEMINI_FINISH, "stop")),
            CONVERSE: way("BDR-018", Set(STOPS, "/stopReason", "stop")),
            OLLAMA: way("OLL-003", Set(DONE, "/done_reason", "finished")),
            MESSAGES: way("ANT-014", Set(ENDS, "/delta/stop_reason", "length")),
        },
    ),
    _fault(
        "calls-under-stop",
        "There are calls, and the reason says that there are none.",
        {
            CHAT: way("OAI-C-019", Set(every(_FINISH, "tool_calls"), _FINISH, "stop")),
            CONVERSE: way("BDR-019", Set(first("/stopReason", "tool_use"), "/stopReason", "end_turn")),
            MESSAGES: way("ANT-015", Set(first("/delta/stop_reason", "tool_use"), "/delta/stop_reason", "end_turn")),
        },
    ),
)
_CALLS = (
    _fault(
        "arguments-broken",
        "The arguments of a call are no JSON.",
        {
            CHAT: way("OAI-C-027", Set(last(_ARGUMENTS, _text), _ARGUMENTS, "}{")),
            CONVERSE: way("BDR-016", Set(last("/delta/toolUse/input", _text), "/delta/toolUse/input", "}{")),
            MESSAGES: way("ANT-009", Set(last("/delta/partial_json", _text), "/delta/partial_json", "}{")),
        },
    ),
    _fault(
        "arguments-of-another-type",
        "The arguments of a call are an object where the API has text, or text where it has an object.",
        {
            CONVERSE: way("BDR-015", Set(last("/delta/toolUse/input", _text), "/delta/toolUse/input", {"port": "Ribe"})),
            GEMINI: way("GGL-012", Set(first(f"{_PART}/functionCall/args"), f"{_PART}/functionCall/args", "{}")),
            OLLAMA: way("OLL-008", Set(first(_OLLAMA_CALL), f"{_OLLAMA_CALL}/function/arguments", "{}")),
        },
    ),
)
_USAGE = (
    _fault(
        "lost-usage",
        "What the turn used is never said.",
        {
            CHAT: way("OAI-C-031", Drop(every("/usage/total_tokens"), "/usage")),
            CONVERSE: way("BDR-004", Lose(first("/usage"))),
            OLLAMA: way("OLL-013", Drop(DONE, "/prompt_eval_count")),
        },
    ),
    _fault(
        "wrong-total",
        "The total of the tokens is not their sum.",
        {
            CHAT: way("OAI-C-034", Set(last("/usage/total_tokens"), "/usage/total_tokens", 1)),
            RESPONSES: way("RSP-034", Set(last("/response/usage/total_tokens"), "/response/usage/total_tokens", 1)),
            GEMINI: way("GGL-021", Set(last("/usageMetadata/totalTokenCount"), "/usageMetadata/totalTokenCount", 99)),
            CONVERSE: way("BDR-021", Set(last("/usage/totalTokens"), "/usage/totalTokens", lambda total: min(total - 1, 1))),
        },
    ),
)
_SSE = (CHAT, RESPONSES, GEMINI, MESSAGES)
_WIRE = (
    _fault(
        "wrong-media-type",
        "The response says that it is plain text.",
        {api: way("HTTP-001", Header("content-type", "text/plain")) for api in (*_SSE, CONVERSE, OLLAMA)},
    ),
    _fault(
        "broken-json",
        "A payload breaks off in its middle.",
        {
            **{api: way("SSE-015", InsertBytes(1, b'data: {"id":\n\n')) for api in (CHAT, RESPONSES, MESSAGES)},
            OLLAMA: way("NDJ-001", InsertBytes(1, b'{"model":\n')),
        },
    ),
    _fault(
        "invalid-utf8",
        "A byte is no UTF-8.",
        {
            **{api: way("SSE-001", Bytes(1, b'":"', b'":"\xc3')) for api in (CHAT, RESPONSES, MESSAGES)},
            GEMINI: way("SSE-001", Bytes(1, b'": "', b'": "\xc3')),
        },
    ),
    _fault(
        "unknown-line",
        "A line has a field name that events do not know.",
        {api: way("SSE-012", InsertBytes(1, b"status: busy\n\n")) for api in (CHAT, RESPONSES, MESSAGES)},
    ),
    _fault(
        "event-name-differs",
        "The name of an event is not the type of its payload.",
        {
            RESPONSES: way("RSP-005", Bytes(1, b"event: response.", b"event: other.")),
            MESSAGES: way("ANT-003", Bytes(event("content_block_start"), b"event: content_block_start", b"event: other")),
        },
    ),
    _fault(
        "text-disagrees",
        "The text at the end is not the one that was streamed.",
        {RESPONSES: way("RSP-023", Set(event("response.output_text.delta"), "/delta", "!"))},
    ),
)
FAULTS = (*_FRAMES, *_INDEXES, *_IDENTITY, *_FINISHES, *_CALLS, *_USAGE, *_WIRE)
