"""Makes the shipped llama.cpp cassettes from our own recordings: `python tools/recorded_cassettes.py RECORDINGS [CASSETTES]`.

The recordings are of a llama.cpp server with SmolLM2-135M at temperature 0, each request with and without streaming, so the
twins are exact. Nothing but the names is changed; run it again and the same files come out.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from harness import cassette, dialects
from harness.cassette.model import Cassette, Provenance

NOTE = (
    "llama.cpp server inside xllamacpp 2026.10.11549, SmolLM2-135M-Instruct Q4_1, temperature 0, seed 7, one slot, "
    "prompt cache off{template}"
)
TEMPLATES = {
    "llamacpp": "",
    "llamacpp-tools": "; chat template of our own with tool calls",
    "llamacpp-reasoning": "; chat template of our own with reasoning",
}
SCENARIOS = {
    "text": "llamacpp/{api}-text-stream",
    "length": "llamacpp/{api}-length-stream",
    "tool-call": "llamacpp-tools/{api}-tools-one-stream",
    "parallel-tool-calls": "llamacpp-tools/{api}-tools-two-stream",
    "text-then-tool-call": "llamacpp-tools/{api}-tools-text-then-call-stream",
    "tool-call-unicode": "llamacpp-tools/{api}-tools-unicode-stream",
    "tool-call-cut-in-arguments": "llamacpp-tools/{api}-tools-cut-in-arguments-stream",
    "tool-call-cut-in-name": "llamacpp-tools/{api}-tools-cut-in-name-stream",
    "reasoning": "llamacpp-reasoning/{api}-reasoning-then-text-stream",
}
OF_ONE_API = {
    "chat": {
        "json-schema": "llamacpp/chat-json-schema-stream",
        "logprobs": "llamacpp/chat-logprobs-stream",
        "stop-sequence": "llamacpp/chat-stop-string-stream",
        "tool-result": "llamacpp/chat-tool-result-stream",
        "unicode": "llamacpp/chat-unicode-stream",
        "usage": "llamacpp/chat-text-usage",
        "tool-call-required": "llamacpp-tools/chat-tools-required-stream",
        "reasoning-length": "llamacpp-reasoning/chat-reasoning-length-stream",
        "reasoning-only": "llamacpp-reasoning/chat-reasoning-only-stream",
        "reasoning-then-json": "llamacpp-reasoning/chat-reasoning-then-json-stream",
        "cut-off": "llamacpp/chat-client-cut",
        "error-context-overflow": "llamacpp/error-context-overflow-stream",
        "error-no-key": "llamacpp/error-no-auth",
        "error-several-choices": "llamacpp/chat-n2-stream",
    },
    "responses": {
        "reasoning-length": "llamacpp-reasoning/responses-reasoning-length-stream",
        "error-context-overflow": "llamacpp/error-context-overflow-responses-stream",
    },
    "messages": {
        "error-context-overflow": "llamacpp/error-context-overflow-messages-stream",
        "error-no-key": "llamacpp/error-no-auth-messages",
    },
}
APIS = {"chat": "openai-chat", "responses": "openai-responses", "messages": "anthropic-messages"}


def main(recordings: Path, target: Path) -> None:
    """Write every cassette of the table."""
    found = {case.id: case for folder in TEMPLATES for case in _recorded(recordings, folder)}
    for api, dialect in APIS.items():
        for scenario, place in {**SCENARIOS, **OF_ONE_API[api]}.items():
            case = named(found[place.format(api=api)], dialect, scenario)
            cassette.save(case, target / f"{case.id}.yaml")


def named(case: Cassette, dialect: str, scenario: str) -> Cassette:
    """A recording under its scenario. A refusal of a request for a stream is the streamed side, though no stream came."""
    sides = {}
    if case.stream is None and case.reference is not None:
        request = case.reference.request
        if dialects.dialect(dialect).streams(request.target, request.json):
            sides = {"stream": case.reference, "reference": None}
    template = TEMPLATES[case.id.split("/")[0]]
    return replace(
        case,
        id=f"{dialect}/llamacpp/{scenario}",
        provider="llamacpp",
        scenario=scenario,
        match="exact",
        pair_kind=None,
        provenance=Provenance(on="2026-11-30", by="a raw socket recorder", note=NOTE.format(template=template)),
        **sides,
    )


def _recorded(recordings: Path, folder: str) -> list[Cassette]:
    """The recordings of one server; their ids begin with the folder."""
    return [replace(case, id=f"{folder}/{case.id}") for case in cassette.load(recordings / folder)]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "cassettes"))
