"""What all dialects need to build a request: turns sorted out, native bodies found again, arguments as objects.

An assistant's turn that this API answered goes back as the API sent it, part by part, with all that only the API
understands. That is told by its parts: the dialect's own reader must find the same ones in the native body. So a turn that a
hook changed, or that another API answered, is told in words. Signatures then go along only where nobody knows who made them
(a conversation that was saved without its native bodies); those of another API would be refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from harness import payload
from harness.dialects.translating import as_objects
from harness.errors import UnsupportedRequestError
from harness.request import Role, ThinkingLevel, ToolResult, Turn, TurnRequest
from harness.response import Refusal, Response, Text, ToolCall

_BUDGETED = re.compile(r"claude-(?:instant|v?[123]\b|3-|(?:opus|sonnet|haiku)-4(?:-[015])?(?:$|[-@:](?!\d{1,2}\b)))")
"""Names of Claude before 4.6, which take a number of tokens to think with; later ones take an effort."""
_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "max": 32000}
_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "max": "max"}


def turns(request: TurnRequest) -> Iterator[Turn]:
    """The turns that are for the model."""
    return (turn for turn in request.turns if turn.extension is None and turn.parts)


def native(turn: Turn, read: Callable[[Any], Response]) -> dict[str, Any] | None:
    """The native body that a turn came from, if it is of the API that `read` reads and says what the turn says."""
    raw = turn.response.raw if turn.response is not None else None
    if turn.role is not Role.ASSISTANT or not isinstance(raw, dict):
        return None
    return raw if read(raw).parts == turn.parts else None


def is_foreign(turn: Turn, own: dict[str, Any] | None) -> bool:
    """Whether another API made the turn, so that its signatures mean nothing here."""
    return own is None and turn.response is not None


def words(turn: Turn) -> str:
    """The visible text of a turn."""
    return "".join(part.text for part in turn.parts if isinstance(part, Text | Refusal))


def calls(request: TurnRequest) -> dict[str, ToolCall]:
    """The calls of the conversation by their ids."""
    return {part.id: part for turn in request.turns for part in turn.parts if isinstance(part, ToolCall)}


def results(turn: Turn) -> list[ToolResult]:
    return [part for part in turn.parts if isinstance(part, ToolResult)]


def kept(element: dict[str, Any]) -> dict[str, Any]:
    """An element of an answer as it is sent back: what is null in it was never said."""
    return {name: value for name, value in element.items() if value is not None}


def as_arguments(text: Any) -> dict[str, Any]:
    """The object that an API wants for arguments. A text that is none is kept in one: the model sees what it said."""
    if isinstance(text, dict):
        return text
    try:
        value = payload.from_text(text) if isinstance(text, str) and text.strip() else {}
        json.dumps(value, allow_nan=False)  # Python reads more numbers than JSON has
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"INVALID_JSON": text}


def joined(messages: Iterator[dict[str, Any]], field: str) -> list[dict[str, Any]]:
    """The messages with neighbours of one role made one, for an API where roles take turns; `field` has the list of parts."""
    out: list[dict[str, Any]] = []
    for message in messages:
        if not message[field]:
            continue
        if out and out[-1]["role"] == message["role"]:
            out[-1] = {**out[-1], field: [*out[-1][field], *message[field]]}
        else:
            out.append(message)
    return out


def claude_thinking(model: str, level: ThinkingLevel) -> tuple[dict[str, Any], str | None, int]:
    """How Claude is asked to think, wherever it is asked: the `thinking` field, the effort if it takes one, and the number of
    tokens that the answer must have room for beside its text."""
    if level is ThinkingLevel.OFF:
        return {"type": "disabled"}, None, 0
    if _BUDGETED.search(model):
        budget = _BUDGETS[level.value]
        return {"type": "enabled", "budget_tokens": budget}, None, budget
    return {"type": "adaptive"}, _EFFORTS[level.value], _BUDGETS[level.value]


def schema_of(request: TurnRequest, api: str) -> dict[str, Any] | None:
    """The schema of the answer. Raises `UnsupportedRequestError` for JSON without a schema, which some APIs cannot promise."""
    wanted = request.response_format
    if wanted is None:
        return None
    if wanted.schema is None:
        raise UnsupportedRequestError(
            f"{api} answers in JSON only if it is given a schema", hint="give response_format a schema"
        )
    return dict(wanted.schema)


def unsupported(api: str, what: str, hint: str) -> UnsupportedRequestError:
    return UnsupportedRequestError(f"{api} cannot be asked for {what}", hint=hint)


def elements(value: Any) -> list[dict[str, Any]]:
    """The objects in a list of a native body, as they are sent back."""
    return [kept(element) for element in as_objects(value)]
