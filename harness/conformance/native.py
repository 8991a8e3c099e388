"""Law 4: the collected body is genuine. The vendor's own non-streaming type judges, where its package is installed.

Real bodies run ahead of SDK types, and types lag, so plain validation fails on a third of genuine bodies. The measure is the
baseline instead: the (path, error) pairs that recorded first-party non-streaming bodies show themselves. A collected body
may show those and no other. The baseline is data beside this file, made by `nox -s oracle -- --write` from the corpus; the
same session fails when it is not what the corpus gives.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from harness import dialects
from harness.errors import Where
from harness.findings import Finding

Flaw = tuple[str, str]
"""(path with `*` for elements, kind of error)."""


def findings(dialect: str, body: Any) -> list[Finding] | None:
    """What the vendor's type says against a collected body beyond the baseline; None where its package is not installed or no
    vendor has a type for it."""
    found = flaws(dialect, body)
    if found is None:
        return None
    allowed = baseline().get(dialect, frozenset())
    return [
        Finding(
            kind="native/unlike",
            message=f"{path}: {error}; no recorded non-streaming body shows this",
            where=Where(path=path),
        )
        for path, error in sorted(found - allowed)
    ]


def flaws(dialect: str, body: Any) -> frozenset[Flaw] | None:
    """Everything that the vendor's type says against a body; None where it cannot be asked."""
    judge = _judge(dialect, body)
    return None if judge is None else frozenset(judge(body))


@cache
def baseline() -> dict[str, frozenset[Flaw]]:
    """The flaws that recorded first-party non-streaming bodies show, by dialect."""
    text = files("harness.conformance").joinpath("native_baseline.json").read_text(encoding="utf-8")
    return {dialect: frozenset((path, error) for path, error in pairs) for dialect, pairs in json.loads(text).items()}


_Judge = Callable[[Any], Iterable[Flaw]]


def _judge(dialect: str, body: Any) -> _Judge | None:
    try:
        if dialect == "bedrock-invoke":
            inner = inner_dialect(body)
            return _without_bedrock_keys(_JUDGES[inner]()) if inner else None
        return _JUDGES[dialect]() if dialect in _JUDGES else None
    except ImportError:
        return None


def inner_dialect(body: Any) -> str | None:
    """Whose body stands inside Bedrock's, where the inner vendor has a published type: Anthropic and OpenAI do."""
    form = body if isinstance(body, dict) else {}
    if form.get("type") == "message":
        return "anthropic-messages"
    if form.get("object") == "chat.completion" and str(form.get("model", "")).startswith("openai."):
        return "openai-chat"
    return None


def _without_bedrock_keys(judge: _Judge) -> _Judge:
    """Bedrock adds keys of its own to the vendor's last event; in plain answers they are headers."""
    return lambda body: judge({name: field for name, field in body.items() if not name.startswith("amazon-bedrock-")})


@cache
def _openai_chat() -> _Judge:
    from openai.types.chat import ChatCompletion

    return _pydantic(ChatCompletion)


@cache
def _openai_responses() -> _Judge:
    from openai.types.responses import Response

    return _pydantic(Response)


@cache
def _gemini() -> _Judge:
    from google.genai.types import GenerateContentResponse

    return _pydantic(GenerateContentResponse)


@cache
def _anthropic() -> _Judge:
    from anthropic.types.beta import BetaMessage  # a superset of Message: recordings use beta blocks

    return _pydantic(BetaMessage)


@cache
def _ollama() -> _Judge:
    from ollama import ChatResponse, GenerateResponse

    chat, generate = _pydantic(ChatResponse), _pydantic(GenerateResponse)
    return lambda body: generate(body) if isinstance(body, dict) and "response" in body else chat(body)


@cache
def _bedrock_converse() -> _Judge:
    from botocore.session import Session

    shape = Session().get_service_model("bedrock-runtime").operation_model("Converse").output_shape
    return lambda body: _botocore(shape, body, "")


