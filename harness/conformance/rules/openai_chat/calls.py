"""Rules about calls as wholes: what their fragments came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from harness import payload
from harness.conformance.rules.openai_chat.facts import CallFacts, ChatFacts
from harness.conformance.rules.openai_chat.sights import Call, Choice, Turn, request, rules, turns
from harness.conformance.rules.rule import Breach, Need, Said
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_object, as_objects
from harness.findings import Level

CALLS = rules()

_COMPLETE = ("tool_calls", "stop", "function_call")
_NO_JSON = object()


@CALLS.rule(
    27,
    Level.MUST,
    "the arguments of a call that was finished are JSON, or nothing",
    at=Ending,
    kind="tool/arguments-invalid-json",
    source="SDK-OAI; BR-011, BR-012; BR-013 (`ok`: cut by the token limit)",
    why="The call cannot be run: its arguments do not parse.",
    bad='arguments {"a":1}{"b":2}, then "finish_reason":"tool_calls"',
    good='arguments {"a":1}, then "finish_reason":"tool_calls"',
    seen="gateways that weld parallel calls together, local models",
)
def arguments_parse(it: Ending) -> Said:
    calls = _finished(it)
    if not calls:
        return None
    return [
        Breach(
            "the arguments of a finished call do not parse as JSON", f"{call.path}/function/arguments", got=call.arguments[:200]
        )
        for _, call in calls
        if call.arguments.strip() and _value(call.arguments) is _NO_JSON
    ] or True


@CALLS.rule(
    28,
    Level.SHOULD,
    "the arguments of a call are a JSON object",
    at=Ending,
    kind="tool/arguments-not-object",
    source="function calling: parameters are described by a schema of an object",
    why="Arguments are given by name; a bare value belongs to none of them.",
    bad='arguments "null"',
    good='arguments "{}"',
    seen="small local models",
)
def arguments_are_an_object(it: Ending) -> Said:
    values = [(call, value) for _, call in _finished(it) if (value := _value(call.arguments)) is not _NO_JSON]
    if not values:
        return None
    return [
        Breach("the arguments are JSON, but no object", f"{call.path}/function/arguments", "an object", value)
        for call, value in values
        if not isinstance(value, dict)
    ] or True


@CALLS.rule(
    29,
    Level.INFO,
    "the arguments of a call come in fragments of their own",
    at=Ending,
    kind="tool/arguments-not-incremental",
    source="recordings; the way of OpenAI's own: a head with empty arguments, then the arguments",
    why="Nothing is wrong with a whole call in one chunk; but clients that wait for later fragments keep the call empty.",
    bad='{"index":0,"id":"c1","type":"function","function":{"name":"tide","arguments":"{\\"port\\":\\"Hull\\"}"}}',
    good='"arguments":"" in the first fragment, "{\\"port\\":" and "\\"Hull\\"}" in later ones',
    seen="Groq, xAI, Mistral, Cerebras, Ollama (compatibility endpoint)",
)
def arguments_are_streamed(it: Ending) -> Said:
    facts = it.facts
    calls = [c for choice in facts.choices.values() for c in choice.calls.all] if isinstance(facts, ChatFacts) else []
    judged = [call for call in calls if call.fragments > 1 or _whole(call)]
    whole = [call for call in judged if call.fragments == 1]
    if not judged:
        return None
    return [Breach(f"the call of {call.name!r} came whole, in one fragment") for call in whole] or True


@CALLS.rule(
    30,
    Level.SHOULD,
    "no two calls of a choice have the same id",
    at=Ending,
    kind="tool/id-repeated",
    source="results are matched to calls by id. OpenAI's own choices may share one: dd-trace-py, multiple-choices-with-tools",
    why="Two results go to one call, or the second one replaces the first.",
    bad='two calls with "id":"call_0"',
    good='"id":"call_0" and "id":"call_1"',
    seen="old builds of Ollama and llama.cpp",
)
def ids_are_unique(it: Ending) -> Said:
    counts = [Counter(call.id for call in turn.calls if isinstance(call.id, str) and call.id) for turn in turns(it)]
    counts = [ids for ids in counts if ids.total() > 1]
    if not counts:
        return None
    repeated = [(name, count) for ids in counts for name, count in ids.items() if count > 1]
    return [Breach(f"{count} calls have the id {name!r}", got=name) for name, count in repeated] or True


@CALLS.rule(
    52,
    Level.MUST,
    "calls come in the deprecated `function_call` only if the request has `functions`",
    at=Choice,
    needs=[Need.REQUEST],
    kind="tool/function-call-unasked",
    source="SDK-OAI, `ChoiceDelta.function_call`: deprecated, replaced by `tool_calls`",
    why="Clients that sent `tools` look for `tool_calls` alone, and see a turn without any call.",
    bad='"tools":[…] answered with {"delta":{"function_call":{…}}}',
    good='"tools":[…] answered with {"delta":{"tool_calls":[…]}}',
    seen="old proxies",
)
def no_deprecated_call_unasked(it: Choice) -> Said:
    asked = request(it.case)
    if asked is None:
        return None
    call = it.delta.get("function_call")
    if asked.get("functions"):
        return True if call else None
    if call is None:
        return True
    return Breach("a function_call, though the request has no functions", f"{it.path}/delta/function_call", got=call)


@CALLS.rule(
    54,
    Level.MUST,
    "the functions that are called are among the tools of the request",
    at=Ending,
    needs=[Need.REQUEST],
    kind="tool/name-unknown",
    source="function calling",
    why="There is nothing to run: the name is known to nobody.",
    bad='tools "get_weather", a call of "get_wether"',
    good='tools "get_weather", a call of "get_weather"',
    seen="local models",
)
def names_are_known(it: Ending) -> Said:
    called = [(call, call.name) for turn in turns(it) for call in turn.calls if call.name]
    asked = request(it.case)
    if not called or asked is None:
        return None
    known = _tools(asked)
    return [
        Breach(f"a call of {name!r}, which the request does not offer", f"{call.path}/function/name", sorted(known), name)
        for call, name in called
        if name not in known
    ] or True


def _finished(it: Ending) -> list[tuple[Turn, Call]]:
    return [(turn, call) for turn in turns(it) if turn.finish in _COMPLETE for call in turn.calls]


def _whole(call: CallFacts) -> bool:
    return call.fragments == 1 and isinstance(call.first_arguments, str) and _value(call.first_arguments) is not _NO_JSON


def _value(text: str) -> Any:
    try:
        return payload.from_text(text)
    except ValueError:
        return _NO_JSON


def _tools(asked: Mapping[str, Any]) -> set[str]:
    """The names of the functions and custom tools that a request offers."""
    heads = [tool.get("function") or tool.get("custom") for tool in as_objects(asked.get("tools"))]
    heads += as_objects(asked.get("functions"))
    return {name for head in heads if isinstance(name := as_object(head).get("name"), str)}
