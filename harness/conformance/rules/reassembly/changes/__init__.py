"""Streams that must come to the same turn: what a reader has to live with, put into a recording.

Each change makes another exchange of the one that was read, or None where it has nothing to change. All are made of faults, so
that what they do not touch keeps its bytes.
"""

from __future__ import annotations

from harness.conformance.rules.reassembly.changes.ends import after_the_end, cut_short, failing
from harness.conformance.rules.reassembly.changes.framed import (
    cut_anyhow,
    cut_finely,
    in_one_piece,
    in_several_lines,
    same_bytes,
    with_bare_error,
    with_comments,
    with_other_spaces,
)
from harness.conformance.rules.reassembly.changes.payloads import (
    ROLE,
    followed_by_no_usage,
    in_small_blobs,
    stopped_in_order,
    with_another_role,
    with_empty_payload,
    with_repeated_identity,
    with_unknown_event,
    with_unknown_fields,
)
from harness.conformance.rules.reassembly.changes.texts import (
    MARK,
    ending_in,
    marked,
    with_another_ending,
    with_character,
    with_halves,
)

__all__ = [
    "MARK",
    "ROLE",
    "after_the_end",
    "cut_anyhow",
    "cut_finely",
    "cut_short",
    "ending_in",
    "failing",
    "followed_by_no_usage",
    "in_one_piece",
    "in_several_lines",
    "in_small_blobs",
    "marked",
    "same_bytes",
    "stopped_in_order",
    "with_another_ending",
    "with_another_role",
    "with_bare_error",
    "with_character",
    "with_comments",
    "with_empty_payload",
    "with_halves",
    "with_other_spaces",
    "with_repeated_identity",
    "with_unknown_event",
    "with_unknown_fields",
]
