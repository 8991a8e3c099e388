"""The quirks that the corpus's manifest names are found, each on every recording that it is named of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from harness import dialects
from harness.cassette.folders import exchange
from harness.conformance.inspection import inspect, united
from harness.conformance.judge import observed
from harness.conformance.rules import Outcome
from tests.shared import needed

FOREIGN = ("field/foreign", "field/unknown")
FOUND_BY: dict[str, tuple[str, ...]] = {
    "bare_json_object_inside_sse": ("framing/outside-syntax",),
    "candidate_without_content": ("gemini/content-absent",),
    "choice_extra_key": FOREIGN,
    "choices_missing_or_null": ("answer/field-missing", "error/http"),
    "content_after_finish": ("delta/after-finish",),
    "content_is_list": ("delta/content-not-text", "answer/content-not-text"),
    "content_next_to_tool_calls": ("text/beside-calls",),
    "content_on_finish_chunk": ("finish/merged-with-content",),
    "content_without_parts": ("gemini/content-absent",),
    "content_without_role": ("gemini/role-absent",),
    "created_changes": ("chunk/created-changes",),
    "created_zero_or_missing": ("chunk/created-zero",),
    "delta_extra_key": (*FOREIGN, "reasoning/field-name"),
    "done_sentinel_in_responses": ("openrouter/responses-framing",),
    "empty_candidates": ("gemini/without-candidates",),
    "empty_choices_without_usage": ("choices/verdict-only",),
    "empty_delta_on_finish": (),  # the form that is due: see `THE_NORM`
    "empty_input_json_delta": ("text/empty",),
    "empty_text_delta": ("text/empty",),
    "empty_text_part": ("text/empty",),
    "empty_tool_input_delta": ("text/empty",),
    "error_code_is_int": ("error/code-number",),
    "extra_top_key": FOREIGN,
    "finish_reason_empty_string": ("answer/finish-empty",),
    "finish_reason_on_several_chunks": ("finish/repeated",),
    "finish_reason_on_several_frames": ("delta/after-finish",),
    "finish_stop_with_tool_calls": ("finish/stop-of-forced-call",),
    "frame_without_candidates": ("gemini/prompt-blocked", "gemini/without-candidates"),
    "function_call_without_args": ("gemini/call-in-pieces",),
    "function_call_without_name": ("gemini/call-in-pieces",),
    "id_changes": ("chunk/id-changes", "chunk/id-empty"),
    "id_empty_string": ("chunk/id-empty", "answer/id-empty"),
    "id_missing": ("answer/field-missing", "error/http"),
    "json_leading_whitespace": ("http/leading-blanks",),
    "message_extra_key": FOREIGN,
    "message_in_stream_choice": FOREIGN,
    "no_done_sentinel": ("stream/done-missing", "error/without-marker"),
    "no_event_line": ("responses/event-unnamed",),
    "no_finish_reason": ("stream/truncated", "stream/finish-missing", "gemini/prompt-blocked"),
    "no_invocation_metrics": ("usage/missing", "stream/truncated"),
    "object": ("chunk/object-wrong", "chunk/object-empty"),
    "prompt_eval_count_missing": ("usage/input-missing",),
    "role_never_sent": ("delta/role-missing",),
    "role_on_every_chunk": ("delta/role-repeated",),
    "sequence_gap_or_duplicate": ("responses/sequence-gap",),
    "sequence_number_missing": ("responses/sequence-missing",),
    "several_parts_in_one_frame": ("gemini/several-parts",),
    "signature_on_empty_text_part": ("thought/signature-alone",),
    "single_frame_stream": ("stream/single-frame",),
    "sse_body_with_content_type": ("http/content-type-unknown",),
    "sse_comment": ("framing/comment",),
    "sse_crlf": ("framing/crlf",),
    "sse_ends_with_single_newline": ("framing/unterminated-event", "framing/outside-syntax"),
    "sse_event_name_in_chat": ("error/event-name",),
    "sse_junk_line": ("framing/outside-syntax",),
    "streamed_function_args": ("gemini/call-in-pieces",),
    "tool_args_empty": ("tool/arguments-empty",),
    "tool_args_in_first_chunk": ("tool/arguments-not-incremental",),
    "tool_call_whole_in_one_chunk": ("tool/arguments-not-incremental", "tool/arguments-empty"),
    "tool_calls_on_finish_chunk": ("finish/merged-with-content",),
    "tool_id_empty_string_later": ("tool/identity-blanked",),
    "tool_input_in_one_delta": ("tool/arguments-not-incremental",),
    "tool_name_empty_string_later": ("tool/identity-blanked",),
    "unusual_event": ("responses/unknown-event",),
    "usage_in_x_groq": ("usage/beside-choices",),
    "usage_on_chunk_with_choices": ("usage/beside-choices",),
    "usage_on_every_chunk": ("usage/cumulative",),
    "usage_on_several_chunks": ("usage/cumulative",),
}
"""The kinds that a quirk is found as; what stands behind a colon in its name is left out, and looked for in the findings."""

THE_NORM = {"empty_delta_on_finish": "OAI-C-018"}
"""Quirks that are the form that OpenAI's own streams have, and the rule that holds where they are."""

