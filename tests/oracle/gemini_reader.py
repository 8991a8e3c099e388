"""google-genai reads Gemini."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from google import genai
from google.genai import types
from google.oauth2.credentials import Credentials

from harness.cassette import Cassette, Chunk, Exchange
from harness.framing import framer
from tests.oracle.replay_server import ReplayServer
from tests.oracle.said import Said

_STEP = re.compile(r"\.(\w+)|\['(\w+)'\]|\[(\d+)\]")


class Gemini:
    """Reads the two sides of a cassette, at the Gemini API or at Vertex AI."""

    def __init__(self, server: ReplayServer) -> None:
        self._server = server
        options = types.HttpOptions(base_url=server.url, api_version="v1beta")
        self._clients = {
            "google": genai.Client(vertexai=False, api_key="none", http_options=options),
            "vertex": genai.Client(
                vertexai=True,
                project="xxxxxxx",
                location="us-central1",
                credentials=Credentials(token="none"),
                http_options=types.HttpOptions(base_url=server.url, api_version="v1beta1"),
            ),
        }

    def stream(self, case: Cassette) -> Said:
        assert case.stream is not None
        self._server.play(_as_events(case.stream))
        models = self._clients[case.provider].models
        return said(models.generate_content_stream(**_asked(case, case.stream)))

    def plain(self, case: Cassette) -> Said:
        assert case.reference is not None
        self._server.play(case.reference)
        models = self._clients[case.provider].models
        return said([models.generate_content(**_asked(case, case.reference))])

    def close(self) -> None:
        for client in self._clients.values():
            client.close()


def _asked(case: Cassette, side: Exchange) -> dict[str, Any]:
    body = side.request.json
    config = {name: value for name, value in body.items() if name not in ("contents", "generationConfig")}
    config |= body.get("generationConfig", {})
    contents = [types.Content.model_validate(content) for content in body["contents"]]
    return {
        "model": case.model,
        "contents": contents,
        "config": types.GenerateContentConfig.model_validate(config) if config else None,
    }


def _as_events(stream: Exchange) -> Exchange:
    """The SDK only ever asks for server-sent events: of a JSON array it gets the elements."""
    if stream.request.target.endswith("?alt=sse"):
        return stream
    reading = framer("json-array")
    frames = [frame for chunk in stream.chunks for frame in reading.feed(chunk.data)]
    events = [b"data: " + b"".join(frame.data.splitlines()) + b"\r\n\r\n" for frame in frames]
    request = replace(stream.request, target=f"{stream.request.target}?alt=sse")
    return replace(stream, request=request, chunks=tuple(Chunk(data=event) for event in events))


def said(responses: Iterable[types.GenerateContentResponse]) -> Said:
    """The turn of the first candidate; further ones are told among the others, joined."""
    turn = Said()
    further: dict[int, str] = {}
    told: dict[str, Any] = {}
    for response in responses:
        for candidate in response.candidates or ():
            if candidate.index:
                further[candidate.index] = further.get(candidate.index, "") + _text(candidate)
                told[f"finish {candidate.index}"] = candidate.finish_reason
                continue
            for part in (candidate.content and candidate.content.parts) or ():
                _take(part, turn)
            turn.finish = candidate.finish_reason.value if candidate.finish_reason else turn.finish
            _beside(candidate, told)
        if response.usage_metadata and response.usage_metadata.total_token_count:
            turn.usage = response.usage_metadata.model_dump(exclude_none=True)
            turn.counts = response.usage_metadata.prompt_token_count, response.usage_metadata.candidates_token_count
        if response.prompt_feedback:
            told["feedback"] = response.prompt_feedback.model_dump(exclude_none=True)
        told |= {"id": response.response_id, "model": response.model_version}
    turn.others += [further, told]
    return turn


def _text(candidate: types.Candidate) -> str:
    return "".join(part.text or "" for part in (candidate.content and candidate.content.parts) or ())


def _take(part: types.Part, turn: Said) -> None:
    if part.thought_signature:
        turn.others.append(part.thought_signature)
    if part.text is not None and part.thought:
        turn.reasoning += part.text
    elif part.text is not None:
        turn.text += part.text
    elif part.function_call is not None:
        call = part.function_call
        if call.name:
            turn.calls.append((call.name, dict(call.args or {})))
            turn.others.append(call.id)
        for piece in call.partial_args or ():
            _place(turn.calls[-1][1], piece)
    else:
        turn.others.append(part.model_dump(exclude_none=True))


def _place(arguments: dict[str, Any], piece: types.PartialArg) -> None:
    """A piece of streamed arguments at its place."""
    assert piece.json_path is not None
    steps: list[Any] = [name or quoted or int(number) for name, quoted, number in _STEP.findall(piece.json_path)]
    here: Any = arguments
    for step, following in pairwise(steps):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(here, list):
            here.extend({} for _ in range(step + 1 - len(here)))
            here = here[step]
        else:
            here = here.setdefault(step, empty)
    name = steps[-1]
    if piece.string_value is not None:
        here[name] = here.get(name, "") + piece.string_value
    else:
        here[name] = piece.number_value if piece.number_value is not None else piece.bool_value


def _beside(candidate: types.Candidate, told: dict[str, Any]) -> None:
    """Fields that say more about a candidate: lists of log probabilities grow, of the others the last one counts."""
    fields = candidate.model_dump(
        exclude_none=True, exclude={"content", "finish_reason", "index", "avg_logprobs", "finish_message"}
    )
    logprobs = fields.pop("logprobs_result", {})
    for name, entries in logprobs.items():
        told[name] = told.get(name, []) + entries
    told |= {name: value for name, value in fields.items() if value}
