"""What is asked: the working context of a run, made into the turns and settings of one request (semantics.md 3.2, 3.3, D19).

A run may keep three lists of turns. `turns` is the log, of which nothing is ever taken. `user_context` is what users said,
and is never pruned. `inrun` is what the run itself produced; its entries can be pruned, silently or with a memo in their
place. As long as the last two are empty the log is what is sent, else the two of them, merged by time.

Two things differ from the seed. A merge that is empty because everything was pruned stays empty and does not bring the log
back; and a tool's result always follows its call directly, whatever was said in between, because no API takes it elsewhere.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from harness.loop.state import Role, ToolResult, Turn
from harness.request import CacheSettings, ResponseFormat, ThinkingLevel, ToolDefinition
from harness.response import Text, ToolCall


class Origin(StrEnum):
    """Where a turn of a request comes from."""

    MESSAGES = "messages"
    USER_CONTEXT = "user_context"
    INRUN = "inrun"
    MEMO = "memo"
    HOOK = "hook"


class Described(Protocol):
    """A tool, as far as a request goes (B3): there may be more to it, which no provider sees."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InRun:
    """A turn that the run produced. A pruned one is not sent; its `memo`, if it has one, is sent in its place. Who prunes a
    call prunes its result with it."""

    turn: Turn
    pruned: bool = False
    memo: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What a run knows when it asks; reading it never changes it."""

    system: str | None = None
    turns: tuple[Turn, ...] = ()
    user_context: tuple[Turn, ...] = ()
    inrun: tuple[InRun, ...] = ()
    tools: tuple[Described, ...] = ()


Hook = Callable[[tuple[Turn, ...]], Iterable[Turn] | Awaitable[Iterable[Turn]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig:
    """How to ask (B4). `transform_context` sees the working context first; `convert` then makes of it what the model is to
    see, verbatim. Without `convert`, turns that are not for the model (those with an `extension`) are left out."""

    model: str = ""
    thinking_level: ThinkingLevel | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    cache: CacheSettings | None = None
    response_format: ResponseFormat | None = None
    stop: tuple[str, ...] = ()
    tool_choice: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    transform_context: Hook | None = None
    convert: Hook | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A turn in its place, and where it comes from."""

    turn: Turn
    origin: Origin


def working_turns(context: RunContext) -> tuple[Placed, ...]:
    """The turns that a request is made of, in order (W1–W5)."""
    merged = [Placed(turn=turn, origin=Origin.USER_CONTEXT) for turn in context.user_context]
    merged += [placed for entry in context.inrun if (placed := _live(entry)) is not None]
    if not merged and not any(entry.pruned for entry in context.inrun):
        return tuple(Placed(turn=turn, origin=Origin.MESSAGES) for turn in context.turns)
    merged.sort(key=lambda placed: placed.turn.at)  # stable: at the same time, what users said comes first
    return tuple(_results_after_calls(merged))


def _live(entry: InRun) -> Placed | None:
    if not entry.pruned:
        return Placed(turn=entry.turn, origin=Origin.INRUN)
    if entry.memo is None:
        return None
    summary = Text(text=f"[Pruned context summary: {entry.memo}]")
    return Placed(turn=Turn(role=Role.USER, parts=(summary,), at=entry.turn.at), origin=Origin.MEMO)


def _results_after_calls(merged: list[Placed]) -> list[Placed]:
    """Each turn of results directly behind the turn whose calls it answers, in the order of the calls (D19)."""
    calls = [[part.id for part in placed.turn.parts if isinstance(part, ToolCall)] for placed in merged]
    unanswered = [set(ids) for ids in calls]
    answers: dict[int, list[tuple[int, Placed]]] = {}
    moved: set[int] = set()
    for i, placed in enumerate(merged):
        ids = [part.call_id for part in placed.turn.parts if isinstance(part, ToolResult)]
        asker = _asker(unanswered, ids, i)
        if asker is not None:
            first = min(calls[asker].index(call) for call in ids if call in calls[asker])
            answers.setdefault(asker, []).append((first, placed))
            unanswered[asker].difference_update(ids)
            moved.add(i)
    ordered: list[Placed] = []
    for i, placed in enumerate(merged):
        if i not in moved:
            ordered.append(placed)
        ordered += [answer for _, answer in sorted(answers.get(i, ()), key=lambda ranked: ranked[0])]
    return ordered


def _asker(unanswered: list[set[str]], ids: list[str], at: int) -> int | None:
    """Where the calls stand that results at `at` answer. Ids that we made up repeat from turn to turn: it is the last such
    turn before them whose call is open, else the first after them (clocks differ). None: nobody asked, they stay in place."""
    open_at = [k for k, calls in enumerate(unanswered) if not calls.isdisjoint(ids)]
    before = [k for k in open_at if k < at]
    return before[-1] if before else next(iter(open_at), None)


def definitions(tools: Iterable[Described]) -> tuple[ToolDefinition, ...]:
    """What a model is told of the tools: name, description and schema, never how they are carried out (B3)."""
    return tuple(ToolDefinition(name=t.name, description=t.description, parameters=t.parameters) for t in tools)


_SETTINGS = (
    "model",
    "thinking_level",
    "max_tokens",
    "temperature",
    "cache",
    "response_format",
    "stop",
    "tool_choice",
)


def settings(context: RunContext, config: StreamConfig) -> dict[str, Any]:
    """The fields of the request beside its turns, and the provider's own options under their names (B4). What was not set is
    left out, so that options that were bound beforehand stand."""
    named = {name: getattr(config, name) for name in _SETTINGS}
    named |= {"system": context.system, "tools": definitions(context.tools)}
    return {**config.options, **{name: value for name, value in named.items() if value not in (None, (), "")}}


async def sent_turns(context: RunContext, config: StreamConfig) -> tuple[Placed, ...]:
    """The turns as the provider gets them: the working context, through the hooks (B1, B2, rows P07 and P08)."""
    placed = working_turns(context)
    if config.transform_context is not None:
        placed = await _hooked(config.transform_context, placed)
    if config.convert is not None:
        return await _hooked(config.convert, placed)
    return tuple(p for p in placed if p.turn.extension is None)


async def _hooked(hook: Hook, placed: tuple[Placed, ...]) -> tuple[Placed, ...]:
    """What a hook makes of the turns. Those it passes on keep their origin, all others are its own."""
    made = hook(tuple(p.turn for p in placed))
    turns = await made if inspect.isawaitable(made) else made
    origins = {id(p.turn): p.origin for p in placed}
    return tuple(Placed(turn=turn, origin=origins.get(id(turn), Origin.HOOK)) for turn in turns)
