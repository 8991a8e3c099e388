"""any-llm: the chunks of `completion(stream=True)`, which its users add up; `responses(stream=True)`."""

# /// script
# dependencies = ["any-llm-sdk[openai,gemini,bedrock,ollama,anthropic]==1.40.2"]
# [tool.streamproof]
# packages = {"*" = "any-llm-sdk"}
# dialects = ["openai-chat", "openai-responses", "gemini", "bedrock-converse", "ollama-chat", "anthropic-messages"]
# omits = {ollama-chat = ["id"]}
# ///
import any_llm
from openai_counts import CHAT, respond
from streamproof_subject import call, counts, get, reply, serve

PROVIDERS = {"gemini": "gemini", "bedrock-converse": "bedrock", "ollama-chat": "ollama", "anthropic-messages": "anthropic"}


def chat(task):
    provider, path = PROVIDERS.get(task.dialect, "openai"), "/v1" if task.dialect == "openai-chat" else ""
    wait = {"client_args": {"timeout": task.timeout}} if provider == "ollama" else {"timeout": task.timeout}
    where = {"api_base": task.url(path), **wait, **({"api_key": "none"} if provider != "bedrock" else {})}  # it demands https
    said = [{"role": "user", "content": task.prompt}]
    chunks = list(any_llm.completion("a-model", said, provider=provider, stream=True, **where))
    choices = [choice for chunk in chunks for choice in chunk.choices or [] if choice.index == 0]
    calls, finish = {}, [choice.finish_reason for choice in choices if choice.finish_reason]
    for piece in (c for choice in choices for c in choice.delta.tool_calls or []):
        slot = calls.setdefault(piece.index, call(piece.id, piece.function.name, ""))
        slot["arguments"] += piece.function.arguments or ""
    texts, thoughts = ([get(c, f"delta.{name}", "") for c in choices] for name in ("content", "reasoning.content"))
    usage = counts(next((chunk.usage for chunk in reversed(chunks) if chunk.usage), None), *CHAT)
    return reply("".join(texts), "".join(thoughts), calls.values(), finish[-1] if finish else None, usage, chunks)


def responses(task):
    where = {"provider": "openai", "api_base": task.url("/v1"), "timeout": task.timeout}
    return respond(any_llm.responses("a-model", task.prompt, stream=True, **where))


serve({**dict.fromkeys(PROVIDERS, chat), "openai-chat": chat, "openai-responses": responses})
