"""The adapter of `adapter_ok` with three faults that are often met; the conformance tests find them."""

import json

import httpx


class TurnError(Exception):
    """The turn failed."""


async def ask(base_url: str, body: dict, timeout: float) -> dict:
    """One turn, streamed."""
    turn = Turn()
    asked = {**body, "stream": True}
    async with (
        httpx.AsyncClient(timeout=timeout) as client,
        client.stream("POST", f"{base_url}/chat/completions", json=asked) as answer,
    ):
        if answer.status_code != 200:
            raise TurnError((await answer.aread()).decode(errors="replace"))
        async for line in answer.aiter_lines():
            if line.startswith("data:") and line[5:].strip() != "[DONE]":
                turn.take(json.loads(line[5:]))
    return turn.whole()


class Turn:
    """What has come so far."""

    def __init__(self) -> None:
        self.text = self.reasoning = ""
        self.calls: dict[int, dict] = {}
        self.finish = self.usage = None

    def take(self, chunk: dict) -> None:
        if chunk.get("error"):
            raise TurnError(chunk["error"].get("message", "failed"))
        if not chunk.get("choices"):  # fault 1: the last chunk has the counts, and no choices
            return
        self.usage = chunk.get("usage") or self.usage
        for choice in chunk.get("choices") or []:
            if choice["index"] == 0:
                self.finish = choice.get("finish_reason") or self.finish
                self.add(choice.get("delta") or {})

    def add(self, delta: dict) -> None:
        self.text += delta.get("content") or delta.get("refusal") or ""
        self.reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
        for piece in delta.get("tool_calls") or []:
            function = piece.get("function") or {}
            # fault 2: several calls are taken for one
            call = self.calls.setdefault(0, {"id": None, "name": "", "arguments": ""})
            call["id"] = call["id"] or piece.get("id")
            call["name"] += function.get("name") or ""
            call["arguments"] += function.get("arguments") or ""

    def whole(self) -> dict:
        # fault 3: a stream that breaks off is a turn that ended
        calls = [self.calls[index] for index in sorted(self.calls)]
        return {
            "text": self.text,
            "reasoning": self.reasoning,
            "tool_calls": calls,
            "finish": self.finish or "stop",
            "usage": self.usage,
        }
