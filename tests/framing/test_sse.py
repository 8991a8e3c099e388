"""Server-sent events: the rules of the HTML standard one by one, and the three things that go beyond them."""

from __future__ import annotations

import re
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.framing import sse
from tests.framing.feeding import BODIES, events, every_byte, feed, kinds, one, quick, remarks, spans, standard_sse, told

STANDARD: dict[str, tuple[bytes, list[tuple[str | None, bytes]]]] = {
    # rule 1: UTF-8, whatever happens
    "invalid_utf8_does_not_stop_the_stream": (b"data: \xff\xc3\n\ndata: b\n\n", [(None, b"\xff\xc3"), (None, b"b")]),
    "invalid_utf8_in_a_name": (b"event: \xff\ndata: a\n\n", [("\ufffd", b"a")]),
    # rule 2: one byte-order mark, at the beginning only
    "bom_is_dropped": (b"\xef\xbb\xbfdata: a\n\n", [(None, b"a")]),
    "a_second_bom_is_part_of_a_name": (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", [(None, b"b")]),
    "bom_later_is_part_of_a_name": (b"\n\xef\xbb\xbfdata: a\n\ndata: b\n\n", [(None, b"b")]),
    "bom_in_a_value_is_data": (b"data: \xef\xbb\xbf\n\n", [(None, b"\xef\xbb\xbf")]),
    "half_a_bom_is_part_of_a_name": (b"\xef\xbbdata: a\n\ndata: b\n\n", [(None, b"b")]),
    # rule 3: lines end at CRLF, LF or CR, and nowhere else
    "lf": (b"data: a\n\ndata: b\n\n", [(None, b"a"), (None, b"b")]),
    "crlf": (b"data: a\r\n\r\ndata: b\r\n\r\n", [(None, b"a"), (None, b"b")]),
    "cr": (b"data: a\r\rdata: b\r\r", [(None, b"a"), (None, b"b")]),
    "cr_and_lf_apart": (b"data: a\n\rdata: b\n\r", [(None, b"a"), (None, b"b")]),
    "mixed_ends": (b"data: a\r\n\ndata: b\r\r\ndata: c\n\r\n", [(None, b"a"), (None, b"b"), (None, b"c")]),
    "crlf_then_lf": (b"data: a\r\n\r\ndata: b\n\n", [(None, b"a"), (None, b"b")]),
    "only_blank_lines": (b"\n\r\n\r\n\r", []),
    "line_separator_is_data": ("data: a\u2028b\n\n".encode(), [(None, "a\u2028b".encode())]),
    "paragraph_separator_is_data": ("data: a\u2029b\n\n".encode(), [(None, "a\u2029b".encode())]),
    "next_line_is_data": ("data: a\x85b\n\n".encode(), [(None, "a\x85b".encode())]),
    "vt_and_ff_are_data": (b"data: a\x0bb\x0cc\n\n", [(None, b"a\x0bb\x0cc")]),
    "separators_of_ascii_are_data": (b"data: a\x1cb\x1dc\x1ed\n\n", [(None, b"a\x1cb\x1dc\x1ed")]),
    "nul_is_data": (b"data: a\x00b\n\n", [(None, b"a\x00b")]),
    # rule 4: blank lines dispatch, lines that begin with a colon are comments
    "comment": (b": keep-alive\n\ndata: a\n\n", [(None, b"a")]),
    "comment_within_an_event": (b"data: a\n: ping\ndata: b\n\n", [(None, b"a\nb")]),
    "empty_comment": (b":\ndata: a\n\n", [(None, b"a")]),
    "comment_that_looks_like_data": (b":data: x\n\n", []),
    # rule 5: the first colon, and one space after it
    "no_space": (b"data:a\n\n", [(None, b"a")]),
    "one_space_goes": (b"data:  a\n\n", [(None, b" a")]),
    "a_tab_stays": (b"data:\ta\n\n", [(None, b"\ta")]),
    "spaces_at_the_end_stay": (b"data: a  \n\n", [(None, b"a  ")]),
    "later_colons_stay": (b"data: a: b\n\n", [(None, b"a: b")]),
    "no_colon": (b"data\n\n", [(None, b"")]),
    "names_have_a_case": (b"DATA: a\nData: b\n\n", []),
    "space_before_the_name": (b" data: a\n\n", []),
    "space_behind_the_name": (b"data : a\n\n", []),
    "unknown_field": (b"foo: bar\ndata: a\nfoo\n\n", [(None, b"a")]),
    "a_name_that_begins_like_data": (b"database: a\ndata: b\n\n", [(None, b"b")]),
    # rule 6: what the fields do
    "several_data_lines": (b'data: {\ndata: "a":1\ndata:}\n\n', [(None, b'{\n"a":1\n}')]),
    "data_lines_that_are_empty": (b"data\ndata:\ndata: \n\n", [(None, b"\n\n")]),
    "event": (b"event: stop\ndata: a\n\n", [("stop", b"a")]),
    "event_after_data": (b"data: a\nevent: stop\n\n", [("stop", b"a")]),
    "the_last_event_counts": (b"event: a\nevent: b\ndata: x\n\n", [("b", b"x")]),
    "an_empty_event_is_the_default": (b"event: a\nevent\ndata: x\n\n", [(None, b"x")]),
    "event_name_with_spaces": (b"event:  a \ndata: x\n\n", [(" a ", b"x")]),
    "event_names_that_come_again": (b"event: a\ndata: 1\n\nevent: a\ndata: 2\n\n", [("a", b"1"), ("a", b"2")]),
    "id": (b"id: 1\ndata: a\n\nid\ndata: b\n\nid: x\x00\ndata: c\n\n", [(None, b"a"), (None, b"b"), (None, b"c")]),
    "retry": (b"retry: 10\ndata: a\n\nretry: soon\ndata: b\n\n", [(None, b"a"), (None, b"b")]),
    # rule 7: dispatch
    "event_without_data": (b"event: ping\n\n", []),
    "event_without_data_names_no_other": (b"event: ping\n\ndata: a\n\n", [(None, b"a")]),
    "data_that_is_empty": (b"data:\n\n", [(None, b"")]),
    "the_name_is_forgotten": (b"event: a\ndata: 1\n\ndata: 2\n\n", [("a", b"1"), (None, b"2")]),
    "several_blank_lines": (b"\n\n\ndata: a\n\n\n\ndata: b\n\n", [(None, b"a"), (None, b"b")]),
    "the_sentinel": (b"data: [DONE]\n\n", [(None, b"[DONE]")]),
    # rule 8: an event without its blank line
    "unterminated_event": (b"data: a\n\ndata: b", [(None, b"a")]),
    "unterminated_event_with_a_line_end": (b"data: a\n\ndata: b\n", [(None, b"a")]),
    "unterminated_name": (b"data: a\n\nevent: b\n", [(None, b"a")]),
}


@pytest.mark.parametrize(("body", "expected"), STANDARD.values(), ids=STANDARD)
def test_standard(body: bytes, expected: list[tuple[str | None, bytes]]) -> None:
    assert events(one("sse", body)) == expected
    assert events(feed("sse", every_byte(body))) == expected


def standard(body: bytes) -> list[tuple[str, bytes]]:
    """What the HTML standard makes of a body, written down as plainly as it can be."""
    out: list[tuple[str, bytes]] = []
    name, data = b"", b""
    *lines, _ = re.split(rb"\r\n|\r|\n", body.removeprefix(b"\xef\xbb\xbf"))
    for line in lines:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if data:
                out.append((name.decode(errors="replace") or "message", data[:-1]))
            name, data = b"", b""
        elif field == b"data":
            data += value + b"\n"
        elif field == b"event":
            name = value
    return out


@quick
@given(standard_sse)
def test_frames_are_those_of_the_standard(body: bytes) -> None:
    fed = one("sse", body)
    assert [(f.name or "message", f.data) for f in fed.frames] == standard(body)


@quick
@given(standard_sse)
def test_the_span_of_a_frame_is_its_event(body: bytes) -> None:
    """From its first field to the end of its last one: read alone, these bytes are that event and nothing more."""
    fed = one("sse", body)
    for frame in fed.frames + fed.last:
        alone = body[slice(*frame.span)]
        assert events(one("sse", b"\n" + alone + b"\n\n")) == [(frame.name, frame.data)]
        assert re.match(rb"data|event|id|retry", alone)
        assert not alone.endswith((b"\r", b"\n"))


@quick
@given(body=BODIES["sse"], block=st.integers(1, 9))
def test_a_large_piece_is_cut_into_blocks(body: bytes, block: int) -> None:
    """Blocks of some bytes here, so that small bodies have many."""
    whole = told(one("sse", body))
    with mock.patch.object(sse, "_BLOCK", block):
        assert told(one("sse", body)) == whole


@pytest.mark.parametrize(
    ("body", "alone"),
    [
        (b"data: a\n\n", [b"data: a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"data: a"]),
        (b": c\nevent: x\r\ndata: a\r\nid: 1\r\n\r\n: d\n", [b"event: x\r\ndata: a\r\nid: 1"]),
        (b"data: a\n: c\nnoise\n\ndata: b\r\rdata:c", [b"data: a", b"data: b"]),
        (b"noise: 1\ndata: a\n: c\ndata: b\nnoise: 2\n\n", [b"data: a\n: c\ndata: b"]),
        (b"identity: 1\ndata: a\n\n", [b"data: a"]),
        (b"event: a\n\ndata: b\n\n", [b"data: b"]),
        ('data: é\n\ndata: "\u2028"\n\n'.encode(), ["data: é".encode(), 'data: "\u2028"'.encode()]),
        (b'data: {}\n\ndata: {"a":1}', [b"data: {}", b'data: {"a":1}']),
        (b'{"error":\n{}}\n', [b'{"error":\n{}}']),
        (b'\n\n  {"error":1}\r\n', [b'  {"error":1}']),
        (b"error: {}\n\n", [b"error: {}"]),
    ],
)
def test_spans(body: bytes, alone: list[bytes]) -> None:
    fed = one("sse", body)
    assert [body[slice(*f.span)] for f in fed.frames + fed.last] == alone


# beyond the standard


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("name", [None, "stop"])
def test_a_last_event_that_is_whole_json_is_used_and_reported(end: bytes, name: str | None) -> None:
    event = b'event: stop\ndata: {"a":1}' if name else b'data: {"a":1}'
    fed = one("sse", b"data: 0\n\n" + event + end)
    assert [(f.name, f.data) for f in fed.last] == [(name, b'{"a":1}')]
    assert kinds(fed)[0] == "framing/unterminated-event"
    assert spans(fed)[0] == (9, 9 + len(event))
    assert kinds(fed)[1:] == (["framing/mixed-line-ends"] if b"\r" in end else [])


@pytest.mark.parametrize("tail", [b"data: [DONE]", b"data:[DONE]\n", b"data: [DONE] \r\n"])
def test_a_last_sentinel_is_used_and_reported(tail: bytes) -> None:
    fed = one("sse", tail)
    assert [f.data.strip() for f in fed.last] == [b"[DONE]"]
    assert kinds(fed)[-1] == "framing/unterminated-marker"


@pytest.mark.parametrize(
    "tail", [b'data: {"a":', b'data: {"a":1}\ndata: {', b"data: [DON", b"data: words\n", b"data:", b"data: \n"]
)
def test_a_last_event_that_is_not_whole_is_reported_and_not_used(tail: bytes) -> None:
    fed = one("sse", b"data: 0\n\n" + tail)
    assert events(fed) == [(None, b"0")]
    assert kinds(fed) == ["framing/frame-truncated"]


@pytest.mark.parametrize("tail", [b"d", b"dat", b"eve", b"i", b"retr"])
def test_a_body_cut_inside_a_field_name_has_no_stray_lines(tail: bytes) -> None:
    fed = one("sse", b"data: 0\n\n" + tail)
    assert kinds(fed) == ["framing/frame-truncated"]
    assert spans(fed) == [(9, 9 + len(tail))]


@pytest.mark.parametrize("tail", [b": ping", b":", b"event: a", b"retry: 10"])
def test_a_body_cut_where_nothing_is_lost(tail: bytes) -> None:
    fed = one("sse", b"data: 0\n\n" + tail)
    assert (events(fed), kinds(fed)) == ([(None, b"0")], [])


def test_a_byte_order_mark_is_reported_once() -> None:
    fed = feed("sse", [b"\xef", b"\xbb", b"\xbfdata: a\n\n"])
    assert (events(fed), kinds(fed), spans(fed)) == ([(None, b"a")], ["framing/bom"], [(0, 3)])


@pytest.mark.parametrize("head", [b"\xef", b"\xef\xbb"])
def test_a_body_that_is_half_a_byte_order_mark(head: bytes) -> None:
    fed = one("sse", head)
    assert (events(fed), kinds(fed)) == ([], ["framing/outside-syntax"])


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b'{"error":{"code":500}}', [b'{"error":{"code":500}}']),
        (b'{"error":{"code":500}}\n', [b'{"error":{"code":500}}']),
        (
            b'{\n  "error": {\n    "message": "a } in \\" it"\n  }\n}\n',
            [b'{\n  "error": {\n    "message": "a } in \\" it"\n  }\n}'],
        ),
        (b'[{\r\n"error": 1}]\r\n', [b'[{\n"error": 1}]']),
        (b'{"error": "{"}\n{"error": "}"}\n', [b'{"error": "{"}', b'{"error": "}"}']),
        (b'data: 0\n\n{"error":1}\n\ndata: 1\n\n', [b"0", b'{"error":1}', b"1"]),
        (b'{"a":\n\n: no comment is inside a string\n1}\n', [b'{"a":\n1}']),
        (b"[DONE]\n", [b"[DONE]"]),
        (b'{"a":"\\\n"}\n', [b'{"a":"\\\n"}']),
    ],
)
def test_json_outside_the_syntax_is_read_and_reported(body: bytes, data: list[bytes]) -> None:
    fed = one("sse", body)
    assert [d for _, d in events(fed)] == data
    assert set(kinds(fed)) == {"framing/outside-syntax"}


