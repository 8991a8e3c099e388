"""Events that no blank line divides: the commonest mistake of hand-written servers. It is the server's, and no cut."""

from __future__ import annotations

import pytest

from harness import checking, dialects
from harness.findings import Finding
from harness.inputs import Input
from tests.chat import says, stops, text
from tests.exchanges import exchange, sse

TURN = sse(says({"role": "assistant", "content": ""}), text("Kelp"), stops())


def findings(body: bytes, dialect: str = "openai-chat") -> dict[str, Finding]:
    given = exchange(body)
    api = dialects.dialect(dialect)
    checked = checking.check(Input(name="given", dialect=api, detected=False, exchanges=(given,)))
    return {finding.kind: finding for finding in checked.findings}


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_no_blank_line_at_all(end: bytes, line_end: bytes) -> None:
    found = findings((TURN.replace(b"\n\n", b"\n") + end).replace(b"\n", line_end))
    assert "framing/frame-truncated" not in found
    assert found["framing/invalid-json"].rule == "SSE-015"
    assert found["framing/invalid-json"].blame == "server or gateway"
    assert "blank line" in found["framing/invalid-json"].message
    assert found["stream/empty"].blame == "server or gateway"


def test_one_blank_line_is_missing() -> None:
    found = findings(TURN.replace(b"\n\n", b"\n", 1))
    assert "several payloads are in one event" in found["framing/invalid-json"].message
    assert found["framing/invalid-json"].where.frame == 0


def test_a_body_that_ends_inside_an_event_is_cut() -> None:
    found = findings(TURN[: TURN.index(b"Kelp")])
    assert found["framing/frame-truncated"].blame == "network or recording"


@pytest.mark.parametrize("name", [b"NaN", b"-Infinity"])
def test_names_for_what_is_no_number(name: bytes) -> None:
    body = sse(says({"role": "assistant", "content": "Kelp"}), {**text("x"), "usage": {"total_tokens": 7}}, stops())
    found = findings(body.replace(b'"total_tokens":7', b'"total_tokens":' + name))
    assert found["framing/invalid-json"].message.startswith(f"{name.decode()} is no JSON; read tolerantly")


def test_a_name_behind_its_data_that_is_cut_is_no_name() -> None:
    payload = b'data: {"type":"response.created","response":{}}\n'
    found = findings(payload + b"event: response.cr", "openai-responses")
    assert found["framing/frame-truncated"].blame == "network or recording"
    assert "responses/event-name" not in found


def test_a_document_in_the_place_of_a_stream_that_is_cut() -> None:
    found = findings(b'{"id":"c-1","object":"chat.completion","choices":[{"index":0,')
    assert found["framing/frame-truncated"].blame == "network or recording"
    assert "framing/invalid-json" not in found


def test_json_outside_that_stays_open_though_events_follow() -> None:
    found = findings(b'{"error":{"message":"busy"\n\n' + TURN)
    assert "never closed" in found["framing/invalid-json"].message
