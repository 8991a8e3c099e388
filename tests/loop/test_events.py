"""Events: frozen, numbered, and JSON in both directions."""

from __future__ import annotations

import dataclasses
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.api_error import ApiError, ErrorKind
from harness.errors import InputError
from harness.loop import events as events_module
from harness.loop.artifacts import (
    ArtifactKind,
    Finish,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    kind_of,
)
from harness.loop.events import (
    ArtifactEvent,
    ErrorEvent,
    Event,
    LifecycleEvent,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    NoticeEvent,
    Phase,
    PropertiesEvent,
    RequestEvent,
    Stage,
    TurnCompleteEvent,
    as_json,
    from_json,
)
from harness.loop.gathering import Snapshot
from harness.loop.state import Image, Role, ToolResult, Turn
from harness.loop.telling import Teller
from harness.loop.values import RecordedError
from harness.request import CacheSettings, ResponseFormat, ThinkingLevel, ToolDefinition, TurnRequest
from harness.response import FinishReason, Other, Reasoning, Refusal, Response, Text, ToolCall, Usage

PARTS: tuple[Any, ...] = (
    Text(text="a", annotations=({"url": "x", "type": "text"},), signature="s"),
    Reasoning(text=None, signature="s", encrypted={"type": "reasoning", "data": "…"}),
    Refusal(text="no"),
    ToolCall(id="c0", name="add", arguments='{"type":"text"}', signature="s", synthetic_id=True),
    ToolResult(call_id="c0", name="add", content="3", is_error=True),
    Image(data="AAAA", media_type="image/png"),
    Other(kind="web_search", raw={"type": "text", "text": 1, "inner": [None, 1.5, True]}),
)
DELTAS: tuple[Any, ...] = (
    TextDelta("a"),
    TextDelta("a", key=("text", 1, ("x", 2))),
    ReasoningDelta("b", key=("reasoning", 0)),
    RefusalDelta("c"),
    ToolCallDelta((0, "x"), id="c0", name="add", arguments="{}", complete=True),
    ToolCallDelta(1, arguments="}"),
)
SIDES: tuple[tuple[ArtifactKind, Any], ...] = (
    (ArtifactKind.USAGE, Usage(input_tokens=1, cached_tokens=0)),
    (ArtifactKind.FINISH, Finish(FinishReason.OTHER, "load")),
    (ArtifactKind.FINISH, Finish(None, "odd")),
    (ArtifactKind.REASONING_SIGNATURE, "sig"),
    (ArtifactKind.METADATA, {"type": "usage", "nested": [{"type": "text", "text": "not a part"}]}),
    (ArtifactKind.UNKNOWN, [1, "two", None]),
)
ERROR = ApiError(kind=ErrorKind.RATE_LIMITED, message="slow down", status=429, code=7, retryable=True, retry_after=1.5)
REQUEST = TurnRequest(
    model="m-1",
    system="Be brief.",
    turns=(Turn(role=Role.USER, parts=PARTS, at=1.0), Turn(role=Role.TOOL, extension={"memo": [1]})),
    tools=(ToolDefinition(name="add", parameters={"type": "object"}),),
    thinking_level=ThinkingLevel.LOW,
    cache=CacheSettings(key="k"),
    response_format=ResponseFormat(schema={"type": "object"}),
    stop=("END",),
    options={"seed": 1},
)
PLACE: dict[str, Any] = {"turn": 3, "seq": 9, "at": 1.25, "context": {"trace": "t-1"}}
EVENTS: list[Event] = [
    *(LifecycleEvent(phase=phase) for phase in Phase),
    *(ArtifactEvent(artifact=kind_of(part), value=part) for part in PARTS),
    *(ArtifactEvent(artifact=delta.kind, value=delta) for delta in DELTAS),
    *(ArtifactEvent(artifact=kind, value=value) for kind, value in SIDES),
    TurnCompleteEvent(role=Role.ASSISTANT, parts=PARTS, usage=Usage(output_tokens=2), finish=Finish(FinishReason.STOP, "end")),
    TurnCompleteEvent(role=Role.USER, parts=()),
    *(ErrorEvent(stage=stage, error=ERROR) for stage in Stage),
    ErrorEvent(stage=Stage.HANDLER, error=RecordedError("ValueError", "broken")),
    PropertiesEvent(properties={"a": "b", "gone": None}),
    NoticeEvent(message="again", attempt=1, max_attempts=3, delay=0.5, error=ERROR),
    RequestEvent(request=REQUEST, origins=("user", "live")),
    MessageStartEvent(role=Role.ASSISTANT, error="broken"),
    *(MessageUpdateEvent(parts=Snapshot([DELTAS[0], *PARTS]), delta=delta) for delta in (DELTAS[0], PARTS[0])),
    MessageEndEvent(role=Role.ASSISTANT, parts=PARTS, stop="stop"),
]


