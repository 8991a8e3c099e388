"""What the vendors' models say inside Invoke, and what goes wrong there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from authoring import converse_turns as told
from authoring.blocks import Call, Text, Thought
from authoring.converse import asks, refused
from authoring.converse_turns import ANSWER, FERRY, ODD, SIGNATURE, TOOLS
from authoring.invoke import CLAUDE, INVOKE, chunks, claude, nova, streamed, turn
from authoring.wire import exception
from harness.cassette import Cassette
from harness.cassette.model import Ending

Object = dict[str, Any]

TIDE = Call("toolu_bdrk_01KtW5mQzR8nYb3JdLxVfPcG", "get_tide", ("", '{"po', 'rt": "Esb', 'jerg"}'))
WIND = Call("toolu_bdrk_01PvS9hDkT2uXa6MgNqZeRbC", "get_wind", ('{"port": ', '"Rømø"}'))
NOVAS = {"schemaVersion": "messages-v1"}


def cassettes() -> Iterator[Cassette]:
    yield from _claude()
    yield from _nova()
    yield from _of_one_text()
    yield from _failures()


def _claude() -> Iterator[Cassette]:
    yield claude("text", _asked(FERRY), [ANSWER], (19, 14))
    yield claude(
        "length", _asked("What is a lighthouse?", 8), [Text(("A lighthouse is", " a tower"))], (12, 8), stop="max_tokens"
    )
    request = {**_asked("Count to five in words."), "stop_sequences": ["four"]}
    counted = [Text(("one, two", ", three, "))]
    yield claude("stop-sequence", request, counted, (15, 9), stop="stop_sequence", sequence="four", cut="threes")
    yield claude("unicode", _asked("Write some odd characters."), [ODD], (14, 83), cut="slices")
    tools = [_claudes(tool["toolSpec"]) for tool in TOOLS["tools"]]
    request = {**_asked("When is high tide in Esbjerg?"), "tools": tools}
    yield claude("tool-call", request, [TIDE], (412, 54), stop="tool_use")
    request = {**_asked("Tide in Esbjerg and wind on Rømø?"), "tools": tools}
    blocks = [Text(("I look up", " both.")), TIDE, WIND]
    yield claude("parallel-tool-calls", request, blocks, (419, 101), stop="tool_use", cut="slices")
    request = {**_asked("Is 91 a prime?", 2048), "thinking": {"type": "enabled", "budget_tokens": 1024}}
    blocks = [Thought(("Seven times", " thirteen is 91."), SIGNATURE), Text(("No: 91", " is 7 × 13."))]
    yield claude("reasoning", request, blocks, (44, 71), cut="threes")


def _asked(text: str, most: int = 512) -> Object:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"anthropic_version": "bedrock-2023-05-31", "max_tokens": most, "messages": [message]}


def _claudes(tool: Object) -> Object:
    return {"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]["json"]}


def _nova() -> Iterator[Cassette]:
    yield nova("text", {**asks(FERRY), **NOVAS}, [ANSWER], (13, 14))
    request = {**asks("When is high tide in Esbjerg?", toolConfig=TOOLS), **NOVAS}
    blocks = [Text(("<thinking>", " A tide is asked for.", " </thinking>\n")), told.WIND]
    yield nova("tool-call", request, blocks, (408, 49), stop="tool_use", cut="threes")
    calls = [Call(told.TIDE.id, "get_tide", ('{"port":"Esbjerg"}',)), told.WIND]
    yield nova("parallel-tool-calls", {**request}, calls, (408, 71), stop="tool_use", cut="slices")
    request = {**asks("What is a lighthouse?", inferenceConfig={"maxTokens": 8}), **NOVAS}
    yield nova("length", request, [Text(("A lighthouse is", " a tower"))], (6, 8), stop="max_tokens")


def _of_one_text() -> Iterator[Cassette]:
    """Vendors whose turns are a text."""
    yield _llama("text", ANSWER, "stop")
    yield _llama("length", Text(ANSWER[:2]), "length")
    yield _mistral()
    yield _titan()


def _llama(scenario: str, text: Text, reason: str) -> Cassette:
    """Counts run along; that of the prompt comes once."""
    payloads = [
        {"generation": piece, "prompt_token_count": None if n else 15, "generation_token_count": n + 1, "stop_reason": None}
        for n, piece in enumerate(text)
    ]
    payloads[-1]["stop_reason"] = reason
    counts = {"prompt_token_count": 15, "generation_token_count": len(text)}
    answer = {"generation": text.whole, **counts, "stop_reason": reason}
    request = {"prompt": FERRY, "max_gen_len": 512 if reason == "stop" else len(text), "temperature": 0.0}
    return turn(f"llama-{scenario}", "meta.llama3-70b-instruct-v1:0", request, payloads, answer, (15, len(text)))


def _mistral() -> Cassette:
    payloads = [{"outputs": [{"text": piece, "stop_reason": None}]} for piece in ANSWER]
    payloads[-1]["outputs"][0]["stop_reason"] = "stop"
    answer = {"outputs": [{"text": ANSWER.whole, "stop_reason": "stop"}]}
    request = {"prompt": f"<s>[INST] {FERRY} [/INST]", "max_tokens": 512}
    return turn("mistral-text", "mistral.mistral-7b-instruct-v0:2", request, payloads, answer, (18, 14), cut="threes")


def _titan() -> Cassette:
    text = Text(("\nThe ferry is green", " and leaves at nine."))
    first = {"outputText": text[0], "index": 0, "totalOutputTextTokenCount": None, "completionReason": None}
    last = {"outputText": text[1], "index": 0, "totalOutputTextTokenCount": 13, "completionReason": "FINISH"}
    payloads = [{**first, "inputTextTokenCount": 12}, {**last, "inputTextTokenCount": None}]
    result = {"tokenCount": 13, "outputText": text.whole, "completionReason": "FINISH"}
    answer = {"inputTextTokenCount": 12, "results": [result]}
    request = {"inputText": FERRY, "textGenerationConfig": {"maxTokenCount": 512}}
    return turn("titan-text", "amazon.titan-text-express-v1", request, payloads, answer, (12, 13))


def _failures() -> Iterator[Cassette]:
    methods = ("invoke-with-response-stream", "invoke")
    slow = "Too many requests, please wait before trying again."
    yield refused(INVOKE, "error-rate-limit", CLAUDE, _asked(FERRY), methods, 429, "ThrottlingException", slow)
    message = {"id": "msg_bdrk_01Begun", "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001"}
    usage = {"input_tokens": 19, "output_tokens": 1}
    begun = chunks(
        [
            {
                "type": "message_start",
                "message": {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage},
            },
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            *(
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
                for piece in ANSWER[:2]
            ),
        ]
    )
    yield _broken("error-in-stream", [*begun, exception("throttlingException", {"message": slow})])
    failed = {"message": "The model broke off.", "originalStatusCode": 500, "originalMessage": "Model stream broke off."}
    yield _broken("error-in-stream-model", [*begun[:2], exception("modelStreamErrorException", failed)])
    yield _broken("cut-off", begun, ending="reset")
    yield _broken("cut-off-in-frame", [*begun[:-1], begun[-1][:-9]], ending="reset")


def _broken(scenario: str, events: list[bytes], *, ending: Ending = "eof") -> Cassette:
    return INVOKE.case(scenario, CLAUDE, streamed(CLAUDE, _asked(FERRY), events, ending=ending))
