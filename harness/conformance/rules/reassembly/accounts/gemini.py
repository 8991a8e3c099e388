"""A plain account of a Gemini stream (wire/google-generatecontent.md sections 4 to 7)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from harness.conformance.rules.reassembly.accounts.account import Account, Call, Spot, Told, words
from harness.dialects.translating import as_count, as_list, as_object, as_objects

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")
_MOST_ELEMENTS = 10_000
_CONTENT = ("functionCall", "inlineData", "executableCode", "codeExecutionResult", "fileData", "toolCall", "toolResponse")


class _Turn:
    """The first candidate: the call that is open, and what the last payload had to say of what is told again and again."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.open: Call | None = None
        self.block = 0
        self.before: bool | None = None  # whether the text before was a thought
        self.supports: list[Any] = []
        self.cited: dict[str, Any] = {}

    def part(self, part: dict[str, Any], spot: Spot) -> None:
        account, thought = self.account, part.get("thought") is True
        content = [name for name in part if name in _CONTENT and part[name] is not None]
        call = part.get("functionCall")
        if isinstance(call, dict):
            self._call(call, part)
        elif isinstance(part.get("text"), str) and not content:
            if thought != self.before:
                self.block, self.before = self.block + 1, thought
            blocks = account.thoughts if thought else account.texts
            account.say(blocks, self.block, part["text"], spot.frame, f"{spot.path}/text")
        if not isinstance(call, dict):
            self.open = None
        if content:
            self.before = None
        account.sign(part.get("thoughtSignature"), alone=not content and not part.get("text"))
        if part.get("thoughtSignature"):
            self.before = None

    def _call(self, call: dict[str, Any], part: dict[str, Any]) -> None:
        name, pieces = words(call.get("name")), as_objects(call.get("partialArgs"))
        if name or (self.open is None and (pieces or call.get("id") or call.get("args"))):
            self.open = Call(key=len(self.account.calls), name=name or "", value={})
            self.account.calls.append(self.open)
        if self.open is None:
            return
        self.open.id = self.open.id or words(call.get("id")) or ""
        for piece in pieces:
            _place(self.open.value, piece)
        if call.get("args") is not None:
            self.open.value = call["args"]
        if not call.get("willContinue"):
            self.open = None

    def beside(self, candidate: dict[str, Any]) -> None:
        for name in ("citations", "citationSources"):
            for citation in as_objects(as_object(candidate.get("citationMetadata")).get(name)):
                place = repr([citation.get(n) for n in ("startIndex", "endIndex", "uri")])
                self.cited.setdefault(place, citation)
        grounding = as_object(candidate.get("groundingMetadata"))
        if grounding:
            self.supports = as_objects(grounding.get("groundingSupports"))
        chosen = as_objects(as_object(candidate.get("logprobsResult")).get("chosenCandidates"))
        self.account.tokens += [token["token"] for token in chosen if isinstance(token.get("token"), str)]


def gemini(told: Iterable[Told | int], request: Any) -> Account:
    account = Account()
    payloads = [it for it in told if isinstance(it, Told)]
    indexes = sorted({_index(candidate) for it in payloads for candidate in as_objects(it.value.get("candidates"))})
    turn, blocked, finished = _Turn(account), False, dict.fromkeys(indexes, False)
    totals = {it.frame for it in payloads if as_object(it.value.get("usageMetadata")).get("totalTokenCount") is not None}
    for it in payloads:
        account.payloads += 1
        account.name(it.value, "responseId", "modelVersion")
        if it.value.get("error"):
            account.fail(it.frame)
        feedback = as_object(it.value.get("promptFeedback"))
        if feedback.get("blockReason") or feedback.get("blockReasonMessage"):  # a blocked prompt is an error (semantics.md D14)
            blocked = True
            account.fail(it.frame)
        if (it.frame in totals or not totals) and it.value.get("usageMetadata"):
            _count(as_object(it.value["usageMetadata"]), it.frame, account)
        for position, candidate in enumerate(as_list(it.value.get("candidates"))):
            if isinstance(candidate, dict):
                _candidate(candidate, Spot(it.frame, f"/candidates/{position}"), indexes[0], finished, turn)
    account.citations = [*turn.cited.values(), *turn.supports]
    asked = as_count(as_object(as_object(request).get("generationConfig")).get("candidateCount"))
    account.ended = blocked or (bool(indexes) and all(finished.values()) and len(indexes) >= (asked or 1))
    return account


def _candidate(candidate: dict[str, Any], spot: Spot, first: int, finished: dict[int, bool], turn: _Turn) -> None:
    content = as_object(candidate.get("content"))
    parts = [(n, part) for n, part in enumerate(as_list(content.get("parts"))) if isinstance(part, dict)]
    index, account = _index(candidate), turn.account
    if any(part.get("text") or part.keys() - {"text", "thought", "thoughtSignature"} for _, part in parts):
        finished[index] = False
    reason = candidate.get("finishReason")
    if reason and reason != "FINISH_REASON_UNSPECIFIED":
        finished[index] = True
    if index != first:
        return
    account.role = account.role or words(content.get("role"))
    account.roles += [Spot(spot.frame, f"{spot.path}/content/role")] * ("role" in content)
    for number, part in parts:
        turn.part(part, Spot(spot.frame, f"{spot.path}/content/parts/{number}"))
    turn.beside(candidate)
    if reason:
        account.finish = str(reason)
        account.finishes.append(Spot(spot.frame, f"{spot.path}/finishReason"))


def _count(usage: dict[str, Any], frame: int, account: Account) -> None:
    """A snapshot: it takes the place of the one before as a whole."""
    account.usage = {}
    account.count(frame, input_tokens=usage.get("promptTokenCount"), output_tokens=usage.get("candidatesTokenCount"))


def _index(candidate: dict[str, Any]) -> int:
    return as_count(candidate.get("index")) or 0


def _place(arguments: Any, piece: dict[str, Any]) -> None:
    """One piece of streamed arguments, at its path: strings at one path are joined, other values are set."""
    path = [name or quoted or double or int(index) for name, index, quoted, double in _STEP.findall(str(piece.get("jsonPath")))]
    kind = next((k for k in ("stringValue", "numberValue", "boolValue", "nullValue") if k in piece), None)
    if kind is None or not path:
        return
    node, value = arguments, None if kind == "nullValue" else piece[kind]
    for step, following in pairwise(path):
        if not _has_room(node, step):
            return
        if node[step] is None:
            node[step] = [] if isinstance(following, int) else {}
        node = node[step]
    if _has_room(node, path[-1]):
        before = node[path[-1]]
        node[path[-1]] = before + value if isinstance(before, str) and isinstance(value, str) else value


def _has_room(node: Any, step: Any) -> bool:
    """Whether a step leads on from a node; the place that it leads to is made."""
    if isinstance(node, list) and isinstance(step, int) and step < _MOST_ELEMENTS:
        node += [None] * (step + 1 - len(node))
    elif isinstance(node, dict) and isinstance(step, str):
        node.setdefault(step, None)
    else:
        return False
    return True
