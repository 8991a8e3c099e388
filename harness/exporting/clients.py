"""How the vendors' own clients read a turn, as text for tests that stand alone: `turn(base_url)` gives its text and calls.

The server of such a test answers any request with the recording, so what is asked does not matter.
"""

from __future__ import annotations

import re

from harness.cassette.model import Exchange

_CHAT = """
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
    text, calls, finished = "", {}, False
    for chunk in client.chat.completions.create(model="any", messages=[], stream=True):
        for choice in chunk.choices:
            if choice.index:
                continue
            text += choice.delta.content or ""
            finished = finished or choice.finish_reason is not None
            for call in choice.delta.tool_calls or ():
                name, arguments = calls.get(call.index, ("", ""))
                calls[call.index] = (name + (call.function.name or ""), arguments + (call.function.arguments or ""))
    assert finished, "the stream ended and no finish reason had come"
    return text, list(calls.values())
"""
_RESPONSES = """
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
    text, final = "", None
    for event in client.responses.create(model="any", input="any", stream=True):
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type in ("response.completed", "response.incomplete"):
            final = event.response
    assert final is not None, "the stream ended and no terminal event had come"
    return text, [(item.name, item.arguments) for item in final.output if item.type == "function_call"]
"""
_MESSAGES = """
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(base_url=base_url, api_key="none", max_retries=0)
    question = {"role": "user", "content": "any"}
    with client.messages.stream(model="any", max_tokens=1, messages=[question]) as stream:
        message = stream.get_final_message()
    assert message.stop_reason is not None, "the stream ended and no stop reason had come"
    text = "".join(block.text for block in message.content if block.type == "text")
    return text, [(block.name, json.dumps(block.input)) for block in message.content if block.type == "tool_use"]
"""
_GEMINI = """
    genai = pytest.importorskip("google.genai")
    client = genai.Client(api_key="none", http_options={"base_url": base_url})
    text, calls, finished = "", [], False
    for chunk in client.models.generate_content_stream(model="any", contents="any"):
        for candidate in chunk.candidates or ():
            if candidate.index:
                continue
            finished = finished or candidate.finish_reason is not None
            for part in (candidate.content and candidate.content.parts) or ():
                text += part.text or "" if not part.thought else ""
                if part.function_call:
                    calls.append((part.function_call.name, json.dumps(part.function_call.args or {})))
    assert finished, "the stream ended and no finish reason had come"
    return text, calls
"""
_CONVERSE = """
    session = pytest.importorskip("botocore.session").get_session()
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "us-east-1"}
    client = session.create_client("bedrock-runtime", endpoint_url=base_url, **keys)
    text, calls, finished = "", {}, False
    question = {"role": "user", "content": [{"text": "any"}]}
    for event in client.converse_stream(modelId="any", messages=[question])["stream"]:
        start = event.get("contentBlockStart", {"start": {}})
        if "toolUse" in start["start"] and "type" not in start["start"]["toolUse"]:  # the API runs those with a type itself
            calls[start["contentBlockIndex"]] = (start["start"]["toolUse"]["name"], "")
        elif "contentBlockDelta" in event:
            index, delta = event["contentBlockDelta"]["contentBlockIndex"], event["contentBlockDelta"]["delta"]
            text += delta.get("text", "")
            if "toolUse" in delta and index in calls:
                name, arguments = calls[index]
                calls[index] = (name, arguments + delta["toolUse"]["input"])
        finished = finished or "messageStop" in event
    assert finished, "the stream ended and no messageStop had come"
    return text, list(calls.values())
"""
_OLLAMA = """
    ollama = pytest.importorskip("ollama")
    text, calls, finished = "", [], False
    for part in ollama.Client(host=base_url).chat(model="any", messages=[], stream=True):
        text += part.message.content or ""
        calls += [(call.function.name, json.dumps(dict(call.function.arguments))) for call in part.message.tool_calls or ()]
        finished = finished or bool(part.done)
    assert finished, "the stream ended and was not done"
    return text, calls
"""

CLIENTS = {
    "openai-chat": _CHAT,
    "openai-responses": _RESPONSES,
    "anthropic-messages": _MESSAGES,
    "gemini": _GEMINI,
    "bedrock-converse": _CONVERSE,
    "ollama-chat": _OLLAMA,
}
"""By dialect. There is none for what a body inside another API's frames needs."""

_NOT_READ = {
    "gemini": re.compile(
        rb"\A[^\n]*\n\s*\[|\"(?:partialArgs|willContinue)\""
    ),  # a JSON array; arguments in parts, left to the caller
    "ollama-chat": re.compile(rb"\A[^\n]*/api/generate"),
}
"""What of an API a client has another call for, or leaves to its caller: in the target and, below it, the body."""


def client(dialect: str, stream: Exchange) -> str | None:
    """The text of the function that reads this stream, None where there is none."""
    pattern = _NOT_READ.get(dialect)
    if pattern is not None and pattern.search(stream.request.target.encode() + b"\n" + stream.body):
        return None
    return CLIENTS.get(dialect)
