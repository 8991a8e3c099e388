"""Rules about the pieces of a call whose arguments are streamed. What may follow what stands in `order`."""

from __future__ import annotations

from harness.conformance.rules.gemini.asked import request, setting
from harness.conformance.rules.gemini.sights import Call, Piece, StreamFacts
from harness.conformance.rules.rule import Breach, Need, Rules, Said
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_list
from harness.findings import Level

PARTIAL_ARGS = Rules("GGL", dialects=["gemini"])
_WIRE = "wire/google-generatecontent.md section 4"
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


@PARTIAL_ARGS.rule(
    13,
    Level.MUST,
    "`partialArgs` come only where `streamFunctionCallArguments` was asked for",
    at=Call,
    kind="gemini/partial-args-unasked",
    source=f"{_WIRE}; SDK-GGL FunctionCallingConfig.stream_function_call_arguments",
    why="A client that did not ask for pieces reads each of them as a call of its own, with no arguments.",
    bad='partialArgs in answer to a request without "streamFunctionCallArguments"',
    good='"functionCallingConfig":{"streamFunctionCallArguments":true}',
    needs=(Need.STREAM, Need.REQUEST),
)
def pieces_were_asked_for(it: Call) -> Said:
    asked = request(it.part.candidate.chunk.case)
    if asked is None or not as_list(it.raw.get("partialArgs")):
        return None
    if setting(asked, "toolConfig", "functionCallingConfig", "streamFunctionCallArguments") is True:
        return True
    message = "pieces of arguments, though the request does not set `streamFunctionCallArguments`; whole `args` were expected"
    return Breach(message, f"{it.path}/partialArgs")


@PARTIAL_ARGS.rule(
    15,
    Level.MUST,
    "`jsonPath` leads from `$` to an argument, in the normal form of RFC 9535, and agrees with the paths before it",
    at=Ending,
    kind="gemini/partial-args-path",
    source=f"{_WIRE}; SDK-GGL PartialArg.json_path",
    why="The piece cannot be put anywhere: the argument is lost, or the client stops with an exception.",
    bad='"jsonPath":"port"',
    good='"jsonPath":"$.stops[0].port", or "$[\'port\']"',
)
def paths_can_be_followed(it: Ending) -> Said:
    pieces = it.facts.pieces if isinstance(it.facts, StreamFacts) else 0
    return it.breaches("gemini/partial-args-path") or (True if pieces else None)


@PARTIAL_ARGS.rule(
    16,
    Level.MUST,
    "each entry of `partialArgs` has one value",
    at=Piece,
    kind="gemini/partial-args-value",
    source=f"{_WIRE}; SDK-GGL PartialArg is a union",
    why="Without one there is nothing to put at the path; with two, clients differ in which they take.",
    bad='{"jsonPath":"$.port"}',
    good='{"jsonPath":"$.port","stringValue":"Ribe"}',
)
def pieces_have_one_value(it: Piece) -> Said:
    values = [name for name in _VALUES if it.raw.get(name) is not None or (name == "nullValue" and name in it.raw)]
    if len(values) == 1:
        return True
    return Breach(f"an entry with {' and '.join(values) or 'no value'}; one was expected", it.path, ", ".join(_VALUES), values)
