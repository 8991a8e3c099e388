"""Rules about the calls that a model makes through Ollama."""

from __future__ import annotations

from harness.conformance.rules.ollama.order import OLLAMA
from harness.conformance.rules.ollama.walk import Call
from harness.conformance.rules.rule import Blame, Breach, Need, Said
from harness.conformance.rules.sights import Ending
from harness.findings import Level


@OLLAMA.rule(
    8,
    Level.MUST,
    "function.arguments of a call is an object",
    at=Call,
    kind="tool/arguments-not-object",
    source="OLL-SRC",
    why="Typed clients fail on a string; others hand the text to the tool as if it were its arguments.",
    bad='"arguments":"{\\"port\\":\\"Brest\\"}"',
    good='"arguments":{"port":"Brest"}',
    seen="shims that were written with the OpenAI API in mind",
)
def arguments_are_an_object(it: Call) -> Said:
    arguments = it.function.get("arguments")
    if isinstance(arguments, dict):
        return True
    path = f"{it.path}/function/arguments"
    return Breach(f"the arguments are {arguments!r}; an object was expected", path, "an object", arguments)


@OLLAMA.rule(
    9,
    Level.SHOULD,
    "calls have an id, and no two the same",
    at=Call,
    kind="tool/id-missing",
    source="OLL-SRC: `call_` and eight characters, since 0.12",
    why="Results are matched to calls by id where there are several.",
    bad='{"function":{"name":"tide"}}',
    good='{"id":"call_m3v8q1zx","function":{"name":"tide"}}',
    seen="older servers",
)
def call_has_an_id(it: Call) -> Said:
    identity = it.raw.get("id")
    if not isinstance(identity, str) or not identity:
        return Breach("a call without an id", it.path, kind="tool/id-synthetic")
    return (
        Breach(f"two calls have the id {identity!r}", f"{it.path}/id", got=identity) if identity in it.line.facts.ids else True
    )


@OLLAMA.rule(
    10,
    Level.MUST,
    "calls are only made where tools were sent",
    at=Call,
    needs=[Need.REQUEST],
    kind="tool/unasked",
    source="OLL-SRC",
    why="The caller has no tool to answer with.",
    bad="a call, and no tools in the request",
    good="a call of one of the request's tools",
)
def call_was_asked_for(it: Call) -> Said:
    return True if (it.line.case.asked or {}).get("tools") else Breach("a call, although the request has no tools", it.path)


@OLLAMA.rule(
    21,
    Level.INFO,
    "function.index of the calls of a turn is unique",
    at=Ending,
    kind="tool/index-reused",
    source="OLL-SRC: parsers built into the server count from 0 for each line",
    why="Clients that key calls by it weld two of them together.",
    bad='two calls with "index":0',
    good='"index":0 and "index":1',
    blame=Blame.NOBODY,
)
def indexes_are_unique(it: Ending) -> Said:
    facts = it.facts
    if facts is None or not facts.indexes:
        return None
    return Breach("two calls of the turn have the same function.index") if facts.repeated_indexes else True
