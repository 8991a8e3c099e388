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
from pydantic_ai.models import anthropic, google, openai
from pydantic_ai.models.bedrock import BedrockConverseModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.bedrock import BedrockProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from streamproof_subject import call, counts, reply, serve

ID, COUNTS = "a-model", ("input_tokens", "output_tokens", "total_tokens", "cache_read_tokens", "cache_write_tokens")
MODELS = {
    "openai-chat": lambda at, _: openai.OpenAIChatModel(ID, provider=OpenAIProvider(f"{at}/v1", api_key="none")),
    "openai-responses": lambda at, _: openai.OpenAIResponsesModel(ID, provider=OpenAIProvider(f"{at}/v1", api_key="none")),
    "gemini": lambda at, _: google.GoogleModel(ID, provider=GoogleProvider(client=Client(http_options={"base_url": at}))),
    "bedrock-converse": lambda at, s: BedrockConverseModel(ID, provider=BedrockProvider(base_url=at, aws_read_timeout=s)),
    "anthropic-messages": lambda at, _: anthropic.AnthropicModel(ID, provider=AnthropicProvider(base_url=at, api_key="none")),
}


async def turn(task):
    asked = {"messages": [ModelRequest.user_text_prompt(task.prompt)], "model_settings": {"timeout": task.timeout}}
    async with model_request_stream(MODELS[task.dialect](task.url(), task.timeout), **asked) as stream:
        _ = [event async for event in stream]
    body = stream.get()
    calls = [call(p.tool_call_id, p.tool_name, p.args) for p in body.parts if p.part_kind == "tool-call"]
    text, thoughts = ("".join(p.content or "" for p in body.parts if p.part_kind == kind) for kind in ("text", "thinking"))
    return reply(text, thoughts, calls, body.finish_reason, counts(body.usage, *COUNTS, "output_reasoning_tokens"), body)


serve(dict.fromkeys(MODELS, turn))
