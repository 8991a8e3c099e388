"""A plain account of a stream of Ollama, of either endpoint (wire/ollama-chat.md section 5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.conformance.rules.reassembly.accounts.account import Account, Call, Spot, Told, words
from harness.dialects.translating import as_list, as_object, as_objects


def ollama(told: Iterable[Told | int], request: Any) -> Account:
    account = Account()
    for it in told:
        if isinstance(it, int):
            continue
        line = it.value
        account.payloads += 1
        account.model = words(line.get("model")) or account.model
        if line.get("error"):
            account.fail(it.frame)
        message = as_object(line.get("message"))
        for holder, at, text in ((message, "/message", "content"), (line, "", "response")):
            account.say(account.texts, 0, holder.get(text), it.frame, f"{at}/{text}")
            account.say(account.thoughts, 0, holder.get("thinking"), it.frame, f"{at}/thinking")
            for position, call in enumerate(as_list(holder.get("tool_calls"))):
                if isinstance(call, dict):
                    _call(call, Spot(it.frame, f"{at}/tool_calls/{position}"), account)
        account.role = account.role or words(message.get("role"))
        account.roles += [Spot(it.frame, "/message/role")] * ("role" in message)
        account.tokens += [t["token"] for t in as_objects(line.get("logprobs")) if isinstance(t.get("token"), str)]
        account.count(it.frame, input_tokens=line.get("prompt_eval_count"), output_tokens=line.get("eval_count"))
        if line.get("done_reason"):
            account.finish = words(line["done_reason"])
            account.finishes.append(Spot(it.frame, "/done_reason"))
        if line.get("done") is True:
            account.ended, account.marked = True, it.frame
            break
    return account


def _call(call: dict[str, Any], spot: Spot, account: Account) -> None:
    function = as_object(call.get("function"))
    account.calls.append(
        Call(
            key=len(account.calls),
            id=words(call.get("id")) or "",
            name=words(function.get("name")) or "",
            value=function.get("arguments"),
            heads=[spot],
        )
    )
