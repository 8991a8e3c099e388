"""strands-agents: its models, and `process_stream`, by which its agents put a message together."""

# /// script
# dependencies = ["strands-agents[openai,anthropic,gemini,ollama]==1.62.0"]
# [tool.streamproof]
# packages = {"*" = "strands-agents"}
# dialects = ["openai-chat", "openai-responses", "gemini", "bedrock-converse", "ollama-chat", "anthropic-messages"]
# omits = {"*" = ["reasoning_tokens"], ollama-chat = ["id"]}
# ///
import boto3
from strands.event_loop.streaming import process_stream
from strands.models import anthropic, bedrock, gemini, ollama, openai, openai_responses
from streamproof_subject import call, counts, get, reply, serve

COUNTS = ("inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
NAME, ONCE = {"model_id": "a-model"}, {"max_retries": 0}
MODELS = {
    "openai-chat": lambda at: openai.OpenAIModel(client_args={"base_url": f"{at}/v1", **ONCE}, **NAME),
    "openai-responses": lambda at: openai_responses.OpenAIResponsesModel({"base_url": f"{at}/v1", **ONCE}, **NAME),
    "gemini": lambda at: gemini.GeminiModel(client_args={"api_key": "none", "http_options": {"base_url": at}}, **NAME),
    "bedrock-converse": lambda at: bedrock.BedrockModel(boto_session=boto3.Session(), endpoint_url=at, **NAME),
    "ollama-chat": lambda at: ollama.OllamaModel(at, **NAME),
    "anthropic-messages": lambda at: anthropic.AnthropicModel(client_args={"base_url": at, **ONCE}, **NAME, max_tokens=100),
}


async def turn(task):
    said = [{"role": "user", "content": [{"text": task.prompt}]}]
    async for event in process_stream(MODELS[task.dialect](task.url()).stream(said)):
        last = event
    stop, message, usage, _ = last["stop"]
    parts = [part for block in message["content"] for part in get(block, "citationsContent.content") or [block]]
    texts = [part.get("text", "") for part in parts]
    thoughts = [get(block, "reasoningContent.reasoningText.text", "") for block in message["content"]]
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    calls = [call(use["toolUseId"], use["name"], use["input"]) for use in uses]
    return reply("".join(texts), "".join(thoughts), calls, stop, counts(usage, *COUNTS), message)


serve(dict.fromkeys(MODELS, turn))
