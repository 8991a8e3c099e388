"""A plain account of a Chat stream (wire/openai-chat.md section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness.conformance.rules.reassembly.accounts.account import Account, Call, Spot, Told, number, words
from harness.dialects.translating import as_json, as_list, as_object, as_objects


def chat(told: Iterable[Told | int], request: Any) -> Account:
    account = Account()
    payloads = list(_until_done(told, account))
    indexes = sorted({number(choice.get("index")) for it in payloads for choice in as_objects(it.value.get("choices"))})
    finished: set[int] = set()
    details: dict[tuple[str, str], dict[str, str]] = {}
    for it in payloads:
        account.payloads += 1
        account.name(it.value)
        if _is_error(it):
            account.fail(it.frame)
        _count(it, account)
        for position, choice in enumerate(as_list(it.value.get("choices"))):
            if not isinstance(choice, dict):
                continue
            index = number(choice.get("index"))
            if isinstance(choice.get("finish_reason"), str) and choice["finish_reason"]:
                finished.add(index)
            if index == indexes[0]:
                _choice(choice, it.frame, f"/choices/{position}", account, details)
    asked = as_object(request).get("n")
    account.ended = bool(indexes) and finished == set(indexes) and (type(asked) is not int or len(indexes) >= asked)
    account.calls.sort(key=lambda call: call.key)
    _tell_details(details, account)
    return account


def _until_done(told: Iterable[Told | int], account: Account) -> Iterator[Told]:
    for it in told:
        if isinstance(it, int):
            account.marked = it
            return
        yield it


def _is_error(it: Told) -> bool:
    nested = as_object(it.value.get("x_groq")).get("error")
    return bool(it.value.get("error") or nested) or it.name == "error" or it.value.get("object") == "error"


def _count(it: Told, account: Account) -> None:
    usage = it.value.get("usage")
    if not usage and account.counted is None:
        usage = as_object(it.value.get("x_groq")).get("usage")
    given = as_object(usage)
    account.count(it.frame, input_tokens=given.get("prompt_tokens"), output_tokens=given.get("completion_tokens"))


def _choice(choice: dict[str, Any], frame: int, at: str, account: Account, details: Any) -> None:
    delta = as_object(choice.get("delta"))
    if delta.get("role"):
        account.role = account.role or words(delta["role"])
        account.roles.append(Spot(frame, f"{at}/delta/role"))
    if as_object(choice.get("message")).get("role"):  # the whole message once more
        account.roles.append(Spot(frame, f"{at}/message/role"))
    _content(delta.get("content"), frame, f"{at}/delta/content", account)
    for name in ("reasoning_content", "reasoning"):
        account.say(account.thoughts, name, delta.get(name), frame, f"{at}/delta/{name}")
    account.say(account.refusals, 0, delta.get("refusal"), frame, f"{at}/delta/refusal")
    for position, fragment in enumerate(as_list(delta.get("tool_calls"))):
        if isinstance(fragment, dict):
            _fragment(fragment, Spot(frame, f"{at}/delta/tool_calls/{position}"), account)
    if isinstance(delta.get("function_call"), dict):
        _fragment({"index": -1, "function": delta["function_call"]}, Spot(frame, f"{at}/delta/function_call"), account)
    account.citations += as_objects(delta.get("annotations"))
    for detail in as_objects(delta.get("reasoning_details")):
        _detail(detail, details)
    logprobs = as_object(choice.get("logprobs"))
    account.tokens += [token["token"] for token in as_objects(logprobs.get("content")) if isinstance(token.get("token"), str)]
    if choice.get("finish_reason"):
        account.finish = words(choice["finish_reason"])
        account.finishes.append(Spot(frame, f"{at}/finish_reason"))


def _content(content: Any, frame: int, at: str, account: Account) -> None:
    """A text, or with some servers a list of parts."""
    account.say(account.texts, 0, content, frame, at)
    for position, part in enumerate(as_objects(content)):
        if part.get("type") == "text":
            account.say(account.texts, 0, part.get("text"), frame, f"{at}/{position}/text")
        elif part.get("type") == "thinking":
            thinking = part.get("thinking")
            for thought in [thinking] if isinstance(thinking, str) else [t.get("text") for t in as_objects(thinking)]:
                account.say(account.thoughts, "content", thought)


def _fragment(fragment: dict[str, Any], spot: Spot, account: Account) -> None:
    """The key is the index. Where that is missing, or was used for another id: a new id or name begins a call."""
    head = as_object(fragment.get("function") or fragment.get("custom"))
    index, id, name = fragment.get("index"), words(fragment.get("id")), words(head.get("name"))
    last = account.calls[-1] if account.calls else None
    call = next((c for c in reversed(account.calls) if c.index == index), None) if type(index) is int else last
    if call is None and last is not None and not id and not name:
        call = last
    elif call is not None and ((id and call.id and id != call.id) or (type(index) is not int and name and not id)):
        call = None
    if call is None:
        taken = {c.key for c in account.calls}
        key = index if type(index) is int and index not in taken else max(taken, default=-1) + 1
        call = Call(key=key, index=index)
        account.calls.append(call)
    elif call is not last:  # the one that was told of last goes on, where a fragment does not say which
        account.calls.remove(call)
        account.calls.append(call)
    call.id, call.name = call.id or id or "", call.name or name or ""
    call.heads.append(spot)
    arguments = head.get("arguments", head.get("input"))
    call.fragments.append(arguments if isinstance(arguments, str) else "" if arguments is None else as_json(arguments))
    account.sign(as_object(as_object(fragment.get("extra_content")).get("google")).get("thought_signature"))


def _detail(detail: dict[str, Any], details: dict[tuple[str, str], dict[str, str]]) -> None:
    """Entries of one index and type are one block (wire/openrouter.md)."""
    index = detail.get("index")
    key = (str(index if index is not None else f"new {len(details)}"), str(detail.get("type")))
    block = details.setdefault(key, {})
    for name, value in detail.items():
        if isinstance(value, str) and value:
            block[name] = block.get(name, "") + value if name in ("text", "summary", "data") else value


def _tell_details(details: dict[tuple[str, str], dict[str, str]], account: Account) -> None:
    """Reasoning that comes in two forms at once is told once."""
    forms: list[str] = [
        name for name in ("reasoning_content", "reasoning") if name in account.thoughts and account.thoughts[name].text
    ]
    keep = forms[:1] or ["content"]
    account.thoughts = {name: block for name, block in account.thoughts.items() if name in keep}
    for key, block in details.items():
        if not forms:
            account.say(account.thoughts, key, block.get("text") or block.get("summary"))
        account.sign(block.get("signature"))
        account.sign(block.get("data"), alone=True)
