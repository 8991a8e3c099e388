"""Mutants of the rules of Chat Completions."""

from __future__ import annotations

from typing import Any

from harness.replay.faults import Asked, Cut, Drop, Fault, Insert, Lose, Move, Repeat, Set, Write, every, first, last
from tests.conformance.mutants import Mutant

TEXT = "openai-chat/llamacpp/json-schema"
CALL = "openai-chat/llamacpp/tool-call"
CALLS = "openai-chat/llamacpp/parallel-tool-calls"
USAGE = "openai-chat/llamacpp/usage"
LOGPROBS = "openai-chat/llamacpp/logprobs"
REASONING = "openai-chat/llamacpp/reasoning-then-json"

CHOICE = "/choices/0"
DELTA = f"{CHOICE}/delta"
CONTENT = f"{DELTA}/content"
FINISH = f"{CHOICE}/finish_reason"
FRAGMENT = f"{DELTA}/tool_calls/0"
INDEX, ID, TYPE = (f"{FRAGMENT}/{name}" for name in ("index", "id", "type"))
NAME, ARGUMENTS = (f"{FRAGMENT}/function/{name}" for name in ("name", "arguments"))

BEGINS, MIDDLE, FINISHES = 0, 3, first(FINISH, lambda reason: reason is not None)
OPENS, GOES_ON = first(NAME), last(ARGUMENTS)
REPORTS, DONE = -2, -1

VERDICT = {"input": None, "output": None}
ERROR = {"error": {"message": "out of memory", "type": "server_error", "param": None, "code": None}}
FAILS: tuple[Fault, ...] = (Cut(10), Insert(-1, ERROR, after=True))
WHOLE_CALL: tuple[Fault, ...] = (Lose(every(ARGUMENTS, lambda piece: piece != "{")), Set(OPENS, ARGUMENTS, "{}"))
UNASKED = (Asked("/stream_options", None),)


def mutant(number: int, cassette: str, *faults: Fault, **about: Any) -> Mutant:
    return Mutant(rule=f"OAI-C-{number:03}", cassette=cassette, faults=faults, **about)


