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
    "tool/arguments-not-string": Kind(_M, "arguments sent as an object where a JSON string is due", "OAI-C-057 BDR-015"),
    "tool/fragment-orphan": Kind(_S, "an argument fragment that belongs to no call"),
    "tool/id-missing": Kind(_M, "a call without an id", "OAI-C-024 BDR-017"),
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
    "finish/length-lost": Kind(_S, "the token limit was reached, and the finish reason does not say so", "OLL-022"),
    "finish/missing": Kind(_M, "the last line has no finish reason, or another one has", "OLL-002"),
    "finish/unknown-value": Kind(_M, "a finish reason outside the API's enumeration", "OLL-003 GGL-005 ANT-014 BDR-018"),
    "finish/with-content": Kind(_I, "content comes together with the end", "OLL-016"),
    "delta/role-invalid": Kind(_M, "a role that is not the assistant's", "OLL-006 GGL-008 BDR-002"),
    "logprobs/unasked": Kind(_M, "logprobs that nobody asked for", "OLL-018"),
    "reasoning/after-content": Kind(_S, "reasoning after the answer has begun", "OLL-015"),
    "reasoning/unasked": Kind(_S, "reasoning though it was switched off", "OLL-017"),
    "tool/arguments-not-object": Kind(_M, "arguments that are no object in an API that sends objects", "OLL-008"),
    "tool/unasked": Kind(_M, "a call though no tools were sent", "OLL-010"),
    "usage/early": Kind(_M, "counts before the line that ends the turn", "OLL-011"),
    "usage/input-missing": Kind(_I, "no count of the input", "OLL-013"),
    "usage/count-missing": Kind(_M, "usage without one of its required counts", "BDR-020"),
    "usage/repeated": Kind(_M, "the usage of a turn is told twice", "BDR-004"),
    "usage/missing": Kind(_S, "the turn ended without its counts", "OLL-012 BDR-030"),
    # the end of the stream, and errors in it
    "error/name": Kind(_M, "an error whose name is none of the API's", "BDR-027"),
    "error/form": Kind(_M, "an error that has not the form of the API", "OLL-019 GGL-032 ANT-019"),
    "error/not-last": Kind(_M, "something follows an error", "OLL-020 ANT-020"),
    "error/in-band": Kind(_I, "an error delivered inside a 200 stream", "HTTP-010"),
    "error/http": Kind(_I, "the request was answered with an error status"),
    "stream/array-unclosed": Kind(_M, "a JSON-array stream without its closing bracket", "JSA-002"),
    "stream/data-after-done": Kind(_M, "payloads after the end marker", "SSE-016 NDJ-005 BDR-003"),
    "stream/done-missing": Kind(_M, "no [DONE] although the turn finished", "OAI-C-001"),
    "stream/empty": Kind(_M, "a body without any payload", "HTTP-009"),
    "stream/finish-missing": Kind(_M, "the end marker came but no finish reason was ever sent", "OAI-C-014 ANT-004 BDR-018"),
    "stream/reset": Kind(_I, "the connection was reset"),
    "stream/stalled": Kind(_I, "the stream stopped sending and never ended"),
    "stream/trailer-missing": Kind(_S, "the turn ended, but a frame that follows the end never came", "BDR-004"),
    "stream/truncated": Kind(
        _M, "the body ended before the turn's end condition", "OAI-C-014 RSP-002 GGL-002 BDR-003 OLL-001 ANT-002"
    ),
    # bytes and frames
    "framing/blank-line": Kind(_S, "a blank line between JSON lines", "NDJ-004"),
    "framing/comma-missing": Kind(_M, "two elements of a JSON array without a comma between them", "JSA-001"),
    "framing/event-without-data": Kind(_S, "an event that has a name and no data", "SSE-011"),
    "framing/id-field": Kind(_S, "an `id` field", "SSE-013"),
    "framing/mixed-line-ends": Kind(_S, "lines of one stream have different ends", "SSE-005"),
    "framing/no-space": Kind(_S, "a `data:` without a space after it", "SSE-008"),
    "framing/retry-field": Kind(_M, "a `retry` field that is no number", "SSE-014"),
    "framing/message-type": Kind(_M, "an event-stream frame that does not say what it is", "EVS-007 EVS-008"),
    "framing/part-type": Kind(_S, "an event-stream frame that does not say that it holds JSON", "EVS-009"),
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
    "stream/marker-form": Kind(_S, "an end marker that is not exactly [DONE]", "SSE-017"),
    "http/error-form": Kind(_M, "a retryable status whose body is no error object", "HTTP-007"),
    "http/error-status": Kind(_M, "a failure that its status or media type does not show", "HTTP-002"),
    "http/not-a-stream": Kind(_M, "a document where a stream was asked for, or the other way round", "HTTP-003"),
    "http/retry-after": Kind(_S, "a retry hint that cannot be read", "HTTP-004"),
    "http/retry-after-long": Kind(_I, "a retry hint above two minutes", "HTTP-005"),
    "http/should-retry": Kind(_I, "x-should-retry contradicts the status", "HTTP-008"),
    "http/content-encoding": Kind(_M, "the body is not encoded as the headers say", "HTTP-006"),
    "http/content-type": Kind(_M, "the media type is not that of the API's stream", "HTTP-001"),
    # what became of the bytes after they were sent: the recording's own state, and nobody else's fault
    "recording/decoded": Kind(_I, "the headers name an encoding that whoever kept the body took off"),
    "recording/length": Kind(_I, "the body is not as long as content-length says: whoever kept it lost or rewrote some"),
    "recording/text": Kind(_I, "a binary body that was saved as text: what is no text in it is lost"),
    # the streamed turn against its non-streaming twin, and against the API's own vocabulary
    "reference/absent": Kind(_M, "the twin has a field that the streamed turn lacks", "REASM-003"),
    "reference/extra": Kind(_M, "the streamed turn has a field that the twin lacks", "REASM-003"),
    "reference/type": Kind(_M, "a value has another type than in the twin", "REASM-004"),
    "reference/value": Kind(_M, "a value differs from the twin's, though the same turn was asked for"),
    "reference/word": Kind(_M, "a word of the API differs from the twin's", "REASM-027"),
    "native/unlike": Kind(_M, "the collected body breaks the vendor's own type as no recorded body does", "REASM-002"),
    "field/unknown": Kind(_I, "a field or event that the API's vocabulary lacks; it is kept"),
    # what the loop told of a turn
    "events/end": Kind(_M, "the loop told another end of the turn than the recorded one"),
    "events/folded": Kind(_M, "what the events tell does not fold to the response"),
    "events/sequence": Kind(_M, "events that the loop told in no legal order, or without exactly one end", "REASM-033"),
    "events/turn": Kind(_M, "run through the loop, the streamed turn and its twin tell different turns"),
    "loop/cancelled": Kind(_I, "the caller cancelled the turn"),
    # what a reader of streams does with them, whatever they are: the laws of reassembly and of decoders
    "reader/cut-dependent": Kind(_M, "another cutting of the bytes gives another turn", "SSE-002 EVS-011 REASM-007"),
    "reader/line-ends": Kind(_M, "a character inside a text is taken for the end of its line", "SSE-004 NDJ-002"),
    "reader/comment": Kind(_M, "a comment of the stream is taken for a payload", "SSE-006"),
    "reader/field-space": Kind(_M, "more or less than one space is taken off the value of a field", "SSE-007"),
    "reader/data-lines": Kind(_M, "the data lines of one event are not joined", "SSE-010"),
    "reader/outside-syntax": Kind(_M, "an error that stands outside the syntax of the stream is dropped", "SSE-018"),
    "reader/element-borders": Kind(_M, "a border of array elements is seen inside a string", "JSA-003"),
    "reader/unknown-event": Kind(_M, "an event of an unknown type does harm", "BDR-031 REASM-022"),
    "reader/unknown-field": Kind(_M, "a field of an unknown name does harm", "REASM-021"),
    "reader/stream-only-field": Kind(_M, "the assembled body has a field that only streams have", "REASM-001"),
    "reader/text-order": Kind(_M, "fragments of a text are put together in another order than they came", "REASM-005"),
    "reader/text-lost": Kind(_M, "a fragment of a text is lost, or used twice", "REASM-006"),
    "reader/unsteady": Kind(_M, "assembled twice, one stream is two turns", "REASM-008"),
    "reader/calls": Kind(_M, "other calls, or in another order, than were streamed", "REASM-009"),
    "reader/identity": Kind(_M, "an id or a name is not the one that was streamed", "REASM-010"),
    "reader/usage": Kind(_M, "usage is not the last that was reported", "REASM-011"),
    "reader/usage-lost": Kind(_M, "usage is lost where a payload without usage follows", "REASM-012"),
    "reader/role": Kind(_M, "a default takes the place of the role that was streamed", "REASM-013"),
    "reader/content-not-null": Kind(_M, "a text, though no content was streamed", "REASM-014"),
    "reader/empty-arguments": Kind(_M, "a call without arguments has something else for them", "REASM-015"),
    "reader/signature": Kind(_M, "a signature is not the one that was streamed", "REASM-016"),
    "reader/signature-lost": Kind(_M, "a part that held only a signature is gone", "REASM-017"),
    "reader/false-end": Kind(_M, "a stream that was cut off counts as a whole turn", "REASM-018"),
    "reader/error-hidden": Kind(
        _M, "an error inside the stream counts as success, or takes what came before it away", "REASM-019"
    ),
    "reader/told-twice": Kind(_M, "another attempt, after a part of the answer was told", "REASM-020"),
    "reader/terminal-ignored": Kind(_M, "what the terminal event says does not count", "REASM-023"),
    "reader/after-end": Kind(_M, "what follows the end of the turn changes it", "REASM-024"),
    "reader/ping": Kind(_M, "a payload that says nothing changes the turn", "REASM-025"),
    "reader/base64": Kind(_M, "fragments of base64 are joined by their letters", "REASM-026"),
    "reader/logprobs": Kind(_M, "log probabilities of other tokens than were streamed", "REASM-030"),
    "reader/surrogates": Kind(_M, "the two halves of a character are not joined", "REASM-031"),
    "reader/tool-turn": Kind(_M, "a turn with calls does not count as a tool turn", "REASM-032"),
    "reader/offsets": Kind(_M, "offsets of citations are not those that were streamed", "REASM-034"),
    "reference/usage": Kind(_S, "the counts of tokens differ from the twin's, for the same output", "REASM-028"),
    "reference/only-plain": Kind(_I, "a field that stands in plain answers only", "REASM-029"),
    "loop/not-cancelled": Kind(_M, "a turn that was cancelled goes on, or ends in another way", "REASM-036"),
    "harness/failed": Kind(_M, "the harness itself failed: our fault, never the subject's"),
    # a Chat stream: what the rules of OAI-C report (the areas are those of the bug reports)
    "chunk/object-wrong": Kind(_M, "a chunk whose object is not `chat.completion.chunk`", "OAI-C-002"),
    "chunk/field-missing": Kind(_M, "a chunk that lacks id, created, model or choices", "OAI-C-003"),
    "chunk/id-changes": Kind(_M, "one stream with several ids", "OAI-C-004"),
    "chunk/id-empty": Kind(_S, "a chunk whose id is empty", "OAI-C-005"),
    "chunk/created-changes": Kind(_S, "one stream with several times of creation", "OAI-C-006"),
    "chunk/model-changes": Kind(_M, "one stream with several models", "OAI-C-007"),
    "chunk/fingerprint-changes": Kind(_S, "one stream with several system fingerprints", "OAI-C-051"),
    "choices/empty": Kind(_M, "a chunk with empty choices that reports neither usage nor a verdict", "OAI-C-008"),
    "choices/empty-first": Kind(_S, "a chunk with empty choices before any choice began", "OAI-C-038"),
    "choices/index-invalid": Kind(_M, "a choice whose index is no integer, or out of range", "OAI-C-009"),
    "choices/missing": Kind(_M, "fewer choices than the request asked for", "OAI-C-047"),
    "delta/missing": Kind(_M, "a choice without an object delta", "OAI-C-010"),
    "delta/role-missing": Kind(_M, "a choice whose first delta has no role", "OAI-C-011"),
    "delta/role-repeated": Kind(_S, "the role again, in a later delta", "OAI-C-012"),
    "delta/content-not-text": Kind(_M, "content of a delta that is neither a string nor null", "OAI-C-013"),
    "finish/repeated": Kind(_M, "a second finish reason for one choice", "OAI-C-014"),
    "finish/empty-string": Kind(_M, "an empty string in the place of a finish reason", "OAI-C-015"),
    "finish/key-missing": Kind(_S, "a choice without the key of its finish reason", "OAI-C-016"),
    "finish/merged-with-content": Kind(_S, "the finish reason comes together with a delta", "OAI-C-018"),
    "finish/stop-with-tool-calls": Kind(
        _S, "calls were streamed and the finish reason does not say so", "OAI-C-019 ANT-015 BDR-019"
    ),
    "finish/calls-missing": Kind(_M, "the finish reason speaks of calls and there are none", "OAI-C-020 ANT-015 BDR-019"),
    "tool/index-gap": Kind(_M, "indexes of calls that do not start at 0, or leave one out", "OAI-C-023"),
    "tool/type-missing": Kind(_M, "a call opens without its type", "OAI-C-024"),
    "tool/identity-repeated": Kind(_M, "a later fragment repeats the id or the name of its call", "OAI-C-026"),
    "tool/identity-blanked": Kind(_M, "a later fragment has an empty id or name", "OAI-C-055"),
    "tool/type-repeated": Kind(_S, "a later fragment repeats the type of its call", "OAI-C-056"),
    "tool/index-duplicated-in-delta": Kind(_M, "two fragments with one index in one delta", "OAI-C-059"),
    "tool/list-empty": Kind(_S, "a list of calls, null or empty, where there are none", "OAI-C-053"),
    "tool/arguments-not-incremental": Kind(_I, "a call that came whole, in one fragment", "OAI-C-029"),
    "tool/id-repeated": Kind(_S, "two calls with one id", "OAI-C-030 BDR-017"),
    "tool/name-unknown": Kind(_M, "a call of a function that the request does not offer", "OAI-C-054"),
    "tool/function-call-unasked": Kind(_M, "a call in the deprecated form, which the request did not use", "OAI-C-052"),
    "usage/key-missing": Kind(_S, "usage was asked for, and chunks of content lack the null in its place", "OAI-C-032"),
    "usage/unasked": Kind(_S, "usage though the request does not ask for it", "OAI-C-033"),
    "usage/sum-wrong": Kind(_M, "a total of tokens that is not the sum of its parts", "OAI-C-034 GGL-021 BDR-021"),
    "usage/details-exceed": Kind(_M, "a breakdown of tokens that exceeds what it breaks down", "OAI-C-035"),
    "usage/not-last": Kind(_I, "chunks without usage follow the one that reports it", "OAI-C-036"),
    "usage/cumulative": Kind(_I, "usage is reported several times; the last report counts", "OAI-C-037"),
    "usage/beside-choices": Kind(_I, "usage on a chunk that has choices, or in a field of the server's own", "OAI-C-037"),
    "usage/on-chunk-with-choices": Kind(_M, "usage after the finish, on a chunk that has a choice", "OAI-C-058"),
    "field/azure-filter": Kind(_I, "fields of Azure's content filter", "OAI-C-039"),
    "field/obfuscation-unasked": Kind(_M, "padding that the request switched off", "OAI-C-042"),
    "logprobs/differ": Kind(_M, "the tokens of the log probabilities are not the text", "OAI-C-040"),
    "text/refusal-beside-content": Kind(_S, "a text and a refusal in one choice", "OAI-C-043"),
    "reasoning/field-name": Kind(_I, "reasoning in a field of the server's own", "OAI-C-048"),
    "reasoning/think-tags": Kind(_S, "reasoning inside the text, between tags", "OAI-C-050"),
    "error/detail-lost": Kind(_M, "an error without a message where clients look for it", "OAI-C-044 BDR-028"),
    "error/followed": Kind(_S, "payloads after an error event", "OAI-C-045"),
    "error/event-name": Kind(_I, "an error event with a name of its own", "OAI-C-046"),
    # quirks: no rule forbids them, and clients trip over them (harness/conformance/rules/quirks)
    "answer/content-not-text": Kind(_I, "an answer, not streamed, whose content is a list of parts"),
    "answer/field-missing": Kind(_I, "an answer, not streamed, without one of its main fields"),
    "answer/id-empty": Kind(_I, "an answer, not streamed, whose id is empty"),
    "answer/finish-empty": Kind(_I, "an answer, not streamed, with an empty finish reason"),
    "answer/arguments-text": Kind(_I, "an answer, not streamed, whose call has a text where an object is due"),
    "answer/empty": Kind(_I, "a turn that ended by itself, and said nothing"),
    "anthropic/id-form": Kind(_I, "the id of a message is not of the API's form"),
    "choices/verdict-only": Kind(_I, "a chunk without choices that holds a verdict on the content"),
    "chunk/created-zero": Kind(_I, "a chunk that does not say when it was made"),
    "chunk/object-empty": Kind(_I, "a chunk whose object is an empty string"),
    "delta/content-null": Kind(_I, "the first delta of a text says null"),
    "error/other-form": Kind(_I, "an error status whose body is not of the form of this API"),
    "error/param-missing": Kind(_I, "an error without `param`"),
    "error/code-number": Kind(_I, "an error whose code is a number, in an API whose codes are words"),
    "error/without-marker": Kind(_I, "no end marker after an error"),
    "field/foreign": Kind(_I, "a field that is none of the API's own, though some servers send it"),
    "finish/stop-of-forced-call": Kind(_I, "`stop` at the end of a call that the request demanded"),
    "framing/comment": Kind(_I, "a comment in an event stream; never JSON"),
    "framing/crlf": Kind(_I, "lines end in CR LF: readers that look for two LF find no event"),
    "gemini/call-in-pieces": Kind(_I, "a call whose arguments come in pieces, the later ones without its name"),
    "gemini/role-absent": Kind(_I, "content without a role"),
    "gemini/several-parts": Kind(_I, "one chunk that brings several parts"),
    "gemini/without-candidates": Kind(_I, "an answer without any candidate"),
    "http/blames-server": Kind(_I, "a status of the server's for a fault of the request"),
    "http/content-type-unknown": Kind(_I, "a recording whose headers do not say the media type"),
    "http/leading-blanks": Kind(_I, "white space before a JSON document"),
    "ollama/duration-made-up": Kind(_I, "durations that nobody has measured"),
    "request/choice-ignored": Kind(_I, "a call was demanded, and none came"),
    "request/model-other": Kind(_I, "the answer is of another model than was asked for"),
    "request/parallel-ignored": Kind(_I, "several calls, though at most one was asked for"),
    "request/role-unknown": Kind(_I, "a message of an unknown role was accepted"),
    "responses/content-index-missing": Kind(_I, "events of a part that do not say of which"),
    "responses/marker": Kind(_I, "an end marker in a stream of Responses"),
    "stream/single-frame": Kind(_I, "a stream of one frame"),
    "text/beside-calls": Kind(_I, "a text and calls in one message"),
    "text/empty": Kind(_I, "a piece of text or of arguments with nothing in it"),
    "usage/zero": Kind(_I, "something was said, and all counts of tokens are 0"),
    # one API each
    "anthropic/block-index": Kind(_M, "blocks whose indexes are not 0, 1, 2 and so on", "ANT-005"),
    "anthropic/block-not-open": Kind(_M, "a piece or a stop of a block that is not the open one", "ANT-006"),
    "anthropic/block-not-stopped": Kind(_M, "a block that has no stop before the next one, or before the end", "ANT-007"),
    "anthropic/block-with-delta": Kind(_M, "a piece of a block that comes whole", "ANT-021"),
    "anthropic/call-incomplete": Kind(_M, "a call that starts without its id, name or input", "ANT-010"),
    "anthropic/citation-unannounced": Kind(_M, "a citation for a text that started without a list of them", "ANT-023"),
    "anthropic/delta-misfit": Kind(_M, "a piece of another kind than its block", "ANT-008"),
    "anthropic/event-name": Kind(_M, "an event without a name, or with another one than its type", "ANT-003"),
    "anthropic/input-in-start": Kind(_I, "a call whose start has its whole input", "ANT-011"),
    "anthropic/message-start": Kind(_M, "an event before message_start, or a second one of it", "ANT-001"),
    "anthropic/start-not-empty": Kind(_M, "a message_start that has content or a stop_reason", "ANT-013"),
    "anthropic/stop-sequence": Kind(_M, "stop_reason and stop_sequence contradict each other", "ANT-016"),
    "openrouter/detail-form": Kind(_M, "a detail of reasoning of an unknown type, or with nothing in it", "ORT-008"),
    "openrouter/error-unfinished": Kind(_S, "an error whose chunk has no finish reason `error`", "ORT-011"),
    "openrouter/finish-repeated": Kind(_I, "the finish reason once more, beside the usage", "ORT-006"),
    "openrouter/keep-alive": Kind(_M, "a keep-alive that is sent as data", "ORT-001"),
    "openrouter/native-reason-missing": Kind(_M, "a choice without `native_finish_reason`", "ORT-003"),
    "openrouter/reasoning-differs": Kind(_M, "reasoning that is not the text of its details", "ORT-007"),
    "openrouter/responses-framing": Kind(_I, "Responses without names of events, or with [DONE]", "ORT-012"),
    "openrouter/usage-choice": Kind(_I, "a chunk with usage that has a choice", "ORT-005"),
    "reasoning/signature": Kind(_M, "thinking without its signature, or with two", "ANT-012 ORT-009"),
    "usage/decreases": Kind(_M, "a running total of tokens that becomes less", "ANT-017"),
    "usage/input-grows": Kind(_I, "the count of the input changes in mid-stream", "ANT-018"),
    "gemini/partial-args-orphan": Kind(_M, "streamed call arguments that belong to no open call", "GGL-014"),
    "gemini/partial-args-path": Kind(_M, "a path of streamed call arguments that cannot be followed", "GGL-015"),
    "gemini/prompt-blocked": Kind(_I, "the prompt was blocked: no candidates, a block reason", "GGL-037"),
    "gemini/blocked-with-candidates": Kind(_M, "a block reason and candidates in one stream", "GGL-029"),
    "gemini/call-end-orphan": Kind(_M, "an empty functionCall although no call is open", "GGL-019"),
    "gemini/call-not-closed": Kind(_I, "a streamed call that ends without an empty functionCall", "GGL-018"),
    "gemini/chunk-form": Kind(_M, "a chunk that is neither a response nor an error", "GGL-001"),
    "gemini/code-order": Kind(_M, "code and its result do not come in pairs", "GGL-035"),
    "gemini/content-absent": Kind(_I, "a candidate without content or without parts", "GGL-010"),
    "gemini/grounding-empty": Kind(_I, "grounding metadata with nothing in it", "GGL-031"),
    "gemini/identity-changed": Kind(_M, "the id or the model of a response changes between chunks", "GGL-006"),
    "gemini/index-absent": Kind(_I, "a candidate without an index: it is candidate 0", "GGL-007"),
    "gemini/integer-form": Kind(_M, "a whole number in a form that protocol buffers do not have", "GGL-036"),
    "gemini/part-form": Kind(_M, "a part with no data field, or with several", "GGL-009"),
    "gemini/partial-args-open": Kind(_M, "another argument begins while the text of one is open", "GGL-017"),
    "gemini/partial-args-unasked": Kind(_M, "arguments come in pieces though nobody asked for that", "GGL-013"),
    "gemini/partial-args-value": Kind(_M, "a piece of arguments with no value, or with several", "GGL-016"),
    "gemini/segment": Kind(_M, "a segment of grounding that is not where it says in the text", "GGL-030"),
    "gemini/retry-hint": Kind(_S, "an error 429 that does not say when to ask again", "GGL-033"),
    "gemini/error-not-first": Kind(_S, "an error behind other fields, where the SDK overlooks it", "GGL-034"),
    "gemini/total-shrinks": Kind(_I, "a total of tokens that is smaller than the one before", "GGL-020"),
    "gemini/usage-without-output": Kind(_I, "the last counts lack the one of the answer", "GGL-022"),
    "gemini/usage-without-counts": Kind(_I, "usage that only names the sort of traffic", "GGL-023"),
    "thought/after-answer": Kind(_S, "a thought behind text of the answer", "GGL-028"),
    "thought/signature-alone": Kind(_I, "a signature on a part that says nothing", "GGL-026"),
    "thought/signature-form": Kind(_M, "a signature that is no base64", "GGL-024"),
    "thought/signature-missing": Kind(_M, "a call without the signature that it must be sent back with", "GGL-025"),
    "thought/unasked": Kind(_M, "thoughts though nobody asked for them", "GGL-027"),
    "stream/marker-unexpected": Kind(_M, "an end marker in an API that has none", "GGL-003 ANT-022"),
    "tool/name-missing": Kind(_M, "a call that never gets a name", "GGL-011 BDR-017"),
    "ollama/content-missing": Kind(_M, "a line whose message has no string `content`", "OLL-007"),
    "ollama/duration": Kind(_M, "durations that are no nanoseconds", "OLL-014"),
    "ollama/field-missing": Kind(_M, "a line without one of its fields", "OLL-004"),
    "ollama/line-unstable": Kind(_M, "the model changes, or the clock goes back", "OLL-005"),
    "bedrock/empty-start-union": Kind(_M, "contentBlockStart with an empty start", "BDR-013"),
    "bedrock/block-not-started": Kind(_M, "a call, a result or an image that no contentBlockStart announced", "BDR-011"),
    "bedrock/block-not-stopped": Kind(_M, "a block without contentBlockStop", "BDR-010"),
    "bedrock/block-started": Kind(_I, "contentBlockStart of a block that needs none", "BDR-012"),
    "bedrock/blocks-interleaved": Kind(_S, "events of several blocks in turn", "BDR-009"),
    "bedrock/chunk": Kind(_M, "an event of Invoke that is no chunk", "BDR-029"),
    "bedrock/delta-after-stop": Kind(_M, "a delta for a block that has stopped", "BDR-032"),
    "bedrock/index-invalid": Kind(_M, "an event of a block without the index of that block", "BDR-007"),
    "bedrock/index-order": Kind(_M, "indexes of blocks that leave a number out, or use one twice", "BDR-008"),
    "bedrock/kinds-mixed": Kind(_M, "deltas of several kinds in one block", "BDR-014"),
    "bedrock/message-start": Kind(_M, "a stream that does not begin with messageStart, or has several", "BDR-001"),
    "bedrock/metadata-early": Kind(_S, "metadata before messageStop", "BDR-005"),
    "bedrock/padding": Kind(_I, "letters that hide the size of a payload", "BDR-022"),
    "bedrock/redacted": Kind(_M, "redacted reasoning that is no base64, or shares its block", "BDR-025"),
    "bedrock/signature": Kind(_M, "a second signature of a block, or one before its text", "BDR-024"),
    "bedrock/union": Kind(_M, "a start or a delta with no member, or with several", "BDR-013"),
    "bedrock/unmodelled": Kind(_I, "fields that the service model lacks", "BDR-023"),
    "bedrock/wrapped": Kind(_M, "a payload wrapped in the name of its event", "BDR-006"),
    "bedrock/empty-text": Kind(_I, "a block whose only text is empty, which a body that is not streamed lacks", "BDR-026"),
    "responses/annotation-order": Kind(_M, "an annotation whose index is not its place", "RSP-030"),
    "responses/arguments-done-missing": Kind(_M, "a call is done without the event that its arguments are", "RSP-050"),
    "responses/arguments-done-only": Kind(_I, "arguments that come whole, without a delta", "RSP-025"),
    "responses/begins-full": Kind(_M, "a response that begins with usage, with items or without an output", "RSP-011"),
    "responses/close-order": Kind(_M, "something is closed before what is inside it, or goes on when it is closed", "RSP-028"),
    "responses/completed-with-error": Kind(_M, "a completed response with an error", "RSP-045"),
    "responses/encrypted-anew": Kind(_I, "encrypted content that differs between an item's events", "RSP-033"),
    "responses/error-form": Kind(_M, "an error without a code or a message", "RSP-036 RSP-038"),
    "responses/error-without-failed": Kind(_M, "an error event that response.failed does not follow", "RSP-037"),
    "responses/event-name": Kind(_M, "an event whose name is not its type", "RSP-005"),
    "responses/event-unnamed": Kind(_S, "an event without a name", "RSP-047"),
    "responses/first-event": Kind(_M, "the first event is not the response's beginning", "RSP-001"),
    "responses/incomplete-reason": Kind(_M, "an incomplete response that does not say why", "RSP-035"),
    "responses/index-missing": Kind(_M, "an event of an item without an output index", "RSP-054"),
    "responses/index-order": Kind(_M, "output or content indexes that do not count up from 0", "RSP-015 RSP-022"),
    "responses/item-done-mismatch": Kind(_M, "a done item whose parts are not those that were closed", "RSP-027"),
    "responses/item-incomplete": Kind(_M, "an incomplete item that is not the end of an incomplete response", "RSP-039"),
    "responses/item-type-changed": Kind(_M, "an item that is done as another type than it was added", "RSP-017"),
    "responses/item-unfinished": Kind(_M, "an item that was added and never done", "RSP-016"),
    "responses/items-overlap": Kind(_I, "events of an item after a later one opened", "RSP-043"),
    "responses/list-missing": Kind(_S, "a required list is not there", "RSP-041"),
    "responses/obfuscation-unasked": Kind(_M, "obfuscation that the request turned off", "RSP-042"),
    "responses/reasoning-mixed": Kind(_M, "raw reasoning under two names in one stream", "RSP-046"),
    "responses/response-changed": Kind(_M, "a field of the response that must not change, and did", "RSP-009 RSP-010"),
    "responses/sequence-gap": Kind(_M, "a sequence number that does not follow the one before", "RSP-007"),
    "responses/sequence-missing": Kind(_S, "events without sequence numbers", "RSP-048"),
    "responses/sequence-partial": Kind(_M, "some events with a sequence number and some without", "RSP-006"),
    "responses/sequence-start": Kind(_S, "a first sequence number that is not 0", "RSP-008"),
    "responses/status-order": Kind(_S, "the status events of a tool in another order", "RSP-044"),
    "responses/terminal-status-mismatch": Kind(_M, "a status that is not the one of its event", "RSP-012"),
    "responses/unknown-event": Kind(_M, "a payload without a type; at a lower level one of an unknown type", "RSP-049"),
    "responses/usage-wrong": Kind(_M, "a completed response without usage, or with a wrong total", "RSP-034"),
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

CUT = frozenset({"stream/truncated", "framing/frame-truncated", "stream/array-unclosed", "stream/empty"})
"""Kinds that say that a body ended before its turn, whatever the reason."""
LOST = CUT | {
    "framing/unterminated-event",
    "framing/unterminated-marker",
    "stream/done-missing",
    "stream/trailer-missing",
    "usage/missing",
}
"""Kinds that a cut alone may bring about: where a recording was cut off, or a client went away, they blame no server."""

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
    blame: str | None = None
    """Whose fault it is, as far as the bytes tell: server, gateway, server or gateway, client, network, recording."""

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
        more = {name: value for name in ("blame", "known") if (value := getattr(self, name)) is not None}
        return {**shown, **values, **more, "where": self.where.as_dict()}
