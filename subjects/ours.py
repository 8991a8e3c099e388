"""ours: streamproof's own collector and loop, by the door that everybody comes in by."""

# /// script
# dependencies = []
# [tool.streamproof]
# packages = {"*" = "streamproof"}
# dialects = ["*"]
# ///
from dataclasses import replace
from urllib.parse import quote

import httpx
from streamproof_subject import call, counts, reply, serve

from harness import dialects
from harness.adapters.wire import HttpxTransport
from harness.loop import gathering, provider, state, step
from harness.request import RequestParts, TurnRequest
from harness.response import Response

BASES = {"openai-chat": "/v1", "openai-responses": "/v1", "gemini": "/v1beta"}
INVOKE = "/model/{}/invoke-with-response-stream"
COUNTS = ("all_input", "all_output", "total_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")


async def turn(task):
    told, api = [], dialects.dialect(task.dialect)
    path = INVOKE.format(quote(task.model, safe=""))  # old models take a prompt of their own, which no turn is
    parts = RequestParts(path=path, body={}) if "invoke" in api.name else api.build_request(TurnRequest(model=task.model))
    async with httpx.AsyncClient(base_url=task.url(BASES.get(api.name, "")), timeout=task.timeout) as client:
        ours = provider.DialectProvider(api, HttpxTransport(client), build=lambda _: replace(parts, body=task.request))
        async with step.Step(ours, on_emit=[told.append]) as running:
            await running.run_turn(state.State())
    turn = gathering.folded(told)
    said = Response(parts=turn.parts, usage=turn.usage)
    calls = [call(c.id, c.name, c.arguments) for c in said.tool_calls]
    return reply(said.text, said.reasoning, calls, turn.finish and turn.finish.raw, counts(turn.usage, *COUNTS))


serve(dict.fromkeys(dialects.names(), turn))
