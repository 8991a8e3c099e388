"""From a finding to the bytes: a difference leads to the very byte that makes it, whatever it is framed and escaped in."""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from harness import dialects
from harness.adapters import Ours
from harness.cassette.model import Chunk, Exchange
from harness.conformance.judge import judge
from harness.conformance.trace import Trace
from harness.errors import Where
from harness.findings import Finding
from tests import chat
from tests.exchanges import cassette, completion, document, exchange, sse
from tests.framing.feeding import event
from tests.laws.cases import SHIPPED, Stream


def traced(stream: Exchange, dialect: str, path: str, expected: Any, got: Any, kind: str = "value") -> Where:
    finding = Finding(kind=f"reference/{kind}", message="", where=Where(path=path), expected=expected, got=got)
    return Trace(stream, dialects.dialect(dialect)).pinpoint(finding).where


def pointed(stream: Exchange, dialect: str, where: Where) -> bytes:
    """The bytes that a place leads to."""
    assert where.span is not None
    return Trace(stream, dialects.dialect(dialect)).body[slice(*where.span)]


def found(stream: Exchange, twin: Exchange, dialect: str = "openai-chat") -> list[Finding]:
    """What the twin says against a stream, with its places."""
    ours = Ours()
    case = cassette(stream, twin, dialect)
    verdicts = judge(case, ours.observe(stream, dialect), ours.observe(twin, dialect))
    return [finding for verdict in verdicts for finding in verdict.findings if finding.kind.startswith("reference/")]


def only(stream: Exchange, twin: Exchange, dialect: str = "openai-chat") -> tuple[Finding, bytes]:
    """The only difference, and the bytes that it leads to."""
    (finding,) = found(stream, twin, dialect)
    return finding, pointed(stream, dialect, finding.where)


# texts

_AWKWARD = 'a"\\/\n\té\u2028€\U0001f30a'
"""Escapes of every length, and characters of one to four bytes."""


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize("pieces", [1, 2, 100])
@pytest.mark.parametrize("position", range(len(_AWKWARD) + 1))
def test_the_character_that_differs_is_found_behind_any_others(position: int, pieces: int, escaped: bool) -> None:
    text = _AWKWARD[:position] + "X" + _AWKWARD[position:]
    size = -(-len(text) // pieces)
    deltas = [chat.text(text[at : at + size]) for at in range(0, len(text), size)]
    payloads = [json.dumps(p, ensure_ascii=escaped).encode() for p in (*deltas, chat.stops())]
    twin = document(completion({"content": text.replace("X", "Y")}))
    finding, byte = only(exchange(sse(*payloads)), twin)
    assert (finding.where.path, byte) == ("/choices/0/message/content", b"X")
    assert finding.where.frame == position // size


@pytest.mark.parametrize("letter", [*_AWKWARD, "\ud83c"], ids=ascii)
def test_an_escape_is_pointed_at_as_a_whole(letter: str) -> None:
    payload = json.dumps(chat.text(f"a{letter}b")).encode()
    stream = exchange(sse(payload, chat.stops()))
    where = traced(stream, "openai-chat", "/choices/0/message/content", "axb", f"a{letter}b")
    assert pointed(stream, "openai-chat", where) == json.dumps(letter).encode()[1:-1]


def test_a_pair_of_surrogates_is_one_character_and_a_lone_one_is_another() -> None:
    payload = json.dumps(chat.text("")).encode().replace(b'""', rb'"\ud800\uD83C\uDF0A\ud83c!"')
    stream = exchange(sse(payload, chat.stops()))
    got = "\ud800\U0001f30a\ud83c!"
    where = traced(stream, "openai-chat", "/choices/0/message/content", got.replace("!", "?"), got)
    assert pointed(stream, "openai-chat", where) == b"!"


@pytest.mark.parametrize(
    ("expected", "got", "byte"),
    [("abcd", "abc", b"c"), ("abc", "abcd", b"d"), ("", "abc", b"a"), ("abc", "", b'""'), (None, "abc", b'"abc"')],
)
def test_a_text_that_is_longer_or_shorter(expected: str | None, got: str, byte: bytes) -> None:
    stream = exchange(sse(chat.text(got), chat.stops()))
    assert only(stream, document(completion({"content": expected})))[1] == byte


def test_bytes_that_are_not_utf_8_are_one_character_each() -> None:
    payload = chat.encoded(chat.text("a?b")).replace(b"?", b"\xe9")
    stream = exchange(sse(payload, chat.stops()))
    where = traced(stream, "openai-chat", "/choices/0/message/content", "a\ufffdc", "a\ufffdb")
    assert pointed(stream, "openai-chat", where) == b"b"


def test_a_text_in_ten_thousand_pieces() -> None:
    deltas = [chat.text("ab") for _ in range(10_000)]
    deltas[7_321] = chat.text("aX")
    stream = exchange(sse(*deltas, chat.stops()))
    finding, byte = only(stream, document(completion({"content": "ab" * 10_000})))
    assert (finding.where.frame, byte) == (7_321, b"X")


# framings


def _in_lines(text: str) -> Exchange:
    """An SSE event of several data lines."""
    payload = json.dumps(chat.text(text), indent=1).encode()
    body = b"event: x\n" + b"".join(b"data: " + line + b"\n" for line in payload.split(b"\n")) + b"\n" + sse(chat.stops())
    return exchange(body)


def _ndjson(text: str) -> Exchange:
    lines = [{"model": "m", "message": {"role": "assistant", "content": text}, "done": False}, {"model": "m", "done": True}]
    return exchange(b"".join(chat.encoded(line) + b"\r\n" for line in lines), media="application/x-ndjson", path="/api/chat")


def _array(text: str) -> Exchange:
    chunk = {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}]}
    return exchange(json.dumps([chunk], indent=2).encode(), media="application/json", path="/v1/models/m:streamGenerateContent")


