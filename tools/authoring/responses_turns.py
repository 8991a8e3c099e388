"""What is said at OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Iterator

from authoring.broken_streams import GPT
from authoring.responses import Object, calls, says, search, thought, turn
from harness.cassette import Cassette

FERRY = {"model": GPT, "input": "Which colour has the ferry?"}
_SEALED = ("gAAAAABqUHVsbA==", "gAAAAABqRmVycnktZG9uZQ==", "gAAAAABqRmVycnktbGFzdA==")
_ANSWER = ("The ferry is green", " (timetable, gazette)", ".")


def cassettes() -> Iterator[Cassette]:
    items = [
        thought("rs_0ab1", ("**Looking it up**", " The colour may", " have changed."), _SEALED),
        search("ws_0ab2", "colour of the ferry"),
        says("msg_0ab3", _ANSWER, [_cited("timetable", 20, 29), _cited("gazette", 31, 38)]),
    ]
    request = {
        **FERRY,
        "tools": [{"type": "web_search"}],
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
    }
    yield turn("reasoning-search-citations", request, items, (311, 87, 64))
    tide = ('{"port"', ': "Esb', 'jerg"}')
    both = [calls("fc_0ab1", "call_0ab1", "get_tide", tide), calls("fc_0ab2", "call_0ab2", "get_wind", ('{"port": "Rømø"}',))]
    request = {**FERRY, "input": "Tide in Esbjerg and wind on Rømø?", "tools": [_tool("get_tide"), _tool("get_wind")]}
    yield turn("parallel-tool-calls", request, both, (72, 38, 0), options={"include_obfuscation": False}, cut="threes")
    unfinished = says("msg_0ab1", ("A lighthouse is", " a tower that"), status="incomplete")
    ends = {"status": "incomplete", "completed_at": None, "incomplete_details": {"reason": "max_output_tokens"}}
    request = {**FERRY, "input": "What is a lighthouse?", "max_output_tokens": 16}
    yield turn("length", request, [unfinished], (13, 16, 0), ends=ends, cut="slices")


def _cited(name: str, start: int, end: int) -> Object:
    url = f"https://harbour.example/{name}"
    return {"type": "url_citation", "start_index": start, "end_index": end, "title": name.title(), "url": url}


def _tool(name: str) -> Object:
    schema = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"], "additionalProperties": False}
    return {"type": "function", "name": name, "description": None, "parameters": schema, "strict": True}
