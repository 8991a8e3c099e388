"""What is unknown is remembered as often as it says something, however long a stream is."""

from __future__ import annotations

from typing import Any

from harness import StreamCollector
from harness.framing import Frame
from tests.chat import encoded, text


def collected(*payloads: dict[str, Any]) -> StreamCollector:
    collector = StreamCollector("openai-chat")
    for number, payload in enumerate(payloads):
        collector.add(Frame(number, None, encoded(payload)))
    return collector


def test_a_field_of_every_payload_is_remembered_some_times() -> None:
    extended = [{**text("K"), "tide": number} for number in range(500)]
    collector = collected(*extended)
    assert [stranger.value for stranger in collector.unknown] == list(range(100))
    body = collector.close().body
    assert body["tide"] == 499
    assert body["choices"][0]["message"]["content"] == "K" * 500


def test_elements_of_a_list_are_one_place() -> None:
    many = {**text("K"), "choices": [{"index": n, "delta": {"content": "K", "tide": n}} for n in range(300)]}
    assert len(collected(many).unknown) == 100


def test_names_that_are_made_up_are_remembered_up_to_a_bound() -> None:
    collector = collected(*({**text("K"), f"tide{number}": 1} for number in range(3000)))
    assert len(collector.unknown) == 1000


def test_a_new_field_is_told_behind_many_old_ones() -> None:
    collector = collected(*[{**text("K"), "tide": 1}] * 500, {**text("K"), "ebb": 1})
    assert collector.unknown[-1].where.path == "/ebb"
