"""smolagents: OpenAIModel's `generate_stream` and `agglomerate_stream_deltas`."""

# /// script
# dependencies = ["smolagents[openai]==1.26.0"]
# [tool.streamproof]
# packages = {"*" = "smolagents"}
# dialects = ["openai-chat"]
# omits = {"*" = ["finish", "reasoning", "cached_tokens", "reasoning_tokens", "total_tokens"]}
# ///
from smolagents import OpenAIModel
from smolagents.models import ChatMessage, agglomerate_stream_deltas
from streamproof_subject import call, counts, reply, serve


def turn(task):
    client = {"max_retries": 0, "timeout": task.timeout}
    model = OpenAIModel("a-model", api_base=task.url("/v1"), api_key="none", client_kwargs=client, retry=False)
    said = [ChatMessage(role="user", content=[{"type": "text", "text": task.prompt}])]
    body = agglomerate_stream_deltas(list(model.generate_stream(said)))
    calls = [call(c.id, c.function.name, c.function.arguments) for c in body.tool_calls or []]
    return reply(body.content, None, calls, None, counts(body.token_usage, "input_tokens", "output_tokens"), body)


serve({"openai-chat": turn})
