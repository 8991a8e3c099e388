"""Newline-delimited JSON: cut at LF and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.framing.feeding import BODIES, events, every_byte, feed, kinds, one, quick, spans

CASES: dict[str, tuple[bytes, list[bytes]]] = {
    "lines": (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
    "crlf": (b'{"a":1}\r\n{"b":2}\r\n', [b'{"a":1}', b'{"b":2}']),
    "blank_lines": (b'\n\r\n{"a":1}\n \t\n\n{"b":2}\n\n', [b'{"a":1}', b'{"b":2}']),
    "cr_is_no_line_end": (b'{"a":\r1}\n', [b'{"a":\r1}']),
    "next_line_is_data": ('{"a":"\x85"}\n'.encode(), ['{"a":"\x85"}'.encode()]),
    "line_separator_is_data": ('{"a":"\u2028"}\n'.encode(), ['{"a":"\u2028"}'.encode()]),
    "ff_vt_and_nul_are_data": (b'{"a":"\x0b\x0c\x00"}\n', [b'{"a":"\x0b\x0c\x00"}']),
    "white_space_around_stays": (b' {"a":1} \n', [b' {"a":1} ']),
    "two_values_on_a_line_are_one_frame": (b'{"a":1}{"b":2}\n', [b'{"a":1}{"b":2}']),
    "what_is_no_json_is_a_frame": (b'<html>\n{"a":1}\n', [b"<html>", b'{"a":1}']),
    "invalid_utf8": (b'{"a":"\xff"}\n', [b'{"a":"\xff"}']),
    "last_line_without_its_end": (b'{"a":1}\n{"b":2}', [b'{"a":1}', b'{"b":2}']),
    "last_line_with_cr_only": (b'{"a":1}\n{"b":2}\r', [b'{"a":1}', b'{"b":2}']),
    "only_blank": (b"\n \n\r\n ", []),
    "bom": (b'\xef\xbb\xbf{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
    "bom_on_an_empty_line": (b'\xef\xbb\xbf\n{"a":1}\n', [b'{"a":1}']),
    "bom_before_the_only_line": (b'\xef\xbb\xbf{"a":1}', [b'{"a":1}']),
    "only_bom": (b"\xef\xbb\xbf", []),
    "bom_later_is_data": (b'{"a":1}\n\xef\xbb\xbf{}\n', [b'{"a":1}', b"\xef\xbb\xbf{}"]),
}


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_lines(body: bytes, expected: list[bytes]) -> None:
    for pieces in ([body], every_byte(body)):
        fed = feed("ndjson", pieces)
        assert events(fed) == [(None, data) for data in expected]
        bom = body.startswith(b"\xef\xbb\xbf")
        blank = any(not line.strip() for line in body.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:-1])
        assert kinds(fed) == ["framing/bom"] * bom + ["framing/blank-line"] * blank


@quick
@given(BODIES["ndjson"])
def test_the_span_of_a_frame_is_its_line(body: bytes) -> None:
    fed = one("ndjson", body)
    for frame in fed.frames + fed.last:
        assert body[slice(*frame.span)] == frame.data
        assert b"\n" not in frame.data
        assert body[frame.span[1] :][:1] in (b"", b"\r", b"\n")


@pytest.mark.parametrize("tail", [b'{"b":', b'{"b":2', b"nul", b'"x', b"\xef\xbb\xbf{}"])
def test_a_cut_last_line_is_reported_and_not_used(tail: bytes) -> None:
    fed = one("ndjson", b'{"a":1}\n' + tail)
    assert events(fed) == [(None, b'{"a":1}')]
    assert (kinds(fed), spans(fed)) == (["framing/frame-truncated"], [(8, 8 + len(tail))])


def test_a_cut_first_line_behind_a_byte_order_mark() -> None:
    fed = feed("ndjson", [b"\xef\xbb", b'\xbf{"a'])
    assert (events(fed), kinds(fed), spans(fed)) == ([], ["framing/bom", "framing/frame-truncated"], [(0, 3), (3, 6)])


def test_half_a_byte_order_mark() -> None:
    assert kinds(one("ndjson", b"\xef\xbb")) == ["framing/frame-truncated"]
