"""Mutants of the rules of Bedrock."""

from __future__ import annotations

from harness.replay.faults import Cut, Drop, Insert, Lose, Move, Relabel, Set, Write, every, first, last
from tests.conformance.mutants import Mutant

TEXT = "bedrock-converse/bedrock/text"
CALL = "bedrock-converse/bedrock/tool-call"
CALLS = "bedrock-converse/bedrock/parallel-tool-calls"
CALL_AT_ONCE = "bedrock-converse/bedrock/reasoning-then-tool-call"
THINKS = "bedrock-converse/bedrock/reasoning"
FAILED = "bedrock-converse/bedrock/error-in-stream"
LLAMA = "bedrock-invoke/bedrock/llama-text"
NOVA = "bedrock-invoke/bedrock/nova-text"
NOVA_CALL = "bedrock-invoke/bedrock/nova-tool-call"

START = first("event", "contentBlockStart")
STOP = first("event", "contentBlockStop")
MESSAGE_STOP = first("event", "messageStop")
TEXT_DELTA = last("/delta/text")
INPUT = last("/delta/toolUse/input")
SECOND_ID = last("/start/toolUse/toolUseId")
SIGNATURE = first("/delta/reasoningContent/signature")
REDACTED = first("/delta/reasoningContent/redactedContent")

CONVERSE = [
    Mutant(rule="BDR-001", cassette=TEXT, faults=(Lose(0),)),
    Mutant(rule="BDR-002", cassette=TEXT, faults=(Set(0, "/role", "user"),)),
    Mutant(rule="BDR-003", cassette=TEXT, faults=(Cut(MESSAGE_STOP),)),
    Mutant(rule="BDR-004", cassette=TEXT, faults=(Lose(-1),)),
    Mutant(rule="BDR-005", cassette=TEXT, faults=(Move(-1, MESSAGE_STOP),)),
    Mutant(rule="BDR-006", cassette=TEXT, faults=(Write(0, {"messageStart": {"role": "assistant"}}),)),
    Mutant(rule="BDR-007", cassette=TEXT, faults=(Drop(TEXT_DELTA, "/contentBlockIndex"),)),
    Mutant(rule="BDR-008", cassette=CALLS, faults=(Set(every("/contentBlockIndex", 2), "/contentBlockIndex", 3),)),
    Mutant(rule="BDR-009", cassette=CALLS, faults=(Move(STOP, last("event", "contentBlockStop")),)),
    Mutant(rule="BDR-010", cassette=TEXT, faults=(Lose(STOP),)),
    Mutant(rule="BDR-011", cassette=CALL, faults=(Lose(START),)),
    Mutant(rule="BDR-012", cassette=TEXT, faults=(Insert(1, {"contentBlockIndex": 0, "start": {"text": {}}}, START.value),)),
    Mutant(rule="BDR-013", cassette=CALL, faults=(Set(START, "/start", {}),)),
    Mutant(rule="BDR-014", cassette=TEXT, faults=(Set(TEXT_DELTA, "/delta", {"reasoningContent": {"text": "hm"}}),)),
    Mutant(rule="BDR-015", cassette=CALL_AT_ONCE, faults=(Set(INPUT, "/delta/toolUse/input", {"port": "Ribe"}),)),
    Mutant(rule="BDR-016", cassette=CALL_AT_ONCE, faults=(Set(INPUT, "/delta/toolUse/input", '{"port":'),)),
    Mutant(
        rule="BDR-017",
        cassette=CALLS,
        before=(
            Set(every("/start/toolUse"), "/start/toolUse/toolUseId", "tooluse_1"),
            Set(SECOND_ID, SECOND_ID.path, "tooluse_2"),
        ),
        faults=(Set(SECOND_ID, SECOND_ID.path, "tooluse_1"),),
    ),
    Mutant(rule="BDR-018", cassette=TEXT, faults=(Set(MESSAGE_STOP, "/stopReason", "stop"),)),
    Mutant(rule="BDR-019", cassette=CALL, faults=(Set(MESSAGE_STOP, "/stopReason", "end_turn"),)),
    Mutant(rule="BDR-020", cassette=TEXT, faults=(Drop(-1, "/usage/totalTokens"),)),
    Mutant(rule="BDR-021", cassette=TEXT, faults=(Set(-1, "/usage/totalTokens", 1),)),
    Mutant(rule="BDR-022", cassette=TEXT, before=(Drop(every("/p"), "/p"),), faults=(Set(1, "/p", "abc"),)),
    Mutant(
        rule="BDR-023",
        cassette=TEXT,
        before=(Drop(-1, "/usage/serverToolUsage"),),
        faults=(Set(-1, "/usage/serverToolUsage", {}),),
    ),
    Mutant(rule="BDR-024", cassette=THINKS, faults=(Move(SIGNATURE, first("/delta/reasoningContent/text")),)),
    Mutant(
        rule="BDR-025",
        cassette="bedrock-converse/bedrock/reasoning-redacted",
        faults=(Set(REDACTED, REDACTED.path, "no base64"),),
    ),
    Mutant(rule="BDR-026", cassette="bedrock-converse/bedrock/citations", faults=(Set(TEXT_DELTA, "/delta/text", ""),)),
    Mutant(rule="BDR-027", cassette=FAILED, faults=(Relabel(-1, b"throttlingException", b"ThrottlingException"),)),
    Mutant(rule="BDR-028", cassette=FAILED, faults=(Write(-1, {}),)),
    Mutant(rule="BDR-032", cassette=TEXT, faults=(Move(STOP, TEXT_DELTA),)),
]

INVOKE = [
    Mutant(rule="BDR-029", cassette=LLAMA, faults=(Write(1, b'{"generation":"a"}'),)),
    Mutant(rule="BDR-030", cassette=LLAMA, faults=(Drop(-1, "/amazon-bedrock-invocationMetrics"),)),
]

OF_NOVA = [
    Mutant(
        rule="BDR-008",
        cassette=NOVA,
        faults=(
            Set(first("/contentBlockDelta"), "/contentBlockDelta/contentBlockIndex", 5),
            Set(first("/contentBlockStop"), "/contentBlockStop/contentBlockIndex", 5),
        ),
    ),
    Mutant(rule="BDR-010", cassette=NOVA, faults=(Lose(last("/contentBlockStop")),)),
    Mutant(rule="BDR-018", cassette=NOVA, faults=(Set(first("/messageStop"), "/messageStop/stopReason", "stop"),)),
    Mutant(rule="BDR-032", cassette=NOVA_CALL, faults=(Move(last("/contentBlockStop"), last("/contentBlockDelta")),)),
]

MUTANTS = [*CONVERSE, *INVOKE, *OF_NOVA]
