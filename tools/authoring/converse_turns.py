"""What is said at Converse, and what goes wrong there."""

from __future__ import annotations

from collections.abc import Iterator

from authoring.blocks import Call, Cited, Redacted, Text, Thought
from authoring.converse import (
    HAIKU,
    NOVA,
    SERVICE,
    Named,
    asks,
    block_events,
    frames,
    native,
    refused,
    said,
    streamed,
    tool,
    turn,
)
from authoring.wire import exception
from harness.cassette import Cassette
from harness.cassette.model import Ending

SIGNATURE = "EooCCkgICxABGAIqQK3vQdY1tPz8m0y4c2VbJx7wLr5uHs9fXk6nTeAoZgDiRqBvC1aMSpE="
REDACTED = ("R2VkYW5rZW4sIGRpZSBuaWVtYW5kIGxlc2VuIHNvbGwu", "VW5kIG5vY2ggbWVociBkYXZvbi4=")
TOOLS = {
    "tools": [
        tool("get_tide", "The next high tide at a port", port="Name of the port"),
        tool("get_wind", "The wind at a port", port="Name of the port"),
    ]
}
TIDE = Call("tooluse_5Yq0ZbF3R1mWc7xK2sPnTg", "get_tide", ("", '{"po', 'rt": "Esb', 'jerg"}'))
WIND = Call("tooluse_8Hn2VdL6T4kQa9yE1rXuJw", "get_wind", ('{"port": "Rømø"}',))
FERRY = "Which colour has the ferry, and when does it leave?"
ANSWER = Text(("The ferry", " is green and", " leaves at", " nine."))
ODD = Text(
    (
        "Quotes: \"a\" and 'b', a backslash \\, <b>&amp;</b>\r\nsecond line\tafter a tab\u2028after U+2028. ",
        "Smørrebrød, naïve façade, ",
        "潮の満ち引き, ",
        "👩‍🚀🌊 and \U0001d11e",
    )
)


def cassettes() -> Iterator[Cassette]:
    yield from _texts()
    yield from _calls()
    yield from _thoughts()
    yield from _sources()
    yield from _failures()


def _texts() -> Iterator[Cassette]:
    yield turn("text", asks(FERRY), [ANSWER], (19, 14))
    request = asks(
        "Count to five in words.",
        inferenceConfig={"stopSequences": ["four"]},
        additionalModelResponseFieldPaths=["/stop_sequence"],
    )
    stopped = Text(("one, two", ", three, "))
    yield turn(
        "stop-sequence", request, [stopped], (15, 9), stop="stop_sequence", fields={"stop_sequence": "four"}, cut="threes"
    )
    yield turn("unicode", asks("Write some odd characters."), [ODD], (14, 83), cut="characters")


def _calls() -> Iterator[Cassette]:
    request = asks("When is high tide in Esbjerg?", toolConfig=TOOLS)
    yield turn("tool-call", request, [TIDE], (412, 54), stop="tool_use")
    both = asks("Tide in Esbjerg and wind on Rømø?", toolConfig=TOOLS)
    first = Text(("I look up", " both."))
    yield turn("parallel-tool-calls", both, [first, TIDE, WIND], (419, 101), stop="tool_use", cut="slices")
    none = {"tools": [tool("list_ports", "All ports")]}
    empty = Call("tooluse_2Jm7QkN4S8vZb3cD6fGhLp", "list_ports")
    yield turn("tool-call-no-arguments", asks("List the ports.", toolConfig=none), [empty], (333, 31), stop="tool_use")
    result = {"toolResult": {"toolUseId": TIDE.id, "content": [{"json": {"high": "14:20"}}], "status": "success"}}
    talk = [said("user", {"text": "When is high tide in Esbjerg?"}), said("assistant", native(TIDE)), said("user", result)]
    answer = Text(("High tide in Esbjerg", " is at 14:20."))
    yield turn("tool-result", asks(talk, toolConfig=TOOLS), [answer], (491, 18), cut="threes")


def _thoughts() -> Iterator[Cassette]:
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    request = asks("Is 91 a prime?", inferenceConfig={"maxTokens": 2048}, additionalModelRequestFields=thinking)
    thought = Thought(("Seven times", " thirteen is 91,", " so it has two factors."), SIGNATURE)
    answer = Text(("No: 91", " is 7 × 13."))
    yield turn("reasoning", request, [thought, answer], (44, 71), cut="characters")
    blocks = [*map(Redacted, REDACTED), answer]
    yield turn("reasoning-redacted", request, blocks, (44, 93))
    unsigned = Thought(("The user asks", " for a tide."))
    call = Call("tooluse_9Xc1BnM5V7lKj2hG4fDsAq", "get_tide", ('{"port":"Esbjerg"}',))
    request = asks("When is high tide in Esbjerg?", toolConfig=TOOLS)
    yield turn("reasoning-then-tool-call", request, [unsigned, call], (402, 60), stop="tool_use", model=NOVA, cut="slices")


def _sources() -> Iterator[Cassette]:
    location = {"documentChar": {"documentIndex": 0, "start": 0, "end": 27}}
    quoted = [{"text": "The ferry is painted green."}]
    document = {"format": "txt", "name": "harbour", "source": {"text": "The ferry is painted green."}}
    content = [{"document": {**document, "citations": {"enabled": True}}}, {"text": FERRY}]
    cited = Cited(Text(("the ferry", " is green")), ({"title": "harbour", "sourceContent": quoted, "location": location},))
    blocks = [Text(("According to the document,", " ")), cited, Text((".",))]
    yield turn("citations", asks([said("user", *content)]), blocks, (633, 29))


def _failures() -> Iterator[Cassette]:
    methods = ("converse-stream", "converse")
    slow = "Too many requests, please wait before trying again."
    yield refused(SERVICE, "error-rate-limit", HAIKU, asks(FERRY), methods, 429, "ThrottlingException", slow)
    begun = frames(_begun())
    yield _broken("error-in-stream", [*begun, exception("throttlingException", {"message": slow})])
    unexpected = {"message": "The system encountered an unexpected error during processing. Try your request again."}
    failed = {**unexpected, "originalStatusCode": 500, "originalMessage": "Model stream broke off."}
    yield _broken("error-in-stream-model", [begun[0], exception("modelStreamErrorException", failed)])
    yield _broken("cut-off", begun, ending="reset")
    yield _broken("cut-off-in-frame", [*begun[:-1], begun[-1][:-9]], ending="reset")


def _begun() -> list[Named]:
    begun = Text(ANSWER[:2])
    return [("messageStart", {"role": "assistant"}), *block_events(0, begun, stop=False)]


def _broken(scenario: str, events: list[bytes], *, ending: Ending = "eof") -> Cassette:
    return SERVICE.case(scenario, HAIKU, streamed(asks(FERRY), events, ending=ending))
