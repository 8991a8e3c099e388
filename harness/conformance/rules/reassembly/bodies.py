"""Where native bodies hold what some laws look for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.dialects.translating import as_list, as_object, as_objects


def at(body: Any, place: str) -> Iterator[Any]:
    """All values at a place of a body, `*` standing for any element of a list."""
    nodes = [body]
    for step in place.split("/"):
        if step == "*":
            nodes = [inner for node in nodes for inner in as_list(node)]
        else:
            nodes = [node[step] for node in nodes if isinstance(node, dict) and step in node]
    yield from nodes


def first(body: Any, choices: str) -> Any:
    """The first choice of a body; the body itself where it has no list of them."""
    return next(iter(as_objects(as_object(body).get(choices))), body) if choices else body


_CHOICES = {"openai-chat": "choices", "gemini": "candidates"}
_TOKENS = {
    "openai-chat": "logprobs/content/*/token",
    "gemini": "logprobsResult/chosenCandidates/*/token",
    "ollama-chat": "logprobs/*/token",
    "openai-responses": "output/*/content/*/logprobs/*/token",
}
_ROLES = {
    "openai-chat": "message/role",
    "gemini": "content/role",
    "ollama-chat": "message/role",
    "bedrock-converse": "output/message/role",
    "anthropic-messages": "role",
}


def tokens_of(dialect: str, body: Any) -> list[Any]:
    """The tokens of the log probabilities of the first choice."""
    return list(at(first(body, _CHOICES.get(dialect, "")), _TOKENS[dialect])) if dialect in _TOKENS else []


def role_of(dialect: str, body: Any) -> Any:
    """The role of the turn; None where the body has none, or the API gives it to parts of the turn."""
    place = _ROLES.get(dialect)
    return next(at(first(body, _CHOICES.get(dialect, "")), place), None) if place else None


STREAM_ONLY = {
    "openai-chat": (
        "obfuscation",
        "choices/*/delta",
        "choices/*/message/tool_calls/*/index",
        "choices/*/message/tool_calls/*/function/index",
    ),
    "openai-responses": ("sequence_number", "obfuscation", "delta", "output/*/delta", "output/*/output_index"),
    "gemini": (
        "candidates/*/content/parts/*/functionCall/partialArgs",
        "candidates/*/content/parts/*/functionCall/willContinue",
    ),
    "bedrock-converse": (
        "p",
        "contentBlockIndex",
        "output/message/content/*/contentBlockIndex",
        "output/message/content/*/delta",
    ),
    "bedrock-invoke": ("p", "bytes", "choices/*/delta"),
    "anthropic-messages": ("delta", "content_block", "content/*/index", "content/*/delta"),
}
"""Places that only a stream has (the reassembly maps of wire/*.md)."""

LITERALS = {
    "openai-chat": ("object", "chat.completion"),
    "openai-responses": ("object", "response"),
    "anthropic-messages": ("type", "message"),
}
"""What the body of a turn calls itself."""
