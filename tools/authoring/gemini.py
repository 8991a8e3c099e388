"""Gemini, at the Gemini API: turns of one candidate that are told as pieces (wire/google-generatecontent.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from authoring.case import MASKED, Service
from authoring.wire import Cut, googles, json_array, sse
from harness.cassette import Cassette, Exchange
from harness.cassette.model import Ending

SSE, JSON = "text/event-stream", "application/json; charset=UTF-8"
SOURCE = "written from wire/google-generatecontent.md; proved with google-genai 3.6.1"
_ANSWERING = (("vary", "Origin"), ("vary", "X-Origin"), ("vary", "Referer"), ("x-content-type-options", "nosniff"))
GOOGLE = Service(
    dialect="gemini",
    provider="google",
    host="generativelanguage.googleapis.com",
    asking=(("x-goog-api-key", MASKED),),
    answering=_ANSWERING,
    source=SOURCE,
)
VERTEX = Service(
    dialect="gemini",
    provider="vertex",
    host="us-central1-aiplatform.googleapis.com",
    asking=(("authorization", MASKED),),
    answering=_ANSWERING,
    source=SOURCE,
)

Object = dict[str, Any]


class Thought(str):
    """A piece of a thought."""


class Signature(str):
    """A signature, which a stream sends with an empty text after what it signs."""


Piece = str | Object


@dataclass(frozen=True, slots=True)
class Tokens:
    """The counts of a turn. A stream tells of the answer what there is so far."""

    prompt: int
    answer: int
    thoughts: int = 0
    tools: int = 0

    def usage(self, share: float = 1.0) -> Object:
        answer = int(self.answer * share)
        counts = {
            "promptTokenCount": self.prompt,
            "candidatesTokenCount": answer,
            "totalTokenCount": self.prompt + answer + self.thoughts + self.tools,
            "toolUsePromptTokenCount": self.tools,
            "thoughtsTokenCount": self.thoughts,
        }
        details = {"promptTokensDetails": _of_text(self.prompt)}
        if self.tools:
            details["toolUsePromptTokensDetails"] = _of_text(self.tools)
        return {**{name: n for name, n in counts.items() if n}, **details, "serviceTier": "standard"}


@dataclass(frozen=True, slots=True)
class Model:
    """A model at a service, with the ids of its answers."""

    service: Service
    name: str
    version: str = ""
    answer: str = "r1KzaaW7DoKL-O4P0N6Wmwc"

    @property
    def path(self) -> str:
        if self.service is VERTEX:
            return f"/v1beta1/projects/xxxxxxx/locations/us-central1/publishers/google/models/{self.name}"
        return f"/v1beta/models/{self.name}"

    @property
    def constant(self) -> Object:
        """What every chunk of an answer says."""
        told = {"modelVersion": self.version or self.name, "responseId": self.answer}
        return {**told, "createTime": "2026-12-01T09:30:00.412345Z"} if self.service is VERTEX else told


FLASH = Model(GOOGLE, "gemini-2.5-flash")
THREE = Model(GOOGLE, "gemini-3-flash-preview")


def asks(contents: str | list[Object], **fields: Any) -> Object:
    """The body of a request: one question, or a conversation."""
    if isinstance(contents, str):
        contents = [said("user", {"text": contents})]
    return {"contents": contents, **fields}


def said(role: str, *parts: Object) -> Object:
    return {"parts": list(parts), "role": role}


def tool(name: str, description: str, **properties: str) -> Object:
    """The declaration of a function whose parameters are all texts."""
    fields = {field: {"description": says, "type": "STRING"} for field, says in properties.items()}
    schema = {"properties": fields, "required": list(fields), "type": "OBJECT"}
    return {"description": description, "name": name, "parameters": schema}


def part(piece: Piece) -> Object:
    """A piece as a stream has it."""
    if isinstance(piece, Thought):
        return {"text": str(piece), "thought": True}
    if isinstance(piece, Signature):
        return {"text": "", "thoughtSignature": str(piece)}
    return {"text": piece} if isinstance(piece, str) else piece


def whole(pieces: Sequence[Piece]) -> list[Object]:
    """The parts of the answer that is not streamed: texts are joined, empty ones left out."""
    parts: list[Object] = []
    for piece in pieces:
        new = part(piece)
        if piece == "":
            continue
        if isinstance(piece, Signature) and parts:
            parts[-1] = {**parts[-1], "thoughtSignature": str(piece)}
        elif isinstance(piece, str) and parts and parts[-1].keys() == new.keys():
            parts[-1] = {**parts[-1], "text": parts[-1]["text"] + new["text"]}
        else:
            parts.append(new)
    return parts


def candidate(parts: list[Object], **fields: Any) -> Object:
    return {"content": {"parts": parts, "role": "model"}, **fields, "index": 0}


def turn(
    scenario: str,
    request: Object,
    steps: Sequence[Sequence[Piece]],
    tokens: Tokens,
    *,
    model: Model = FLASH,
    finish: str = "STOP",
    closing: Object | None = None,
    plain: Object | None = None,
    each: Sequence[Object] = (),
    cut: Cut = "each",
    array: bool = False,
) -> Cassette:
    """A turn of one candidate. `steps` are the pieces of each chunk, `each` other fields of its candidate; `closing` comes with
    the last one, `plain` only where nothing is streamed."""
    chunks = []
    for number, pieces in enumerate(steps):
        last = number + 1 == len(steps)
        fields = each[number] if each else {}
        ends = {"finishReason": finish, **(closing or {})} if last else {}
        usage = tokens.usage((number + 1) / len(steps))
        chunks.append({"candidates": [candidate([part(p) for p in pieces], **{**ends, **fields})], "usageMetadata": usage})
    pieces = [piece for step in steps for piece in step]
    answer = candidate(whole(pieces), finishReason=finish, **(closing or {}), **(plain or {}))
    return answered(scenario, request, chunks, {"candidates": [answer], "usageMetadata": tokens.usage()}, model, cut, array)


def answered(
    scenario: str,
    request: Object,
    chunks: Sequence[Object],
    answer: Object,
    model: Model = FLASH,
    cut: Cut = "each",
    array: bool = False,
    asked_plainly: Object | None = None,
) -> Cassette:
    """A turn whose chunks and whose answer are told in full, but for what all of them say."""
    stream = streamed(request, [{**chunk, **model.constant} for chunk in chunks], model, cut, array=array)
    ask = model.service.request(f"{model.path}:generateContent", asked_plainly or request)
    body = googles({**answer, **model.constant}, indent=2) + "\n"
    return model.service.case(scenario, model.name, stream, model.service.plain(ask, JSON, body))


def streamed(
    request: Object,
    chunks: Sequence[Object],
    model: Model = FLASH,
    cut: Cut = "each",
    ending: Ending = "eof",
    array: bool = False,
    left: int | None = None,
) -> Exchange:
    """The streamed side: server-sent events with CRLF, or a JSON array; of the last event perhaps only `left` bytes."""
    query = "" if array else "?alt=sse"
    ask = model.service.request(f"{model.path}:streamGenerateContent{query}", request)
    events = json_array(chunks) if array else [sse(googles(chunk), eol="\r\n") for chunk in chunks]
    if left is not None:
        events[-1] = events[-1][:left]
    return model.service.streamed(ask, JSON if array else SSE, events, cut=cut, ending=ending)


def refused(scenario: str, request: Object, error: Object, model: Model = FLASH) -> Cassette:
    """A request that is refused, with and without a stream. Under alt=sse the body is no array."""
    body = googles({"error": error}, indent=2) + "\n"
    sides = [
        model.service.plain(model.service.request(f"{model.path}:{method}", request), JSON, body, status=error["code"])
        for method in ("streamGenerateContent?alt=sse", "generateContent")
    ]
    return model.service.case(scenario, model.name, *sides)


def _of_text(count: int) -> list[Object]:
    return [{"modality": "TEXT", "tokenCount": count}]
