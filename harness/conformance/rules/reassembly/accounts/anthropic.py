"""A plain account of a Messages stream (wire/anthropic-messages.md section 6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.conformance.rules.reassembly.accounts.account import Account, Call, Spot, Told, number, ordered, words
from harness.dialects.translating import as_object, as_objects


class _Block:
    def __init__(self, start: dict[str, Any]) -> None:
        self.start = start
        self.signature = words(start.get("signature"))
        self.fragments: list[str] = []
        self.citations = as_objects(start.get("citations"))


def anthropic(told: Iterable[Told | int], request: Any) -> Account:
    account = Account()
    blocks: dict[int, _Block] = {}
    for it in told:
        if isinstance(it, int):
            continue
        event, kind = it.value, it.value.get("type")
        account.payloads += 1
        if kind == "error" or (event.get("error") and not kind):
            account.fail(it.frame)
        elif kind == "message_start" and account.role is None:
            message = as_object(event.get("message"))
            account.name(message)
            account.role = words(message.get("role"))
            account.roles.append(Spot(it.frame, "/message/role"))
            _count(as_object(message.get("usage")), it.frame, account)
        elif kind == "content_block_start":
            start = as_object(event.get("content_block"))
            blocks.setdefault(number(event.get("index")), _Block(start))
            _begin(number(event.get("index")), start, it.frame, account)
            if start.get("type") == "fallback":  # another model goes on
                account.model = words(as_object(start.get("to")).get("model")) or account.model
        elif kind == "content_block_delta":
            index = number(event.get("index"))
            _delta(index, as_object(event.get("delta")), blocks.setdefault(index, _Block({})), it.frame, account)
        elif kind == "message_delta":
            _count(as_object(event.get("usage")), it.frame, account)
            reason = as_object(event.get("delta")).get("stop_reason")
            if reason:
                account.finish = words(reason)
                account.finishes.append(Spot(it.frame, "/delta/stop_reason"))
        elif kind == "message_stop":
            account.ended, account.marked = True, it.frame
            break
    _close(dict(sorted(blocks.items())), account)
    return account


def _begin(index: int, start: dict[str, Any], frame: int, account: Account) -> None:
    if start.get("type") == "text" and start.get("text"):
        account.say(account.texts, index, start["text"], frame, "/content_block/text")
    elif start.get("type") == "thinking" and start.get("thinking"):
        account.say(account.thoughts, index, start["thinking"], frame, "/content_block/thinking")


def _delta(index: int, delta: dict[str, Any], block: _Block, frame: int, account: Account) -> None:
    account.say(account.texts, index, delta.get("text"), frame, "/delta/text")
    account.say(account.thoughts, index, delta.get("thinking"), frame, "/delta/thinking")
    block.signature = words(delta.get("signature")) or block.signature
    if isinstance(delta.get("partial_json"), str):
        block.fragments.append(delta["partial_json"])
    if isinstance(delta.get("citation"), dict):
        block.citations.append(delta["citation"])


def _count(usage: dict[str, Any], frame: int, account: Account) -> None:
    account.count(frame, input_tokens=usage.get("input_tokens"), output_tokens=usage.get("output_tokens"))


def _close(blocks: dict[int, _Block], account: Account) -> None:
    for index, block in blocks.items():
        start = block.start
        if start.get("type") == "tool_use":
            id, name = words(start.get("id")) or "", words(start.get("name")) or ""
            account.calls.append(Call(index, id, name, block.fragments, start.get("input")))
        account.sign(block.signature, alone=index not in account.thoughts or not account.thoughts[index].text)
        if start.get("type") == "redacted_thinking":
            account.sign(start.get("data"), alone=True)
        account.citations += block.citations
    account.texts, account.thoughts = ordered(account.texts), ordered(account.thoughts)
