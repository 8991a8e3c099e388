"""Mutants of the rules of OpenAI Responses."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.replay.faults import EACH, Bytes, Drop, Insert, InsertBytes, Lose, Move, Pick, Set, Write, every, first, last
from tests.conformance.mutants import Mutant

RICH = "openai-responses/openai/reasoning-search-citations"
CALLS = "openai-responses/openai/parallel-tool-calls"
LENGTH = "openai-responses/openai/length"
FAILED = "openai-responses/openai/error-in-stream"
RAW_REASONING = "openai-responses/llamacpp/reasoning"

UNNUMBERED = (Drop(EACH, "/sequence_number"),)
"""Without sequence numbers, frames may be lost and moved without a gap."""
SEALED = "/encrypted_content"


def of(kind: str, nth: int = 0) -> Pick:
    """An event of a type, `response.` left out."""
    return Pick("/type", f"response.{kind}", nth)


def longer(text: Any) -> str:
    return f"{text} "


def shorter(text: Any) -> str:
    return str(text)[:-1]


mutant = partial(Mutant, cassette=RICH)
moved = partial(Mutant, cassette=RICH, before=UNNUMBERED)

ADDED, DONE = "output_item.added", "output_item.done"  # of the reasoning, the search and the message
SEARCH = {"id": "ws_0ab9", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "tide"}}
SEARCH_STEP = {"type": "response.web_search_call.completed", "output_index": 1, "item_id": "ws_0ab2"}
PART = {"type": "output_text", "text": "", "annotations": []}
AT_PART = {"output_index": 2, "item_id": "msg_0ab3", "content_index": 1}
SECOND_PART = [
    ("response.content_part.added", {**AT_PART, "part": PART}),
    ("response.output_text.done", {**AT_PART, "text": "", "logprobs": []}),
    ("response.content_part.done", {**AT_PART, "part": PART}),
]


def inserted(at: Pick | int, name: str, fields: dict[str, Any], **more: Any) -> Insert:
    return Insert(at, {"type": name, **fields}, name=name, **more)


LIFECYCLE = [
    moved(rule="RSP-001", faults=(Lose(0),)),
    mutant(rule="RSP-002", faults=(Lose(-1),)),
    moved(rule="RSP-003", faults=(inserted(-1, SEARCH_STEP["type"], SEARCH_STEP, after=True),)),
    mutant(rule="RSP-004", before=(InsertBytes(-1, b"data: [DONE]\n\n", after=True),), faults=(Lose(-1),)),
    mutant(rule="RSP-009", faults=(Set(-1, "/response/id", "resp_other"),)),
    mutant(rule="RSP-010", faults=(Set(-1, "/response/model", "gpt-5-nano"),)),
    mutant(rule="RSP-011", faults=(Set(0, "/response/usage", {"input_tokens": 9}),)),
    mutant(rule="RSP-012", faults=(Set(-1, "/response/status", "in_progress"),)),
    mutant(rule="RSP-034", faults=(Set(-1, "/response/usage/total_tokens", 1),)),
    mutant(rule="RSP-035", cassette=LENGTH, faults=(Set(-1, "/response/incomplete_details", None),)),
    mutant(rule="RSP-045", faults=(Set(-1, "/response/incomplete_details", {"reason": "content_filter"}),)),
]
EVENTS = [
    mutant(rule="RSP-005", faults=(Bytes(of("output_text.delta"), b"event: response.output_text.", b"event: response."),)),
    moved(rule="RSP-040", faults=(inserted(5, "response.my_event", {}),)),
    mutant(rule="RSP-041", faults=(Drop(of("output_text.delta"), "/logprobs"),)),
    mutant(rule="RSP-042", cassette=CALLS, faults=(Set(of("function_call_arguments.delta"), "/obfuscation", "Qx9"),)),
    mutant(
        rule="RSP-046",
        cassette=RAW_REASONING,
        faults=(
            Write(
                last("/type", "response.reasoning_text.delta"),
                {"type": "response.reasoning.delta", "delta": "so"},
                name="response.reasoning.delta",
            ),
        ),
        also=("RSP-040",),  # the official SDK knows the one name only
    ),
    mutant(rule="RSP-047", faults=(Bytes(0, b"event: response.created\n", b""),)),
    moved(rule="RSP-049", faults=(Insert(5, {"note": "a payload without a type"}),)),
    mutant(rule="RSP-054", faults=(Drop(of("output_text.delta"), "/output_index"),)),
]
SEQUENCE = [
    mutant(rule="RSP-006", faults=(Drop(-1, "/sequence_number"),)),
    mutant(rule="RSP-007", faults=(Set(-1, "/sequence_number", 99),)),
    mutant(rule="RSP-008", faults=(Set(EACH, "/sequence_number", lambda number: number + 1),)),
    mutant(rule="RSP-048", faults=UNNUMBERED),
]
ITEMS = [
    moved(rule="RSP-013", faults=(Lose(of(ADDED, 2)),)),
    mutant(rule="RSP-014", faults=(Set(of(ADDED, 2), "/output_index", 1),)),
    mutant(rule="RSP-015", faults=(Set(every("/output_index", 2), "/output_index", 3),)),
    moved(rule="RSP-016", faults=(Lose(of(DONE, 2)),)),
    mutant(
        rule="RSP-017",
        faults=(
            Set(of(DONE, 1), "/item/type", "file_search_call"),
            Set(-1, "/response/output/1/type", "file_search_call"),
        ),
    ),
    mutant(rule="RSP-018", faults=(Set(of("output_text.delta"), "/item_id", "msg_other"),)),
    mutant(rule="RSP-019", faults=(Set(-1, "/response/output/0/id", "rs_other"),)),
    mutant(rule="RSP-020", cassette=CALLS, faults=(Set(of(ADDED), "/item/name", ""),)),
    moved(rule="RSP-043", faults=(Move(of(DONE, 1), of("content_part.added")),)),
    moved(rule="RSP-044", faults=(Move(of("web_search_call.completed"), of("web_search_call.searching")),)),
    mutant(rule="RSP-051", faults=(Set(of(ADDED, 2), "/item", None),)),
]
PARTS = [
    moved(rule="RSP-021", faults=(Lose(of("content_part.added")),)),
    mutant(
        rule="RSP-022",
        before=(*UNNUMBERED, *(inserted(of(DONE, 2), name, fields) for name, fields in SECOND_PART)),
        faults=(Set(every("/content_index", 1), "/content_index", 2),),
    ),
    mutant(
        rule="RSP-026",
        faults=(
            Set(of("content_part.done"), "/part/text", longer),
            Set(of(DONE, 2), "/item/content/0/text", longer),
            Set(-1, "/response/output/2/content/0/text", longer),
        ),
    ),
    mutant(
        rule="RSP-027",
        faults=(
            Set(of(DONE, 2), "/item/content/0/text", longer),
            Set(-1, "/response/output/2/content/0/text", longer),
        ),
    ),
    moved(rule="RSP-028", faults=(Move(of("content_part.done"), of("output_text.done")),)),
    moved(rule="RSP-029", faults=(Lose(of("reasoning_summary_part.added")),)),
    mutant(rule="RSP-030", faults=(Set(of("output_text.annotation.added", 1), "/annotation_index", 2),)),
    mutant(rule="RSP-052", faults=(Set(of("content_part.added"), "/part/text", "The ferry"),)),
    mutant(rule="RSP-053", faults=(Set(every("/content_index", 0), "/content_index", 1),)),
]
TEXTS = [
    mutant(rule="RSP-023", faults=(Set(of("output_text.delta", 2), "/delta", "!"),)),
    mutant(rule="RSP-024", cassette=CALLS, faults=(Set(of("function_call_arguments.delta"), "/delta", '{"haven"'),)),
    moved(rule="RSP-025", cassette=CALLS, faults=(Lose(of("function_call_arguments.delta", 3)),)),
    mutant(
        rule="RSP-031",
        cassette=CALLS,
        faults=(
            Set(of("function_call_arguments.delta", 2), "/delta", shorter),
            Set(of("function_call_arguments.done"), "/arguments", shorter),
            Set(of(DONE), "/item/arguments", shorter),
            Set(-1, "/response/output/0/arguments", shorter),
        ),
    ),
    moved(rule="RSP-050", cassette=CALLS, faults=(Lose(of("function_call_arguments.done")),)),
]
OUTPUT = [
    mutant(rule="RSP-032", faults=(Drop(-1, "/response/output/2"),)),
    mutant(
        rule="RSP-033",
        before=(
            Set(of(ADDED), f"/item{SEALED}", "gAAAAABq"),
            Set(of(DONE), f"/item{SEALED}", "gAAAAABq"),
            Set(-1, f"/response/output/0{SEALED}", "gAAAAABq"),
        ),
        faults=(Set(-1, f"/response/output/0{SEALED}", "gAAAAABr"),),
    ),
    mutant(
        rule="RSP-039",
        cassette=LENGTH,
        before=UNNUMBERED,
        faults=(
            inserted(-1, "response.output_item.added", {"output_index": 1, "item": SEARCH}),
            inserted(-1, "response.output_item.done", {"output_index": 1, "item": SEARCH}),
            Set(-1, "/response/output/-", SEARCH),
        ),
    ),
]
ERRORS = [
    mutant(rule="RSP-036", cassette=FAILED, faults=(Set(-1, "/response/error", None),)),
    mutant(rule="RSP-037", cassette=FAILED, faults=(Lose(-1),)),
    mutant(rule="RSP-038", cassette=FAILED, faults=(Drop(first("/type", "error"), "/error/message"),)),
]
MUTANTS = [*LIFECYCLE, *EVENTS, *SEQUENCE, *ITEMS, *PARTS, *TEXTS, *OUTPUT, *ERRORS]