MUTANTS = [
    # the order of a stream
    mutant(1, TEXT, Lose(DONE)),
    mutant(14, TEXT, Set(FINISHES, FINISH, None)),
    mutant(17, TEXT, Move(last(CONTENT), DONE)),
    mutant(45, TEXT, Insert(-1, {"choices": []}, after=True), before=FAILS),
    # chunks
    mutant(2, TEXT, Set(MIDDLE, "/object", "chat.completion")),
    mutant(3, TEXT, Drop(MIDDLE, "/created")),
    mutant(4, TEXT, Set(MIDDLE, "/id", "chatcmpl-other")),
    mutant(5, TEXT, Set(MIDDLE, "/id", "")),
    mutant(6, "openai-chat/llamacpp/reasoning", Set(MIDDLE, "/created", 1)),
    mutant(7, TEXT, Set(MIDDLE, "/model", "another")),
    mutant(8, USAGE, Repeat(REPORTS), Drop(REPORTS - 1, "/usage")),
    mutant(38, USAGE, Repeat(REPORTS, BEGINS), Drop(BEGINS, "/usage"), Set(BEGINS, "/moderation", VERDICT)),
    mutant(39, TEXT, Set(MIDDLE, f"{CHOICE}/content_filter_results", {})),
    mutant(42, TEXT, Set(MIDDLE, "/obfuscation", "aZ9"), before=(Asked("/stream_options", {"include_obfuscation": False}),)),
    mutant(51, TEXT, Set(MIDDLE, "/system_fingerprint", "fp_other")),
    # choices
    mutant(9, TEXT, Set(every(f"{CHOICE}/index"), f"{CHOICE}/index", 1)),
    mutant(10, TEXT, Set(FINISHES, DELTA, None)),
    mutant(11, TEXT, Drop(BEGINS, f"{DELTA}/role")),
    mutant(12, TEXT, Set(MIDDLE, f"{DELTA}/role", "assistant")),
    mutant(13, TEXT, Set(MIDDLE, CONTENT, [{"type": "text", "text": " "}])),
    mutant(
        43,
        TEXT,
        Set(MIDDLE, CONTENT, "Sure"),
        before=(Set(every(CONTENT, lambda text: text), f"{DELTA}/refusal", "No. "), Drop(every(CONTENT), CONTENT)),
    ),
    mutant(47, TEXT, Asked("/n", 2), before=(Asked("/n", 1),)),
    mutant(48, TEXT, Set(1, f"{DELTA}/reasoning", "Count the buoys.")),
    mutant(49, REASONING, Move(last(f"{DELTA}/reasoning_content"), FINISHES)),
    mutant(50, TEXT, Set(1, CONTENT, "<think>Count the buoys.</think>{")),
    # finish reasons
    mutant(15, TEXT, Set(FINISHES, FINISH, "eos")),
    mutant(16, TEXT, Drop(MIDDLE, FINISH)),
    mutant(18, TEXT, Set(FINISHES, CONTENT, " ")),
    mutant(19, CALL, Set(FINISHES, FINISH, "stop")),
    mutant(20, CALL, Drop(every(FRAGMENT), f"{DELTA}/tool_calls")),
    mutant(21, CALL, Lose(GOES_ON), also=("OAI-C-027",)),
    # fragments of calls
    mutant(22, CALL, Drop(GOES_ON, INDEX)),
    mutant(23, CALL, Set(every(INDEX), INDEX, 1)),
    mutant(24, CALL, Drop(OPENS, ID)),
    mutant(25, CALLS, Set(every(INDEX), INDEX, 0)),
    mutant(26, CALL, Set(GOES_ON, NAME, "get_weather")),
    mutant(53, TEXT, Set(MIDDLE, f"{DELTA}/tool_calls", [])),
    mutant(55, CALL, Set(GOES_ON, ID, "")),
    mutant(56, CALL, Set(GOES_ON, TYPE, "function")),
    mutant(57, CALL, Set(OPENS, ARGUMENTS, {}), before=WHOLE_CALL),
    mutant(59, CALL, Set(GOES_ON, f"{DELTA}/tool_calls/-", {"index": 0, "function": {"arguments": ""}})),
    # calls
    mutant(27, CALL, Set(GOES_ON, ARGUMENTS, "}{")),
    mutant(28, CALL, Set(every(ARGUMENTS), ARGUMENTS, ""), Set(GOES_ON, ARGUMENTS, "null")),
    mutant(29, CALL, *WHOLE_CALL),
    mutant(30, CALLS, Set(every(ID), ID, "call_0")),
    mutant(52, CALL, Set(OPENS, f"{DELTA}/function_call", {"name": "get_weather", "arguments": "{}"})),
    mutant(54, CALL, Set(OPENS, NAME, "get_wether")),
    # usage
    mutant(31, USAGE, Lose(REPORTS)),
    mutant(32, USAGE, Drop(MIDDLE, "/usage"), before=(Set(every(CHOICE), "/usage", None),)),
    mutant(
        33, TEXT, Set(FINISHES, "/usage", {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}), also=("OAI-C-037",)
    ),
    mutant(34, USAGE, Set(REPORTS, "/usage/total_tokens", 1)),
    mutant(
        35,
        USAGE,
        Set(REPORTS, "/usage/completion_tokens_details/reasoning_tokens", 4000),
        before=(Set(REPORTS, "/usage/completion_tokens_details/reasoning_tokens", 4),),
    ),
    mutant(36, USAGE, Repeat(REPORTS), Drop(REPORTS, "/usage"), Set(REPORTS, "/moderation", VERDICT)),
    mutant(37, USAGE, Repeat(REPORTS)),
    mutant(
        58,
        USAGE,
        Set(REPORTS, "/choices", [{"index": 0, "delta": {}, "finish_reason": None}]),
        before=UNASKED,
        also=("OAI-C-037",),
    ),
    # log probabilities
    mutant(40, LOGPROBS, Set(MIDDLE, f"{CHOICE}/logprobs/content", [])),
    mutant(41, TEXT, Set(MIDDLE, f"{CHOICE}/logprobs", {"content": []})),
    # errors
    mutant(44, TEXT, Drop(-1, "/error/message"), before=FAILS),
    mutant(46, TEXT, Write(-1, ERROR, name="error"), before=FAILS),
]
