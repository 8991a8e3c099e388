"""Laws of whoever cuts a body into frames: read boundaries, line ends, comments, fields, borders of elements."""

from __future__ import annotations

from typing import Any

from harness.conformance.rules.reassembly import changes
from harness.conformance.rules.reassembly.laws import Laws
from harness.conformance.rules.reassembly.reading import Reading, breach, differing, said, unchanged
from harness.conformance.rules.rule import Breach, Said

SSE = Laws("SSE", framings=["sse"])
NDJ = Laws("NDJ", framings=["ndjson"])
JSA = Laws("JSA", framings=["json-array"])
EVS = Laws("EVS", framings=["event-stream"])
BDR = Laws("BDR", dialects=["bedrock-converse", "bedrock-invoke"])
_WHATWG = "WHATWG HTML standard, server-sent events; wire/framing.md section 1"


def inside_a_text(it: Reading, words: str, what: str) -> Said:
    """Whether some characters in a text are read as any others are: `words` at its end, against a harmless word there."""
    plain, other = it.under(changes.marked), it.under(changes.ending_in(words))
    if plain is None or other is None:
        return None
    found = differing(_replaced(said(plain), words), said(other))
    return True if found is None else breach(it, found, other, f"{what} inside a text changes what is read")


def _replaced(value: Any, words: str) -> Any:
    """What would have been read, had the other words stood there."""
    if isinstance(value, str):
        return value.replace(changes.MARK, words)
    if isinstance(value, dict):
        return {name: _replaced(field, words) for name, field in value.items()}
    return value


@SSE.law(
    2,
    "events do not depend on read boundaries: any other cutting of the bytes gives the same ones",
    kind="reader/cut-dependent",
    source=f"{_WHATWG}, rules 1 and 3",
    why="A read ends where the network likes. Who decodes each read by itself destroys the character that a boundary divides.",
    bad="b'\\xc3'.decode(errors='replace') + b'\\xa9'.decode(errors='replace')",
    good="one incremental decoder over all reads, or lines cut as bytes",
    seen="naive clients",
)
def events_are_cut_by_bytes(it: Reading) -> Said:
    return unchanged(it, changes.cut_finely, "reading byte by byte")


@SSE.law(
    4,
    "only CR, LF and CRLF end a line; U+2028, U+2029 and U+0085 inside a value are kept",
    kind="reader/line-ends",
    source=f"{_WHATWG}, rule 3; tried: clients on httpx's iter_lines cut the event in two",
    why="The event is cut in two at the character; its first half is no JSON, its second half is dropped.",
    bad='data: {"t":"a<U+2028>b"}, read with str.splitlines()',
    good="the same line, cut at the bytes 0A and 0D only",
    seen="clients on httpx iter_lines",
)
def only_line_ends_end_lines(it: Reading) -> Said:
    return inside_a_text(it, "<m\u2028a\u2029r\u0085k>", "a separator of Unicode")


@SSE.law(
    6,
    "comment lines never reach the JSON layer",
    kind="reader/comment",
    source=f"{_WHATWG}, rule 4; recordings of OpenRouter, DeepSeek",
    why="Comments keep connections alive while a model thinks. Who parses them fails in the very streams that take long.",
    bad="json.loads(': keep-alive')",
    good="a line that begins with a colon is skipped",
    seen="hand-written clients",
)
def comments_are_no_payloads(it: Reading) -> Said:
    return unchanged(it, changes.with_comments, "a comment")


@SSE.law(
    7,
    "one space after the colon of a field is removed, if there is one; all the rest is the value",
    kind="reader/field-space",
    source=f"{_WHATWG}, rule 5",
    why="Who takes six bytes off every line loses the first byte of a payload that has no space before it.",
    bad='line[6:] of data:{"a":1}',
    good='data:{"a":1} and data:   {"a":1} are one payload',
    seen="google-genai, which looks for `data: `; clients that strip",
)
def one_space_is_removed(it: Reading) -> Said:
    return unchanged(it, changes.with_other_spaces, "no space, or more than one, after `data:`")


@SSE.law(
    10,
    "several data lines of one event are joined by LF before the payload is parsed",
    kind="reader/data-lines",
    source=f"{_WHATWG}, rule 6",
    why="Each line alone is no JSON: a payload that a proxy has printed nicely is lost.",
    bad="json.loads of each data line",
    good='data: {, data: "a":1} are the payload {"a":1}',
    seen="naive clients",
)
def data_lines_are_joined(it: Reading) -> Said:
    return unchanged(it, changes.in_several_lines, "a payload in two data lines")


@SSE.law(
    18,
    "JSON outside of the syntax of events is read as a payload and reported, not dropped",
    kind="reader/outside-syntax",
    source="SDK-GGL gathers raw JSON; wire/framing.md section 1; a test file of the vendor",
    why="Proxies and Gemini write errors so. Who drops the line takes a turn for whole that has failed.",
    bad='a line {"error":…} without data: is skipped, and the turn is a success',
    good="the turn has failed, with the error of that line",
    seen="SDKs for Chat",
)
def bare_errors_are_read(it: Reading) -> Said:
    other = it.under(changes.with_bare_error)
    if other is None:
        return None
    if other.error is None:
        return Breach("an error that stands in the stream without `data:` is passed over: the turn counts as a success")
    return True


@NDJ.law(
    2,
    "lines are split at the byte 0A and nowhere else",
    kind="reader/line-ends",
    source="Go's encoder leaves U+0085 as it is; wire/framing.md section 2",
    why="A text with U+0085 in it ends the turn with an exception of the JSON parser.",
    bad="response.iter_lines(), which splits at U+0085",
    good="body.split(b'\\n')",
    seen="the ollama package, by way of httpx",
)
def lines_end_at_line_feeds(it: Reading) -> Said:
    return inside_a_text(it, "<m\u0085a\u2028r\u2029k>", "U+0085")


@JSA.law(
    3,
    "the borders of array elements are found with an eye on strings and escapes",
    kind="reader/element-borders",
    source="RFC 8259; wire/framing.md section 3",
    why="Models write code: a brace in a text ends the element too early, and the turn with it.",
    bad="cut where as many braces are closed as were opened, strings included",
    good="braces, brackets and commas inside a string are text",
    seen="naive clients",
)
def strings_have_no_borders(it: Reading) -> Said:
    return inside_a_text(it, '<m}a],r"k\\>', "a brace, a bracket, a quotation mark or a backslash")


@EVS.law(
    11,
    "frames do not depend on read boundaries",
    kind="reader/cut-dependent",
    source="tried: recorded bodies fed in slices of seven bytes",
    why="A frame may come in many reads, and one read may hold many frames.",
    bad="one frame for each read",
    good="bytes wait until as many have come as the frame's length says",
    seen="naive clients",
)
def frames_are_cut_by_lengths(it: Reading) -> Said:
    return unchanged(it, changes.cut_finely, "reading byte by byte")


@BDR.law(
    31,
    "frames of an unknown :event-type are skipped",
    kind="reader/unknown-event",
    source="BOTO, the parser of event streams",
    why="AWS adds events to a stream without a new version of the API.",
    bad="KeyError: 'streamproofPulse'",
    good="the turn, as it would be without the frame",
)
def unknown_frames_are_skipped(it: Reading) -> Said:
    return unchanged(it, changes.with_unknown_event, "a frame of an unknown event type")
