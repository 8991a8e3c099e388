"""A finding about the turn that gathered, such as the arguments of a call, leads to the bytes it came from all the same."""

from __future__ import annotations

from typing import Any

import pytest

from harness import checking, dialects
from harness.findings import Finding
from harness.inputs import Input
from tests.chat import calls, head, says, stops, text
from tests.exchanges import exchange, sse

ASKED = {"model": "m", "messages": [], "stream": True, "tools": [{"type": "function", "function": {"name": "dive"}}]}
BEGIN = says({"role": "assistant", "content": None})


def found(body: bytes, kind: str) -> Finding:
    given = Input(
        name="given", dialect=dialects.dialect("openai-chat"), detected=False, exchanges=(exchange(body, request=ASKED),)
    )
    return next(finding for finding in checking.check(given).findings if finding.kind == kind)


@pytest.mark.parametrize(
    ("payload", "kind", "shown"),
    [
        (calls(head(0, "c1", "dive", "{}}")), "tool/arguments-invalid-json", b'"{}}"'),
        (calls(head(0, "c1", "dive", '{"depth":NaN}')), "tool/arguments-invalid-json", b"NaN"),
        (calls(head(0, "c1", "dive", "[1]")), "tool/arguments-not-object", b"[1]"),
        (calls(head(0, "c1", "drive", "{}")), "tool/name-unknown", b'"drive"'),
        (text("<think>kelp</think>"), "reasoning/think-tags", b"<"),
    ],
)
def test_it_leads_to_its_bytes(payload: dict[str, Any], kind: str, shown: bytes) -> None:
    body = sse(BEGIN, payload, stops("tool_calls"))
    finding = found(body, kind)
    assert finding.where.frame == 1
    assert finding.where.span is not None
    assert shown in body[slice(*finding.where.span)]
