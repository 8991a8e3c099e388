"""Rules about log probabilities in a Chat stream."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.openai_chat.sights import Choice, Turn, request, rules, turns
from harness.conformance.rules.rule import Breach, Need, Said
from harness.conformance.rules.sights import Ending
from harness.dialects.translating import as_list, as_object, as_objects
from harness.findings import Level

LOGPROBS = rules()


@LOGPROBS.rule(
    40,
    Level.MUST,
    "the tokens of `logprobs`, joined, are the content of the choice",
    at=Ending,
    kind="logprobs/differ",
    source="SDK-OAI, `logprobs.content`: 'a list of message content tokens'; recordings",
    why="Clients that show a probability for each word put all of them at the wrong words after the first token that lacks.",
    bad='content "one two", tokens "one"',
    good='content "one two", tokens "one" and " two"',
    seen="Ollama (compatibility endpoint), where it splits a chunk",
)
def tokens_are_the_content(it: Ending) -> Said:
    about = [(turn, tokens) for turn in turns(it) if (tokens := _tokens(turn)) and not turn.calls]
    if not about:
        return None
    return [
        Breach(
            f"tokens of {len(joined)} bytes, where the content has {len(said)}",
            f"{turn.path}/logprobs/content",
            _shown(said),
            _shown(joined),
        )
        for turn, tokens in about
        if (joined := _joined(tokens)) != (said := _bytes(turn.message.get("content")))
    ] or True


@LOGPROBS.rule(
    41,
    Level.MUST,
    "there are no `logprobs` unless the request asks for them",
    at=Choice,
    needs=[Need.REQUEST],
    kind="logprobs/unasked",
    source="SDK-OAI, `logprobs`",
    why="They are several times as long as the text: who does not ask for them pays in bandwidth and memory.",
    bad='a request without logprobs answered with "logprobs":{"content":[…]}',
    good='"logprobs":null',
)
def no_logprobs_unasked(it: Choice) -> Said:
    asked = request(it.case)
    if asked is None or asked.get("logprobs"):
        return None
    got = it.raw.get("logprobs")
    return True if got is None else Breach("logprobs, though the request does not ask for them", f"{it.path}/logprobs", got=got)


def _tokens(turn: Turn) -> list[dict[str, Any]]:
    return as_objects(as_object(turn.body.get("logprobs")).get("content"))


def _joined(tokens: list[dict[str, Any]]) -> bytes:
    """The bytes of the tokens; a token may be a part of a character, and then only its bytes say which."""
    return b"".join(_token(token) for token in tokens)


def _token(token: dict[str, Any]) -> bytes:
    values = as_list(token.get("bytes"))
    if values and all(type(value) is int and 0 <= value < 256 for value in values):
        return bytes(values)
    return _bytes(token.get("token"))


def _shown(said: bytes) -> str:
    """The bytes as text, as far as they are."""
    return said.decode("utf-8", "backslashreplace")


def _bytes(text: Any) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""