def _events(text: str) -> Exchange:
    delta = {"contentBlockIndex": 0, "delta": {"text": text}, "p": "abc"}
    body = event("contentBlockDelta", chat.encoded(delta)) + event("messageStop", b'{"stopReason":"end_turn"}')
    return exchange(body, media="application/vnd.amazon.eventstream", path="/model/m/converse-stream")


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("dialect", "make", "path"),
    [
        ("openai-chat", lambda text: exchange(sse(chat.text(text), chat.stops())), "/choices/0/message/content"),
        (
            "openai-chat",
            lambda text: exchange(sse(chat.text(text), chat.stops()).replace(b"\n", b"\r\n")),
            "/choices/0/message/content",
        ),
        ("openai-chat", _in_lines, "/choices/0/message/content"),
        ("ollama-chat", _ndjson, "/message/content"),
        ("gemini", _array, "/candidates/0/content/parts/0/text"),
        ("bedrock-converse", _events, "/output/message/content/0/text"),
    ],
    ids=["sse", "sse-crlf", "sse-lines", "ndjson", "json-array", "event-stream"],
)
def test_every_framing_leads_to_the_byte(dialect: str, make: Callable[[str], Exchange], path: str, packed: bool) -> None:
    stream = make("Lyom é")
    if packed:
        body = gzip.compress(stream.body)
        stream = replace(stream, chunks=(Chunk(data=body[:9]), Chunk(data=body[9:])))
    where = traced(stream, dialect, path, "Lyon é", "Lyom é")
    assert pointed(stream, dialect, where) == b"m"
    assert where.frame == 0


def test_what_base64_carries_is_pointed_at_by_its_letters() -> None:
    inner = chat.encoded({"outputText": "Lyom", "index": 0, "completionReason": "FINISH", "totalOutputTextTokenCount": 1})
    body = event("chunk", chat.encoded({"bytes": base64.b64encode(inner).decode(), "p": "abc"}))
    path = "/model/amazon.titan/invoke-with-response-stream"
    stream = exchange(body, media="application/vnd.amazon.eventstream", path=path)
    seen = Ours().observe(stream, "bedrock-invoke")
    assert seen.response is not None
    assert seen.response.text == "Lyom"
    where = traced(stream, "bedrock-invoke", "/results/0/outputText", "Lyon", "Lyom")
    letters = pointed(stream, "bedrock-invoke", where)
    assert len(letters) == 4
    assert b"m" in base64.b64decode(letters)


