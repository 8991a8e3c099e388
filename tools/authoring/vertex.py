"""Gemini, at Vertex AI: function calls whose arguments are streamed (wire/google-generatecontent.md section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from authoring.gemini import VERTEX, Model, Object, answered, asks, candidate, tool
from authoring.gemini_turns import SIGNATURE, TIDE
from harness.cassette import Cassette

PRO = Model(VERTEX, "gemini-3.1-pro-preview", answer="TLUtaaqhGv6q4_UPm8mA6Qo")
_CONFIG = {"functionCallingConfig": {"mode": "AUTO", "streamFunctionCallArguments": True}}
_PASSING = {"trafficType": "ON_DEMAND"}
_COUNTS = {"promptTokenCount": 31, "candidatesTokenCount": 27, "totalTokenCount": 70, "thoughtsTokenCount": 12, **_PASSING}


def turns() -> Iterator[Cassette]:
    yield _text()
    yield _flat()
    yield _nested()


def _text() -> Cassette:
    texts = ["Vertex says", " the same,", " with other counts."]
    told: list[Object] = [{"candidates": [candidate([{"text": text}])], "usageMetadata": _PASSING} for text in texts]
    told[-1] = {"candidates": [candidate([{"text": texts[-1]}], finishReason="STOP")], "usageMetadata": _COUNTS}
    whole = {"candidates": [candidate([{"text": "".join(texts)}], finishReason="STOP")], "usageMetadata": _COUNTS}
    return answered("text", asks("Say something."), told, whole, PRO, cut="threes")


def _flat() -> Cassette:
    """One argument in several pieces; the last one only ends it."""
    calls = [
        {"name": "get_tide", "willContinue": True},
        *_text_of("$.port", "Es", "bjerg", " havn"),
        {},
    ]
    return _calling("tool-call", calls, [("get_tide", {"port": "Esbjerg havn"})])


def _nested() -> Cassette:
    """Objects and lists in the arguments, and every kind of value."""
    calls = [
        {"name": "plan_trip", "willContinue": True},
        *_text_of("$.stops[0].port", "Esb", "jerg"),
        {"willContinue": True},
        {"partialArgs": [{"jsonPath": "$.stops[0].nights", "numberValue": 2}], "willContinue": True},
        *_text_of("$.stops[1].port", "Ribe"),
        {
            "partialArgs": [
                {"jsonPath": "$.stops[1].nights", "numberValue": 1},
                {"jsonPath": "$.by_ferry", "boolValue": True},
                {"jsonPath": "$.guide", "nullValue": "NULL_VALUE"},
            ],
            "willContinue": True,
        },
        {},
    ]
    stops = [{"port": "Esbjerg", "nights": 2}, {"port": "Ribe", "nights": 1}]
    return _calling("tool-call-nested", calls, [("plan_trip", {"stops": stops, "by_ferry": True, "guide": None})])


def _text_of(path: str, *texts: str) -> Iterator[Object]:
    """A text at a path, piece by piece, and its end."""
    for text in texts:
        yield {"partialArgs": [{"jsonPath": path, "stringValue": text, "willContinue": True}], "willContinue": True}
    yield {"partialArgs": [{"jsonPath": path, "stringValue": ""}], "willContinue": True}


def _calling(scenario: str, calls: list[Object], made: list[tuple[str, Object]]) -> Cassette:
    """A turn of streamed calls, one piece a chunk. The first of them is signed, where it begins."""
    parts: list[Object] = [{"functionCall": call} for call in calls]
    parts[0] = {**parts[0], "thoughtSignature": SIGNATURE}
    told: list[Object] = [{"candidates": [candidate([part])], "usageMetadata": _PASSING} for part in parts]
    told[-1] = {"candidates": [candidate([parts[-1]], finishReason="STOP")], "usageMetadata": _COUNTS}
    whole: list[Object] = [{"functionCall": {"name": name, "args": args}} for name, args in made]
    whole[0] = {**whole[0], "thoughtSignature": SIGNATURE}
    answer = {"candidates": [candidate(whole, finishReason="STOP")], "usageMetadata": _COUNTS}
    plainly: dict[str, Any] = asks("Plan what I need.", tools=[{"functionDeclarations": [TIDE, *_OTHERS]}])
    return answered(scenario, {**plainly, "toolConfig": _CONFIG}, told, answer, PRO, asked_plainly=plainly)


_OTHERS = (
    {"description": "All ports", "name": "list_ports"},
    tool("plan_trip", "Plan a trip along the coast", stops="The stops"),
)