_JUDGES: dict[str, Callable[[], _Judge]] = {
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "gemini": _gemini,
    "bedrock-converse": _bedrock_converse,
    "ollama-chat": _ollama,
    "anthropic-messages": _anthropic,
}


def _pydantic(model: Any) -> _Judge:
    """Asks a pydantic model, strictly: a number is no text, and where the type of a tagged union is unknown that is said."""
    from pydantic import ValidationError

    def judge(body: Any) -> Iterable[Flaw]:
        try:
            model.model_validate_json(json.dumps(body), strict=True)
        except ValidationError as errors:
            found = errors.errors(include_url=False, include_context=False, include_input=False)
            yield from _of_meant_members([(error["loc"], error["type"]) for error in found])
        except Exception as error:  # validators of the vendor's own, which take less than they should
            yield "", f"raises {type(error).__name__}"
        yield from _extra(model, body)

    return judge


_Errors = list[tuple[tuple[int | str, ...], str]]


def _of_meant_members(errors: _Errors) -> Iterable[Flaw]:
    """Where a union has no member that fits, pydantic tells the errors of all members: only those of the members that the
    value means to be, by its `type`, say something about it."""
    other = {loc[:-1] for loc, kind in errors if loc[-1:] == ("type",) and kind in ("literal_error", "missing")}
    meant = [(loc, kind) for loc, kind in errors if not any(loc[: len(o)] == o for o in other)]
    yield from ((_place(loc), kind) for loc, kind in meant)
    unions = {o[:-1] for o in other if not any(o[: len(outer)] == outer for outer in other if outer != o)}
    yield from ((_place(u), "no member of the union") for u in unions if not any(loc[: len(u)] == u for loc, _ in meant))


def _extra(model: Any, body: Any) -> Iterable[Flaw]:
    """Top-level fields that the type does not have: SDK types allow them silently."""
    names = set()
    for name, field in model.model_fields.items():
        names |= {name, field.alias or name, str(field.validation_alias or name), str(field.serialization_alias or name)}
    for name in body if isinstance(body, dict) else ():
        if name not in names:
            yield f"/{name}", "extra"


def _place(location: tuple[int | str, ...]) -> str:
    return "".join(f"/{'*' if isinstance(step, int) else step}" for step in location)


def _botocore(shape: Any, value: Any, at: str) -> Iterable[Flaw]:
    """Asks botocore's output shape: members, types, required members."""
    kind = shape.type_name
    wanted = _BOTOCORE_TYPES.get(kind)
    if wanted is not None and (not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean")):
        yield at, f"not a {kind}"
        return
    if kind == "structure" and not getattr(shape, "is_document_type", False):
        for name, field in value.items():
            if name not in shape.members:
                yield f"{at}/{name}", "extra"
            elif field is not None:
                yield from _botocore(shape.members[name], field, f"{at}/{name}")
        for name in shape.required_members:
            if name not in value:
                yield f"{at}/{name}", "missing"
        if getattr(shape, "is_tagged_union", False) and len(value.keys() & shape.members.keys()) != 1:
            yield at, "not one member of the union"
    elif kind == "list":
        for element in value:
            yield from _botocore(shape.member, element, f"{at}/*")
    elif kind == "map":
        for field in value.values():
            yield from _botocore(shape.value, field, f"{at}/*")


_BOTOCORE_TYPES: dict[str, Any] = {
    "structure": dict,
    "list": list,
    "map": dict,
    "string": str,
    "blob": str,
    "integer": int,
    "long": int,
    "float": (int, float),
    "double": (int, float),
    "boolean": bool,
}


def record_baseline(bodies: Iterable[tuple[str, Any]]) -> dict[str, list[list[str]]]:
    """The baseline that recorded first-party non-streaming bodies give: (dialect, body) in, the contents of the file out."""
    found: dict[str, set[Flaw]] = {dialect.name: set() for dialect in dialects.registered()}
    for dialect, body in bodies:
        found[dialect] |= flaws(dialect, body) or frozenset()
    return {dialect: [list(flaw) for flaw in sorted(pairs)] for dialect, pairs in found.items()}
