"""The reduced public bug reports: what our collector makes of each, against the right outcome.

Here the response and the outcome are held to account, and that no conforming input draws a MUST finding. That every named
violation is reported is the rule catalogue's affair.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import checking, inputs
from harness.findings import Level
from tests.shared import SHARED

INPUTS = SHARED / "spec" / "bug-inputs"
NEEDS_THE_LOOP = {"BR-060": "the caller cancels in the middle: there is no caller before there is a loop"}
EXPECTED = sorted(INPUTS.glob("*.expected.json"))


def _checked(expected: dict[str, Any]) -> checking.Checked:
    (given,) = inputs.load(INPUTS / expected["input"], expected["api"])
    return checking.check(given)


@pytest.mark.parametrize("path", EXPECTED, ids=lambda p: p.name.split(".")[0])
def test_bug_input(path: Path) -> None:
    expected = json.loads(path.read_text())
    if expected["id"] in NEEDS_THE_LOOP:
        pytest.skip(NEEDS_THE_LOOP[expected["id"]])
    checked = _checked(expected)
    outcome = checked.outcome
    assert (outcome is checking.Outcome.ERROR) == (expected["outcome"] == "error")
    if expected["outcome"] == "ok":
        assert [f for f in checked.findings if f.level is Level.MUST] == []
    assert _comparable(checked.as_dict()["response"], expected["response"]) == _wanted(expected["response"])


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
