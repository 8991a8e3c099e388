"""Rules of Ollama: what a line must have, and a limit that is reached."""

from __future__ import annotations

from typing import Any

import pytest

from harness.conformance.inspection import inspect
from harness.conformance.rules import Judged
from harness.findings import Level
from tests.chat import encoded
from tests.exchanges import exchange

ASKED = {"model": "tide-1", "messages": [], "options": {"num_predict": 4}}
COUNTS = {"total_duration": 9, "load_duration": 1, "prompt_eval_count": 3, "prompt_eval_duration": 2, "eval_duration": 4}


def line(second: int = 0, **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Ebb"}
    return {"model": "tide-1", "created_at": f"2026-01-01T00:00:0{second}Z", "message": message, "done": False, **fields}


def done(count: int, reason: str = "stop") -> dict[str, Any]:
    return line(9, message={"role": "assistant", "content": ""}, done=True, done_reason=reason, eval_count=count, **COUNTS)


def judged(*lines: dict[str, Any]) -> Judged:
    body = b"".join(encoded(one) + b"\n" for one in lines)
    _, out = inspect(exchange(body, path="/api/chat", request=ASKED), "ollama-chat", "here")
    assert not out.errors
    return out


def grave(*lines: dict[str, Any]) -> set[str | None]:
    return {
        finding.rule
        for finding in judged(*lines).findings
        if finding.level is not Level.INFO and str(finding.rule).startswith("OLL")
    }


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({}, set()),
        ({"model": None}, {"OLL-004"}),
        ({"model": ""}, {"OLL-004"}),
        ({"created_at": None}, {"OLL-004"}),
        ({"created_at": ""}, {"OLL-004"}),
        ({"done": None}, {"OLL-004"}),
        ({"message": None}, {"OLL-004"}),
        ({"message": {}}, {"OLL-006", "OLL-007"}),
    ],
)
def test_an_empty_field_is_none(fields: dict[str, Any], broken: set[str]) -> None:
    assert grave(line(1, **fields), done(3)) == broken


def test_an_answer_may_end_by_itself_with_the_last_token_that_is_allowed() -> None:
    assert grave(line(), done(4)) == set()
    (finding,) = [f for f in judged(line(), done(4)).findings if f.rule == "OLL-022"]
    assert (finding.level, finding.blame) == (Level.INFO, "nobody")
    assert not [f for f in judged(line(), done(4, "length")).findings if f.rule == "OLL-022"]
