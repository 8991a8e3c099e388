"""Adapters to be tested by the plugin, in a folder of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest_plugins = ["pytester"]

READER = '''
import json
import httpx
from harness.testing import Known, ProviderConformance

class TurnError(Exception):
    """The turn failed."""

def ask(request, base_url):
    """A small adapter for Chat, good enough for text and calls."""
    body = {**request.body, "stream": True}
    turn = {"text": "", "reasoning": "", "tool_calls": {}, "finish_reason": None, "usage": None}
    with httpx.stream("POST", base_url + "/v1/chat/completions", json=body, timeout=request.timeout) as answer:
        if answer.status_code != 200:
            answer.read()
            raise TurnError(answer.text)
        for line in answer.iter_lines():
            if line.startswith("data: {"):
                take(json.loads(line[6:]), turn)
    if turn["finish_reason"] is None:
        raise TurnError("the stream ended early")
    return {**turn, "tool_calls": list(turn["tool_calls"].values())}

def take(chunk, turn):
    if "error" in chunk:
        raise TurnError(chunk["error"]["message"])
    if usage := chunk.get("usage"):
        details = usage.get("completion_tokens_details") or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        turn["usage"] = {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"],
                         "total_tokens": usage["total_tokens"], "cached_tokens": cached,
                         "reasoning_tokens": details.get("reasoning_tokens")}
    for choice in chunk["choices"][:1]:
        delta = choice["delta"]
        turn["text"] += delta.get("content") or ""
        turn["reasoning"] += delta.get("reasoning_content") or ""
        turn["finish_reason"] = choice.get("finish_reason") or turn["finish_reason"]
        for piece in delta.get("tool_calls") or []:
            call = turn["tool_calls"].setdefault(piece["index"], {"id": piece.get("id"), "name": "", "arguments": ""})
            call["name"] += piece["function"].get("name") or ""
            call["arguments"] += piece["function"].get("arguments") or ""

class Base(ProviderConformance):
    dialects = ["openai-chat"]
    select = ["*/llamacpp/text", "*/llamacpp/parallel-tool-calls", "*/llamacpp/reasoning"]

    def observe(self, request, base_url):
        return ask(request, base_url)

'''
Written = Callable[..., pytest.Pytester]


@pytest.fixture
def written(pytester: pytest.Pytester) -> Written:
    """`written(code)`: a folder with a test file that begins with a working adapter for Chat, `ask`, and a class `Base`."""

    def write(code: str) -> pytest.Pytester:
        pytester.makepyfile(test_mine=READER + code)
        return pytester

    return write
