"""Makes the cassettes of gateways from our own recordings: `python tools/gateway_cassettes.py RECORDINGS [CASSETTES]`.

What stands behind a gateway is a hand-made upstream or a llama.cpp server: the cassettes show what the gateway makes of it, not
what a vendor sends. As few of them are taken as show everything that a run finds in any of them: each rule and each kind of
finding on each API of each gateway. Nothing but the names is changed; run it again and the same files come out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from harness import cassette, suite
from harness.adapters import Ours
from harness.cassette.model import Cassette, Provenance
from harness.dialects import dialect

BEHIND = "a hand-made upstream that speaks as Gemini, Bedrock and Ollama do, or a llama.cpp server, stood behind it"
LOCAL = "SmolLM2-135M-Instruct answered"
GATEWAYS = {
    "litellm": (f"LiteLLM proxy 1.106.12; {BEHIND}", "none"),
    "portkey": (f"@portkey-ai/gateway 1.15.2; {BEHIND}", "none"),
    "cyllama": (f"cyllama 0.2.18, embedded server; {LOCAL}", "smollm2-135m"),
    "ollama-openai-proxy": (f"ollama-openai-proxy 0.7.0 before a llama.cpp server; {LOCAL}", "smollm2-135m"),
}
"""The folders, each with what answered and the model that a broken request could not name."""

_API = re.compile(r"^(?:chat|responses|messages|gemini-api)-")
"""What the names of recordings begin with, and the folder says."""


def main(recordings: Path, target: Path) -> None:
    """Write every cassette."""
    for case in choose(list(cassettes(recordings))):
        cassette.save(case, target / f"{case.id}.yaml")


def choose(cases: Sequence[Cassette]) -> list[Cassette]:
    """As few as show everything that a run finds, those that show most first."""
    found = shown(cases)
    left = {item for items in found.values() for item in items}
    chosen: set[str] = set()
    while left:
        best = max(found, key=lambda name: (len(found[name] & left), name))
        chosen.add(best)
        left -= found[best]
    return [case for case in cases if case.id in chosen]


def shown(cases: Sequence[Cassette]) -> dict[str, set[tuple[str | None, ...]]]:
    """What a run finds in each: API, gateway, rule and kind."""
    found: dict[str, set[tuple[str | None, ...]]] = {case.id: set() for case in cases}
    for verdict in suite.run(cases, adapters=[Ours(loop=True)]).verdicts:
        found[verdict.cassette] |= {(verdict.dialect, verdict.provider, f.rule, f.kind) for f in verdict.findings}
    return found


def cassettes(recordings: Path) -> Iterator[Cassette]:
    for gateway, (note, model) in GATEWAYS.items():
        for case in cassette.load(recordings / gateway):
            yield named(case, gateway, note, model)


def named(case: Cassette, gateway: str, note: str, model: str) -> Cassette:
    """A recording under its scenario. A refusal of a request for a stream is the streamed side, though no stream came."""
    scenario = _API.sub("", case.scenario or "")
    sides = {}
    if case.stream is None and case.reference is not None:
        request = case.reference.request
        if dialect(case.dialect).streams(request.target, request.json):
            sides = {"stream": case.reference, "reference": None}
    return replace(
        case,
        id=f"{case.dialect}/{gateway}/{scenario}",
        provider=gateway,
        scenario=scenario,
        model=case.model or model,
        pair_kind=None,
        provenance=Provenance(on="2026-11-30", by="a raw socket recorder", note=note),
        **sides,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "cassettes"))
