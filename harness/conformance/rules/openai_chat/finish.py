"""Rules about the finish reason of a choice: its words, and whether it fits what was streamed."""

from __future__ import annotations

from harness.conformance.rules.openai_chat.json_text import is_unfinished
from harness.conformance.rules.openai_chat.sights import Choice, request, rules, turns
from harness.conformance.rules.rule import Breach, Said
from harness.conformance.rules.sights import Case, Ending
from harness.findings import Level

FINISH = rules()

_REASONS = ("stop", "length", "tool_calls", "content_filter", "function_call")
_FOR_CALLS = ("tool_calls", "function_call")


@FINISH.rule(
    15,
    Level.MUST,
    "a finish reason is one of the API's words, or null",
    at=Choice,
    kind="finish/unknown-value",
    source="SDK-OAI, `choices[].finish_reason`; BR-024",
    why="Typed clients refuse other words; loops that stop at any reason that is not null stop at an empty string too.",
    bad='"finish_reason":"eos", or ""',
    good='"finish_reason":"stop", or null',
    seen="TGI, Snowflake, OpenRouter and Mistral (`error`)",
)
def reason_is_a_word(it: Choice) -> Said:
    reason = it.raw.get("finish_reason")
    if reason is None:
        return None
    path = f"{it.path}/finish_reason"
    if reason == "":
        return Breach(
            "the finish reason is an empty string; null says that there is none yet", path, None, "", kind="finish/empty-string"
        )
    if isinstance(reason, str) and reason in _REASONS:
        return True
    return Breach(f"the finish reason {reason!r} is none of {', '.join(_REASONS)}", path, list(_REASONS), reason)


@FINISH.rule(
    16,
    Level.SHOULD,
    "a choice that goes on has a finish reason of null",
    at=Choice,
    kind="finish/key-missing",
    source="SDK-OAI: the key is required, its value may be null; recordings, 54 of 56",
    why="Strict clients require the key; the others read an absent one as null.",
    bad='{"index":0,"delta":{"content":"Hi"}}',
    good='{"index":0,"delta":{"content":"Hi"},"finish_reason":null}',
    seen="xAI, Grok on Azure, Z.ai, Cerebras, Snowflake, Perplexity, Alibaba",
)
def reason_has_a_key(it: Choice) -> Said:
    if "finish_reason" in it.raw:
        return True
    return Breach("a choice without finish_reason; null was expected", it.path)


@FINISH.rule(
    18,
    Level.SHOULD,
    "the delta beside a finish reason says nothing",
    at=Choice,
    kind="finish/merged-with-content",
    source="recordings, 48 of 48 are empty; BR-025 (`ok`: to be read all the same). Empty strings lose nothing",
    why="Clients that return at the finish reason lose what stands beside it: the last word, or a whole call.",
    bad='{"delta":{"content":"water"},"finish_reason":"stop"}',
    good='{"delta":{"content":"water"},"finish_reason":null}, then {"delta":{},"finish_reason":"stop"}',
    seen="Mistral, OpenRouter, Together, Vercel's gateway",
)
def finish_has_an_empty_delta(it: Choice) -> Said:
    if it.finish is None or it.facts.finish is not None:
        return None
    told = [name for name, value in it.delta.items() if value and name != "role"]
    if not told:
        return True
    message = f"the finish reason comes with a delta of {', '.join(told)}; an empty one was expected"
    return Breach(message, f"{it.path}/delta", {}, it.delta)


@FINISH.rule(
    19,
    Level.SHOULD,
    "a model that stopped to have its calls answered finishes with `tool_calls`",
    at=Ending,
    kind="finish/stop-with-tool-calls",
    source="SDK-OAI; recordings, 18 of 18; BR-023 (`ok`). OpenAI says `stop` where the request names a function, 3 of 3",
    why="Loops that look for `tool_calls` end the turn, and the calls are never run.",
    bad='a call, then "finish_reason":"stop"',
    good='a call, then "finish_reason":"tool_calls"',
    seen="the Gemini compatibility endpoint, Portkey over Gemini",
)
def calls_end_with_their_reason(it: Ending) -> Said:
    called = [turn for turn in turns(it) if turn.calls and turn.finish in ("stop", *_FOR_CALLS)]
    broken = [turn for turn in called if turn.finish == "stop"]
    if not called or (broken and names_a_function(it.case)):
        return None
    message = "calls were streamed, and the finish reason is 'stop'; 'tool_calls' was expected"
    return [Breach(message, f"{turn.path}/finish_reason", "tool_calls", "stop") for turn in broken] or True


@FINISH.rule(
    20,
    Level.MUST,
    "the finish reason `tool_calls` comes with at least one call",
    at=Ending,
    kind="finish/calls-missing",
    source="SDK-OAI: 'if the model called a tool'",
    why="A loop that acts on the reason waits for results of no call, or asks the model again for ever.",
    bad='text alone, then "finish_reason":"tool_calls"',
    good='text alone, then "finish_reason":"stop"',
)
def reason_has_its_calls(it: Ending) -> Said:
    said = [turn for turn in turns(it) if turn.finish in _FOR_CALLS]
    if not said or it.failed:
        return None
    return [
        Breach(
            f"the finish reason is {turn.finish!r}, and no call was streamed", f"{turn.path}/finish_reason", "stop", turn.finish
        )
        for turn in said
        if not turn.message.get("tool_calls") and not turn.message.get("function_call")
    ] or True


@FINISH.rule(
    21,
    Level.MUST,
    "a call whose arguments were cut by the token limit ends with `length`, and not with `tool_calls`",
    at=Ending,
    kind="finish/length-lost",
    source="wire/openai-chat.md section 4; vLLM issues. Told by arguments that are the beginning of a JSON text",
    why="`tool_calls` says that the call is complete: it is run with half of its arguments, or fails to parse.",
    bad='arguments {"city":"Par, then "finish_reason":"tool_calls"',
    good='arguments {"city":"Par, then "finish_reason":"length"',
    seen="vLLM up to 0.27",
)
def a_cut_call_ends_with_length(it: Ending) -> Said:
    about = [(turn, call) for turn in turns(it) for call in turn.calls if turn.finish in (*_FOR_CALLS, "length")]
    cut = [(turn, call) for turn, call in about if is_unfinished(call.arguments)]
    if not cut and all(turn.finish == "length" for turn, _ in about):
        return None
    return [
        Breach(
            "the arguments break off in the middle; 'length' was expected",
            f"{call.path}/function/arguments",
            got=call.arguments,
        )
        for turn, call in cut
        if turn.finish != "length"
    ] or True


def names_a_function(case: Case) -> bool:
    """Whether the request is known to demand one function by its name."""
    asked = request(case) or {}
    choice = asked.get("tool_choice", asked.get("function_call"))
    return isinstance(choice, dict) and choice.get("type") != "allowed_tools"
