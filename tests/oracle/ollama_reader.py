"""The ollama package reads Ollama."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ollama

from harness.cassette import Cassette, Exchange
from tests.oracle.replay_server import ReplayServer
from tests.oracle.said import Said


class Ollama:
    """Reads the two sides of a cassette, at either endpoint."""

    def __init__(self, server: ReplayServer) -> None:
        self._server = server
        self._client = ollama.Client(host=server.url, timeout=5, trust_env=False)

    def stream(self, case: Cassette) -> Said:
        return said(self._ask(case.stream))

    def plain(self, case: Cassette) -> Said:
        return said([self._ask(case.reference)])

    def close(self) -> None:
        self._client.close()

    def _ask(self, side: Exchange | None) -> Any:
        assert side is not None
        self._server.play(side)
        asked = self._client.generate if side.request.target == "/api/generate" else self._client.chat
        return asked(**side.request.json)


def said(responses: Iterable[Any]) -> Said:
    turn = Said()
    logprobs: list[Any] = []
    for response in responses:
        message = response.message if isinstance(response, ollama.ChatResponse) else response
        turn.text += (message.content if message is not response else message.response) or ""
        turn.reasoning += message.thinking or ""
        for call in getattr(message, "tool_calls", None) or ():
            turn.calls.append((call.function.name, dict(call.function.arguments)))
        logprobs += [entry.model_dump() for entry in response.logprobs or ()]
        if response.done:
            turn.finish = response.done_reason
            turn.counts = response.prompt_eval_count, response.eval_count
            turn.usage = response.model_dump(
                include={"total_duration", "load_duration", "prompt_eval_duration", "eval_duration", "context"}
            )
            turn.others = [response.model, response.created_at]
    turn.others.append(logprobs)
    return turn
