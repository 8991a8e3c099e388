"""llama-index: the last response of `stream_chat`, which holds the whole message."""

# /// script
# dependencies = ["llama-index-llms-openai==0.8.3", "llama-index-llms-google-genai==0.11.3", "llama-index-llms-bedrock-converse==0.15.5", "llama-index-llms-ollama==0.11.0", "llama-index-llms-anthropic==0.12.3", "anthropic==0.125.0"]
# [tool.streamproof]
# packages = {"*" = "llama-index-core", openai-chat = "llama-index-llms-openai", openai-responses = "llama-index-llms-openai", gemini = "llama-index-llms-google-genai", bedrock-converse = "llama-index-llms-bedrock-converse", ollama-chat = "llama-index-llms-ollama", anthropic-messages = "llama-index-llms-anthropic"}
# dialects = ["openai-chat", "openai-responses", "gemini", "bedrock-converse", "ollama-chat", "anthropic-messages"]
# omits = {ollama-chat = ["id"]}
# ///
from llama_index.core.llms import ChatMessage
from llama_index.llms import anthropic, bedrock_converse, google_genai, ollama, openai
from openai_counts import RESPONSES
from streamproof_subject import call, counts, get, plain, reply, serve

COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
OPENAI, ROOM = {"model": "gpt-4o", "api_key": "none", "max_retries": 0}, {"context_window": 9999}
BEDROCK = {"model": "anthropic.claude-3-haiku-20240307-v1:0", "max_retries": 1}
MODELS = {
    "openai-chat": lambda at, s: openai.OpenAI(api_base=f"{at}/v1", timeout=s, **OPENAI),
    "openai-responses": lambda at, s: openai.OpenAIResponses(api_base=f"{at}/v1", timeout=s, **OPENAI),
    "gemini": lambda at, s: google_genai.GoogleGenAI(http_options={"base_url": at, "timeout": int(s * 1000)}, **ROOM),
    "bedrock-converse": lambda at, s: bedrock_converse.BedrockConverse(endpoint_url=at, timeout=s, **BEDROCK),
    "ollama-chat": lambda at, s: ollama.Ollama("a-model", base_url=at, request_timeout=s, **ROOM),
    "anthropic-messages": lambda at, s: anthropic.Anthropic("claude-3-haiku-20240307", base_url=at, max_retries=0, timeout=s),
}


def turn(task):
    said = list(MODELS[task.dialect](task.url(), task.timeout).stream_chat([ChatMessage(role="user", content=task.prompt)]))
    message, extra = said[-1].message, {**said[-1].message.additional_kwargs, **(said[-1].additional_kwargs or {})}
    calls = [call(b.tool_call_id, b.tool_name, b.tool_kwargs) for b in message.blocks if b.block_type == "tool_call"]
    thoughts = [b.content or "" for b in message.blocks if b.block_type == "thinking"]
    text = "".join(b.text for b in message.blocks if b.block_type == "text")
    finish = get(extra, "finish_reason") or get(extra, "stop_reason")
    usage = counts(extra, *COUNTS) if "prompt_tokens" in extra else counts(get(extra, "usage"), *RESPONSES)
    return reply(text, "".join(thoughts), calls, finish, usage, plain([[s.raw for s in said], extra]))


serve(dict.fromkeys(MODELS, turn))
