"""Rules about any event: its name and type, and the fields that clients count on."""

from __future__ import annotations

from harness.conformance.rules.openai_responses.names import EXTENSION, ITEM_EVENTS, RAW_REASONING, SDK_EVENTS, family
from harness.conformance.rules.openai_responses.sights import Event
from harness.conformance.rules.openai_responses.values import number, shown, text
from harness.conformance.rules.rule import Breach, Need, Rules, Said
from harness.conformance.rules.sights import Payload
from harness.dialects.openai_responses.growth import DELTAS
from harness.dialects.translating import as_object
from harness.findings import Level

EVENTS = Rules("RSP", dialects=["openai-responses"])
_TEXT_EVENTS = ("response.output_text.delta", "response.output_text.done")
_SDK = "SDK-OAI: the types have it required"


@EVENTS.rule(
    5,
    Level.MUST,
    "the name of the server-sent event, where there is one, is the type in its JSON",
    at=Event,
    kind="responses/event-name",
    source="OR-SPEC; openai-responses.md section 2; recordings: 69 of 69",
    why="Some clients go by the name and some by the type: they see two different streams.",
    bad='event: response.delta over {"type":"response.output_text.delta"}',
    good='event: response.output_text.delta over {"type":"response.output_text.delta"}',
)
def name_is_type(it: Event) -> Said:
    if not it.frame.name:
        return None
    if it.frame.name == it.kind:
        return True
    message = f"the event is named {shown(it.frame.name)} and its type is {shown(it.kind)}"
    return Breach(message, "/type", expected=it.frame.name, got=it.kind)


@EVENTS.rule(
    40,
    Level.INFO,
    "an event type is one of the official SDK's, or of the form slug:name that Open Responses has for extensions",
    at=Event,
    kind="responses/unknown-event",
    source="SDK-OAI, union of stream events; OR-SPEC; OpenAI's own recordings break it",
    why="Clients that check against the union drop it, or fail.",
    bad='{"type":"response.my_event"}',
    good='{"type":"acme:my_event"}',
    seen="OpenAI (keepalive, apply_patch_call_operation_diff), Bedrock mantle (reasoning_part)",
)
def known_type(it: Event) -> Said:
    if it.kind in SDK_EVENTS or EXTENSION(it.kind):
        return True
    return Breach(f"the official SDK knows no event {shown(it.kind)}, and it has not the form slug:name", "/type", got=it.kind)


@EVENTS.rule(
    41,
    Level.SHOULD,
    "required lists are there: logprobs on the text's delta and done, annotations on parts of output_text",
    at=Event,
    kind="responses/list-missing",
    source=_SDK,
    why="Clients iterate over them and raise on nothing.",
    bad='{"type":"response.output_text.delta","delta":"Hi"}',
    good='{"type":"response.output_text.delta","delta":"Hi","logprobs":[]}',
    seen="OpenAI in early 2025, LiteLLM, llama.cpp, xAI",
)
def required_lists(it: Event) -> Said:
    part = as_object(it.raw.get("part"))
    if it.kind in _TEXT_EVENTS:
        path, got = "/logprobs", it.raw.get("logprobs")
    elif part.get("type") == "output_text":
        path, got = "/part/annotations", part.get("annotations")
    else:
        return None
    if isinstance(got, list):
        return True
    return Breach(f"{it.kind} has {shown(got)} at {path}; a list was expected", path, got=got)


@EVENTS.rule(
    42,
    Level.MUST,
    "deltas have no obfuscation when the request turned it off",
    at=Event,
    kind="responses/obfuscation-unasked",
    needs=[Need.STREAM, Need.REQUEST],
    source="SDK-OAI, stream_options.include_obfuscation; openai-responses.md section 1",
    why="Whoever turned it off did so to save the bytes.",
    bad='"include_obfuscation":false, and yet {"delta":"Hi","obfuscation":"Qx9"}',
    good='{"delta":"Hi"}',
)
def no_obfuscation_unasked(it: Event) -> Said:
    options = as_object((it.case.asked or {}).get("stream_options"))
    if options.get("include_obfuscation") is not False or it.kind not in DELTAS:
        return None
    if "obfuscation" not in it.raw:
        return True
    message = "a delta has obfuscation, and the request said include_obfuscation: false"
    return Breach(message, "/obfuscation", got=it.raw["obfuscation"])


@EVENTS.rule(
    46,
    Level.MUST,
    "deltas of raw reasoning are called reasoning_text (OpenAI) or reasoning (Open Responses), not both in one stream",
    at=Event,
    kind="responses/reasoning-mixed",
    source="SDK-OAI; OR-SPEC",
    why="Clients know one of the two names: half of the reasoning is lost.",
    bad="response.reasoning_text.delta, then response.reasoning.delta",
    good="response.reasoning_text.delta throughout",
)
def one_name_of_reasoning(it: Event) -> Said:
    name = RAW_REASONING.get(family(it.kind))
    if name is None:
        return None
    other = next((known for known in it.facts.reasoning if known != name), None)
    if other is None:
        return True
    return Breach(f"{it.kind}, where response.{other} was used before", "/type", expected=f"response.{other}", got=it.kind)


@EVENTS.rule(
    47,
    Level.SHOULD,
    "events have a name: an event: line before the data",
    at=Event,
    kind="responses/event-unnamed",
    source="OR-SPEC; openai-responses.md section 2; recordings: 69 of 70",
    why="Clients that go by the event's name get none of them.",
    bad='data: {"type":"response.created",…} alone',
    good="event: response.created before it",
    seen="OpenRouter, LiteLLM, Bedrock mantle (gpt-oss)",
)
def has_a_name(it: Event) -> Said:
    return True if it.frame.name else Breach(f"an event without a name, of type {shown(it.kind)}")


@EVENTS.rule(
    49,
    Level.MUST,
    "every payload has a string type",
    at=Payload,
    kind="responses/unknown-event",
    source="bug report BR-065; SDK-OAI dispatches on it; recordings: 70 of 70",
    why="Clients dispatch on the type: a payload without one, most often an error, is dropped or raises KeyError.",
    bad='{"error":{"message":"model not served"}}',
    good='{"type":"error","message":"model not served",…}',
    seen="gateways",
)
def has_a_type(it: Payload) -> Said:
    if not isinstance(it.value, dict):
        return Breach(f"{shown(it.value)}, where an object with a type was expected", "")
    kind = it.value.get("type")
    return True if text(kind) else Breach(f"the type is {shown(kind)}; a string was expected", "/type", got=kind)


@EVENTS.rule(
    54,
    Level.MUST,
    "events of an item, its parts and its text have a whole number as output_index",
    at=Event,
    kind="responses/index-missing",
    source=f"{_SDK}; tried: SDK-OAI raises TypeError; recordings: 70 of 70",
    why="It is the key of the item; the official client indexes its list of items with it.",
    bad='{"type":"response.output_text.delta","item_id":"msg_1","delta":"Hi"}',
    good='{"type":"response.output_text.delta","output_index":0,"item_id":"msg_1","content_index":0,"delta":"Hi",…}',
    seen="llama.cpp",
)
def has_an_output_index(it: Event) -> Said:
    if it.kind not in ITEM_EVENTS:
        return None
    index = it.raw.get("output_index")
    if number(index):
        return True
    return Breach(f"{it.kind} has {shown(index)} as output_index; a number was expected", "/output_index", got=index)
