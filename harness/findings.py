"""Findings: what is wrong with a stream, in words a maintainer can act on, and the closed list of their kinds.

One noun from the framer's checksum to the line in a report. Whoever makes a finding fills in the place as far as it knows
it; whoever passes it on adds what only it knows (`Finding.within`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from harness.errors import Where


class Level(StrEnum):
    """How grave: MUST breaks clients that follow the API's documentation; the others do not fail a stream."""

    MUST = "must"
    SHOULD = "should"
    INFO = "info"


class Kind(NamedTuple):
    """A row of the closed list: its level, what it says, and the rules of the catalogue it stands for."""

    level: Level
    says: str
    rules: str = ""


_M, _S, _I = Level.MUST, Level.SHOULD, Level.INFO

KINDS: dict[str, Kind] = {
    # reassembly: what a dialect met while it translated (semantics.md 4.2 names them diagnostics; the table below maps them)
    "choices/extra": Kind(_I, "more than one choice or candidate: flat views show the first"),
    "tool/arguments-empty": Kind(_I, "a call whose arguments are an empty string; read as {}"),
    "tool/arguments-invalid-json": Kind(
        _M, "the arguments of a finished call do not parse", "OAI-C-027 RSP-031 BDR-016 ANT-009"
    ),
    "tool/arguments-not-string": Kind(_M, "arguments sent as an object where a JSON string is due", "OAI-C-057"),
    "tool/fragment-orphan": Kind(_S, "an argument fragment that belongs to no call"),
    "tool/id-missing": Kind(_M, "a call without an id", "OAI-C-024"),
    "tool/id-synthetic": Kind(_I, "a call without an id, in an API that need not send one: an id was made up for it"),
    "tool/identity-changed": Kind(_M, "a call's name changed in a later fragment; the first one counts", "OAI-C-026"),
    "tool/index-drift": Kind(_S, "a continuation under an index never opened: taken as part of the open call"),
    "tool/index-missing": Kind(_M, "a tool fragment without an index", "OAI-C-022"),
    "tool/index-reused": Kind(_M, "one index used for two calls", "OAI-C-025"),
    "tool/name-late": Kind(_M, "a call opens without its name, which comes in a later fragment", "OAI-C-024"),
    "text/surrogate-lone": Kind(_M, "an unpaired UTF-16 surrogate in the reassembled text", "REASM-035"),
    "delta/after-finish": Kind(_M, "content after the finish reason", "OAI-C-017"),
    "finish/abnormal": Kind(_M, "the finish reason says that the model or its call failed", "GGL-038"),
    "repeat/differs": Kind(_S, "the API repeats a value and the repetition differs from what was streamed"),
    # the end of the stream, and errors in it
    "error/in-band": Kind(_I, "an error delivered inside a 200 stream", "HTTP-010"),
    "error/http": Kind(_I, "the request was answered with an error status"),
    "stream/array-unclosed": Kind(_M, "a JSON-array stream without its closing bracket", "JSA-002"),
    "stream/data-after-done": Kind(_M, "payloads after the end marker", "SSE-016 NDJ-005"),
    "stream/done-missing": Kind(_M, "no [DONE] although the turn finished", "OAI-C-001"),
    "stream/empty": Kind(_M, "a body without any payload", "HTTP-009"),
    "stream/finish-missing": Kind(_M, "the end marker came but no finish reason was ever sent", "OAI-C-014"),
    "stream/reset": Kind(_I, "the connection was reset"),
    "stream/stalled": Kind(_I, "the stream stopped sending and never ended"),
    "stream/trailer-missing": Kind(_S, "the turn ended, but a frame that follows the end never came"),
    "stream/truncated": Kind(
        _M, "the body ended before the turn's end condition", "OAI-C-014 RSP-002 GGL-002 BDR-003 OLL-001 ANT-002"
    ),
    # bytes and frames
    "framing/bad-crc": Kind(_M, "a checksum of an event-stream frame is wrong", "EVS-002 EVS-003"),
    "framing/bad-header": Kind(_M, "the headers of an event-stream frame cannot be read", "EVS-006"),
    "framing/bad-length": Kind(_M, "the length of an event-stream frame is impossible", "EVS-001 EVS-004"),
    "framing/bom": Kind(_S, "a byte-order mark before the first field", "SSE-003"),
    "framing/frame-truncated": Kind(_M, "the body ends inside a frame", "EVS-010 NDJ-003"),
    "framing/invalid-json": Kind(_M, "a payload that is almost JSON", "SSE-015 NDJ-001"),
    "framing/invalid-utf8": Kind(_M, "a payload that is not UTF-8", "SSE-001"),
    "framing/non-json-data": Kind(_M, "a payload that is no JSON at all", "SSE-015 NDJ-001"),
    "framing/not-an-object": Kind(_M, "a payload that is JSON, but no object"),
    "framing/outside-syntax": Kind(_S, "bytes that are no field of an event stream", "SSE-012 SSE-018"),
    "framing/trailing-data": Kind(_S, "bytes after the end of the JSON array", "JSA-004"),
    "framing/unterminated-event": Kind(_M, "the last event has no blank line after it; strict readers drop it", "SSE-009"),
    "framing/unterminated-marker": Kind(_S, "the last [DONE] has no blank line after it", "SSE-019"),
    "http/content-encoding": Kind(_M, "the body is not encoded as the headers say", "HTTP-006"),
    "http/content-type": Kind(_M, "the media type is not that of the API's stream", "HTTP-001"),
    # the streamed turn against its non-streaming twin, and against the API's own vocabulary
    "reference/absent": Kind(_M, "the twin has a field that the streamed turn lacks", "REASM-003"),
    "reference/extra": Kind(_M, "the streamed turn has a field that the twin lacks", "REASM-003"),
    "reference/type": Kind(_M, "a value has another type than in the twin", "REASM-004"),
    "reference/value": Kind(_M, "a value differs from the twin's, though the same turn was asked for"),
    "reference/word": Kind(_M, "a word of the API differs from the twin's", "REASM-027"),
    "native/unlike": Kind(_M, "the collected body breaks the vendor's own type as no recorded body does", "REASM-002"),
    "field/unknown": Kind(_I, "a field or event that the API's vocabulary lacks; it is kept"),
    "harness/failed": Kind(_M, "the harness itself failed: our fault, never the subject's"),
    # one API each
    "gemini/partial-args-orphan": Kind(_M, "streamed call arguments that belong to no open call", "GGL-014"),
    "gemini/partial-args-path": Kind(_M, "a path of streamed call arguments that cannot be followed", "GGL-015"),
    "gemini/prompt-blocked": Kind(_I, "the prompt was blocked: no candidates, a block reason", "GGL-037"),
    "bedrock/empty-start-union": Kind(_M, "contentBlockStart with an empty start", "BDR-013"),
    "bedrock/empty-text": Kind(_I, "a block whose only text is empty, which a body that is not streamed lacks", "BDR-026"),
    "responses/completed-output-mismatch": Kind(
        _M, "the terminal event's output differs from, or lacks, what was streamed", "RSP-032"
    ),
    "responses/done-text-mismatch": Kind(_M, "a done event's value differs from the sum of its deltas", "RSP-023"),
    "responses/index-collision": Kind(_M, "two items at one output index", "RSP-014"),
    "responses/item-id-unstable": Kind(_M, "an item's id changes between its events", "RSP-018"),
    "responses/item-not-announced": Kind(_M, "events for an item that was never added", "RSP-013"),
    "responses/item-null": Kind(_M, "an item event whose item is null", "RSP-051"),
    "responses/part-not-announced": Kind(_M, "content deltas without the part's added event", "RSP-021"),
    "responses/part-prefilled": Kind(_M, "a part announced with content that is then streamed again", "RSP-052"),
}
"""Levels follow the evidence in the rule catalogue; `stream/*` and `error/*` decide the outcome beside the level."""

