"""Rules about function calls."""

from __future__ import annotations

from harness.conformance.rules.gemini.sights import Call
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.dialects.translating import as_list
from harness.findings import Level

CALLS = Rules("GGL", dialects=["gemini"])
_WIRE = "wire/google-generatecontent.md section 4"


@CALLS.rule(
    11,
    Level.MUST,
    "every call has a `name` that is not empty",
    at=Call,
    kind="tool/name-missing",
    source=f"{_WIRE}; SDK-GGL FunctionCall; recordings",
    why="A call without a name cannot be answered, and sent back it is refused.",
    bad='{"functionCall":{"args":{}}} while no call is open',
    good='{"functionCall":{"name":"tide","args":{}}}',
)
def calls_have_a_name(it: Call) -> Said:
    if isinstance(it.name, str) and it.name:
        return True
    says = {name for name, value in it.raw.items() if value is not None and name != "willContinue"}
    if not it.name and (it.goes_on or not says or as_list(it.raw.get("partialArgs"))):
        return None  # a further part of a call; without an open one, other rules judge it (GGL-014, GGL-019)
    return Breach(f"the name of a call is {it.name!r}; the name of a function was expected", it.path, got=it.name)


@CALLS.rule(
    12,
    Level.MUST,
    "`functionCall.args` is an object",
    at=Call,
    kind="tool/arguments-not-object",
    source=f"{_WIRE}; SDK-GGL FunctionCall.args",
    why="Typed clients refuse the chunk; others hand the function a text where it wants its parameters.",
    bad='"args":"{\\"port\\":\\"Ribe\\"}"',
    good='"args":{"port":"Ribe"}',
    seen="servers that translate from Chat Completions",
)
def arguments_are_an_object(it: Call) -> Said:
    args = it.raw.get("args")
    if args is None or isinstance(args, dict):
        return None if args is None else True
    hint = "; send the object, not its text" if isinstance(args, str) else ""
    return Breach(f"the arguments are {args!r}; an object was expected{hint}", f"{it.path}/args", "an object", args)
