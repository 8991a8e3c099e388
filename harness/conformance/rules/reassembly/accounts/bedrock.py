"""Plain accounts of the two streams of Bedrock: Converse, and the vendors' own events inside Invoke (wire/bedrock-converse.md
sections 6 and 8)."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any

from harness import payload
from harness.conformance.rules.reassembly.accounts.account import Account, Call, Spot, Told, number, ordered, unpacked, words
from harness.conformance.rules.reassembly.accounts.anthropic import anthropic
from harness.conformance.rules.reassembly.accounts.chat import chat
from harness.dialects.translating import as_object, as_objects

_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata")


class _Blocks:
    """What has come of each block, by its index."""

    def __init__(self) -> None:
        self.calls: dict[int, Call] = {}
        self.signatures: dict[int, str] = {}
        self.redacted: dict[int, bytes] = {}
        self.hosted: set[int] = set()


def converse(told: Iterable[Told | int], request: Any) -> Account:
    return _converse((it, "") for it in told if isinstance(it, Told))


def _converse(told: Iterable[tuple[Told, str]]) -> Account:
    """`told` has each event with the pointer to it in its payload."""
    account, blocks = Account(), _Blocks()
    for it, at in told:
        event = it.value
        account.payloads += 1
        if it.broken:
            account.fail(it.frame)
        elif it.name == "metadata":
            usage = as_object(event.get("usage"))
            account.count(it.frame, input_tokens=usage.get("inputTokens"), output_tokens=usage.get("outputTokens"))
        elif account.ended:
            continue
        elif it.name == "messageStart":
            account.role = account.role or words(event.get("role"))
            account.roles.append(Spot(it.frame, f"{at}/role"))
        elif it.name == "contentBlockStart":
            _start(number(event.get("contentBlockIndex")), as_object(event.get("start")), blocks)
        elif it.name == "contentBlockDelta":
            index = number(event.get("contentBlockIndex"))
            _delta(index, as_object(event.get("delta")), blocks, Spot(it.frame, f"{at}/delta"), account)
        elif it.name == "messageStop":
            account.ended, account.marked = True, it.frame
            account.finish = words(event.get("stopReason"))
            account.finishes.append(Spot(it.frame, f"{at}/stopReason"))
    _close(blocks, account)
    return account


def _start(index: int, start: dict[str, Any], blocks: _Blocks) -> None:
    tool = start.get("toolUse")
    if isinstance(tool, dict):
        blocks.calls[index] = Call(index, words(tool.get("toolUseId")) or "", words(tool.get("name")) or "")
        if tool.get("type") == "server_tool_use":
            blocks.hosted.add(index)
    elif "toolResult" in start:
        blocks.hosted.add(index)


def _delta(index: int, delta: dict[str, Any], blocks: _Blocks, spot: Spot, account: Account) -> None:
    account.say(account.texts, index, delta.get("text"), spot.frame, f"{spot.path}/text")
    tool = as_object(delta.get("toolUse")).get("input")
    if isinstance(tool, str):
        blocks.calls.setdefault(index, Call(index)).fragments.append(tool)
    thinking = as_object(delta.get("reasoningContent"))
    account.say(account.thoughts, index, thinking.get("text"), spot.frame, f"{spot.path}/reasoningContent/text")
    if isinstance(thinking.get("signature"), str):
        blocks.signatures[index] = thinking["signature"]
    if isinstance(thinking.get("redactedContent"), str):
        data = unpacked(thinking["redactedContent"])
        blocks.redacted[index] = blocks.redacted.get(index, b"") + (data or b"")
    if isinstance(delta.get("citation"), dict):
        account.citations.append(delta["citation"])


def _close(blocks: _Blocks, account: Account) -> None:
    account.calls = [call for index, call in sorted(blocks.calls.items()) if index not in blocks.hosted]
    for index, signature in blocks.signatures.items():
        account.sign(signature, alone=index not in account.thoughts or not account.thoughts[index].text)
    for data in blocks.redacted.values():
        account.sign(base64.b64encode(data).decode(), alone=True)
    account.texts, account.thoughts = ordered(account.texts), ordered(account.thoughts)


def invoke(told: Iterable[Told | int], request: Any) -> Account:
    """The vendor is known by the first payload."""
    inner = list(_inside(told))
    first = next((it.value for it in inner if not it.broken), {})
    failure = next((it.frame for it in inner if it.broken), None)
    sound = [it for it in inner if not it.broken]
    if "type" in first and "completion" not in first:
        account = anthropic(sound, request)
    elif any(name in first for name in _EVENTS):
        account = _nova(sound)
    elif any("delta" in choice for choice in as_objects(first.get("choices"))):
        account = chat(sound, request)
    else:
        account = _texts(sound)
    account.failed = failure if account.failed is None else account.failed
    return account


def _inside(told: Iterable[Told | int]) -> Iterator[Told]:
    for it in told:
        if isinstance(it, int) or (it.name not in ("chunk", None) and not it.broken):
            continue
        if it.broken:
            yield it
            continue
        data = unpacked(it.value.get("bytes"))
        try:
            value: Any = payload.tolerant(data or b"")[0]
        except payload.NotJSON:
            continue
        if isinstance(value, dict):
            yield Told(it.frame, None, value)
            if "amazon-bedrock-invocationMetrics" in value:
                return


def _nova(told: list[Told]) -> Account:
    """Converse's events, each in its name."""
    events = (
        (Told(it.frame, name, as_object(event), name.endswith("Exception")), f"/{name}")
        for it in told
        for name, event in it.value.items()
        if name in _EVENTS or name.endswith("Exception")
    )
    return _converse(events)


