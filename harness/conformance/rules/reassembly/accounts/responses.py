"""A plain account of a Responses stream (wire/openai-responses.md section 7): what the terminal event says, counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.conformance.rules.reassembly.accounts.account import Account, Block, Call, Spot, Told, number, words
from harness.dialects.translating import as_list, as_object, as_objects, as_text

_BEGINS = ("response.created", "response.in_progress", "response.queued")
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_TEXTS = {  # events of a fragment, and the field of the event that tells which text of its item it belongs to
    "response.output_text.delta": "content_index",
    "response.refusal.delta": "content_index",
    "response.reasoning_text.delta": "content_index",
    "response.reasoning.delta": "content_index",
    "response.reasoning_summary_text.delta": "summary_index",
    "response.function_call_arguments.delta": "",
    "response.custom_tool_call_input.delta": "",
}
_CONTENT = ("response.output_text", "response.refusal")
_WHOLE = {"text", "refusal", "arguments", "input"}  # fields of a done event that repeat a text


class _Item:
    """What was told of one item: its head, its last form, and the texts inside it, by kind and index."""

    def __init__(self, index: Any = None) -> None:
        self.index = index
        self.body: dict[str, Any] = {}
        self.done = False
        self.texts: dict[tuple[str, int], Block] = {}
        self.citations: list[Any] = []
        self.spots: list[Spot] = []  # where the item is repeated

    def text(self, kind: str, index: int = 0) -> Block:
        return self.texts.setdefault((kind, index), Block())


def responses(told: Iterable[Told | int], request: Any) -> Account:
    account = Account()
    items: list[_Item] = []
    response: dict[str, Any] = {}
    tools: list[dict[str, Any]] = []
    for it in told:
        if isinstance(it, int):
            account.marked = it
            break
        event, kind = it.value, str(it.value.get("type"))
        account.payloads += 1
        if event.get("error") or kind == "error" or (it.name == "error" and "type" not in event):
            account.fail(it.frame)
        elif kind in _BEGINS:
            account.name(as_object(event.get("response")))
            tools = as_objects(as_object(event.get("response")).get("tools")) or tools
        elif kind in _ENDS:
            response = as_object(event.get("response"))
            account.id = words(response.get("id")) or account.id
            account.model = words(response.get("model")) or account.model
            account.ended, account.marked = True, it.frame
            account.finish = words(response.get("status")) or kind.rpartition(".")[2]
            if response.get("error") or account.finish in ("failed", "cancelled") or kind == "response.failed":
                account.fail(it.frame)
            break
        else:
            _event(kind, it, items)
    usage = as_object(response.get("usage"))
    account.count(account.marked or 0, input_tokens=usage.get("input_tokens"), output_tokens=usage.get("output_tokens"))
    _output(as_objects(response.get("output")), items, account, as_objects(response.get("tools")) or tools)
    return account


def _about(event: dict[str, Any], begins: bool, items: list[_Item]) -> _Item:
    """The item of an event: that of its index, and of several there the one with its id, or the last."""
    index, id = event.get("output_index"), event.get("item_id") or as_object(event.get("item")).get("id")
    here = [item for item in items if item.index == index or type(index) is not int] or []
    item = next((item for item in here if id and item.body.get("id") == id), here[-1] if here else None)
    if item is None or (begins and item.body and item.body.get("id") != id):
        item = _Item(index)
        items.append(item)
    return item


def _event(kind: str, it: Told, items: list[_Item]) -> None:
    event = it.value
    item = _about(event, kind == "response.output_item.added", items)
    if kind in ("response.output_item.added", "response.output_item.done") and isinstance(event.get("item"), dict):
        item.body, item.done = event["item"], kind.endswith("done")
        if item.done:
            item.spots.append(Spot(it.frame, "/item"))
    elif kind in _TEXTS and isinstance(event.get("delta"), str):
        block = item.text(kind.rpartition(".")[0], number(event.get(_TEXTS[kind])))
        block.fragments.append(event["delta"])
        block.spots.append(Spot(it.frame, "/delta"))
    elif kind.endswith(".done") and f"{kind[:-5]}.delta" in _TEXTS:
        block = item.text(kind.rpartition(".")[0], number(event.get(_TEXTS[f"{kind[:-5]}.delta"])))
        for name in _WHOLE & event.keys():
            block.whole = as_text(event[name])
            block.repeats.append(Spot(it.frame, f"/{name}"))
    elif kind == "response.content_part.done":
        part = as_object(event.get("part"))
        name = {"output_text": "output_text", "refusal": "refusal"}.get(str(part.get("type")), "reasoning_text")
        field = "refusal" if name == "refusal" else "text"
        item.text(f"response.{name}", number(event.get("content_index"))).repeats.append(Spot(it.frame, f"/part/{field}"))
    elif kind == "response.output_text.annotation.added":
        item.citations.append(event.get("annotation"))


def _output(output: list[dict[str, Any]], items: list[_Item], account: Account, tools: list[dict[str, Any]]) -> None:
    """The items of the terminal response, or where it lacks some, those that were streamed."""
    items.sort(key=lambda item: number(item.index, len(items)))
    if output and len(output) >= len(items):
        account.repeats = [Spot(account.marked or 0, f"/response/output/{n}") for n in range(len(output))]
        for place, body in enumerate(output):
            item = items[place] if len(items) == len(output) else _Item()
            same = item.body.get("type", body.get("type")) == body.get("type")
            _tell(place, body, item if same else _Item(), account, tools)
    else:
        for place, item in enumerate(items):
            _tell(place, item.body, item, account, tools)


def _tell(index: int, body: dict[str, Any], item: _Item, account: Account, tools: list[dict[str, Any]]) -> None:
    kind = body.get("type")
    if kind == "message" or (not kind and ("response.output_text", 0) in item.texts):
        _message(index, body, item, account)
    elif kind == "reasoning":
        _reasoning(index, body, item, account)
    elif kind == "function_call" or (kind == "custom_tool_call" and _is_for_client(body, tools)):
        field, name = (
            ("input", "custom_tool_call_input") if kind == "custom_tool_call" else ("arguments", "function_call_arguments")
        )
        block = item.text(f"response.{name}")
        given = as_text(body.get(field)) or block.text
        id, called = words(body.get("call_id")) or "", words(body.get("name")) or ""
        account.calls.append(Call(len(account.calls), id, called, [given]))


def _is_for_client(body: dict[str, Any], tools: list[dict[str, Any]]) -> bool:
    """Whether a custom call is of a tool of the client; xAI tells its own searches in this form."""
    own = [tool.get("name") for tool in tools if tool.get("type") in ("custom", "function")]
    return not tools or body.get("name") in own


def _message(index: int, body: dict[str, Any], item: _Item, account: Account) -> None:
    account.role = account.role or words(body.get("role"))
    content = as_list(body.get("content"))
    streamed = sorted((key for key in item.texts if key[0] in _CONTENT), key=lambda key: key[1])
    for place in range(max(len(content), len(streamed))):  # some servers do not count from 0, hence by position
        part = as_object(content[place]) if place < len(content) else {}
        kind = streamed[place][0] if place < len(streamed) else ""
        field = "refusal" if "refusal" in (part.get("type"), kind.rpartition(".")[2]) else "text"
        block = item.texts[streamed[place]] if kind else Block()
        if part.get("type", "refusal") in ("output_text", "refusal"):
            block.whole = as_text(part.get(field)) or block.whole
            at = f"/content/{place}/{field}"
            block.repeats += [Spot(s.frame, s.path + at) for s in (*item.spots, *account.repeats[index : index + 1])]
            (account.refusals if field == "refusal" else account.texts)[index, place] = block
        account.citations += as_objects(part.get("annotations"))
        account.tokens += [t["token"] for t in as_objects(part.get("logprobs")) if isinstance(t.get("token"), str)]
    if not any(as_object(part).get("annotations") for part in content):
        account.citations += [citation for citation in item.citations if isinstance(citation, dict)]


def _reasoning(index: int, body: dict[str, Any], item: _Item, account: Account) -> None:
    """The reasoning itself where it is sent, else its summary."""
    said = {}
    for field, names in (("content", ("reasoning_text", "reasoning")), ("summary", ("reasoning_summary_text",))):
        streamed = {n: block.text for (kind, n), block in item.texts.items() if kind in {f"response.{name}" for name in names}}
        parts = dict(enumerate(as_text(as_object(part).get("text")) for part in as_list(body.get(field))))
        said[field] = [parts.get(n) or streamed.get(n, "") for n in sorted({*parts, *streamed})]
    texts = said["content"] if any(said["content"]) else said["summary"]
    for place, text in enumerate(texts):
        account.say(account.thoughts, (index, place), text)
    if item.done or account.repeats:
        account.sign(body.get("encrypted_content"), alone=not any(texts))
