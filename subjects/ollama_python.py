"""ollama: the chunks of `chat(stream=True)`; the package has no accumulator, its users add the messages up."""

# /// script
# dependencies = ["ollama==0.6.3"]
# [tool.streamproof]
# packages = {"*" = "ollama"}
# dialects = ["ollama-chat"]
# omits = {"*" = ["id"]}
# ///
from ollama import Client
from streamproof_subject import call, counts, reply, serve


def chat(task):
    client = Client(host=task.url(), timeout=task.timeout)
    texts, thoughts, calls, last, chunks = [], [], [], None, []
    for chunk in client.chat(model=task.model, messages=[{"role": "user", "content": task.prompt}], stream=True):
        chunks.append(chunk)
        last = chunk if chunk.done else last
        texts.append(chunk.message.content or "")
        thoughts.append(chunk.message.thinking or "")
        calls += [call(None, c.function.name, dict(c.function.arguments)) for c in chunk.message.tool_calls or []]
    usage = counts(last, "prompt_eval_count", "eval_count")
    return reply("".join(texts), "".join(thoughts), calls, last and last.done_reason, usage, chunks)


serve({"ollama-chat": chat})