# tool arguments


def _called(*fragments: str, escaped: bool = False) -> Exchange:
    head = chat.calls(chat.head(0, "call_1", "get_tide"))
    deltas = [chat.calls(chat.more(0, fragment)) for fragment in fragments]
    payloads = [json.dumps(p, ensure_ascii=escaped).encode() for p in (head, *deltas, chat.stops("tool_calls"))]
    return exchange(sse(*payloads))


def test_arguments_that_are_a_text() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "get_tide", "arguments": '{"port":"Rømø"}'}}
    twin = document(completion({"content": None, "tool_calls": [call]}, "tool_calls"))
    finding, byte = only(_called('{"po', 'rt":"R', 'ømo"}'), twin)
    assert byte == b"o"
    assert (finding.where.frame, finding.where.path) == (3, "/choices/0/message/tool_calls/0/function/arguments")


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize("cut", range(1, 24))
def test_a_value_inside_arguments_that_the_body_holds_parsed(cut: int, escaped: bool) -> None:
    """Two levels of escapes, in two pieces, wherever they are cut."""
    text = json.dumps({"é\n": "a\t\U0001f30aX"}, ensure_ascii=escaped)
    deltas = [{"partial_json": piece, "type": "input_json_delta"} for piece in (text[:cut], text[cut:]) if piece]
    stream = _message({"type": "tool_use", "id": "t", "name": "n", "input": {}}, deltas)
    where = traced(stream, "anthropic-messages", "/content/0/input/é\n", "a\t\U0001f30aY", "a\t\U0001f30aX")
    assert pointed(stream, "anthropic-messages", where) == b"X"


def test_numbers_and_names_inside_arguments() -> None:
    text = '{"port": {"name": "Ribe"}, "n": [1, 23]}'
    deltas = [{"type": "input_json_delta", "partial_json": text[at : at + 5]} for at in range(0, len(text), 5)]
    stream = _message({"type": "tool_use", "id": "t", "name": "n", "input": {}}, deltas)
    where = traced(stream, "anthropic-messages", "/content/0/input/n/1", 24, 23)
    assert pointed(stream, "anthropic-messages", where) == b"23"
    where = traced(stream, "anthropic-messages", "/content/0/input/n/0", 24, 23)
    assert pointed(stream, "anthropic-messages", where) == b"1"
    where = traced(stream, "anthropic-messages", "/content/0/input/port", None, {"name": "Ribe"}, "extra")
    spanned = pointed(stream, "anthropic-messages", where)
    assert spanned.startswith(b'\\"por"}'), "the name, which is cut in two"
    assert spanned.endswith(b'"t\\"')


