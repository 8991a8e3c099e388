"""litellm: `completion(stream=True)` and its own `stream_chunk_builder`; `responses(stream=True)`. Signatures ride on ids."""

# /// script
# dependencies = ["litellm==1.110.2", "boto3==1.44.8"]
# [tool.streamproof]
# packages = {"*" = "litellm"}
# dialects = ["*"]
# environ = {LITELLM_LOCAL_MODEL_COST_MAP = "True", LITELLM_MODE = "PRODUCTION"}
# ///
import litellm
from openai_counts import CHAT, respond
from streamproof_subject import call, counts, get, reply, serve

PLACES = {
    "openai-chat": lambda at, _: {"model": "openai/a-model", "api_base": f"{at}/v1", "api_key": "none"},
    "gemini": lambda at, model: {"model": f"gemini/{model}", "api_base": f"{at}/v1beta/models/{model}", "api_key": "none"},
    "bedrock-converse": lambda at, model: {"model": f"bedrock/converse/{model}", "aws_bedrock_runtime_endpoint": at},
    "bedrock-invoke": lambda at, model: {"model": f"bedrock/invoke/{model}", "aws_bedrock_runtime_endpoint": at},
    "ollama-chat": lambda at, _: {"model": "ollama_chat/a-model", "api_base": at},
    "anthropic-messages": lambda at, _: {"model": "anthropic/claude-sonnet-4-5", "api_base": at, "api_key": "none"},
}


def completion(task):
    where, said = PLACES[task.dialect](task.url(), task.model), [{"role": "user", "content": task.prompt}]
    asked = {"stream_options": {"include_usage": True}, "timeout": task.timeout, "num_retries": 0, "max_retries": 0}
    chunks = list(litellm.completion(messages=said, stream=True, tools=task.functions or None, **where, **asked))
    body = litellm.stream_chunk_builder(chunks, messages=said)
    told, uses, usage = body.choices[0].message, body.choices[0].message.tool_calls or [], counts(get(body, "usage"), *CHAT)
    calls = [call((c.id or "").partition("__thought__")[0], c.function.name, c.function.arguments) for c in uses]
    finish = body.choices[0].finish_reason
    return reply(told.content, get(told, "reasoning_content"), calls, finish, usage, [body, chunks])


def responses(task):
    more = {"model": "openai/gpt-4o", "api_base": task.url("/v1"), "api_key": "none"}
    return respond(litellm.responses(input=task.prompt, stream=True, timeout=task.timeout, **more))


serve({**dict.fromkeys(PLACES, completion), "openai-responses": responses})
