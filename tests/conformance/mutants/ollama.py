"""Mutants of the rules of Ollama."""

from __future__ import annotations

from harness.replay.faults import Asked, Drop, Lose, Move, Repeat, Set, first, last
from tests.conformance.mutants import Mutant

TEXT = "ollama-chat/ollama/text"
CALL = "ollama-chat/ollama/tool-call"
CALLS = "ollama-chat/ollama/parallel-tool-calls"
THINKS = "ollama-chat/ollama/reasoning"
FAILED = "ollama-chat/ollama/error-in-stream"
LAST = -1
DONE = first("/done", True)
CALLED = first("/message/tool_calls/0")

MUTANTS = [
    Mutant(rule="OLL-001", cassette=TEXT, faults=(Lose(DONE),)),
    Mutant(rule="OLL-002", cassette=TEXT, faults=(Drop(DONE, "/done_reason"),)),
    Mutant(rule="OLL-003", cassette=TEXT, faults=(Set(DONE, "/done_reason", "finished"),)),
    Mutant(rule="OLL-004", cassette=TEXT, faults=(Drop(1, "/created_at"),)),
    Mutant(rule="OLL-005", cassette=TEXT, faults=(Set(2, "/created_at", "2020-01-01T00:00:00.1Z"),)),
    Mutant(rule="OLL-006", cassette=TEXT, faults=(Set(1, "/message/role", "user"),)),
    Mutant(rule="OLL-007", cassette=TEXT, faults=(Set(1, "/message/content", None),)),
    Mutant(rule="OLL-008", cassette=CALL, faults=(Set(CALLED, "/message/tool_calls/0/function/arguments", "{}"),)),
    Mutant(rule="OLL-009", cassette=CALL, faults=(Drop(CALLED, "/message/tool_calls/0/id"),)),
    Mutant(rule="OLL-010", cassette=CALL, faults=(Asked("/tools", None),)),
    Mutant(rule="OLL-011", cassette=TEXT, faults=(Set(1, "/eval_count", 3),)),
    Mutant(rule="OLL-012", cassette=TEXT, faults=(Drop(DONE, "/total_duration"),)),
    Mutant(rule="OLL-013", cassette=TEXT, faults=(Drop(DONE, "/prompt_eval_count"),)),
    Mutant(rule="OLL-014", cassette=TEXT, faults=(Set(DONE, "/total_duration", 0.91),)),
    Mutant(rule="OLL-015", cassette=THINKS, faults=(Set(DONE, "/message/thinking", "hm"),), also=("OLL-016",)),
    Mutant(rule="OLL-016", cassette=TEXT, faults=(Set(DONE, "/message/content", "end"),)),
    Mutant(
        rule="OLL-017",
        cassette=TEXT,
        before=(Asked("/think", False),),
        faults=(Set(0, "/message/thinking", "hm"),),
    ),
    Mutant(
        rule="OLL-018",
        cassette=TEXT,
        faults=(Set(1, "/logprobs", [{"token": "The", "logprob": -0.1}]),),
    ),
    Mutant(rule="OLL-019", cassette=FAILED, faults=(Set(first("/error"), "/error", {"message": "busy"}),)),
    Mutant(
        rule="OLL-020",
        cassette=FAILED,
        faults=(Repeat(0, to=LAST), Move(LAST, -2)),
        also=("OLL-005",),
    ),
    Mutant(
        rule="OLL-021", cassette=CALLS, faults=(Set(last("/message/tool_calls/0"), "/message/tool_calls/0/function/index", 0),)
    ),
    Mutant(
        rule="OLL-022",
        cassette="ollama-chat/ollama/length",
        faults=(Set(DONE, "/done_reason", "stop"),),
    ),
]
