"""What passes while a recording plays: everything, in the order in which it happens, at the times of the recording."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from harness import cassette, checking, dialects, inputs
from harness.cassette.model import Chunk, Exchange
from harness.edits import Op
from harness.loop.events import ArtifactEvent, ErrorEvent, Event, LifecycleEvent
from harness.replay import VirtualClock
from harness.reporting.results import dumped
from harness.showing import json_lines, replaying
from harness.showing.watching import Arrived, Ended, Passing, Taken, watch
from tests import chat
from tests.exchanges import document, exchange, sse
from tests.loop.running import run

EBB, FLOW, STOPS = (sse(payload, end=False) for payload in (chat.text("Ebb"), chat.text(" and flow"), chat.stops()))
DONE = sse()


def pieces(*chunks: tuple[float, bytes], **more: Any) -> Exchange:
    whole = exchange(b"", **more)
    return Exchange(
        request=whole.request,
        headers=whole.headers,
        chunks=tuple(Chunk(at=at, data=data) for at, data in chunks),
        ending=whole.ending,
    )


def watched(recorded: Exchange, dialect: str = "openai-chat", clock: VirtualClock | None = None) -> list[Passing]:
    seen: list[Passing] = []
    run(watch(recorded, dialects.dialect(dialect), clock or VirtualClock(), seen.append))
    return seen


def told(passing: Passing) -> str:
    """In a word."""
    match passing:
        case Arrived():
            return f"chunk {passing.number}"
        case Taken():
            return "end" if passing.frame is None else f"frame {passing.frame.index}"
        case Ended():
            return passing.ending
        case LifecycleEvent():
            return passing.phase.value
        case ArtifactEvent():
            return passing.artifact.value
    return passing.kind


TURN = pieces((0.5, EBB + FLOW[:9]), (1.5, FLOW[9:]), (2.0, STOPS + DONE))


def test_a_piece_then_its_frames_then_what_a_consumer_is_told() -> None:
    assert [told(passing) for passing in watched(TURN)] == [
        "submitted",
        *("chunk 0", "frame 0", "streaming", "text_delta"),
        *("chunk 1", "frame 1", "text_delta"),
        *("chunk 2", "frame 2", "frame 3"),
        *("eof", "end"),
        *("text", "finish", "turn_complete", "done"),
    ]


def test_times_are_those_of_the_recording() -> None:
    seen = watched(TURN)
    events = [passing for passing in seen if isinstance(passing, Event)]
    assert [(told(event), event.at) for event in events][:4] == [
        ("submitted", 0.0),
        ("streaming", 0.5),
        ("text_delta", 0.5),
        ("text_delta", 1.5),
    ]
    assert {event.at for event in events[4:]} == {2.0}
    assert [passing.at for passing in seen if isinstance(passing, Arrived)] == [0.5, 1.5, 2.0]
    assert [passing.span for passing in seen if isinstance(passing, Arrived)][:2] == [
        (0, len(EBB) + 9),
        (len(EBB) + 9, len(EBB) + len(FLOW)),
    ]


def test_it_waits_on_the_clock() -> None:
    clock = VirtualClock(100.0)
    watched(TURN, clock=clock)
    assert clock() == 102.0


@pytest.mark.parametrize(("ending", "kind"), [("reset", "truncated"), ("timeout", "timeout")])
def test_a_cut_ends_in_an_error(ending: Any, kind: str) -> None:
    seen = watched(pieces((0.5, EBB), ending=ending))
    assert [told(passing) for passing in seen][-4:] == [ending, "end", "text", "error"]
    last = seen[-1]
    assert isinstance(last, ErrorEvent)
    assert str(getattr(last.error, "kind", "")) == kind
    notes = [edit for passing in seen if isinstance(passing, Taken) for edit in passing.edits if edit.op is Op.NOTE]
    assert [note.value.kind for note in notes] == ["stream/truncated"]


def test_no_response() -> None:
    assert [told(passing) for passing in watched(Exchange(status=0, ending="reset"))] == ["submitted", "error"]


def test_a_refusal_has_no_frames() -> None:
    seen = watched(document({"error": {"message": "slow down"}}, status=429))
    assert [told(passing) for passing in seen] == ["submitted", "chunk 0", "eof", "error"]


@pytest.mark.parametrize("date", ["Mon, 30 Nov 2026 12:00:00 GMT", "Mon, 30 Nov 2026 14:00:00 +0200"])
def test_how_long_to_wait_is_measured_by_when_it_was_said(date: str) -> None:
    recorded = document({"error": {}}, status=429, retry_after="Mon, 30 Nov 2026 12:00:07 GMT", date=date)
    last = watched(recorded)[-1]
    assert isinstance(last, ErrorEvent)
    assert getattr(last.error, "retry_after", None) == 7.0


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 30 Nov 9999999 12:00:00 GMT"])
def test_a_date_that_is_none(date: str) -> None:
    last = watched(document({"error": {}}, status=429, retry_after="7", date=date))[-1]
    assert isinstance(last, ErrorEvent)
    assert getattr(last.error, "retry_after", None) == 7.0


def test_a_plain_answer_has_no_frames() -> None:
    body = {"choices": [{"index": 0, "message": {"content": "Ebb"}, "finish_reason": "stop"}]}
    seen = [told(passing) for passing in watched(document(body))]
    assert seen == ["submitted", "chunk 0", "eof", "streaming", "text", "finish", "turn_complete", "done"]


def test_what_a_frame_carries_is_its_payload() -> None:
    (case,) = cassette.load(cassette.shipped() / "bedrock-invoke/bedrock/titan-text.yaml")
    assert case.stream is not None
    frames = [p for p in watched(case.stream, "bedrock-invoke") if isinstance(p, Taken) and p.frame is not None]
    for taken in frames:
        assert taken.frame is not None
        assert base64.b64decode(json.loads(taken.frame.data)["bytes"]) == taken.payload


def test_what_show_raises_is_raised_and_nothing_is_shown_after_it() -> None:
    for number in range(len(watched(TURN))):
        seen: list[Passing] = []

        def show(passing: Passing, seen: list[Passing] = seen, number: int = number) -> None:
            seen.append(passing)
            if len(seen) > number:
                raise BrokenPipeError("nobody reads")

        with pytest.raises(BrokenPipeError):
            run(watch(TURN, dialects.dialect("openai-chat"), VirtualClock(), show))
        assert len(seen) == number + 1


def test_cancelling_is_told_and_leaves_nothing() -> None:
    seen: list[Passing] = []
    clock = VirtualClock()

    async def scenario() -> None:
        task = asyncio.create_task(watch(TURN, dialects.dialect("openai-chat"), clock, seen.append))
        await clock.sleep(1.0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    run(scenario())
    assert [told(passing) for passing in seen][-2:] == ["text_delta", "cancelled"]
    assert clock.sleeping == 0


# JSON lines


def lines(given: inputs.Input) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    replaying.as_lines(given, VirtualClock(), written.append)
    return json.loads(dumped(written))  # type: ignore[no-any-return]


def test_json_lines_hold_everything() -> None:
    written = [line for passing in watched(TURN) for line in json_lines.lines(passing, 0)]
    frame = next(line for line in written if line["type"] == "frame")
    assert json.loads(frame["data"]) == chat.text("Ebb")
    assert (frame["at"], frame["span"]) == (0.5, [0, len(EBB) - 2])
    edit = next(line for line in written if line["type"] == "edit" and line["op"] == "concat")
    assert edit == {
        "type": "edit",
        "exchange": 0,
        "frame": 0,
        "op": "concat",
        "path": "/choices/0/message/content",
        "part": "text",
        "value": "Ebb",
    }
    assert {"type": "end", "exchange": 0, "at": 2.0, "ending": "eof"} in written
    assert json.loads(dumped(written)) == written  # plain values all through


@pytest.mark.parametrize("case", list(cassette.load(cassette.shipped())), ids=lambda case: case.id)
def test_every_shipped_cassette_plays_to_one_end(case: Any) -> None:
    given = replaying.chosen(cassette.shipped() / f"{case.id}.yaml")
    written = lines(given)
    assert written == lines(given)
    ends = [line for line in written if line.get("kind") == "error" or line.get("phase") in ("done", "cancelled")]
    assert len(ends) == 1
    assert written[-1] == {"type": "checked", **json.loads(dumped(checking.check(given).as_dict()))}
    assert written[-2] == ends[0]
    assert (ends[0]["kind"] == "error") == (written[-1]["outcome"] == "error")
    (side,) = given.exchanges
    assert [line["span"][1] for line in written if line["type"] == "chunk"][-1:] == [len(side.body)][: len(side.chunks)]
