"""Rules about thoughts and signatures."""

from __future__ import annotations

import re

from harness.conformance.rules.gemini.asked import generation, request, setting
from harness.conformance.rules.gemini.sights import Call, Part
from harness.conformance.rules.rule import Breach, Need, Rules, Said
from harness.findings import Level

THOUGHTS = Rules("GGL", dialects=["gemini"])
_WIRE = "wire/google-generatecontent.md section 6"
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)={0,2}")
_SIGNED_SINCE = 3  # the generation of models that wants signatures back


@THOUGHTS.rule(
    24,
    Level.MUST,
    "`thoughtSignature` is base64",
    at=Part,
    kind="thought/signature-form",
    source=f"{_WIRE}; the JSON form of protocol buffers; recordings",
    why="It is bytes to the API: sent back in another form, the next turn is refused.",
    bad='"thoughtSignature":"<sig>"',
    good='"thoughtSignature":"CpQBDq5jEgGn"',
)
def signatures_are_base64(it: Part) -> Said:
    signature = it.raw.get("thoughtSignature")
    if signature is None or signature == "":
        return None
    if isinstance(signature, str) and _BASE64.fullmatch(signature) and len(signature.rstrip("=")) % 4 != 1:
        return True
    return Breach("a signature that is no base64", f"{it.path}/thoughtSignature", expected="base64", got=signature)


@THOUGHTS.rule(
    25,
    Level.MUST,
    "the first function call of a turn of Gemini 3 is signed",
    at=Call,
    kind="thought/signature-missing",
    source=f"{_WIRE}; Gemini documentation, thought signatures; BR-087; recordings, 8 of 8",
    why="The API refuses the next turn if the call comes back without its signature.",
    bad='{"functionCall":{"name":"tide","args":{}}} as the first call',
    good='{"functionCall":{"name":"tide","args":{}},"thoughtSignature":"CpQB"}',
    seen="bridges to other APIs, which have no place for signatures",
)
def first_call_is_signed(it: Call) -> Said:
    chunk = it.part.candidate.chunk
    version = chunk.raw.get("modelVersion") or chunk.facts.constants.get("modelVersion")
    if not it.name or it.part.candidate.facts.calls or (generation(chunk.case, version) or 0) < _SIGNED_SINCE:
        return None
    if it.part.raw.get("thoughtSignature"):
        return True
    return Breach("the first call has no `thoughtSignature`, which this model's calls need to be sent back with", it.part.path)


@THOUGHTS.rule(
    26,
    Level.INFO,
    "signatures stand on parts that say something",
    at=Part,
    kind="thought/signature-alone",
    source=f"{_WIRE}; recordings, 7 streams",
    why="Clients that drop empty texts drop the signature with them.",
    bad='{"text":"","thoughtSignature":"CpQB"}',
    good='{"text":" gap.","thoughtSignature":"CpQB"}',
    seen="Gemini 3",
)
def signatures_have_company(it: Part) -> Said:
    if not it.raw.get("thoughtSignature"):
        return None
    says = any(value and name not in ("thought", "thoughtSignature") for name, value in it.raw.items())
    return True if says else Breach("a signature on an empty text; it belongs to the part before", it.path)


@THOUGHTS.rule(
    27,
    Level.MUST,
    "thoughts are shown only where `includeThoughts` was asked for",
    at=Part,
    kind="thought/unasked",
    source=f"{_WIRE}; SDK-GGL ThinkingConfig.include_thoughts; recordings",
    why="A client that did not ask for thoughts shows them as part of the answer.",
    bad='{"text":"Let me see","thought":true} in answer to a request without "includeThoughts"',
    good='"thinkingConfig":{"includeThoughts":true}',
    needs=(Need.STREAM, Need.REQUEST),
)
def thoughts_were_asked_for(it: Part) -> Said:
    asked = request(it.candidate.chunk.case)
    if asked is None or it.raw.get("thought") is not True:
        return None
    if setting(asked, "generationConfig", "thinkingConfig", "includeThoughts") is True:
        return True
    return Breach("a thought, though the request does not set `includeThoughts`", f"{it.path}/thought")