@pytest.mark.parametrize("place", [{}, PLACE], ids=["bare", "placed"])
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: f"{event.kind}-{event.topic}")
def test_L40_an_event_comes_back_from_its_json(event: Event, place: dict[str, Any]) -> None:
    event = dataclasses.replace(event, **place)
    shown = as_json(event)
    read = from_json(json.loads(json.dumps(shown)))
    assert read == event
    assert type(read) is type(event)
    assert as_json(read) == shown
    assert ("context" in shown) is bool(place)


def test_L40_every_kind_of_event_has_an_example_here() -> None:
    defined = {cls for cls in vars(events_module).values() if isinstance(cls, type) and issubclass(cls, Event)} - {Event}
    assert {type(event) for event in EVENTS} == defined
    assert {event.artifact for event in EVENTS if isinstance(event, ArtifactEvent)} == set(ArtifactKind)


def test_an_artifact_that_is_told_is_an_event_as_any_other() -> None:
    """It is filled in a way of its own, since there is one for every fragment."""
    told: list[Event] = []
    teller = Teller([told.append], lambda: 1.25)
    teller.turn, teller.context = 3, {"trace": "t-1"}
    teller.artifact(ArtifactKind.TEXT_DELTA, DELTAS[0])
    (event,) = told
    made = ArtifactEvent(turn=3, seq=1, at=1.25, context={"trace": "t-1"}, artifact=ArtifactKind.TEXT_DELTA, value=DELTAS[0])
    assert type(event) is ArtifactEvent
    assert event == made
    assert repr(event) == repr(made)
    assert pickle.loads(pickle.dumps(event)) == made
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.seq = 2  # type: ignore[misc]


def test_an_exception_comes_back_by_name() -> None:
    read = from_json(as_json(ErrorEvent(stage=Stage.HANDLER, error=ZeroDivisionError("by zero"))))
    assert isinstance(read, ErrorEvent)
    assert read.error == RecordedError("ZeroDivisionError", "by zero")
    assert len({read.error, RecordedError("ZeroDivisionError", "by zero"), RecordedError("KeyError", "by zero")}) == 2


def test_where_a_turn_came_from_is_not_in_its_json() -> None:
    response = Response(parts=(Text(text="a"),), raw={"secret": 1})
    event = TurnCompleteEvent(role=Role.ASSISTANT, parts=(Text(text="a"),), response=response)
    assert "secret" not in json.dumps(as_json(event))
    request = RequestEvent(request=TurnRequest(turns=(Turn(role=Role.ASSISTANT, response=response),)))
    assert "secret" not in json.dumps(as_json(request))
    assert from_json(as_json(event)) == event


def test_values_that_json_has_no_form_for_are_told_as_text() -> None:
    shown = as_json(ArtifactEvent(artifact=ArtifactKind.METADATA, value={1: {2, 3}, "b": b"x"}))
    assert json.loads(json.dumps(shown))["value"] == {"1": "{2, 3}", "b": "b'x'"}


def test_events_are_frozen() -> None:
    for event in EVENTS:
        with pytest.raises(dataclasses.FrozenInstanceError):
            event.turn = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"kind": None},
        {"kind": ["lifecycle"]},
        {"kind": "nobody's"},
        {"kind": "lifecycle"},
        {"kind": "lifecycle", "phase": "paused"},
        {"kind": "lifecycle", "phase": "done", "more": 1},
        {"kind": "artifact", "value": 1},
        {"kind": "artifact", "artifact": "smell", "value": 1},
        {"kind": "artifact", "artifact": "text", "value": {"type": "text", "colour": "red"}},
        {"kind": "artifact", "artifact": "text", "value": {"type": ["text"]}},
        {"kind": "artifact", "artifact": ["text"], "value": 1},
        {"kind": "turn_complete", "role": "assistant", "parts": None},
        {"kind": "error", "stage": "provider", "error": None},
        {"kind": "error", "stage": "provider", "error": {"kind": "bad", "message": ""}},
        {"kind": "error", "stage": "provider", "error": {"exception": "X"}},
        {"kind": "message_update", "parts": 3, "delta": None},
    ],
)
def test_what_is_no_event_is_refused(shown: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        from_json(shown)


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_FIELDS = ["kind", "turn", "phase", "artifact", "value", "role", "parts", "stage", "error", "properties", "type", "request"]
_WORDS = st.sampled_from(["lifecycle", "artifact", "text", "usage", "error", "turn_complete", "request", "done", "user"])


@given(st.dictionaries(st.sampled_from(_FIELDS), _WORDS | _ANY))
def test_reading_events_raises_nothing_else(shown: dict[str, Any]) -> None:
    try:
        event = from_json(shown)
    except InputError:
        return
    assert event.kind == shown["kind"]


def test_a_snapshot_is_a_sequence_of_parts() -> None:
    snapshot = Snapshot([TextDelta("a"), ReasoningDelta("b"), TextDelta("c")])
    assert snapshot == (Text(text="ac"), Reasoning(text="b"))
    assert (len(snapshot), snapshot[0], snapshot[1:]) == (2, Text(text="ac"), [Reasoning(text="b")])
    assert snapshot == Snapshot(list(snapshot))
    assert snapshot != "ac"
    assert "Text" in repr(snapshot)
