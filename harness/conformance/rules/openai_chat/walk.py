"""Shows the rules of Chat Completions what there is to be seen in a stream, and remembers what came before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.openai_chat.facts import CallFacts, CallsFacts, ChatFacts, ChoiceFacts, UsageFacts
from harness.conformance.rules.openai_chat.order import BEGUN, CHOICE_ORDER, CONTENT, DONE, ERROR, FINISH, FINISHED, ORDER
from harness.conformance.rules.openai_chat.sights import Choice, Chunk, ErrorEvent, Fragment, integer, is_verdict, key
from harness.conformance.rules.order import END
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_list, as_object
from harness.framing import Frame

_MUST_NOT_CHANGE = ("id", "created", "model", "system_fingerprint")
_CONTENT = ("content", "refusal", "tool_calls")


class ChatWalk:
    """The walk of `openai-chat`. What comes after [DONE] belongs to no turn; a rule of the framing is about it."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._facts = ChatFacts()
        self._order = court.machine(ORDER)

    def payload(self, frame: Frame, value: Any) -> None:
        if isinstance(value, list) and len(value) == 1:
            value = value[0]  # `[{"error": …}]`, of some proxies
        if not isinstance(value, dict) or self._facts.done:
            return
        if _is_error(value, frame.name):
            self._order.step(ERROR)
            self._facts.errors += 1
            self._court.see(ErrorEvent(value, frame))
        elif self._facts.errors:
            self._order.step("chunk")
        else:
            self._chunk(Chunk(value, frame, self._facts, self._court.case))

    def marker(self, frame: Frame) -> None:
        if not self._facts.done:
            self._facts.done = True
            self._ends(DONE)

    def end(self, ending: Ending) -> ChatFacts:
        if "stream/empty" not in ending.kinds and (self._facts.errors or not ending.failed):
            self._ends(END)
        return self._facts

    def _ends(self, symbol: str) -> None:
        self._order.step(symbol)
        if not self._facts.errors:
            for choice in self._facts.choices.values():
                choice.order.step(symbol)

    def _chunk(self, chunk: Chunk) -> None:
        facts = self._facts
        self._court.see(chunk)
        for position, raw in enumerate(chunk.choices):
            if isinstance(raw, dict):
                self._choice(raw, f"/choices/{position}", chunk)
        if facts.choices:
            self._order.step(FINISHED if facts.finished else BEGUN)
        facts.chunks += 1
        for name in _MUST_NOT_CHANGE:
            if (value := chunk.raw.get(name)) and name not in facts.first:
                facts.first[name] = value
        _remember_usage(chunk, facts.usage)

    def _choice(self, raw: dict[str, Any], path: str, chunk: Chunk) -> None:
        if is_verdict(raw):
            return
        index = key(raw.get("index"))
        facts = self._facts.choices.get(index)
        if facts is None:
            facts = self._facts.choices[index] = ChoiceFacts(index, self._court.machine(CHOICE_ORDER))
            self._facts.unfinished += 1
        choice = Choice(raw, path, facts, chunk)
        self._court.see(choice)
        for fragment in _fragments(choice):
            self._court.see(fragment)
            _remember_call(fragment, facts.calls)
        if any(choice.delta.get(name) for name in _CONTENT):
            facts.order.step(CONTENT, f"{path}/delta")
        if choice.finish is not None:
            facts.order.step(FINISH, f"{path}/finish_reason")
            self._facts.unfinished -= facts.finish is None
        _remember_choice(choice, facts)


def _is_error(payload: dict[str, Any], event: str | None) -> bool:
    """The forms of wire/openai-chat.md section 9, in or out of the vendor's own."""
    told = payload.get("error") or as_object(payload.get("x_groq")).get("error")
    return bool(told) or event == "error" or payload.get("object") == "error"


def _fragments(choice: Choice) -> Iterator[Fragment]:
    """Each is made once the one before it is remembered."""
    for position, raw in enumerate(as_list(choice.delta.get("tool_calls"))):
        if isinstance(raw, dict):
            yield _fragment(raw, f"{choice.path}/delta/tool_calls/{position}", choice)


def _fragment(raw: dict[str, Any], path: str, choice: Choice) -> Fragment:
    """The fragment with the call that it continues, told as the collector tells it (openai_chat/tool_calls.py)."""
    calls = choice.facts.calls
    index, bare = integer(raw.get("index")), Fragment(raw, path, None, None, choice)
    if index is not None:
        held = calls.by_index.get(index)
        other = held is not None and bare.id and held.id and bare.id != held.id
        return Fragment(raw, path, None if other else held, held, choice)
    call = calls.open
    goes_on = call is not None and (bare.id == call.id if bare.id else not bare.name)
    return Fragment(raw, path, call if goes_on else None, None, choice)


def _remember_call(it: Fragment, calls: CallsFacts) -> None:
    call = it.call
    if call is None:
        call = CallFacts(first_arguments=it.function.get("arguments"))
        calls.all.append(call)
        if it.index is not None:
            calls.by_index[it.index] = call
            calls.highest = max(calls.highest, it.index)
    calls.open = call
    call.id = call.id or it.id
    call.name = call.name or it.name
    call.fragments += 1


def _remember_choice(choice: Choice, facts: ChoiceFacts) -> None:
    delta = choice.delta
    facts.chunks += 1
    facts.roles += delta.get("role") is not None
    facts.content = facts.content or bool(delta.get("content"))
    facts.reasoning = facts.reasoning or bool(delta.get("reasoning_content") or delta.get("reasoning"))
    facts.finish = choice.finish or facts.finish


def _remember_usage(chunk: Chunk, usage: UsageFacts) -> None:
    if usage.x_groq is None and as_object(chunk.raw.get("x_groq")).get("usage"):
        usage.x_groq = chunk.frame
    if not chunk.raw.get("usage"):
        if usage.chunks and usage.followed_by is None:
            usage.followed_by = chunk.frame
        return
    usage.chunks += 1
    usage.alone += not chunk.choices
    if chunk.choices:
        usage.beside = usage.beside or chunk.frame
    usage.first = usage.first or chunk.frame
    usage.last = chunk.frame
