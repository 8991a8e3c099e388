"""What a client did not ask for, though the recording is an answer to it: such cells say nothing of the client.

Another operation (`/api/chat`, where `/api/generate` was recorded), events where an array was, one choice where there were
several, a chat where a model was only loaded, arguments in one piece where Gemini was to stream them, and tools that the
provider carries out, which a client that did not ask for them may read as it likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.adapters import Observation
from harness.cassette.model import Exchange
from harness.dialects.translating import as_object, as_objects
from harness.serving import Entry

_PIECES = b"streamFunctionCallArguments"
_IN_PIECES = (b'"partialArgs"', b'"willContinue"')
_OWN = ("function", "custom", None)  # types of tools that the client carries out


def unasked(exchange: Exchange, entry: Entry) -> str | None:
    """Why the recorded exchange is no answer to what the client asked, in one line; None if it is one."""
    if entry.side == "miss" and entry.note.startswith("no plain twin"):
        return f"the client asks without streaming: {entry.note}"
    if entry.side == "plain":
        return None
    due, asked = _operation(exchange.request.target), _operation(entry.request.target)
    if due is not None and asked != due:
        return f"the client asks for {asked}, and what was recorded is an answer to {due}"
    if as_object(exchange.request.json).get("messages") == []:
        return "what was recorded is an answer to a request without messages"
    several, choices = _choices(exchange.request.json), _choices(entry.request.json)
    if several > choices:
        return f"{several} choices were asked for when this was recorded, and the client asks for {choices}"
    if any(word in exchange.body for word in _IN_PIECES) and _PIECES not in (entry.request.body or b""):
        return f"the arguments come in pieces, and the client does not ask for {_PIECES.decode()}"
    return None


def unasked_use(exchange: Exchange, entry: Entry, right: Observation) -> str | None:
    """What the answer uses that the client did not ask for: a coding of the body that it does not accept, tools that the
    provider carries out. Where the request was not recorded, the answer tells of these."""
    coding = exchange.headers.get("content-encoding")
    if coding and coding not in entry.request.headers.get("accept-encoding", ""):
        return f"the body is coded as {coding}, which the client does not accept"
    recorded = as_object(exchange.request.json)
    kept = bool(recorded.keys() - {"stream"})  # what a recorder that keeps no requests makes up is the switch alone
    used = set(_hosted(recorded)) if kept else set(_carried_out(as_object(right.body)))
    lacking = sorted(used - set(_hosted(as_object(entry.request.json))))
    return f"the answer uses {', '.join(lacking)}, which the client does not ask for" if lacking else None


def _hosted(asked: dict[str, Any]) -> Iterator[str]:
    """What a request asks the provider to do by itself."""
    for tool in as_objects(asked.get("tools")):
        if "functionDeclarations" in tool or any(key in tool for key in ("googleSearch", "codeExecution", "urlContext")):
            yield from (key for key in tool if key != "functionDeclarations")
        elif tool.get("type") not in _OWN:
            yield str(tool["type"])
    for tool in as_objects(as_object(asked.get("toolConfig")).get("tools")):
        yield from (str(as_object(told).get("name")) for key, told in tool.items() if key == "systemTool")
    yield from (name for name in ("mcp_servers", "context_management", "container") if asked.get(name))


def _carried_out(body: dict[str, Any]) -> Iterator[str]:
    """What the provider did by itself, as its answer tells."""
    yield from (str(tool["type"]) for tool in as_objects(body.get("tools")) if tool.get("type") not in _OWN)
    for block in as_objects(body.get("content")):
        if block.get("type") in ("server_tool_use", "mcp_tool_use"):
            yield str(block.get("name") or block["type"])


def _choices(asked: Any) -> int:
    body = as_object(asked)
    told = body.get("n") or as_object(body.get("generationConfig")).get("candidateCount")
    return told if isinstance(told, int) else 1


def _operation(target: str) -> str | None:
    """The last step of a path, and the form in which Gemini is to answer; None of a target that was not recorded."""
    path, _, query = target.partition("?")
    step = path.rstrip("/").rpartition("/")[2].rpartition(":")[2]
    form = next((word for word in query.split("&") if word.startswith("alt=")), "") if "Content" in step else ""
    return f"{step} {form}".strip() or None
