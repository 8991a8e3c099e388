"""Rules about the parts of a candidate's content."""

from __future__ import annotations

from harness.conformance.rules.gemini.sights import Candidate, Part
from harness.conformance.rules.rule import Breach, Rules, Said
from harness.findings import Level

PARTS = Rules("GGL", dialects=["gemini"])
_DATA = (
    "text",
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)


@PARTS.rule(
    8,
    Level.MUST,
    "`content.role` is `model` when it is there",
    at=Candidate,
    kind="delta/role-invalid",
    source="SDK-GGL Content; recordings: `model` in 507 of 507 that have one; BR-094",
    why="The turn goes back to the API as it is: another role is refused, or read as the user's words.",
    bad='{"role":"assistant","parts":[{"text":"a"}]}',
    good='{"role":"model","parts":[{"text":"a"}]}',
    seen="servers that translate from other APIs",
)
def role_is_model(it: Candidate) -> Said:
    role = it.content.get("role")
    if role is None or role == "model":
        return True if role else None
    return Breach(f"the role is {role!r}; `model` was expected", f"{it.path}/content/role", expected="model", got=role)


@PARTS.rule(
    9,
    Level.MUST,
    "each part has exactly one data field; one with only a signature counts as empty text",
    at=Part,
    kind="gemini/part-form",
    source="wire/google-generatecontent.md section 2; SDK-GGL Part is a union",
    why="Clients look for one kind after the other: they see the first and drop what stands beside it.",
    bad='{"text":"a","functionCall":{…}}',
    good='{"text":"a"}, {"functionCall":{…}}',
)
def parts_have_one_field(it: Part) -> Said:
    present = {name for name, value in it.raw.items() if value is not None}
    data = [name for name in _DATA if name in present]
    if len(data) > 1:
        message = f"a part with {' and '.join(data)}; one of them was expected, and a part of its own for each"
        return Breach(message, it.path, expected="one data field", got=data)
    if data or "thoughtSignature" in present:
        return True
    return None if present - {"thought"} else Breach("a part with no data", it.path, expected="one data field", got=it.raw)
