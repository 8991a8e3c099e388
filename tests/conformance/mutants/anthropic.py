"""Mutants of the rules of Messages."""

from __future__ import annotations

from harness.replay.faults import Bytes, Drop, Insert, Lose, Set, every, first, last
from tests.conformance.mutants import Mutant

TEXT = "anthropic-messages/llamacpp/text"
CALL = "anthropic-messages/llamacpp/tool-call"
THINKS = "anthropic-messages/llamacpp/reasoning"
FAILED = "anthropic-messages/anthropic/error-in-stream"
ENDS = first("/type", "message_delta")
INPUT = Set(1, "/content_block/input", {})
HIDDEN = {"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "c2Vh"}}
TEXT_OF_IT = {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "sea"}}
CITED = {"type": "char_location", "cited_text": "green", "document_index": 0, "start_char_index": 0, "end_char_index": 5}
CITATION = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": CITED}}

MUTANTS = [
    Mutant(rule="ANT-001", cassette=TEXT, faults=(Lose(0),)),
    Mutant(rule="ANT-002", cassette=TEXT, faults=(Lose(-1),)),
    Mutant(rule="ANT-003", cassette=TEXT, faults=(Bytes(2, b"event: content_block_delta", b"event: delta"),)),
    Mutant(rule="ANT-004", cassette=TEXT, faults=(Set(ENDS, "/delta/stop_reason", None),)),
    Mutant(rule="ANT-005", cassette=TEXT, faults=(Set(every("/index"), "/index", lambda index: index + 1),)),
    Mutant(rule="ANT-006", cassette=TEXT, faults=(Set(2, "/index", 1),)),
    Mutant(rule="ANT-007", cassette=TEXT, faults=(Lose(first("/type", "content_block_stop")),)),
    Mutant(rule="ANT-008", cassette=TEXT, faults=(Set(2, "/delta", {"type": "input_json_delta", "partial_json": ""}),)),
    Mutant(rule="ANT-009", cassette=CALL, faults=(Lose(last("/delta/type", "input_json_delta")),)),
    Mutant(rule="ANT-010", cassette=CALL, before=(INPUT,), faults=(Drop(1, "/content_block/input"),)),
    Mutant(rule="ANT-011", cassette=CALL, before=(INPUT,), faults=(Set(1, "/content_block/input", {"port": "Brest"}),)),
    Mutant(rule="ANT-012", cassette=THINKS, faults=(Lose(first("/delta/type", "signature_delta")),)),
    Mutant(rule="ANT-013", cassette=TEXT, faults=(Set(0, "/message/stop_reason", "end_turn"),)),
    Mutant(rule="ANT-014", cassette=TEXT, faults=(Set(ENDS, "/delta/stop_reason", "length"),)),
    Mutant(rule="ANT-015", cassette=CALL, faults=(Set(ENDS, "/delta/stop_reason", "end_turn"),)),
    Mutant(rule="ANT-016", cassette=TEXT, faults=(Set(ENDS, "/delta/stop_sequence", "END"),)),
    Mutant(rule="ANT-017", cassette=TEXT, faults=(Set(0, "/message/usage/output_tokens", 90),)),
    Mutant(
        rule="ANT-018",
        cassette=TEXT,
        before=(Set(ENDS, "/usage/input_tokens", 22),),
        faults=(Set(ENDS, "/usage/input_tokens", 2200),),
    ),
    Mutant(rule="ANT-019", cassette=FAILED, faults=(Set(-1, "/error", "Overloaded"),)),
    Mutant(rule="ANT-020", cassette=FAILED, faults=(Insert(-1, {"type": "message_stop"}, "message_stop", after=True),)),
    Mutant(
        rule="ANT-021",
        cassette=TEXT,
        before=(
            Insert(ENDS, HIDDEN, "content_block_start"),
            Insert(ENDS, {"type": "content_block_stop", "index": 1}, "content_block_stop"),
        ),
        faults=(Insert(last("/type", "content_block_stop"), TEXT_OF_IT, "content_block_delta"),),
    ),
    Mutant(rule="ANT-022", cassette=TEXT, faults=(Insert(-1, b"[DONE]", after=True),)),
    Mutant(
        rule="ANT-023",
        cassette=TEXT,
        before=(Set(1, "/content_block/citations", []), Insert(3, CITATION, "content_block_delta")),
        faults=(Drop(1, "/content_block/citations"),),
    ),
]
