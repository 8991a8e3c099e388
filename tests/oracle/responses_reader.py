"""The openai package reads Responses."""

from __future__ import annotations

import json
from typing import Any

import openai

from harness.cassette import Cassette, Exchange
from tests.oracle.replay_server import ReplayServer
from tests.oracle.said import Said


class Responses:
    """Reads the two sides of a cassette; the streamed one through the SDK's accumulator, which checks the order of events."""

    def __init__(self, server: ReplayServer) -> None:
        self._server = server
        self._client = openai.OpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0, timeout=5)

    def stream(self, case: Cassette) -> Said:
        turn, final = Said(), None
        request = dict(self._played(case.stream).request.json)
        request.pop("stream")
        with self._client.responses.stream(**request) as events:
            for event in events:
                if event.type == "response.output_text.delta":
                    turn.text += event.delta
                elif event.type == "response.reasoning_summary_text.delta":
                    turn.reasoning += event.delta
                elif event.type in ("response.completed", "response.incomplete"):
                    final = event.response
        assert final is not None
        return _ended(turn, final)

    def plain(self, case: Cassette) -> Said:
        response = self._client.responses.create(**self._played(case.reference).request.json)
        turn = Said(text=response.output_text)
        for item in response.output:
            if item.type == "reasoning":
                turn.reasoning += "".join(part.text for part in item.summary)
        return _ended(turn, response)

    def close(self) -> None:
        self._client.close()

    def _played(self, side: Exchange | None) -> Any:
        assert side is not None
        self._server.play(side)
        return side


def _ended(turn: Said, response: Any) -> Said:
    turn.calls = [(item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"]
    turn.finish = response.status
    turn.usage = response.usage.model_dump()
    turn.counts = response.usage.input_tokens, response.usage.output_tokens
    turn.others = [item.model_dump(exclude={"parsed", "parsed_arguments", "content"}) for item in response.output]
    return turn