_TEXTS = ("completion", "generation", "text", "outputText")
_REASONS = ("stop_reason", "completionReason", "finish_reason")
_COUNTS = (("prompt_token_count", "generation_token_count"), ("prompt_tokens", "completion_tokens"))


_LAST = {"amazon-bedrock-invocationMetrics", "amazon-bedrock-trace"}  # Bedrock's own last words


def _texts(told: list[Told]) -> Account:
    """Vendors whose payloads are pieces of a text, alone or in a list."""
    account = Account()
    open_ones: dict[int, bool] = {}
    for it in told:
        account.payloads += 1
        account.name(it.value)
        lists = [(name, it.value[name]) for name in ("outputs", "generations", "choices") if name in it.value]
        pieces = [(f"/{name}/{n}", p) for name, ps in lists for n, p in enumerate(as_objects(ps))] or [("", it.value)]
        for position, (at, piece) in enumerate(pieces):
            _piece(number(piece.get("index"), position), piece, Spot(it.frame, at), open_ones, account)
        for given, answered in _COUNTS:
            for source in (it.value, as_object(it.value.get("usage"))):
                account.count(it.frame, input_tokens=source.get(given), output_tokens=source.get(answered))
        titan = it.value.get("inputTextTokenCount"), it.value.get("totalOutputTextTokenCount")
        account.count(it.frame, input_tokens=titan[0], output_tokens=titan[1])
        if _LAST & it.value.keys():
            open_ones = dict.fromkeys(open_ones, False)
    account.ended = bool(open_ones) and not any(open_ones.values())
    return account


def _piece(index: int, piece: dict[str, Any], spot: Spot, open_ones: dict[int, bool], account: Account) -> None:
    text = next((name for name in _TEXTS if isinstance(piece.get(name), str)), None)
    reason = next((piece[name] for name in _REASONS if piece.get(name)), None)
    if text is not None:
        open_ones.setdefault(index, True)
        if index == min(open_ones):
            account.say(account.texts, 0, piece[text], spot.frame, f"{spot.path}/{text}")
    if reason or piece.get("is_finished") is True:
        for number_ in [index] if text is not None else list(open_ones):
            open_ones[number_] = False
        if not open_ones or index == min(open_ones):
            account.finish = words(reason) or account.finish
