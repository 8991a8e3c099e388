"""pydantic-ai: its models by themselves, without an agent, and the response that they gather."""

# /// script
# dependencies = ["pydantic-ai-slim[openai,google,bedrock,anthropic]==2.68.0"]
# [tool.streamproof]
# packages = {"*" = "pydantic-ai-slim"}
# dialects = ["openai-chat", "openai-responses", "gemini", "bedrock-converse", "anthropic-messages"]
# ///
from google.genai import Client
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import anthropic, bedrock, google, openai
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.bedrock import BedrockProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from streamproof_subject import call, counts, reply, serve

COUNTS, NAME = ("input_tokens", "output_tokens", "total_tokens", "cache_read_tokens", "cache_write_tokens"), "a-model"
MODELS = {
    "openai-chat": lambda at: openai.OpenAIChatModel(NAME, provider=OpenAIProvider(f"{at}/v1", api_key="none")),
    "openai-responses": lambda at: openai.OpenAIResponsesModel(NAME, provider=OpenAIProvider(f"{at}/v1", api_key="none")),
    "gemini": lambda at: google.GoogleModel(NAME, provider=GoogleProvider(client=Client(http_options={"base_url": at}))),
    "bedrock-converse": lambda at: bedrock.BedrockConverseModel(NAME, provider=BedrockProvider(base_url=at)),
    "anthropic-messages": lambda at: anthropic.AnthropicModel(NAME, provider=AnthropicProvider(base_url=at, api_key="none")),
}


async def turn(task):
    async with model_request_stream(MODELS[task.dialect](task.url()), [ModelRequest.user_text_prompt(task.prompt)]) as stream:
        async for _ in stream:
            pass
    body = stream.get()
    calls = [call(p.tool_call_id, p.tool_name, p.args) for p in body.parts if p.part_kind == "tool-call"]
    text, thoughts = ("".join(p.content or "" for p in body.parts if p.part_kind == kind) for kind in ("text", "thinking"))
    details = "details.thoughts_tokens" if task.dialect == "gemini" else "details.reasoning_tokens"
    return reply(text, thoughts, calls, body.finish_reason, counts(body.usage, *COUNTS, details), body)


serve(dict.fromkeys(MODELS, turn))