FOUND_NOWHERE_ELSE = [
    "bare_json_object_inside_sse",
    "content_after_finish",
    "content_is_list",
    "content_without_role",
    "done_sentinel_in_responses",
    "empty_choices_without_usage",
    "error_code_is_int",
    "finish_reason_empty_string",
    "finish_reason_on_several_chunks",
    "function_call_without_name",
    "id_empty_string",
    "json_leading_whitespace",
    "no_event_line",
    "object",
    "prompt_eval_count_missing",
    "sequence_gap_or_duplicate",
    "sequence_number_missing",
    "several_parts_in_one_frame",
    "signature_on_empty_text_part",
    "sse_comment",
    "sse_crlf",
    "sse_ends_with_single_newline",
    "sse_event_name_in_chat",
    "usage_on_several_chunks",
]
"""Quirks that the manifest names of every recording that has them: other recordings have no such finding."""


class Said(NamedTuple):
    """What is said of a recording: kinds with the words and places of their findings, and the rules that hold."""

    kinds: frozenset[str]
    words: str
    holds: frozenset[str]


class Row(NamedTuple):
    """A line of the manifest, as far as it matters here."""

    api: str
    id: str
    provider: str
    quirks: tuple[str, ...]


@cache
def manifest() -> tuple[Row, ...]:
    lines = (needed("corpus") / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()
    rows = (json.loads(line) for line in lines)
    return tuple(Row(row["api"], row["id"], row["provider"], tuple(row["quirks"])) for row in rows)


@cache
def said(row: Row) -> Said:
    seen, judged = inspect(exchange(needed("corpus") / row.api / row.id), row.api, row.provider)
    findings = united(observed(seen, dialects.dialect(row.api)), judged)
    words = " ".join(f"{finding.message} {finding.where.path or ''}" for finding in findings)
    holds = frozenset(rule for rule, outcome in judged.outcomes.items() if outcome is Outcome.PASS)
    return Said(frozenset(finding.kind for finding in findings), words, holds)


def with_quirk(name: str) -> Iterator[tuple[Row, str]]:
    """The recordings that have a quirk, with what stands behind the colon of its name."""
    for row in manifest():
        for quirk in row.quirks:
            base, _, more = quirk.partition(":")
            if base == name:
                yield row, more


@pytest.mark.parametrize("quirk", FOUND_BY)
def test_quirk(quirk: str) -> None:
    rows = list(with_quirk(quirk))
    assert rows, f"no recording of the corpus has the quirk {quirk}"
    for row, more in rows:
        it = said(row)
        if quirk in THE_NORM:
            assert THE_NORM[quirk] in it.holds, row.id
        else:
            assert it.kinds & set(FOUND_BY[quirk]), f"{row.id}: {sorted(it.kinds)}"
        if quirk.endswith("_key"):
            assert more in it.words, f"{row.id}: nothing is said of {more}"


@pytest.mark.parametrize("quirk", FOUND_NOWHERE_ELSE)
def test_quirk_is_found_nowhere_else(quirk: str) -> None:
    named = {row for row, _ in with_quirk(quirk)}
    found = {row for row in manifest() if said(row).kinds & set(FOUND_BY[quirk])}
    assert found == named


def test_every_quirk_is_looked_for() -> None:
    named = {quirk.partition(":")[0] for row in manifest() for quirk in row.quirks}
    assert named == set(FOUND_BY)
