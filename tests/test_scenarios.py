"""Scenarios with a client: the loop plays it, on a clock that costs no time, and `check` reports what it did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import checking, inputs
from harness.checking import Checked, Outcome
from harness.errors import InputError, NoRecordingError
from harness.findings import LOST, Level
from tests import chat
from tests.exchanges import sse

TURN = sse(chat.opens("Hel"), chat.text("lo"), chat.stops()).decode()
REFUSED = {"status": 429, "reads": [{"text": '{"error": {"message": "slow down"}}'}]}
STREAM = {"headers": {"content-type": "text/event-stream"}}
ANSWERED = {**STREAM, "reads": [{"text": TURN}]}
YEAR = 365 * 24 * 3600


def played(folder: Path, *exchanges: dict[str, Any], **client: Any) -> Checked:
    path = folder / "scenario.json"
    value = {"format": "scenario/1", "api": "openai-chat", "exchanges": list(exchanges), "client": client}
    path.write_text(json.dumps(value))
    (given,) = inputs.load(path)
    return checking.check(given)


def refused(**headers: str) -> dict[str, Any]:
    return {**REFUSED, "headers": headers}


def test_a_client_that_asks_again(tmp_path: Path) -> None:
    checked = played(tmp_path, REFUSED, REFUSED, ANSWERED, max_retries=2)
    assert (checked.outcome, checked.seen.complete) == (Outcome.OK, True)
    assert checked.as_dict()["client"] == {
        "requests": 3,
        "waits_s": [1.0, 2.0],
        "reads": [1, 1, 1],
        "events": 11,
        "subscribers": [],
    }
    assert {f.where.exchange for f in checked.findings} == {0, 1}


def test_a_client_that_gives_up(tmp_path: Path) -> None:
    checked = played(tmp_path, REFUSED, REFUSED, ANSWERED, max_retries=1)
    assert checked.outcome is Outcome.ERROR
    assert checked.seen.error is not None
    assert checked.seen.error.retryable
    assert checked.as_dict()["client"]["requests"] == 2


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({}, [1.0]),
        ({"retry-after": "7"}, [7.0]),
        ({"retry-after-ms": "250", "retry-after": "7"}, [0.25]),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:00 GMT"}, [60.0]),
    ],
    ids=["no hint", "seconds", "milliseconds", "date"],
)
def test_a_refusal_says_how_long_to_wait(headers: dict[str, str], waits: list[float], tmp_path: Path) -> None:
    checked = played(tmp_path, refused(**headers), ANSWERED, max_retries=1, clock="2026-11-30T12:00:00Z")
    assert checked.as_dict()["client"]["waits_s"] == waits
    assert checked.outcome is Outcome.OK


def test_nobody_waits_for_a_year(tmp_path: Path) -> None:
    """A hint beyond all patience is a refusal: the error goes up with the hint in it, at once."""
    checked = played(tmp_path, refused(**{"retry-after": str(YEAR)}), ANSWERED, max_retries=3)
    assert checked.as_dict()["client"]["requests"] == 1
    assert checked.as_dict()["client"]["waits_s"] == []
    assert checked.outcome is Outcome.ERROR


def test_a_reset_in_the_middle_of_a_character(tmp_path: Path) -> None:
    """What had come before is the partial response; nothing was made up for the rest of the character."""
    whole = sse(chat.opens("Hel"), chat.text("é"), end=False)
    cut = whole[: whole.index("é".encode()) + 1]
    checked = played(tmp_path, {"reads": [{"hex": cut.hex()}], "end": "reset"}, ANSWERED, max_retries=3)
    assert checked.outcome is Outcome.ERROR
    assert checked.seen.response is not None
    assert checked.seen.response.text == "Hel"
    assert checked.as_dict()["client"]["requests"] == 1


def test_a_cut_before_any_output_is_asked_for_again(tmp_path: Path) -> None:
    checked = played(tmp_path, {"reads": [], "end": "reset"}, ANSWERED, max_retries=3)
    assert (checked.outcome, checked.as_dict()["client"]["requests"]) == (Outcome.OK, 2)


@pytest.mark.parametrize(
    ("kind", "count", "text"), [("text_delta", 1, "Hel"), ("text_delta", 2, "Hello"), ("artifact", 1, "Hel")]
)
def test_a_client_that_cancels(kind: str, count: int, text: str, tmp_path: Path) -> None:
    reads = [{"text": piece + "\n\n"} for piece in TURN.split("\n\n")[:-1]]
    checked = played(tmp_path, {**STREAM, "reads": reads}, cancel_after_events={"kind": kind, "count": count})
    assert checked.outcome is Outcome.ERROR
    assert checked.seen.error is not None
    assert checked.seen.error.kind.value == "cancelled"
    assert checked.seen.response is not None
    assert checked.seen.response.text == text
    kinds = {f.kind for f in checked.findings}
    assert "loop/cancelled" in kinds
    assert not kinds & LOST, "that the body then ends in the middle is nobody's fault"
    assert {f.level for f in checked.findings} == {Level.INFO}
    assert checked.played is not None
    assert checked.played.open == 0


def test_a_client_that_would_cancel_later_is_not_cancelled(tmp_path: Path) -> None:
    assert played(tmp_path, ANSWERED, cancel_after_events={"kind": "text_delta", "count": 3}).outcome is Outcome.OK


def test_subscribers_that_block_lose_nothing(tmp_path: Path) -> None:
    many = sse(chat.opens(""), *(chat.text("x") for _ in range(300)), chat.stops()).decode()
    listeners = [{"name": "one", "buffer": 2, "on_full": "block"}, {"name": "late", "buffer": 5, "reads_after": "end"}]
    client = played(tmp_path, {"reads": [{"text": many}]}, subscribers=listeners).as_dict()["client"]
    one, late = client["subscribers"]
    assert one == {"name": "one", "events": client["events"], "dropped": 0}
    assert (late["events"], late["events"] + late["dropped"]) == (5, client["events"])


def test_what_is_recorded_plays_again_in_the_same_pieces(tmp_path: Path) -> None:
    pieces = [TURN[:40], TURN[40:41], TURN[41:300], TURN[300:]]
    exchange = {"reads": [{"text": piece, "wait_s": 30} for piece in pieces]}
    checked = played(tmp_path, exchange, record_then_replay=True)
    assert checked.outcome is Outcome.OK
    assert checked.as_dict()["client"]["reads"] == [4]
    assert checked.played is not None
    assert checked.played.events[-1].at == 120.0


@pytest.mark.parametrize(
    ("client", "message"),
    [
        ({"retries": 1}, "client.retries: Extra inputs are not permitted"),
        ({"max_retries": -1}, "client.max_retries: Input should be greater than or equal to 0"),
        ({"clock": "2026-11-30T12:00:00"}, "client.clock: Input should have timezone info"),
        ({"cancel_after_events": {"count": 1}}, "client.cancel_after_events.kind: Field required"),
        (
            {"subscribers": [{"name": "a", "buffer": 0}]},
            "client.subscribers.0.buffer: Input should be greater than or equal to 1",
        ),
        (
            {"subscribers": [{"name": "a", "on_full": "block", "reads_after": "end"}]},
            "client.subscribers.0: Value error, a sub",
        ),
    ],
)
def test_settings_that_are_none(client: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        played(tmp_path, ANSWERED, **client)
    assert caught.value.message.startswith(message)


def test_a_client_that_asks_for_more_than_there_is(tmp_path: Path) -> None:
    with pytest.raises(NoRecordingError, match="a request too many"):
        played(tmp_path, REFUSED, max_retries=1)
