"""Memory and work follow the response, not the number of fragments that it came in."""

from __future__ import annotations

import json
import tracemalloc

from harness import Frame, StreamCollector
from harness.nodes import Text


def test_a_text_takes_the_memory_of_its_characters() -> None:
    """Fragments of two characters take some eighty bytes each where they are kept as objects."""
    text = Text()
    tracemalloc.start()
    try:
        for number in range(20_000):
            text.write(chr(0x4E00 + number) + "x")
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(text.value()) == 40_000
    assert used < 8 * 40_000  # four bytes for a character, and room to grow


def test_appended_elements_follow_the_greatest_key() -> None:
    """Unknown events are appended; so are elements after those that the wire numbers with holes and out of order."""
    collector = StreamCollector("openai-chat")
    for index in (7, 2):
        call = {"index": index, "id": f"c{index}", "function": {"name": "f", "arguments": "{}"}}
        collector.add(Frame(0, None, json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).encode()))
    for number in range(40):
        collector.add(Frame(number, None, json.dumps([number]).encode()))
    assert [call.id for call in collector.tool_calls] == ["c2", "c7"]
    assert collector.body["unknown_events"] == [[number] for number in range(40)]
