"""anthropic: its own accumulator, `messages.stream`."""

# /// script
# dependencies = ["anthropic==2.14.0"]
# [tool.streamproof]
# packages = {"*" = "anthropic"}
# dialects = ["anthropic-messages"]
# ///
import anthropic
from streamproof_subject import call, counts, reply, serve

COUNTS = (
    "input_tokens",
    "output_tokens",
    None,
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens_details.thinking_tokens",
)


def messages(task):
    client = anthropic.Anthropic(base_url=task.url(), timeout=task.timeout, max_retries=0)
    said = [{"role": "user", "content": task.prompt}]
    with client.messages.stream(model="claude-sonnet-4-5", max_tokens=100, messages=said) as stream:
        body = stream.get_final_message()
    texts = [block.text for block in body.content if block.type == "text"]
    thoughts = [block.thinking for block in body.content if block.type == "thinking"]
    calls = [call(block.id, block.name, block.input) for block in body.content if block.type == "tool_use"]
    return reply("".join(texts), "".join(thoughts), calls, body.stop_reason, counts(body.usage, *COUNTS), body)


serve({"anthropic-messages": messages})
