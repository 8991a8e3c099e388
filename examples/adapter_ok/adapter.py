"""A small adapter for two APIs, OpenAI Chat and Ollama: it adds up what they stream, and says when the turn failed."""

import json

import httpx

PATHS = {"openai-chat": "/v1/chat/completions", "ollama-chat": "/api/chat"}


class TurnError(Exception):
    """The turn failed."""


async def ask(api: str, base_url: str, body: dict, timeout: float) -> dict:
    """One turn, streamed."""
    turn = Turn()
    async with (
        httpx.AsyncClient(timeout=timeout) as client,
        client.stream("POST", base_url + PATHS[api], json={**body, "stream": True}) as answer,
    ):
        if answer.status_code != 200:
            raise TurnError((await answer.aread()).decode(errors="replace"))
        async for line in lines(answer):
            if api == "ollama-chat":
                turn.take_ollama(json.loads(line))
            elif line.startswith("data:") and line[5:].strip() != "[DONE]":
                turn.take_chat(json.loads(line[5:]))
    return turn.whole()


async def lines(answer: httpx.Response):
    """The lines of a body, of which LF alone is the end: `aiter_lines` also cuts at characters that may stand in a text."""
    rest = b""
    async for piece in answer.aiter_bytes():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            if line.strip():
                yield line.decode()
    if rest.strip():
        raise TurnError("the stream ended in the middle of a line")


class Turn:
    """What has come so far."""

    def __init__(self) -> None:
        self.text = self.reasoning = ""
        self.calls: dict[int, dict] = {}
        self.finish = None
        self.usage: dict = {}

    def take_chat(self, chunk: dict) -> None:
        if chunk.get("error"):
            raise TurnError(json.dumps(chunk["error"]))
        self.count(chunk.get("usage") or {}, "prompt_tokens", "completion_tokens")
        for choice in chunk.get("choices") or []:
            if choice["index"] == 0:
                self.finish = choice.get("finish_reason") or self.finish
                self.add(choice.get("delta") or {})

    def take_ollama(self, chunk: dict) -> None:
        if chunk.get("error"):
            raise TurnError(json.dumps(chunk["error"]))
        self.count(chunk, "prompt_eval_count", "eval_count")
        self.finish = chunk.get("done_reason") or self.finish
        message = chunk.get("message") or {}
        self.text += message.get("content") or ""
        self.reasoning += message.get("thinking") or ""
        for call in message.get("tool_calls") or []:  # each comes whole
            function = call["function"]
            self.calls[len(self.calls)] = {"id": call.get("id"), "name": function["name"], "arguments": function["arguments"]}

    def count(self, usage: dict, *names: str) -> None:
        for name, told in zip(("input_tokens", "output_tokens"), names, strict=True):
            if usage.get(told) is not None:
                self.usage[name] = usage[told]

    def add(self, delta: dict) -> None:
        self.text += delta.get("content") or delta.get("refusal") or ""
        self.reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
        for piece in delta.get("tool_calls") or []:
            function = piece.get("function") or {}
            call = self.calls.setdefault(piece.get("index", 0), {"id": None, "name": "", "arguments": ""})
            call["id"] = call["id"] or piece.get("id")
            call["name"] += function.get("name") or ""
            call["arguments"] += function.get("arguments") or ""

    def whole(self) -> dict:
        if self.finish is None:
            raise TurnError("the stream ended before the turn did")
        calls = [self.calls[index] for index in sorted(self.calls)]
        return {"text": self.text, "reasoning": self.reasoning, "tool_calls": calls, "finish": self.finish, "usage": self.usage}
