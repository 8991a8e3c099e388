"""OpenAI's Responses: turns told item by item, each of which becomes its events and the item in the end
(wire/openai-responses.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from authoring.broken_streams import GPT, OPENAI, SSE
from authoring.wire import Cut, compact, sse
from harness.cassette import Cassette

PATH = "/v1/responses"
_LETTERS = "qR7xWf2LkB9tZ"

Object = dict[str, Any]


class Item:
    """One output item: what it is when it is added, when it is done and in the end, and the events between."""

    def __init__(self, added: Object, done: Object, between: Sequence[Object] = (), final: Object | None = None) -> None:
        self.added, self.done, self.between = added, done, between
        self.final = done if final is None else final

    def events(self, index: int) -> Iterator[Object]:
        place = {"item_id": self.added["id"], "output_index": index}
        yield {"type": "response.output_item.added", "output_index": index, "item": self.added}
        for event in self.between:
            yield {"type": event["type"], **place, **event}
        yield {"type": "response.output_item.done", "output_index": index, "item": self.done}


def thought(identity: str, pieces: Sequence[str], sealed: tuple[str, str, str]) -> Item:
    """Reasoning with a summary; `sealed` is the encrypted content when it is added, when it is done and in the end."""
    item = {"id": identity, "type": "reasoning"}
    part = {"type": "summary_text", "text": "".join(pieces)}
    name, at = "response.reasoning_summary", {"summary_index": 0}
    between = [
        {"type": f"{name}_part.added", **at, "part": {**part, "text": ""}},
        *({"type": f"{name}_text.delta", **at, "delta": piece} for piece in pieces),
        {"type": f"{name}_text.done", **at, "text": part["text"]},
        {"type": f"{name}_part.done", **at, "part": part},
    ]
    added, done, final = ({**item, "encrypted_content": content, "summary": [part]} for content in sealed)
    return Item({**added, "summary": []}, done, between, final)


def search(identity: str, query: str) -> Item:
    """A search of the web that the service runs itself."""
    item = {"id": identity, "type": "web_search_call", "status": "in_progress"}
    steps = [{"type": f"response.web_search_call.{word}"} for word in ("in_progress", "searching", "completed")]
    return Item(item, {**item, "status": "completed", "action": {"type": "search", "query": query}}, steps)


def says(identity: str, pieces: Sequence[str], cited: Sequence[Object] = (), *, status: str = "completed") -> Item:
    """A message of one text, perhaps with citations, which come before its last piece."""
    item = {"id": identity, "type": "message", "status": "in_progress", "role": "assistant", "content": []}
    part = {"type": "output_text", "annotations": list(cited), "logprobs": [], "text": "".join(pieces)}
    at = {"content_index": 0}
    deltas = [{"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []} for piece in pieces]
    name = "response.output_text.annotation.added"
    between = [
        {"type": "response.content_part.added", **at, "part": {**part, "annotations": [], "text": ""}},
        *deltas[:-1],
        *({"type": name, **at, "annotation_index": n, "annotation": annotation} for n, annotation in enumerate(cited)),
        deltas[-1],
        {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part},
    ]
    return Item(item, {**item, "status": status, "content": [part]}, between)


def calls(identity: str, call: str, name: str, pieces: Sequence[str]) -> Item:
    """A call of a function of the client's."""
    item = {"id": identity, "type": "function_call", "status": "in_progress", "arguments": "", "call_id": call, "name": name}
    whole = "".join(pieces)
    about = "response.function_call_arguments"
    deltas = [{"type": f"{about}.delta", "delta": piece} for piece in pieces]
    done = {"type": f"{about}.done", "arguments": whole}
    return Item(item, {**item, "status": "completed", "arguments": whole}, [*deltas, done])


def turn(
    scenario: str,
    request: Object,
    items: Sequence[Item],
    counts: tuple[int, int, int],
    *,
    ends: Object | None = None,
    options: Object | None = None,
    cut: Cut = "each",
) -> Cassette:
    """A turn; `counts` are tokens in, out, and of the latter those of reasoning. `ends` are fields of a response that is not
    completed, `options` the request's `stream_options`."""
    end = response("completed", request, output=[item.final for item in items], usage=_usage(*counts), completed_at=1796117407)
    end |= ends or {}
    beginning = response("in_progress", request)
    events: list[Object] = [
        {"type": "response.created", "response": beginning},
        {"type": "response.in_progress", "response": beginning},
        *(event for index, item in enumerate(items) for event in item.events(index)),
        {"type": f"response.{end['status']}", "response": end},
    ]
    if (options or {}).get("include_obfuscation") is not False:
        events = [_obfuscated(event, number) for number, event in enumerate(events)]
    sent = [sse(compact({**event, "sequence_number": n}), event["type"]) for n, event in enumerate(events)]
    asked = {**request, "stream": True, **({"stream_options": options} if options else {})}
    stream = OPENAI.streamed(OPENAI.request(PATH, asked), SSE, sent, cut=cut)
    plain = OPENAI.plain(OPENAI.request(PATH, request), "application/json", compact(end))
    return OPENAI.case(scenario, GPT, stream, plain)


def response(
    status: str,
    request: Object,
    *,
    output: Sequence[Object] = (),
    usage: Object | None = None,
    completed_at: int | None = None,
) -> Object:
    """The response object, with what it echoes of the request."""
    asked = request.get("reasoning", {})
    return {
        "id": "resp_0ab0",
        "object": "response",
        "created_at": 1796117400,
        "status": status,
        "background": False,
        "completed_at": completed_at,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": request.get("max_output_tokens"),
        "model": GPT,
        "output": list(output),
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": asked.get("effort", "medium"), "summary": asked.get("summary")},
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": request.get("tools", []),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": None,
        "metadata": {},
    }


def _usage(given: int, taken: int, thought: int) -> Object:
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": taken,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": given + taken,
    }


def _obfuscated(event: Object, number: int) -> Object:
    """A delta with letters that hide its length."""
    if not event["type"].endswith(".delta"):
        return event
    return {**event, "obfuscation": _LETTERS[number % 5 : 16 - len(event["delta"]) % 9]}
