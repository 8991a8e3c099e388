"""The registry of wire dialects: the one room that knows the field names of an API, one file (or folder) for each.

A dialect exports `DIALECT`, an object with the verbs of the `Dialect` protocol. Everything else in the house asks for it by
name here, and knows no API.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from harness.dialects.protocol import Dialect, PathSet, Reader, Translator
from harness.errors import UnsupportedDialectError

__all__ = ["ALIASES", "Dialect", "PathSet", "Reader", "Translator", "dialect", "names", "register", "registered", "unregister"]

_MODULES = {
    "openai-chat": "harness.dialects.openai_chat",
    "openai-responses": "harness.dialects.openai_responses",
    "gemini": "harness.dialects.gemini",
    "bedrock-converse": "harness.dialects.bedrock_converse",
    "bedrock-invoke": "harness.dialects.bedrock_invoke",
    "ollama-chat": "harness.dialects.ollama_chat",
    "anthropic-messages": "harness.dialects.anthropic_messages",
}

ALIASES = {
    "open_ai": "openai-chat",
    "openai": "openai-chat",
    "open_router": "openai-chat",
    "openrouter": "openai-chat",
    "open_ai_responses": "openai-responses",
    "openai_responses": "openai-responses",
    "google": "gemini",
    "bedrock": "bedrock-converse",
    "ollama": "ollama-chat",
}
"""Names of the seed systems (product contract, section 2)."""

_registered: dict[str, Dialect] = {}


def names() -> tuple[str, ...]:
    """The names of all dialects, in the order of the contract, then those registered from outside."""
    return (*_MODULES, *(n for n in _registered if n not in _MODULES))


def dialect(name: str) -> Dialect:
    """The dialect called `name`, or by one of its aliases. Raises `UnsupportedDialectError`."""
    found = _registered.get(name) or _load(ALIASES.get(name, name)) if isinstance(name, str) else None
    if found is None:
        raise UnsupportedDialectError(name, names())
    return found


def registered() -> Iterator[Dialect]:
    """Every dialect."""
    return (dialect(name) for name in names())


def register(new: Dialect) -> None:
    """Add a dialect at run time, as a plug-in or a test does; one with a name that exists takes its place."""
    _registered[new.name] = new


def unregister(name: str) -> None:
    """Take back a dialect that was added at run time."""
    _registered.pop(name, None)


@cache
def _load(name: str) -> Dialect | None:
    module = _MODULES.get(name)
    return import_module(module).DIALECT if module else None
