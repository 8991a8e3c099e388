"""openai: its own accumulators, `chat.completions.stream` and `responses.stream`."""

# /// script
# dependencies = ["openai==3.57.0"]
# [tool.streamproof]
# packages = {"*" = "openai"}
# dialects = ["openai-chat", "openai-responses"]
# omits = {openai-chat = ["reasoning"]}
# ///
import openai
from openai_counts import CHAT, responded
from streamproof_subject import call, counts, reply, serve


def chat(task):
    client = openai.OpenAI(base_url=task.url("/v1"), timeout=task.timeout, max_retries=0)
    with client.chat.completions.stream(model=task.model, messages=[], extra_body=task.asked("messages")) as stream:
        body = stream.get_final_completion()
    said = body.choices[0].message
    calls = [call(c.id, c.function.name, c.function.arguments) for c in said.tool_calls or []]
    return reply(said.content or said.refusal, None, calls, body.choices[0].finish_reason, counts(body.usage, *CHAT), body)


def responses(task):
    client = openai.OpenAI(base_url=task.url("/v1"), timeout=task.timeout, max_retries=0)
    with client.responses.stream(model=task.model, input="", extra_body=task.asked("input")) as stream:
        return responded(stream.get_final_response())


serve({"openai-chat": chat, "openai-responses": responses})
