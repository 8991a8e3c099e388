"""What is said at Ollama's own API, and what goes wrong there."""

from __future__ import annotations

from collections.abc import Iterator

from authoring.ollama import MODEL, OLLAMA, Object, asks, at_once, call, head, streamed, texts, tool, turn
from harness.cassette import Cassette
from harness.cassette.model import Ending

TOOLS = [
    tool("get_tide", "The next high tide at a port", port="Name of the port"),
    tool("get_wind", "The wind at a port", port="Name of the port"),
]
TIDE = call(0, "call_m3v8q1zx", "get_tide", port="Esbjerg")
WIND = call(1, "call_t6k2w9cb", "get_wind", port="Rømø", hours=[6, 12], detailed=True)
FERRY = "Which colour has the ferry, and when does it leave?"
ANSWER = ("The ferry", " is green and", " leaves at", " nine.")
ODD = "Quotes: \"a\" and 'b', a backslash \\, <b>&amp;</b>\r\nsecond line\tafter a tab\u2028after U+2028. "


def cassettes() -> Iterator[Cassette]:
    yield from _texts()
    yield from _calls()
    yield from _thoughts()
    yield from _generated()
    yield from _failures()


def _texts() -> Iterator[Cassette]:
    yield turn("text", asks(FERRY), [*texts(*ANSWER)], (24, 12))
    request = asks("What is a lighthouse?", options={"num_predict": 8})
    pieces = [*texts("A lighthouse is", " a tower that", " shows")]
    yield turn("length", request, pieces, (15, 8), reason="length", cut="slices")
    request = asks("Count to five in words.", options={"stop": ["four"]})
    yield turn("stop-sequence", request, [*texts("one, two")], (16, 9), last={"content": ", three, "}, cut="threes")
    pieces = [*texts(ODD, "Smørrebrød, naïve façade, ", "潮の満ち引き, ", "👩‍🚀🌊 and \U0001d11e")]
    yield turn("unicode", asks("Write some odd characters."), pieces, (15, 71), cut="characters")
    pieces = [*texts("one\u0085", "two")]
    yield turn("unicode-next-line", asks("Write U+0085 between two words."), pieces, (18, 4))
    yield _logprobs()


def _logprobs() -> Cassette:
    logs = [("Low", -0.0125), (" water", -0.25), (".", -0.0625)]
    each: list[Object] = []
    for token, log in logs:
        one = {"token": token, "logprob": log, "bytes": list(token.encode())}
        other = {"token": " or", "logprob": log - 3.5, "bytes": [32, 111, 114]}
        each.append({"logprobs": [{**one, "top_logprobs": [one, other]}]})
    request = asks("Say: Low water.", logprobs=True, top_logprobs=2)
    return turn("logprobs", request, [*texts(*(token for token, _ in logs))], (17, 3), each=each)


def _calls() -> Iterator[Cassette]:
    request = asks("When is high tide in Esbjerg?", tools=TOOLS)
    yield turn("tool-call", request, [{"tool_calls": [TIDE]}], (211, 24))
    both = asks("Tide in Esbjerg and wind on Rømø?", tools=TOOLS)
    apart = [{"tool_calls": [TIDE]}, {"tool_calls": [WIND]}]
    yield turn("parallel-tool-calls", both, apart, (219, 61), cut="characters")
    pieces = [*texts("I look up", " both.")]
    yield turn("text-then-tool-call", both, pieces, (219, 66), last={"tool_calls": [TIDE, WIND]}, cut="slices")
    asked = {"role": "user", "content": "When is high tide in Esbjerg?"}
    called = {
        "role": "assistant",
        "tool_calls": [{"function": {"name": "get_tide", "arguments": {"port": "Esbjerg"}}}],
    }
    result = {"role": "tool", "content": '{"high":"14:20"}', "tool_name": "get_tide"}
    pieces = [*texts("High tide in Esbjerg", " is at 14:20.")]
    yield turn("tool-result", asks([asked, called, result], tools=TOOLS), pieces, (248, 13), cut="threes")


def _thoughts() -> Iterator[Cassette]:
    thoughts = [*texts("Seven times", " thirteen is 91,", " so it has two", kind="thinking")]
    border = {"content": "No: 91", "thinking": " factors."}
    pieces = [*thoughts, border, *texts(" is 7 × 13.")]
    yield turn("reasoning", asks("Is 91 a prime?", think=True), pieces, (16, 39), cut="characters")


def _generated() -> Iterator[Cassette]:
    """The other endpoint, and models that are only loaded or unloaded."""
    pieces = [*texts("Seven times", " thirteen.", kind="thinking"), *texts("No: 91", " is 7 × 13.")]
    yield turn(
        "generate-reasoning", {"model": MODEL, "prompt": "Is 91 a prime?", "think": True}, pieces, (16, 31), cut="threes"
    )
    idle = {**head(0), "message": {"role": "assistant", "content": ""}, "done": True}
    yield at_once("load", asks([]), {**idle, "done_reason": "load"})
    yield at_once("unload", asks([], keep_alive=0), {**idle, "done_reason": "unload"})


def _failures() -> Iterator[Cassette]:
    small = {**asks(FERRY, think=True), "model": "gemma3:1b"}
    yield at_once("error-no-thinking", small, {"error": '"gemma3:1b" does not support thinking'}, 400)
    error = {"error": "an error was encountered while running the model: unexpected EOF"}
    yield _broken("error-in-stream", [*_begun(), error])
    yield _broken("cut-off", _begun(), ending="reset")
    yield _broken("cut-off-in-line", _begun(), ending="reset", left=73)


def _begun() -> list[Object]:
    return [
        {**head(n), "message": {"role": "assistant", "content": piece}, "done": False} for n, piece in enumerate(ANSWER[:3])
    ]


def _broken(scenario: str, lines: list[Object], *, ending: Ending = "eof", left: int | None = None) -> Cassette:
    return OLLAMA.case(scenario, MODEL, streamed(asks(FERRY), lines, ending=ending, left=left))
