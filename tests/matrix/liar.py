"""A client that reads every stream as it should, and then does as its environment tells it: the liars to be caught."""

import os
import socket
import sys
import time
from contextlib import suppress

import httpx
from streamproof_subject import call, reply, serve

from harness import dialects
from harness.adapters import Ours
from harness.cassette.model import Chunk, Exchange, Headers, Request

LIE = os.environ["LIE"]
PATH = "/v1/chat/completions"
HELD = []


def turn(task):
    if LIE == "refuses-to-ask":
        raise RuntimeError("this client does not like the request")
    if LIE == "cannot":
        raise NotImplementedError("no tools here")
    stream = LIE != "asks-plainly"
    patience = None if LIE == "waits" else task.timeout
    got = httpx.post(task.url(PATH), json={**task.request, "stream": stream}, timeout=patience)
    asked = Request(target=PATH, body=got.request.content)
    head = Headers(got.headers.multi_items())
    answer = Exchange(request=asked, status=got.status_code, headers=head, chunks=(Chunk(data=got.content),))
    seen = Ours().observe(answer, task.dialect)
    misbehave()
    if seen.error is not None and LIE not in ("invents-a-finish", "swallows-the-failure"):
        raise RuntimeError(seen.error.message)
    return told(seen.response)


def misbehave():
    match LIE:
        case "hangs":
            time.sleep(60)
        case "exits":
            os._exit(3)
        case "prints":
            os.write(SAID, b"thinking ...\n")
        case "eats-memory":
            while True:
                HELD.append(bytearray(b"x" * (16 << 20)))
        case "raises":
            raise KeyError("index")
        case "calls-home":
            with suppress(OSError):
                socket.create_connection(("192.0.2.1", 443), timeout=1)


def told(response):
    text, calls, usage = response.text, [call(c.id, c.name, c.arguments) for c in response.tool_calls], counted(response.usage)
    finish, raw = response.raw_finish_reason, None
    match LIE:
        case "drops-a-delta":
            text = text[:3] + text[4:] if text else text
        case "swaps-arguments":
            calls[0]["arguments"], calls[1]["arguments"] = calls[1]["arguments"], calls[0]["arguments"]
        case "swaps-calls":
            calls.reverse()
        case "drops-a-call":
            calls = calls[:1]
        case "welds-calls":
            calls = [call(calls[0]["id"], "".join(c["name"] for c in calls), "".join(c["arguments"] for c in calls))]
        case "makes-ids":
            calls = [{**each, "id": f"made-{number}"} for number, each in enumerate(calls)]
        case "loses-ids":
            calls = [{**each, "id": None} for each in calls]
        case "loses-usage":
            usage = None
        case "buries-usage":
            raw, usage = {"usage": usage}, None
        case "invents-usage":
            usage = {**(usage or {}), "output_tokens": 123456}
        case "invents-a-finish":
            finish = "stop" if finish != "stop" else "length"
        case "swallows-the-failure":
            finish = None
    return reply(text, response.reasoning, calls, finish, usage, raw)


def counted(usage):
    names = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
    return {name: getattr(usage, name) for name in names} if usage is not None else None


SAID = os.dup(1)
serve(dict.fromkeys(dialects.names(), turn))
sys.exit()
