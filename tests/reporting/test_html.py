"""The page as a file: whole, inert, and with the streams of what fails. tests/browser has what a browser makes of it."""

from __future__ import annotations

import json
import re
from typing import Any

from harness import cassette as cassettes
from harness.conformance.verdict import Grade
from harness.reporting.html import render
from tests.reporting.lines import EVIL, verdict, whole

CASE = cassettes.load_one(cassettes.shipped() / "openai-chat/llamacpp/tool-call.yaml")


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_recorded_text_ends_no_element() -> None:
    page = render(whole([verdict(EVIL, grade=Grade.WRONG, message=EVIL, expected=EVIL, got=EVIL)]))
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert EVIL.rstrip("\x00")[:40] not in page
    assert data_of(page)["findings"][0][2] == EVIL


def test_nothing_is_fetched() -> None:
    page = render(whole([verdict()]))
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)="(https?:)?//', page)
    assert "@import" not in page
    assert "url(" not in page


def test_the_stream_of_what_fails_is_there() -> None:
    page = render(whole([verdict("tide", CASE.id, Grade.WRONG), verdict("kelp", CASE.id)]), cassettes=[CASE])
    (stream,) = data_of(page)["streams"].values()
    assert CASE.stream is not None
    assert b"".join(frame[4].encode() for frame in stream["frames"] if len(frame[4]) < 1000)[:20]
    spans = [frame[5] for frame in stream["frames"]]
    assert all(CASE.stream.body[start:end].startswith(b"data: ") for start, end in spans)
    edits = [edit for frame in stream["frames"] for edit in frame[6]]
    assert {"set", "concat"} <= {op for op, _, _ in edits}


def test_the_stream_is_that_with_the_fault() -> None:
    lines = whole([verdict("tide", CASE.id, Grade.WRONG, fault="truncated"), verdict("tide", CASE.id, Grade.WRONG)])
    streams = data_of(render(lines, cassettes=[CASE]))["streams"]
    assert len(streams[f"{CASE.id} truncated"]["frames"]) < len(streams[f"{CASE.id} none"]["frames"])


def test_what_passes_needs_no_stream() -> None:
    assert data_of(render(whole([verdict("kelp", CASE.id)]), cassettes=[CASE]))["streams"] == {}


def test_a_cassette_that_is_not_there_is_counted() -> None:
    told = data_of(render(whole([verdict(grade=Grade.WRONG)]), cassettes=[CASE]))
    assert (told["streams"], told["left_out"]) == ({}, 1)


def test_a_trend_has_each_run() -> None:
    runs = [whole([verdict(grade=Grade.WRONG)]), whole([verdict()])]
    trend = data_of(render(runs[1], earlier=runs[:1]))["trend"]
    assert [point["grades"] for point in trend] == [{"wrong": 1}, {"pass": 1}]
