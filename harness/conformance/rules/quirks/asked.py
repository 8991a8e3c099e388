"""A Chat answer beside its request: what was asked for and did not come, or came though nobody asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.openai_chat.finish import names_a_function
from harness.conformance.rules.openai_chat.sights import Turn, request
from harness.dialects.translating import as_count, as_object, as_objects

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_SAYS = ("content", "refusal", "reasoning_content", "reasoning", "reasoning_details", "tool_calls", "audio")


def beside_the_request(court: Court, body: dict[str, Any], turns: Sequence[Turn]) -> None:
    """Notes on a turn that succeeded; `body` is the native one, streamed or not."""
    asked = request(court.case)
    for turn in turns:
        if turn.finish == "stop" and not turn.calls and not any(turn.message.get(name) for name in _SAYS):
            court.note("answer/empty", "the turn ended by itself, and nothing was said", turn.path)
    if asked is None:
        return
    if any(message.get("role") not in _ROLES for message in as_objects(asked.get("messages"))):
        court.note("request/role-unknown", "the request has a message of a role that the API lacks, and it was answered")
    if _other_model(asked.get("model"), body.get("model")):
        court.note("request/model-other", "the answer is of another model than was asked for", "/model")
    for turn in turns:
        _calls(court, turn, asked)
        _limit(court, turn, asked, as_object(body.get("usage")))


def _calls(court: Court, turn: Turn, asked: Any) -> None:
    calls = [call for call in turn.calls if call.name]
    demanded = asked.get("tool_choice") == "required" or names_a_function(court.case)
    if demanded and not calls and turn.finish == "stop":
        court.note("request/choice-ignored", "the request demands a call, and none came", f"{turn.path}/message")
    if demanded and calls and turn.finish == "stop" and names_a_function(court.case):
        message = "the request demands one function, and its call ends with 'stop'"
        court.note("finish/stop-of-forced-call", message, f"{turn.path}/finish_reason")
    if asked.get("parallel_tool_calls") is False and len(calls) > 1:
        court.note("request/parallel-ignored", "several calls, though parallel_tool_calls is false", f"{turn.path}/message")


def _limit(court: Court, turn: Turn, asked: Any, usage: dict[str, Any]) -> None:
    most = as_count(asked.get("max_completion_tokens") or asked.get("max_tokens"))
    if most and turn.finish == "stop" and usage.get("completion_tokens") == most:
        message = f"as many tokens came as the request allows ({most}), and the finish reason is 'stop'"
        court.note("finish/length-lost", message, f"{turn.path}/finish_reason")


def _other_model(asked: Any, told: Any) -> bool:
    """Names of snapshots and of vendors before or behind the name make no other model of it."""
    if not (isinstance(asked, str) and isinstance(told, str) and asked and told):
        return False
    short, shorter = asked.rpartition("/")[2].lower(), told.rpartition("/")[2].lower()
    return short not in shorter and shorter not in short
