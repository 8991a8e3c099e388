"""Rules about what stands in blocks: the input of calls, reasoning and its signature."""

from __future__ import annotations

import base64

from harness.conformance.rules.bedrock.order import BEDROCK
from harness.conformance.rules.bedrock.sights import Closing, Delta, Start
from harness.conformance.rules.rule import Breach, Said
from harness.dialects.translating import as_object, as_objects
from harness.findings import Level

_CUT_SHORT = ("max_tokens", "model_context_window_exceeded")
_MODEL = "service model"


@BEDROCK.rule(
    15,
    Level.MUST,
    "toolUse.input of a delta is a string",
    at=Delta,
    kind="tool/arguments-not-string",
    source=f"{_MODEL}, ToolUseBlockDelta; wire/bedrock-converse.md section 4",
    why="Clients join the pieces as texts: an object makes them raise, or leaves its Python form in the input.",
    bad='"toolUse":{"input":{"port":"Esbjerg"}}',
    good='"toolUse":{"input":"{\\"port\\":\\"Esbjerg\\"}"}',
    seen="gateways that know the form that is not streamed",
)
def input_is_a_string(it: Delta) -> Said:
    if "toolUse" not in it.members:
        return None
    got = as_object(it.members["toolUse"]).get("input")
    if isinstance(got, str):
        return True
    return Breach(f"input is of type {type(got).__name__}; a string was expected", f"{it.path}/toolUse/input", "a string", got)


@BEDROCK.rule(
    16,
    Level.MUST,
    "the input of a call is a JSON object, or empty, unless the token limit cut it off",
    at=Closing,
    kind="tool/arguments-invalid-json",
    source="wire/bedrock-converse.md section 4; recordings, 12 of 12; BR-095",
    why="The call cannot be run, and the stop reason says that it should be.",
    bad='input `{"port":`, then "stopReason":"tool_use"',
    good='input `{"port":"Esbjerg"}`, then "stopReason":"tool_use"',
)
def input_is_an_object(it: Closing) -> Said:
    body = as_object(it.ending.seen.body)
    if it.facts is None or not it.ending.seen.complete or body.get("stopReason") in _CUT_SHORT:
        return None
    content = as_object(as_object(body.get("output")).get("message")).get("content")
    calls = [call for block in as_objects(content) if (call := as_object(block.get("toolUse")))]
    broken = [call for call in calls if not isinstance(call.get("input"), dict)]
    return [_unfit(call, it) for call in broken] or (True if calls else None)


def _unfit(call: dict[str, object], it: Closing) -> Breach:
    """A breach at the start of a call, whose input was gathered."""
    identity, got = call.get("toolUseId"), call.get("input")
    begun = it.facts.ids.get(identity) if it.facts is not None and isinstance(identity, str) else None
    frame, path = begun or (None, None)
    message = f"the input of the call {identity!r} is no JSON object: {got!r:.120}"
    if frame is None:
        return Breach(message, got=got)
    return Breach(message, path, got=got, frame=frame.index, span=frame.span)


@BEDROCK.rule(
    17,
    Level.MUST,
    "a call has a toolUseId and a name, and no two calls have the same id",
    at=Start,
    kind="tool/id-missing",
    source=f"{_MODEL}, ToolUseBlockStart: both required",
    why="Results are matched to calls by id; of two calls with one id, one gets no answer and the next request is refused.",
    bad='two starts with "toolUseId":"t1"',
    good='"toolUseId":"t1" and "toolUseId":"t2"',
)
def call_has_identity(it: Start) -> Said:
    if it.call is None:
        return None
    path = f"{it.path}/toolUse"
    identity, name = it.call.get("toolUseId"), it.call.get("name")
    if not isinstance(identity, str) or not identity:
        return Breach(f"toolUseId is {identity!r}", f"{path}/toolUseId", got=identity)
    if not isinstance(name, str) or not name:
        return Breach(f"the name of the call {identity!r} is {name!r}", f"{path}/name", got=name, kind="tool/name-missing")
    if identity in it.facts.ids:
        return Breach(f"two calls have the id {identity!r}", f"{path}/toolUseId", got=identity, kind="tool/id-repeated")
    return True


@BEDROCK.rule(
    24,
    Level.MUST,
    "a block of reasoning has at most one signature, after its text",
    at=Delta,
    kind="bedrock/signature",
    source="wire/bedrock-converse.md section 3; recordings",
    why="The signature is sent back with the text that it was made for; another text, or half of one, is refused.",
    bad='{"signature":"EqQB…"}, then {"text":"I look it up"}',
    good='{"text":"I look it up"}, then {"signature":"EqQB…"}',
)
def signature_comes_last(it: Delta) -> Said:
    path = f"{it.path}/reasoningContent"
    if it.reasoning.get("signature"):
        return Breach("a second signature of one block", f"{path}/signature") if it.block.signed else True
    if it.block.signed and it.reasoning.get("text"):
        return Breach("reasoning follows the signature of its block", f"{path}/text")
    return None


@BEDROCK.rule(
    25,
    Level.MUST,
    "redactedContent is base64, and stands in a block without reasoning that can be read",
    at=Delta,
    kind="bedrock/redacted",
    source=f"{_MODEL}: a blob, and a union; recordings",
    why="It must be sent back as it came; in one block with a text, one of them is lost.",
    bad='{"text":"I look"} and {"redactedContent":"R2Vk"}, both of block 0',
    good='{"redactedContent":"R2Vk"} of block 0, {"text":"I look"} of block 1',
)
def redacted_stands_alone(it: Delta) -> Said:
    redacted = it.reasoning.get("redactedContent")
    path = f"{it.path}/reasoningContent"
    if redacted is None:
        mixed = it.block.redacted and (it.reasoning.get("text") or it.reasoning.get("signature"))
        return Breach("reasoning that can be read in a block that has redacted content", path) if mixed else None
    if it.block.plain or len(it.reasoning) > 1:
        return Breach("redacted content in a block of reasoning that can be read", path)
    if _is_base64(redacted):
        return True
    return Breach("redactedContent is no base64", f"{path}/redactedContent", got=redacted)


def _is_base64(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(base64.b64decode(value, validate=True))
    except ValueError:
        return False
