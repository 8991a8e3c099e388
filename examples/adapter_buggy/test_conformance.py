"""The adapter beside this file, for every Chat cassette of llama.cpp and every fault."""

from adapter import ask

from harness.testing import ProviderConformance


class TestAdapter(ProviderConformance):
    dialects = ["openai-chat"]
    select = ["openai-chat/llamacpp/*"]

    async def observe(self, request, base_url):
        turn = await ask(f"{base_url}/v1", request.body, request.timeout)
        usage = turn["usage"] and {
            "input_tokens": turn["usage"]["prompt_tokens"],
            "output_tokens": turn["usage"]["completion_tokens"],
            "cached_tokens": (turn["usage"].get("prompt_tokens_details") or {}).get("cached_tokens"),
        }
        told = {name: turn[name] for name in ("text", "reasoning", "tool_calls")}
        return {**told, "finish_reason": turn["finish"], "usage": usage}
