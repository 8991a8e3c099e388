"""Secrets of our own making, of every kind that must not reach a file, and bodies that hold them."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests import chat
from tests.exchanges import sse
from tests.framing.feeding import event

SECRETS = {
    "OpenAI key": "sk-proj-T1deWat3rLev3lH1gh00",
    "Anthropic key": "sk-ant-api03-Qu4yS1de-Brakw4ter_99",
    "Google key": "AIzaSyT1deTableBr3st4567890abcdefghijkl",
    "Groq key": "gsk_T1deTableBr3st4567890",
    "AWS key id": "AKIAT1DEWATERLEV3L77",
    "AWS signature": "Signature=7b3f0c9d5a1e8842b6d4f0a9c7e5132240fe6d8b9a7c5e3f1d2b4a6c8e0f1357",
    "AWS account": "arn:aws:bedrock:eu-west-1:482915603771:inference-profile/tide",
    "JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ0aWRlIn0.c2lnbmVkLWJ5LXRoZS1zZWE",
    "bearer token": "Bearer t1de-0f-Brest-42",
    "private key": "-----BEGIN PRIVATE KEY-----MIIEvT1deTable99-----END PRIVATE KEY-----",
    "organisation": "org-T1deTableBr3st",
    "e-mail address": "harbour.master@tide-table.example",
    "IPv4 address": "203.0.113.77",
    "IPv6 address": "2001:db8:77::4f2e",
    "address with a password": "https://keeper:l1ghth0use@tide.example/next",
    "key in an address": "https://tide.example/v1?alt=sse&key=t1deTable77",
}
"""By kind."""
FIELDS = {
    "user": '{"user_id": "keeper-4711"}',
    "account": '{"accountId": "4711-0815"}',
    "number": '{"account_id": 471108154711}',
    "password": '{"password": "breakwater"}',
    "cookie": '{"cookie": "berth=7; quay=east"}',
}
"""Those that are told by the name of the field they stand in."""
CORES = {
    "AWS signature": "7b3f0c9d5a1e8842",
    "AWS account": "482915603771",
    "bearer token": "t1de-0f-Brest-42",
    "private key": "MIIEvT1deTable99",
    "address with a password": "l1ghth0use",
    "key in an address": "t1deTable77",
    "user": "keeper-4711",
    "account": "4711-0815",
    "number": "471108154711",
    "password": "breakwater",
    "cookie": "berth=7",
}
ALL = SECRETS | FIELDS


def core(kind: str) -> str:
    """What of a secret must not be found again."""
    return CORES.get(kind, ALL[kind])


def said(text: str) -> bytes:
    """A stream whose model says this in one payload."""
    return sse(chat.text(f"It is {text} ."), chat.stops())


def fragments(text: str, size: int = 3) -> bytes:
    """A stream whose model says this in fragments of a few letters."""
    words = f"It is {text} ."
    return sse(*(chat.text(words[at : at + size]) for at in range(0, len(words), size)), chat.stops())


def arguments(text: str, size: int = 5) -> bytes:
    """A stream of fragments of arguments that hold this as a text."""
    whole = json.dumps({"note": f"\n{text}\n"})
    pieces = (whole[at : at + size] for at in range(0, len(whole), size))
    calls = [{"index": 1, "function": {"arguments": piece}} for piece in pieces]
    return sse(*(chat.says({"tool_calls": [call]}) for call in calls), chat.stops())


def escaped(text: str) -> bytes:
    """A document that has every letter as an escape of JSON."""
    return b'{"note":"' + "".join(f"\\u{ord(letter):04x}" for letter in f" {text} ").encode() + b'"}'


def converse(text: str) -> bytes:
    """An event stream with this in a payload."""
    payload = {"contentBlockIndex": 0, "delta": {"text": f"It is {text} ."}}
    return event("contentBlockDelta", json.dumps(payload).encode()) + event("messageStop", b'{"stopReason":"end_turn"}')


def carried(text: str, size: int = 4) -> bytes:
    """An event stream whose payloads carry fragments of this in base64."""
    words = f"It is {text} ."
    return b"".join(_chunk(_delta(words[at : at + size])) for at in range(0, len(words), size))


def _delta(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}


def _chunk(payload: Any) -> bytes:
    inner = base64.b64encode(json.dumps(payload).encode()).decode()
    return event("chunk", json.dumps({"bytes": inner, "p": "abc"}).encode())


BODIES = {
    "one payload": said,
    "fragments": fragments,
    "arguments": arguments,
    "escapes": escaped,
    "event stream": converse,
    "base64": carried,
}
"""Ways in which a body holds a text."""