def test_json_outside_the_syntax_that_never_ends() -> None:
    fed = one("sse", b'data: 0\n\n{"error":\n  {"code": 1}')
    assert events(fed) == [(None, b"0")]
    assert (kinds(fed), spans(fed)) == (["framing/frame-truncated"], [(9, 32)])


def test_the_error_field_of_old_llama_servers() -> None:
    fed = one("sse", b'data: {}\n\nerror: {"code":500,"message":"full"}\n\n')
    assert events(fed) == [(None, b"{}"), ("error", b'{"code":500,"message":"full"}')]
    assert (kinds(fed), spans(fed)) == (["framing/outside-syntax"], [(10, 46)])


def test_an_error_field_without_an_object_is_noise() -> None:
    fed = one("sse", b"error: gone\n\n")
    assert (events(fed), kinds(fed)) == ([], ["framing/outside-syntax"])


def test_a_page_instead_of_a_stream() -> None:
    page = b"<!DOCTYPE html>\n<html><body>\n<h1>502 Bad Gateway</h1>\n</body></html>\n"
    fed = one("sse", page)
    assert (events(fed), kinds(fed), spans(fed)) == ([], ["framing/outside-syntax"], [(0, len(page) - 1)])


def test_noise_is_one_finding_however_many_lines_it_has() -> None:
    body = b"data: 0\n\n" + b"foo: 1\nbar\n" * 500 + b"data: 1\n\n"
    fed = one("sse", body)
    assert events(fed) == [(None, b"0"), (None, b"1")]
    assert (kinds(fed), spans(fed)) == (["framing/outside-syntax"], [(9, len(body) - 10)])


