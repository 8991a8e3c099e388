"""What is said at the Gemini API: turns that succeed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from authoring.gemini import (
    THREE,
    Signature,
    Thought,
    Tokens,
    asks,
    said,
    tool,
    turn,
)
from harness.cassette import Cassette

SIGNATURE = "CpQBDq5jEgGnBOfE1D9nXlpn3BDrnt9KslHosGh2nZK6kf4XEnmiYMCGeb2nGXGw"
TIDE = tool("get_tide", "The next high tide at a port", port="Name of the port")
WIND = tool("get_wind", "The wind at a port", port="Name of the port")
TOOLS = [{"functionDeclarations": [TIDE, WIND]}]
THINKING = {"thinkingConfig": {"includeThoughts": True}}
FERRY = "Which colour has the ferry, and when does it leave?"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
RECITE = "Recite two lines on the tide."
POEM = ("The tide comes in, the tide goes out, ", "and who can say what it is about?")
CITED = [
    {"startIndex": 4, "endIndex": 38, "uri": "https://poems.example/1"},
    {"startIndex": 38, "endIndex": 71, "uri": "https://poems.example/2", "license": "MIT"},
]
ODD = "Quotes: \"a\" and 'b', a backslash \\, <b>&amp;</b>\r\nsecond line\tafter a tab\u2028after U+2028. "


def turns() -> Iterator[Cassette]:
    yield from _texts()
    yield from _calls()
    yield from _thoughts()
    yield from _hosted()
    yield from _sources()


def _texts() -> Iterator[Cassette]:
    text = [["The ferry"], [" is green and"], [" leaves at"], [" nine."]]
    yield turn("text", asks(FERRY), text, Tokens(11, 12), plain={"avgLogprobs": -0.21875})
    config = {"stopSequences": ["four"]}
    pieces = [["one, two"], [", three, "]]
    yield turn("stop-sequence", asks("Count to five in words.", generationConfig=config), pieces, Tokens(7, 7))
    pieces = [[ODD], ["Smørrebrød, "], ["naïve façade, "], ["潮の満ち引き, "], ["👩‍🚀🌊 and \U0001d11e"]]
    yield turn("unicode", asks("Write some odd characters."), pieces, Tokens(6, 61), cut="characters")
    yield turn("array-text", asks(FERRY), text, Tokens(11, 12), array=True)


def _calls() -> Iterator[Cassette]:
    request = asks("When is high tide in Esbjerg?", tools=TOOLS)
    call = {"functionCall": {"args": {"port": "Esbjerg"}, "id": "k4v9q2aa", "name": "get_tide"}}
    tokens = Tokens(83, 15, thoughts=42)
    told = {"finishMessage": "Model generated function call(s)."}
    signed = {**call, "thoughtSignature": SIGNATURE}
    yield turn("tool-call", request, [[signed], [""]], tokens, model=THREE, plain=told)
    yield turn("array-tool-call", request, [[signed], [""]], tokens, model=THREE, plain=told, array=True, cut="slices")
    request = asks("Look up the tide in Esbjerg, but say so first.", tools=TOOLS)
    pieces = [["I shall look"], [" that up."], [signed]]
    yield turn("text-then-tool-call", request, pieces, Tokens(87, 22, thoughts=12), model=THREE, cut="threes")
    answer = {"functionResponse": {"id": "k4v9q2aa", "name": "get_tide", "response": {"high": "14:20"}}}
    talk = [said("user", {"text": "When is high tide in Esbjerg?"}), said("model", signed), said("user", answer)]
    pieces = [["High tide in Esbjerg"], [" is at 14:20."], [Signature(SIGNATURE)]]
    yield turn("tool-result", asks(talk, tools=TOOLS), pieces, Tokens(132, 14), model=THREE)


def _thoughts() -> Iterator[Cassette]:
    request = asks("Is 91 a prime?", generationConfig=THINKING)
    pieces = [
        [Thought("**Trying factors**\n\nSeven times")],
        [Thought(" thirteen is 91.\n")],
        [Thought("So there are two factors.\n"), "No: 91"],
        [" is 7 × 13."],
        [Signature(SIGNATURE)],
    ]
    yield turn("reasoning", request, pieces, Tokens(6, 12, thoughts=88), model=THREE, cut="characters")
    config = {"maxOutputTokens": 24, **THINKING}
    request = asks("Is 9991 a prime?", generationConfig=config)
    pieces = [[Thought("**Trying factors**\n\n97 times")], [Thought(" 103 may be")]]
    yield turn("reasoning-length", request, pieces, Tokens(7, 0, thoughts=24), model=THREE, finish="MAX_TOKENS")


def _hosted() -> Iterator[Cassette]:
    """What runs at Google's side, and media."""
    code = {"executableCode": {"code": "print(sum(range(1, 11)))\n", "language": "PYTHON"}}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "55\n"}}
    pieces = [["I add them"], [" up.\n\n"], [code], [result], ["The sum is"], [" 55."]]
    request = asks("Sum up the numbers from 1 to 10 with code.", tools=[{"codeExecution": {}}])
    yield turn("code-execution", request, pieces, Tokens(14, 61, thoughts=33, tools=98))
    request = asks("Draw a single red dot.", generationConfig={"responseModalities": ["TEXT", "IMAGE"]})
    pieces = [["Here is"], [" your dot."], [{"inlineData": {"data": PNG, "mimeType": "image/png"}}]]
    yield turn("image-output", request, pieces, Tokens(6, 1297), cut="slices")


def _sources() -> Iterator[Cassette]:
    first, second = "Rømø has a harbour", ", and a dam leads to the island."
    grounding: dict[str, Any] = {
        "groundingChunks": [
            {"web": {"title": "harbours.example", "uri": "https://harbours.example/romo"}},
            {"web": {"title": "dams.example", "uri": "https://dams.example/romo"}},
        ],
        "groundingSupports": [
            {"groundingChunkIndices": [0], "segment": _segment(first + second, first)},
            {"groundingChunkIndices": [0, 1], "segment": _segment(first + second, second[2:])},
        ],
        "searchEntryPoint": {"renderedContent": '<div class="search">harbour on Rømø</div>'},
        "webSearchQueries": ["harbour on Rømø"],
    }
    request = asks("Is there a harbour on Rømø?", tools=[{"googleSearch": {}}])
    each = [{"groundingMetadata": {}}, {"groundingMetadata": {}}, {"groundingMetadata": grounding}]
    pieces = [[first], [second[:12]], [second[12:]]]
    closing = {"groundingMetadata": grounding}
    yield turn("grounding", request, pieces, Tokens(9, 21, 30, tools=57), closing=closing, each=each, cut="characters")
    pieces = [[line] for line in POEM]
    each = [{"citationMetadata": {"citationSources": CITED[:1]}}, {"citationMetadata": {"citationSources": CITED}}]
    closing = {"citationMetadata": {"citationSources": CITED}}
    yield turn("citations", asks(RECITE), pieces, Tokens(8, 18), closing=closing, each=each)


def _segment(text: str, piece: str) -> dict[str, Any]:
    """Where a piece of a text stands, in bytes; a 0 is left out."""
    start = len(text[: text.index(piece)].encode())
    place = {"startIndex": start, "endIndex": start + len(piece.encode()), "text": piece}
    return place if start else {name: value for name, value in place.items() if name != "startIndex"}
