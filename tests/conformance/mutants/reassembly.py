"""The mutant of the one rule of reassembly that judges bytes; the others are proved by liars (tests/adapters/liars.py)."""

from __future__ import annotations

from harness.replay.faults import Bytes
from tests.conformance.mutants import Mutant

MUTANTS = [
    Mutant(
        rule="REASM-035",
        cassette="openai-chat/llamacpp/text",
        faults=(Bytes(3, b'"content":"', rb'"content":"\udcaf'),),
    ),
]
