"""haystack: its chat generators with a streaming callback, and the reply that they build."""

# /// script
# dependencies = ["haystack-ai==3.4.1", "google-genai-haystack==7.0.0", "amazon-bedrock-haystack==9.0.0", "ollama-haystack==7.0.2", "anthropic-haystack==8.0.1"]
# [tool.streamproof]
# packages = {"*" = "haystack-ai", gemini = "google-genai-haystack", bedrock-converse = "amazon-bedrock-haystack", ollama-chat = "ollama-haystack", anthropic-messages = "anthropic-haystack"}
# dialects = ["openai-chat", "openai-responses", "gemini", "bedrock-converse", "ollama-chat", "anthropic-messages"]
# environ = {HAYSTACK_TELEMETRY_ENABLED = "False"}
# omits = {gemini = ["reasoning_tokens"], openai-chat = ["reasoning"], ollama-chat = ["id"]}
# ///
import os

from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.generators import amazon_bedrock, anthropic, google_genai, ollama
from openai_counts import CHAT, RESPONSES
from streamproof_subject import call, counts, get, reply, serve

ONCE = {"model": "a-model", "max_retries": 0}
MODELS = {
    "openai-chat": lambda at, s: OpenAIChatGenerator(api_base_url=f"{at}/v1", timeout=s, **ONCE),
    "openai-responses": lambda at, s: OpenAIResponsesChatGenerator(api_base_url=f"{at}/v1", timeout=s, **ONCE),
    "gemini": lambda _, s: google_genai.GoogleGenAIChatGenerator(timeout=s),
    "bedrock-converse": lambda _, s: amazon_bedrock.AmazonBedrockChatGenerator("a-model", boto3_config={"read_timeout": s}),
    "ollama-chat": lambda at, s: ollama.OllamaChatGenerator(url=at, timeout=s),
    "anthropic-messages": lambda _, s: anthropic.AnthropicChatGenerator(timeout=s, **ONCE),
}


def turn(task):
    os.environ.update(dict.fromkeys(["GOOGLE_GEMINI_BASE_URL", "AWS_ENDPOINT_URL", "ANTHROPIC_BASE_URL"], task.url()))
    said, chunks = [ChatMessage.from_user(task.prompt)], []
    body = MODELS[task.dialect](task.url(), task.timeout).run(said, streaming_callback=chunks.append)["replies"][0]
    calls = [call(get(c, "extra.call_id") or c.id, c.tool_name, c.arguments) for c in body.tool_calls]
    finish, usage = (get(body.meta, name) or None for name in ("finish_reason", "usage"))
    paths = RESPONSES if "input_tokens" in (usage or {}) else CHAT
    return reply(body.text, get(body, "reasoning.reasoning_text"), calls, finish, counts(usage, *paths), [body, chunks])


serve(dict.fromkeys(MODELS, turn))
