"""What OpenAI's two APIs, and whoever speaks their words, have in common: where counts stand, and what a response holds."""

from streamproof_subject import call, counts, get, reply

CHAT = ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details.cached_tokens", None)
CHAT += ("completion_tokens_details.reasoning_tokens",)
RESPONSES = ("input_tokens", "output_tokens", "total_tokens", "input_tokens_details.cached_tokens", None)
RESPONSES += ("output_tokens_details.reasoning_tokens",)


ENDS = ("response.completed", "response.incomplete", "response.failed")


def respond(events):
    """The reply to events of the Responses API: what ends them bears the response. An event may say that the turn failed."""
    told = list(events)
    for event in told:
        if get(event, "type") == "error":
            raise RuntimeError(get(event, "message"))
    return responded(next((get(event, "response") for event in told if get(event, "type") in ENDS), None), told)


def responded(body, raw=None):
    """The reply to a response of the Responses API. One that says that it failed is a failure."""
    if get(body, "error"):
        raise RuntimeError(get(body, "error.message"))
    items = get(body, "output") or []
    calls = [_call(item) for item in items if get(item, "type") in ("function_call", "custom_tool_call")]
    parts = [part for item in items if get(item, "type") == "message" for part in get(item, "content") or []]
    texts = [get(part, "text") or get(part, "refusal") or "" for part in parts]
    thoughts = [part for item in items if get(item, "type") == "reasoning" for part in _thoughts(item)]
    finish, usage = get(body, "status") or None, counts(get(body, "usage"), *RESPONSES)
    return reply("".join(texts), "".join(get(part, "text") or "" for part in thoughts), calls, finish, usage, [body, raw])


def _thoughts(item):
    return [*(get(item, "content") or []), *(get(item, "summary") or [])]


def _call(item):
    return call(get(item, "call_id"), get(item, "name"), get(item, "arguments", get(item, "input")))
