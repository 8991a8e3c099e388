"""The openai and anthropic packages read streams that break off."""

from __future__ import annotations

import anthropic
import openai

from harness.cassette import Cassette
from tests.oracle.replay_server import ReplayServer


class Broken:
    """Reads a stream to where it breaks."""

    def __init__(self, server: ReplayServer) -> None:
        self._server = server
        self._openai = openai.OpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0, timeout=5)
        self._anthropic = anthropic.Anthropic(api_key="none", base_url=server.url, max_retries=0, timeout=5)

    def stream(self, case: Cassette) -> None:
        assert case.stream is not None
        self._server.play(case.stream)
        client = self._openai.responses if case.dialect == "openai-responses" else self._anthropic.messages
        with client.create(**case.stream.request.json) as events:
            for _ in events:
                pass

    def close(self) -> None:
        self._openai.close()
        self._anthropic.close()
