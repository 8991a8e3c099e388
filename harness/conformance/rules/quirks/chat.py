"""Quirks of Chat Completions, streamed or not: what servers add to the form, or leave out of it, without breaking a rule."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.inspecting import Court
from harness.conformance.rules.openai_chat.sights import Turn, key, string, turns
from harness.conformance.rules.quirks.asked import beside_the_request
from harness.conformance.rules.sights import Ending, Plain
from harness.dialects.openai_chat.vocabulary import CHOICE, CHUNK, DELTA, TOKEN
from harness.dialects.translating import as_list, as_object, as_objects
from harness.framing import Frame


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_CHUNK = _names("id object created model choices usage system_fingerprint service_tier obfuscation moderation")
_CHOICE = _names("index delta message finish_reason logprobs")
_MESSAGE = _names("role content refusal tool_calls function_call audio annotations")
_TOKEN = _names("token logprob bytes top_logprobs")
_TOLD_BY_RULES = _names(
    "provider x_groq native_finish_reason reasoning reasoning_content reasoning_details "
    "prompt_filter_results content_filter_results content_filter_result content_filter_offsets"
)
_VERDICTS = ("moderation", "prompt_filter_results", "content_filter_results")


class ChatQuirks:
    """Chunks, choices, and the messages that they came to. What the vocabulary lacks is reported as unknown already."""

    def __init__(self, court: Court) -> None:
        self._court = court
        self._done = False
        self._begun_with_null: set[Any] = set()

    def payload(self, frame: Frame, value: Any) -> None:
        if not isinstance(value, dict):
            return
        if "error" in value:
            self._error(value)
        elif "choices" in value:
            self._chunk(value)

    def marker(self, frame: Frame) -> None:
        self._done = True

    def end(self, ending: Ending) -> None:
        note = self._court.note
        if ending.failed and not self._done:
            note("error/without-marker", "no [DONE] came after the error")
        told = list(turns(ending))
        for turn in told:
            self._turn(turn)
            if key(turn.body.get("index")) in self._begun_with_null and turn.message.get("content"):
                path = f"{turn.path}/message/content"
                note("delta/content-null", "the first delta of a text says null; OpenAI's says an empty text", path)
        if ending.seen.complete:
            beside_the_request(self._court, as_object(ending.seen.body), told)

    def plain(self, answer: Plain) -> None:
        body = answer.body
        if not isinstance(body, dict):
            return
        if answer.case.exchange.status >= 400 or body.get("error"):
            self._error(body)
        else:
            self._answer(body)

    def _error(self, body: dict[str, Any]) -> None:
        error = body.get("error")
        if not isinstance(error, dict):
            return
        if type(error.get("code")) is int:
            self._court.note(
                "error/code-number", "the code of the error is a number; OpenAI's are words or null", "/error/code"
            )
        if "param" not in error:
            self._court.note("error/param-missing", "an error without `param`, which OpenAI's have, if only as null", "/error")

    def _chunk(self, chunk: dict[str, Any]) -> None:
        note = self._court.note
        if chunk.get("object") == "":
            note("chunk/object-empty", "a chunk whose `object` is empty", "/object")
        if not chunk.get("created"):
            note("chunk/created-zero", "a chunk that does not say when it was made", "/created")
        if not chunk["choices"] and any(name in chunk for name in _VERDICTS):
            note("choices/verdict-only", "a chunk without choices that holds a verdict on the content", "/choices")
        self._foreign(chunk, _CHUNK, "chunk", "", CHUNK.names)
        for position, choice in enumerate(as_objects(chunk["choices"])):
            self._choice(choice, f"/choices/{position}")

    def _choice(self, choice: dict[str, Any], path: str) -> None:
        """A choice of a chunk."""
        delta = as_object(choice.get("delta"))
        self._foreign(choice, _CHOICE - {"message"}, "choice", path, CHOICE.names)
        self._foreign(delta, _MESSAGE, "delta", f"{path}/delta", DELTA.names)
        tokens = as_objects(as_object(choice.get("logprobs")).get("content"))[:1]
        for token in tokens:
            self._foreign(token, _TOKEN, "log probability", f"{path}/logprobs/content/0", TOKEN.names)
        if delta.get("role") and "content" in delta and delta["content"] is None:
            self._begun_with_null.add(key(choice.get("index")))

    def _answer(self, body: dict[str, Any]) -> None:
        """An answer that was not streamed, and is no error."""
        note = self._court.note
        for name in ("id", "choices"):
            if name not in body:
                note("answer/field-missing", f"an answer without `{name}`", f"/{name}")
        if body.get("id") == "":
            note("answer/id-empty", "an answer whose `id` is empty", "/id")
        told = []
        for position, choice in enumerate(as_list(body.get("choices"))):
            if isinstance(choice, dict):
                path = f"/choices/{position}"
                self._answered(choice, path)
                told.append(Turn(choice, path, string(choice.get("finish_reason")) or None))
                self._turn(told[-1])
        beside_the_request(self._court, body, told)

    def _answered(self, choice: dict[str, Any], path: str) -> None:
        note, message = self._court.note, as_object(choice.get("message"))
        self._foreign(choice, _CHOICE - {"delta"}, "choice", path)
        self._foreign(message, _MESSAGE, "message", f"{path}/message")
        if choice.get("finish_reason") == "":
            note("answer/finish-empty", "an empty string in the place of a finish reason", f"{path}/finish_reason")
        if isinstance(message.get("content"), list):
            note("answer/content-not-text", "the content is a list of parts, and no text", f"{path}/message/content")

    def _turn(self, turn: Turn) -> None:
        calls = [call for call in turn.calls if call.name]
        if calls and turn.message.get("content"):
            self._court.note("text/beside-calls", "a text and calls in one message", f"{turn.path}/message/content")
        for call in calls:
            if call.function.get("arguments") == "":
                message = "the arguments of a call are an empty text, and no JSON"
                self._court.note("tool/arguments-empty", message, f"{call.path}/function/arguments")

    def _foreign(
        self, holder: dict[str, Any], own: frozenset[str], what: str, path: str, known: frozenset[str] | None = None
    ) -> None:
        """Names that are none of OpenAI's; of a stream only those that neither rules nor the list of unknown fields tell."""
        if holder.keys() <= own:
            return
        for name in sorted(holder.keys() - own):
            if known is None or name in known - _TOLD_BY_RULES:
                self._court.note("field/foreign", f"`{name}` is no field of OpenAI's in a {what}", f"{path}/{name}")
