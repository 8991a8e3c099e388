"""Law 2: nothing is lost silently. An invented field at any object level, and an invented event, are listed and kept.

Objects whose names are the user's or the model's own are no vocabulary: `OWN` names the fields that hold them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness.edits import PartKind
from harness.framing import Frame
from tests.laws.cases import CORPUS, Stream, each_dialect, each_stream, generic, objects, of

INVENTED = "zz_invented"
OWN = {
    "arguments",
    "args",
    "input",
    "parameters",
    "schema",
    "input_schema",
    "additionalModelResponseFields",  # fields that the request named
    "json",  # of a Bedrock tool result
    "metadata",
    "$defs",
    "response",  # of a Gemini function response
    "error",  # every server has its own form of it
}


@each_stream
def test_first_party_streams_hold_nothing_unknown(stream: Stream) -> None:
    if stream.case.provider in stream.dialect.vendors:
        assert stream.collected().unknown == ()


@each_dialect
def test_an_invented_field_is_found_at_every_object_level(dialect: str) -> None:
    """Once for each object level that any recording of the dialect has."""
    missed = []
    tried = 0
    for stream, number, payload, at in _levels(dialect):
        tried += 1
        collected = stream.collected(_with(stream, number, _changed(payload, at)))
        listed = [unknown.where.path for unknown in collected.unknown]
        kept = INVENTED in json.dumps(collected.body) or INVENTED in repr(collected.error and collected.error.raw)
        found = any(f"{at}/{INVENTED}".startswith(p) or p.startswith(f"{at}/{INVENTED}") for p in listed if p)
        if not found or not kept:
            missed.append((stream.case.id, number, at, listed[:3], kept))
    assert missed == []
    assert tried or not of(dialect)


@each_dialect
def test_an_invented_event_is_found(dialect: str) -> None:
    for stream in of(dialect)[:12]:
        middle = len(stream.frames) // 2
        name = "chunk" if dialect == "bedrock-invoke" else INVENTED
        event = Frame(middle, name, _wrapped(stream, {"type": INVENTED, "zz": [1]}), 0.0, (0, 0), _headers(stream))
        frames = [*stream.frames[:middle], event, *stream.frames[middle:]]
        collected = stream.collected(frames)
        assert any(INVENTED in repr(unknown) for unknown in collected.unknown), stream
        assert INVENTED in json.dumps(collected.body)


@each_dialect
def test_unknown_edits_are_marked(dialect: str) -> None:
    """The edits themselves say that they are of something unknown, so that whoever shows them can."""
    for stream, number, payload, at in list(_levels(dialect))[:3]:
        collector = stream.collector()
        frames = _with(stream, number, _changed(payload, at))
        edits = [edit for frame in frames for edit in collector.add(frame)]
        assert any(edit.part.kind is PartKind.UNKNOWN for edit in edits)


def _levels(dialect: str) -> Iterator[tuple[Stream, int, dict[str, Any], str]]:
    """(stream, frame number, payload, pointer of an object): the first of every level, told by the kinds on the way."""
    seen: set[Any] = set()
    for stream in of(dialect):
        for number, frame in enumerate(stream.frames):
            payload = _payload(stream, frame)
            for at, _ in objects(payload) if isinstance(payload, dict) else ():
                if OWN & set(at.split("/")):
                    continue
                level = (frame.name, _kinds(payload, at), generic(at))
                if level not in seen:
                    seen.add(level)
                    yield stream, number, payload, at


def _kinds(payload: Any, at: str) -> tuple[Any, ...]:
    """The `type` of every object on the way to a place."""
    kinds, value = [], payload
    for step in ["", *at.split("/")[1:]]:
        if step:
            value = value[int(step)] if isinstance(value, list) else value[step.replace("~1", "/").replace("~0", "~")]
        if isinstance(value, dict):
            kinds.append(value.get("type") if isinstance(value.get("type"), str) else None)
    return tuple(kinds)


def _payload(stream: Stream, frame: Frame) -> Any:
    try:
        value = json.loads(frame.data)
        if stream.case.dialect == "bedrock-invoke" and isinstance(value.get("bytes"), str):
            value = json.loads(base64.b64decode(value["bytes"]))
    except (ValueError, AttributeError):
        return None
    return value


def _changed(payload: dict[str, Any], at: str) -> dict[str, Any]:
    copy = json.loads(json.dumps(payload))
    target = next(value for place, value in objects(copy) if place == at)
    target[INVENTED] = {"deep": 1}
    return copy


def _with(stream: Stream, number: int, payload: dict[str, Any]) -> list[Frame]:
    frame = stream.frames[number]
    data = _wrapped(stream, payload) if b'"bytes"' in frame.data else json.dumps(payload).encode()
    new = Frame(frame.index, frame.name, data, frame.at, frame.span, frame.headers)
    return [*stream.frames[:number], new, *stream.frames[number + 1 :]]


def _wrapped(stream: Stream, payload: dict[str, Any]) -> bytes:
    data = json.dumps(payload).encode()
    if stream.case.dialect == "bedrock-invoke":
        data = json.dumps({"bytes": base64.b64encode(data).decode()}).encode()
    return data


def _headers(stream: Stream) -> dict[str, object] | None:
    if stream.dialect.framings[0] != "event-stream":
        return None
    name = "chunk" if stream.case.dialect == "bedrock-invoke" else INVENTED
    return {":message-type": "event", ":event-type": name, ":content-type": "application/json"}


@pytest.mark.skipif(not CORPUS, reason="the corpus is not here")
def test_the_corpus_has_levels_enough() -> None:
    """The test above is not empty: the corpus shows many object levels of each dialect."""
    for dialect in ("openai-chat", "openai-responses", "gemini", "anthropic-messages"):
        assert sum(1 for _ in _levels(dialect)) > 20