def _message(block: dict[str, Any], deltas: list[dict[str, Any]]) -> Exchange:
    start = {"type": "message_start", "message": {"type": "message", "id": "m", "role": "assistant", "content": []}}
    payloads = [
        start,
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return exchange(sse(*payloads, end=False), path="/v1/messages")


def test_arguments_that_are_an_object_among_others_alike() -> None:
    """Of calls that a payload appends together, the one that differs."""
    calls = [{"function": {"name": "get_tide", "arguments": {"port": port, "n": 1}}} for port in ("Ribe", "Rome", "Ribe")]
    line = {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": True}
    stream = exchange(chat.encoded(line) + b"\n", media="application/x-ndjson", path="/api/chat")
    where = traced(stream, "ollama-chat", "/message/tool_calls/1/function/arguments/port", "Ribe", "Rome")
    assert where.span is not None
    assert stream.body[slice(*where.span)] == b"o"
    assert stream.body[where.span[0] - 1 : where.span[0] + 3] == b"Rome"
    where = traced(stream, "ollama-chat", "/message/tool_calls/1/function/arguments/port", None, "Rome", "extra")
    assert where.span is not None
    assert stream.body[where.span[0] : where.span[1] + 7] == b'"port":"Rome"'


def test_calls_whose_fragments_change_places_in_their_payloads() -> None:
    """The second payload has the second call first: what a dialect remembers of places is not believed blindly."""
    both = chat.calls(chat.head(0, "call_1", "a"), chat.head(1, "call_2", "b"))
    swapped = chat.calls(chat.more(1, '{"x":"two"}'), chat.more(0, '{"x":"one"}'))
    stream = exchange(sse(both, swapped, chat.stops("tool_calls")))
    path = "/choices/0/message/tool_calls/{}/function/arguments"
    where = traced(stream, "openai-chat", path.format(0), '{"x":"oNe"}', '{"x":"one"}')
    assert pointed(stream, "openai-chat", where) == b"n"
    where = traced(stream, "openai-chat", path.format(1), '{"x":"tWo"}', '{"x":"two"}')
    assert pointed(stream, "openai-chat", where) == b"w"


# values that are set, appended, moved, repeated


def test_a_value_that_was_set_last() -> None:
    usage = [{"prompt_tokens": 1, "completion_tokens": n, "total_tokens": n + 1} for n in (5, 7)]
    stream = exchange(sse(chat.says({"content": "a"}, usage=usage[0]), chat.stops(usage=usage[1])))
    where = traced(stream, "openai-chat", "/usage/completion_tokens", 8, 7)
    assert (where.frame, pointed(stream, "openai-chat", where)) == (1, b"7")


def test_null_is_a_value_too() -> None:
    stream = exchange(sse(chat.says({"content": "a"}, service_tier=None), chat.stops()))
    where = traced(stream, "openai-chat", "/service_tier", "flex", None)
    assert pointed(stream, "openai-chat", where) == b"null"


def test_a_field_that_should_not_be_there_is_pointed_at_by_its_name() -> None:
    stream = exchange(sse(chat.text("a", surplus={"x": 1}), chat.stops()))
    finding, name = only(stream, document(completion({"content": "a"})))
    assert (finding.kind, name) == ("reference/extra", b'"surplus"')


def test_what_was_moved_leads_to_where_it_came() -> None:
    """Bedrock opens a block of cited text as if it were plain."""
    deltas = [{"text": "the fery"}, {"text": " is green"}, {"citation": {"title": "t", "location": {}}}]
    frames = [event("contentBlockDelta", chat.encoded({"contentBlockIndex": 1, "delta": delta})) for delta in deltas]
    stream = exchange(b"".join(frames), media="application/vnd.amazon.eventstream", path="/model/m/converse-stream")
    seen = Ours().observe(stream, "bedrock-converse")
    path = "/output/message/content/0/citationsContent/content/0/text"
    assert seen.body["output"]["message"]["content"][0]["citationsContent"]["content"] == [{"text": "the fery is green"}]
    where = traced(stream, "bedrock-converse", path, "the ferry is green", "the fery is green")
    assert (where.frame, pointed(stream, "bedrock-converse", where)) == (0, b"y")


def _response(repeated: str) -> Exchange:
    """A Responses stream whose deltas say `Lyom`, and which ends repeating a text."""
    item = {"type": "message", "id": "msg", "role": "assistant", "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    done = {**item, "status": "completed", "content": [{**part, "text": repeated}]}
    at = {"output_index": 0, "item_id": "msg", "content_index": 0}
    head = {"id": "resp", "object": "response", "status": "in_progress", "output": []}
    payloads = [
        {"type": "response.created", "response": head},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **at, "part": part},
        {"type": "response.output_text.delta", **at, "delta": "Ly"},
        {"type": "response.output_text.delta", **at, "delta": "om"},
        {"type": "response.output_text.done", **at, "text": repeated},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": {**head, "status": "completed", "output": [done]}},
    ]
    return exchange(sse(*payloads, end=False), path="/v1/responses")


def test_a_repetition_that_agrees_leads_to_what_was_streamed() -> None:
    stream = _response("Lyom")
    where = traced(stream, "openai-responses", "/output/0/content/0/text", "Lyon", "Lyom")
    assert (where.frame, pointed(stream, "openai-responses", where)) == (4, b"m")


def test_a_repetition_that_differs_counts() -> None:
    stream = _response("Lyon")
    where = traced(stream, "openai-responses", "/output/0/content/0/text", "Lyom", "Lyon")
    assert (where.frame, pointed(stream, "openai-responses", where)) == (5, b"n")


def test_a_repetition_that_differs_is_reported_at_the_streamed_byte() -> None:
    stream = _response("Lyon")
    case = cassette(stream, None, "openai-responses")
    verdicts = judge(case, Ours().observe(stream, "openai-responses"), None)
    findings = [f for v in verdicts for f in v.findings if f.kind == "responses/done-text-mismatch"]
    assert {(f.expected, f.got, f.rule) for f in findings} == {("Lyom", "Lyon", "RSP-023")}
    assert {(f.where.frame, pointed(stream, "openai-responses", f.where)) for f in findings} == {(4, b"m")}
    assert all("frame 5" in f.message for f in findings)


def test_an_element_that_only_the_stream_has() -> None:
    choices = [chat.choice({"content": "a"}, index=n) for n in (0, 1)]
    ends = [chat.choice({}, "stop", index=n) for n in (0, 1)]
    stream = exchange(sse(chat.chunk(*choices), chat.chunk(*ends)))
    where = traced(stream, "openai-chat", "/choices/1", None, {}, "extra")
    assert where.frame == 0
    assert where.span is not None


# what cannot be found


@pytest.mark.parametrize(
    "path", ["", "/", "/nowhere", "/choices/7/message", "/choices/0/message/content/x/y", "/~/~2", "choices"]
)
@pytest.mark.parametrize("kind", ["value", "absent", "extra", "type", "word"])
def test_a_place_that_is_not_there_is_no_crash(path: str, kind: str) -> None:
    stream = exchange(sse(chat.text("abc"), chat.stops()))
    where = traced(stream, "openai-chat", path, "a", "b", kind)
    assert where.frame is None or where.span is not None
    assert where.path == path


def test_steps_of_any_element_lead_to_one_that_has_it() -> None:
    """Differences that were found by shape name no element."""
    stream = exchange(sse(chat.calls(chat.head(0, "call_1", "a"), {**chat.head(1, "call_2", "b"), "odd": 1}), chat.stops()))
    where = traced(stream, "openai-chat", "/choices/*/message/tool_calls/*/odd", "(absent)", "present", "extra")
    assert pointed(stream, "openai-chat", where) == b'"odd"'


def test_a_frame_that_is_not_there() -> None:
    trace = Trace(exchange(b""), dialects.dialect("openai-chat"))
    finding = Finding(kind="tool/index-missing", message="", where=Where(frame=3, path="/choices/0", span=(1, 2)))
    assert trace.pinpoint(finding) == finding


def test_findings_of_a_payload_lead_into_it() -> None:
    stream = exchange(sse(chat.calls(chat.more(None, "{}")), chat.stops("tool_calls")))
    case = cassette(stream)
    findings = [f for v in judge(case, Ours().observe(stream, case.dialect), None) for f in v.findings]
    (finding,) = [f for f in findings if f.kind == "tool/index-missing"]
    assert json.loads(pointed(stream, case.dialect, finding.where)) == chat.more(None, "{}")


def test_an_unknown_field_is_pointed_at_by_its_name() -> None:
    stream = exchange(sse(chat.text("a", stranger=[1]), chat.stops()))
    case = cassette(stream, provider="openai")
    findings = [f for v in judge(case, Ours().observe(stream, case.dialect), None) for f in v.findings]
    (finding,) = [f for f in findings if f.kind == "field/unknown"]
    assert pointed(stream, case.dialect, finding.where) == b'"stranger"'


# every shipped cassette


def _texts(value: Any, at: str = "") -> list[tuple[str, str]]:
    """(pointer, text) of all texts in a value, names among them left out."""
    if isinstance(value, str):
        return [(at, value)] if value else []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [
        found for step, inner in inside for found in _texts(inner, f"{at}/{str(step).replace('~', '~0').replace('/', '~1')}")
    ]


WITH_TWIN = [s for s in SHIPPED if s.case.reference is not None and s.case.reference.status == 200]


@pytest.mark.parametrize("stream", WITH_TWIN, ids=repr)
def test_every_text_of_a_body_leads_to_the_bytes_that_say_it(stream: Stream) -> None:
    """Whatever text of the collected body is said to be wrong in some character, its bytes are that character."""
    chance = random.Random(stream.case.id)
    body = Ours().observe(stream.exchange, stream.dialect).body
    trace = Trace(stream.exchange, stream.dialect)
    missed = []
    for path, text in _texts(body):
        if path.rpartition("/")[2] in MADE_UP:
            continue
        position = chance.randrange(len(text))
        expected = f"{text[:position]}\0{text[position + 1 :]}"
        finding = Finding(kind="reference/value", message="", where=Where(path=path), expected=expected, got=text)
        span = trace.pinpoint(finding).where.span
        said = trace.body[slice(*span)] if span else b""
        if text[position] not in (_read(said), _read((_read(said) or "").encode())) and text[position] not in _unpacked(said):
            missed.append((path, text[position], said))
    assert missed == []


def _read(said: bytes) -> str | None:
    """The character that bytes of a JSON string are; twice, if a JSON text is in the string."""
    try:
        return str(json.loads(b'"' + said + b'"'))
    except ValueError:
        return None


def _unpacked(said: bytes) -> str:
    """Of four letters of base64, or of six that are an escape within an escape, what they say."""
    try:
        return base64.b64decode(said).decode(errors="replace") if 0 < len(said) <= 12 and len(said) % 4 == 0 else ""
    except ValueError:
        return ""


MADE_UP = {"object", "role", "type", "redactedContent"}
"""Fields that a dialect writes itself where the stream has them in another form, or not at all."""


def test_damaged_streams_are_judged_all_the_same() -> None:
    """Law 7, for the way back to the bytes: whatever a body is made of, no finding is a crash."""
    chance = random.Random(8)
    ours = Ours()
    for stream in WITH_TWIN:
        assert stream.case.reference is not None
        twin = ours.observe(stream.case.reference, stream.dialect)
        for _ in range(4):
            body = bytearray(stream.body)
            for _ in range(chance.choice((1, 3, 12))):
                body[chance.randrange(len(body))] = chance.choice(b'{}[]",:\\\n\r 0e\xff\x00u')
            damaged = replace(stream.exchange, chunks=(Chunk(data=bytes(body)),))
            judge(replace(stream.case, stream=damaged), ours.observe(damaged, stream.dialect), twin)


def test_findings_about_several_frames_are_placed_in_one_go() -> None:
    """Frames are gone over once for all findings, and only those are kept that one is about."""
    stream = exchange(sse(*({"choices": [{"index": 0, "delta": {"content": letter}}]} for letter in "abcdef")))
    places = [(4, "/choices/0/delta"), (1, "/choices/0/index"), (9, "/choices"), (4, "/choices/0/delta/content"), (2, None)]
    findings = [Finding(kind="field/type", message="", where=Where(frame=frame, path=path)) for frame, path in places]
    trace = Trace(stream, dialects.dialect("openai-chat"))
    with mock.patch.object(trace, "_frames", wraps=trace._frames) as gone_over:
        together = trace.pinpointed(findings)
    assert gone_over.call_count == 1
    assert together == [Trace(stream, dialects.dialect("openai-chat")).pinpoint(finding) for finding in findings]
    spans = [finding.where.span for finding in together]
    assert [span and stream.body[slice(*span)] for span in spans] == [b'{"content":"e"}', b"0", None, b'"e"', None]
