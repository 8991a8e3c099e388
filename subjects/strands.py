"""strands-agents: its models, and `process_stream`, by which its agents put a message together."""

# /// script
# dependencies = ["strands-agents[openai,anthropic,gemini,ollama]==1.62.0"]
# [tool.streamproof]
# packages = {"*" = "strands-agents"}
# dialects = ["openai-chat", "openai-responses", "gemini", "bedrock-converse", "ollama-chat", "anthropic-messages"]
# omits = {"*" = ["reasoning_tokens"], ollama-chat = ["id"]}
# ///
from botocore.config import Config
from strands.event_loop.streaming import process_stream
from strands.models import anthropic, bedrock, gemini, ollama, openai
from strands.models.openai_responses import OpenAIResponsesModel
from streamproof_subject import call, counts, get, reply, serve

COUNTS = ("inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
ONCE, NAME, SHORT = {"max_retries": 0}, {"model_id": "a-model"}, {"model_id": "a-model", "max_tokens": 100}
MODELS = {
    "openai-chat": lambda at, s: openai.OpenAIModel(client_args={"base_url": f"{at}/v1", "timeout": s, **ONCE}, **NAME),
    "openai-responses": lambda at, s: OpenAIResponsesModel({"base_url": f"{at}/v1", "timeout": s, **ONCE}, **NAME),
    "gemini": lambda at, s: gemini.GeminiModel(client_args={"http_options": {"base_url": at, "timeout": s * 1000}}, **NAME),
    "bedrock-converse": lambda at, s: bedrock.BedrockModel(endpoint_url=at, boto_client_config=Config(read_timeout=s), **NAME),
    "ollama-chat": lambda at, s: ollama.OllamaModel(at, ollama_client_args={"timeout": s}, **NAME),
    "anthropic-messages": lambda at, s: anthropic.AnthropicModel(client_args={"base_url": at, "timeout": s, **ONCE}, **SHORT),
}


async def turn(task):
    said = [{"role": "user", "content": [{"text": task.prompt}]}]
    async for event in process_stream(MODELS[task.dialect](task.url(), task.timeout).stream(said)):
        last = event
    stop, message, usage, _ = last["stop"]
    texts = [part.get("text", "") for block in message["content"] for part in get(block, "citationsContent.content") or [block]]
    thoughts = [get(block, "reasoningContent.reasoningText.text", "") for block in message["content"]]
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    calls = [call(use["toolUseId"], use["name"], use["input"]) for use in uses]
    return reply("".join(texts), "".join(thoughts), calls, stop, counts(usage, *COUNTS), message)


serve(dict.fromkeys(MODELS, turn))