DIAGNOSTICS = {
    "tool_index_drift": "tool/index-drift",
    "tool_index_reused": "tool/index-reused",
    "tool_identity_changed": "tool/identity-changed",
    "orphan_tool_delta": "tool/fragment-orphan",
    "synthetic_id": "tool/id-synthetic",
    "empty_arguments": "tool/arguments-empty",
    "invalid_tool_arguments": "tool/arguments-invalid-json",
    "missing_finish_reason": "stream/finish-missing",
    "extra_choices": "choices/extra",
}
"""The diagnostics that semantics.md 4.2 decides on, and the kinds that say the same here."""

_RULE_PREFIX = {
    "openai-chat": ("OAI-C", "SSE"),
    "openai-responses": ("RSP", "SSE"),
    "gemini": ("GGL", "SSE", "JSA"),
    "bedrock-converse": ("BDR", "EVS"),
    "bedrock-invoke": ("BDR", "EVS"),
    "ollama-chat": ("OLL", "NDJ"),
    "anthropic-messages": ("ANT", "SSE"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something to report: `message` says what was met and what was expected, `where` leads to it.

    Its level is that of its kind, unless `graded` says otherwise (a cut recording blames no server).
    """

    kind: str
    message: str
    where: Where = field(default_factory=Where)
    graded: Level | None = None
    known: str | None = None
    """The reason of the known deviation that explains it."""
    rule: str | None = None
    expected: Any = None
    got: Any = None

    @property
    def level(self) -> Level:
        return self.graded or KINDS[self.kind].level

    @property
    def fails(self) -> bool:
        """Whether it makes a verdict fail: a MUST that no known deviation explains."""
        return self.level is Level.MUST and self.known is None

    @property
    def compares(self) -> bool:
        """Whether it is about two values that should be one; others tell at most what was met."""
        return (self.expected, self.got) != (None, None) and self.kind != "field/unknown"

    def within(self, outer: Where) -> Finding:
        """The same finding, with the place completed from `outer`."""
        return replace(self, where=self.where.within(outer))

    def ruled(self, dialect: str) -> Finding:
        """The same finding, with the rule of this dialect's group that its kind stands for."""
        rules = KINDS[self.kind].rules.split()
        own = [r for prefix in _RULE_PREFIX.get(dialect, ()) for r in rules if r.startswith(prefix)]
        general = [r for r in rules if r.startswith(("HTTP", "REASM"))]
        return replace(self, rule=next(iter(own + general), None)) if self.rule is None else self

    def as_dict(self) -> dict[str, Any]:
        """The finding as `check --json` and results files have it (product contract, section 5)."""
        shown = {"rule": self.rule, "kind": self.kind, "level": self.level.value, "message": self.message}
        values = {"expected": self.expected, "got": self.got} if (self.expected, self.got) != (None, None) else {}
        known = {"known": self.known} if self.known is not None else {}
        return {**shown, **values, **known, "where": self.where.as_dict()}