# the style of a stream, remarked on once


@pytest.mark.parametrize(
    ("body", "kind", "span"),
    [
        (b"data: 0\n\ndata:1\n\ndata:2\n\n", "framing/no-space", (9, 15)),
        (b"id: 7\ndata: 0\n\nid: 8\ndata: 1\n\n", "framing/id-field", (0, 5)),
        (b"retry: 3s\ndata: 0\n\n", "framing/retry-field", (0, 9)),
        (b"retry:\ndata: 0\n\n", "framing/retry-field", (0, 6)),
        (b"data: 0\n\nevent: ping\n\ndata: 1\n\n", "framing/event-without-data", (9, 20)),
        (b"data: 0\n\ndata: 1\r\n\r\n", "framing/mixed-line-ends", (16, 18)),
        (b"data: 0\r\n\r\ndata: 1\r\r", "framing/mixed-line-ends", (18, 19)),
    ],
)
def test_style_is_remarked_on_once_wherever_the_body_is_cut(body: bytes, kind: str, span: tuple[int, int]) -> None:
    for pieces in ([body], [bytes([byte]) for byte in body], [body[:17], body[17:]]):
        fed = feed("sse", pieces)
        assert (kinds(fed), spans(fed)) == ([kind], [span])


@pytest.mark.parametrize(
    "body",
    [
        b"data: 0\r\n\r\ndata: 1\r\n\r\n",
        b"data: 0\r\rdata: 1\r\r",
        b"data: 0\r\n\r",  # a body that was cut inside a line end has no other line end
        b"retry: 3000\ndata: 0\n\n",
        b"data:\ndata: 1\n\n",
    ],
)
def test_a_style_of_its_own_is_no_fault(body: bytes) -> None:
    for pieces in ([body], [bytes([byte]) for byte in body]):
        assert kinds(feed("sse", pieces)) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data: 0\r\n\r\n: ping\r\n\r\n: ping\r\n\r\n", [("framing/comment", (11, 17)), ("framing/crlf", (7, 9))]),
        (b"\r\ndata: 0\r\n\r\n", [("framing/crlf", (0, 2))]),
        (b"data: 0\n\n:\n", [("framing/comment", (9, 10))]),
        (b"data: 0\r\n\r\ndata: 1\n\n", []),
        (b'{"a":\n: inside\n1}\n', []),
    ],
)
def test_what_clients_trip_over_is_remarked_on_once(body: bytes, expected: list[tuple[str, tuple[int, int]]]) -> None:
    for pieces in ([body], [bytes([byte]) for byte in body], [body[:8], body[8:]]):
        assert remarks(feed("sse", pieces)) == expected
