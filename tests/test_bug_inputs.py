"""The reduced public bug reports: what our collector makes of each, against the right outcome.

Response, outcome and every named violation are held to account, and that no conforming input draws a MUST finding.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import checking, inputs
from harness.findings import Level
from tests.shared import SHARED, needed

INPUTS = SHARED / "spec" / "bug-inputs"
EXPECTED = sorted(INPUTS.glob("*.expected.json"))


def _checked(expected: dict[str, Any]) -> checking.Checked:
    (given,) = inputs.load(INPUTS / expected["input"], expected["api"])
    return checking.check(given)


@pytest.mark.parametrize("path", EXPECTED, ids=lambda p: p.name.split(".")[0])
def test_bug_input(path: Path) -> None:
    expected = json.loads(path.read_text())
    checked = _checked(expected)
    assert checked.outcome.value == expected["outcome"]
    assert set(expected["violations"]) <= {finding.kind for finding in checked.findings}
    if expected["outcome"] == "ok":
        assert [f for f in checked.findings if f.level is Level.MUST] == []
    assert _comparable(checked.as_dict()["response"], expected["response"]) == _wanted(expected["response"])


def _client(name: str) -> tuple[checking.Checked, dict[str, Any]]:
    expected = json.loads((needed("spec/bug-inputs") / f"{name}.expected.json").read_text())
    checked = _checked(expected)
    assert set(expected["violations"]) <= {finding.kind for finding in checked.findings}
    if "waits_s" in expected:
        assert checked.as_dict()["client"]["waits_s"] == expected["waits_s"]
    if "reads" in expected:
        assert checked.as_dict()["client"]["reads"] == [expected["reads"]]
    assert checked.played is not None
    assert checked.played.open == 0
    return checked, checked.as_dict()["client"]


@pytest.mark.parametrize(
    ("name", "requests"), [("BR-040", 1), ("BR-057", 1), ("BR-058", 2), ("BR-059", 2), ("BR-060", 1), ("BR-062", 1)]
)
def test_how_often_a_client_asks(name: str, requests: int) -> None:
    """Not again after an error that stays, nor after output; again after a refusal, or an error before any output."""
    checked, client = _client(name)
    assert client["requests"] == requests
    assert checked.played is not None
    assert sum(event.terminal for event in checked.played.events) == 1


def test_a_retry_is_invisible_but_for_a_notice() -> None:
    checked, _ = _client("BR-059")
    assert checked.played is not None
    assert [e.topic for e in checked.played.events if e.topic in ("notice", "text_delta", "error")] == ["notice", "text_delta"]


def test_a_cancelled_turn_is_let_go_of_at_once() -> None:
    """Before the pause of 30 s in the recording, and with one terminal event."""
    checked, client = _client("BR-060")
    assert checked.played is not None
    *before, last = checked.played.events
    assert not any(event.terminal for event in before)
    assert (last.kind, client["reads"]) == ("lifecycle", [1])
    assert last.at < 1


def test_a_slow_subscriber_knows_what_it_missed() -> None:
    _, client = _client("BR-061")
    fast, slow = client["subscribers"]
    assert fast == {"name": "fast", "events": client["events"], "dropped": 0}
    assert (slow["events"], slow["events"] + slow["dropped"]) == (10, client["events"])


@pytest.mark.parametrize("path", EXPECTED, ids=lambda p: p.name.split(".")[0])
def test_detection(path: Path) -> None:
    """The dialect is told from the bytes alone, wherever they hold a payload of a turn."""
    expected = json.loads(path.read_text())
    if expected["input"].endswith(".json") or expected["response"] is None or not expected["response"].get("usage"):
        return
    (given,) = inputs.load(INPUTS / expected["input"])
    assert given.dialect.name == expected["api"]


def _wanted(response: dict[str, Any] | None) -> dict[str, Any] | None:
    if response is None:
        return None
    wanted = dict(response)
    if (repeat := wanted.pop("text_repeat", None)) is not None:
        wanted["text"] = repeat["text"] * repeat["times"]
    return wanted


def _comparable(got: dict[str, Any] | None, expected: dict[str, Any] | None) -> dict[str, Any] | None:
    """The response as far as the expected file speaks of it: ids may be synthetic, counts may be more."""
    if got is None or expected is None:
        return None if got is None or not any(got.values()) else got
    wanted = _wanted(expected) or {}
    comparable = {name: got[name] for name in wanted if name != "usage"}
    if wanted.get("text") is not None and isinstance(got["text"], str):
        comparable["text"] = got["text"].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    comparable["tool_calls"] = [
        {name: call[name] for name in wanted_call}
        for call, wanted_call in zip(got["tool_calls"], wanted["tool_calls"], strict=True)
    ]
    if "usage" in wanted:
        usage = got["usage"]
        comparable["usage"] = None if usage is None else {name: usage[name] for name in wanted["usage"] or usage}
    return comparable
