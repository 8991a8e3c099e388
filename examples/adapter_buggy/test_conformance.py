"""The adapter beside this file, for every turn that was recorded of its APIs, and every fault."""

from adapter import ask

from harness.testing import Known, ProviderConformance


class TestAdapter(ProviderConformance):
    dialects = ["openai-chat", "ollama-chat"]
    omits = ["cached_tokens", "reasoning_tokens"]
    known = [
        Known("openai-chat/mistral/reasoning", "its content is a list", fault=["none", "byte-by-byte"]),
        Known("*/litellm/from-ollama-tools-indexed", "two calls have one index", fault=["none", "byte-by-byte"]),
        Known("*/ollama-openai-proxy/tools", "a call for each piece of its arguments", fault=["none", "byte-by-byte"]),
    ]

    async def observe(self, request, base_url):
        turn = await ask(request.dialect, base_url, request.body, request.timeout)
        return {"finish_reason": turn.pop("finish"), **turn}
