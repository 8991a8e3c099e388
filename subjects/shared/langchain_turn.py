"""What all of LangChain's chat models have in common: the chunks of `stream`, added up with `+`, as its documentation says."""

from functools import reduce
from operator import add

from streamproof_subject import call, counts, get, reply

COUNTS = ("input_tokens", "output_tokens", "total_tokens", "input_token_details.cache_read")
COUNTS += ("input_token_details.cache_creation", "output_token_details.reasoning")
REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "completionReason", "status")
REASONS += ("prompt_feedback.block_reason",)


def run(model, task):
    chunks = list(model.stream(task.prompt))
    body = reduce(add, chunks)
    thoughts = "".join(get(block, "reasoning", "") for block in body.content_blocks if block["type"] == "reasoning")
    calls = [call(c["id"], c["name"], _arguments(c["args"])) for c in [*body.tool_calls, *body.invalid_tool_calls]]
    finish = next(filter(None, (get(body.response_metadata, word) for word in REASONS)), None)
    return reply(str(body.text), thoughts, calls, finish, counts(body.usage_metadata, *COUNTS), [body, chunks])


def _arguments(args):
    """The input of a tool without a schema is a text, which LangChain keeps under this name."""
    return args["__arg1"] if isinstance(args, dict) and list(args) == ["__arg1"] else args
