"""A JSON array whose elements arrive one by one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.framing.feeding import BODIES, cut, events, every_byte, feed, kinds, one, quick, spans

CASES: dict[str, tuple[bytes, list[bytes]]] = {
    "elements": (b'[{"a":1},{"b":2}]', [b'{"a":1}', b'{"b":2}']),
    "empty": (b"[]", []),
    "white_space": (b' \r\n[\n {"a": 1} \n,\r\n{"b":2}\t]\n\n', [b'{"a": 1}', b'{"b":2}']),
    "objects_in_objects": (b'[{"a":{"b":{}}},{"c":[[{}]]}]', [b'{"a":{"b":{}}}', b'{"c":[[{}]]}']),
    "arrays_in_arrays": (b"[[],[[1],[2]],[[[]]]]", [b"[]", b"[[1],[2]]", b"[[[]]]"]),
    "brackets_in_strings": (b'[{"a":"}]"},{"b":"[{,"}]', [b'{"a":"}]"}', b'{"b":"[{,"}']),
    "quotes_in_strings": (rb'[{"a":"\"}"},{"b":"\\"},{"c":"\\\"]"}]', [rb'{"a":"\"}"}', rb'{"b":"\\"}', rb'{"c":"\\\"]"}']),
    "line_ends_and_separators_in_strings": ('[{"a":"\u2028\x85\\n"}]'.encode(), ['{"a":"\u2028\x85\\n"}'.encode()]),
    "strings": (b'["a","],","\\"","",{}]', [b'"a"', b'"],"', b'"\\""', b'""', b"{}"]),
    "scalars": (b'[1,-2.5e3 ,null\n,true,"a",false]', [b"1", b"-2.5e3", b"null", b"true", b'"a"', b"false"]),
    "missing_commas": (b'[{"a":1}{"b":2} {"c":3}"d""e"]', [b'{"a":1}', b'{"b":2}', b'{"c":3}', b'"d"', b'"e"']),
    "too_many_commas": (b"[,{},,{},]", [b"{}", b"{}"]),
    "invalid_utf8": (b'[{"a":"\xff"}]', [b'{"a":"\xff"}']),
    "nul": (b'[{"a":"\x00"}]', [b'{"a":"\x00"}']),
}


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_elements(body: bytes, expected: list[bytes]) -> None:
    for pieces in ([body], every_byte(body)):
        fed = feed("json-array", pieces)
        assert events(fed) == [(None, data) for data in expected]
        commas_missing = ["framing/comma-missing"] * 4 if b"}{" in body else []
        assert (fed.last, kinds(fed)) == ([], commas_missing)


_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.sampled_from('ab"\\[]{},: \n\u2028é'), max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text('a"]}', max_size=2), inner, max_size=3)),
    max_leaves=8,
)


@quick
@given(values=st.lists(_values, max_size=5), indent=st.sampled_from([None, 1]), ascii_only=st.booleans(), data=st.data())
def test_the_elements_are_those_of_the_array(
    values: list[object], indent: int | None, ascii_only: bool, data: st.DataObject
) -> None:
    body = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode()
    fed = feed("json-array", cut(body, data.draw(st.lists(st.integers(0, len(body)), max_size=6))))
    assert [json.loads(f.data) for f in fed.frames] == values
    assert (fed.last, fed.findings) == ([], [])


@quick
@given(BODIES["json-array"])
def test_the_span_of_a_frame_is_its_element(body: bytes) -> None:
    fed = one("json-array", body)
    ends = [0]
    for frame in fed.frames + fed.last:
        assert body[slice(*frame.span)] == frame.data
        assert frame.data
        assert frame.span[0] >= ends[-1]
        ends.append(frame.span[1])


def test_a_byte_order_mark_is_reported() -> None:
    for pieces in ([b"\xef\xbb\xbf[{}]"], every_byte(b"\xef\xbb\xbf[{}]")):
        fed = feed("json-array", pieces)
        assert (events(fed), kinds(fed), spans(fed)) == ([(None, b"{}")], ["framing/bom"], [(0, 3)])


@pytest.mark.parametrize("body", [b"\xef\xbb[{}]", b"\xef", b"\xef\xbb", b" \xef\xbb\xbf[{}]"])
def test_what_only_resembles_one_is_no_array(body: bytes) -> None:
    fed = one("json-array", body)
    assert (events(fed), kinds(fed)) == ([], ["framing/outside-syntax"])


@pytest.mark.parametrize("body", [b'{"error":{"code":400}}', b' \n{"error":{"code":400}}\n'])
def test_one_bare_object_is_a_frame(body: bytes) -> None:
    fed = one("json-array", body)
    assert [f.data for f in fed.frames] == [body.strip()]
    assert kinds(fed) == ["framing/outside-syntax"]
    assert spans(fed) == [(body.index(b"{"), body.index(b"{") + 1)]


def test_a_bare_object_that_is_cut() -> None:
    fed = one("json-array", b'{"error":{')
    assert (events(fed), kinds(fed)) == ([], ["framing/outside-syntax", "framing/frame-truncated"])


def test_an_error_after_the_bracket_is_a_frame() -> None:
    fed = one("json-array", b'[{"a":1}]\n{"error":{}}\n')
    assert events(fed) == [(None, b'{"a":1}'), (None, b'{"error":{}}')]
    assert (kinds(fed), spans(fed)) == (["framing/trailing-data"], [(10, 11)])


def test_an_error_as_the_last_element_is_in_order() -> None:
    fed = one("json-array", b'[{"a":1},{"error":{}}]')
    assert (events(fed)[-1], kinds(fed)) == ((None, b'{"error":{}}'), [])


@pytest.mark.parametrize("trailing", [b"x", b"]", b",", b'"a"', b"12", b"} {}"])
def test_what_follows_and_is_no_object_ends_the_reading(trailing: bytes) -> None:
    fed = one("json-array", b"[{}]" + trailing)
    assert (events(fed), kinds(fed), spans(fed)) == ([(None, b"{}")], ["framing/trailing-data"], [(4, 5)])


@pytest.mark.parametrize("body", [b"<html>{}</html>", b'"words"', b"12", b",[{}]", b"]", b"data: {}"])
def test_what_is_neither_array_nor_object_has_no_frames(body: bytes) -> None:
    fed = one("json-array", body)
    assert (events(fed), kinds(fed), spans(fed)) == ([], ["framing/outside-syntax"], [(0, 1)])


@pytest.mark.parametrize(
    ("body", "used", "cut_at"),
    [
        (b"[", [], None),
        (b'[{"a":1}', [b'{"a":1}'], None),
        (b'[{"a":1},\n', [b'{"a":1}'], None),
        (b'[{"a":1},{"b":', [b'{"a":1}'], 9),
        (b'[{"a":"]', [], 1),
        (b'["a\\"', [], 1),
        (b"[[[]", [], 1),
        (b"[12", [b"12"], None),
        (b"[nul", [], 1),
    ],
)
def test_an_array_without_its_end(body: bytes, used: list[bytes], cut_at: int | None) -> None:
    for pieces in ([body], every_byte(body)):
        fed = feed("json-array", pieces)
        assert [data for _, data in events(fed)] == used
        truncated = [] if cut_at is None else ["framing/frame-truncated"]
        assert kinds(fed) == [*truncated, "stream/array-unclosed"]
        assert spans(fed)[:-1] == ([] if cut_at is None else [(cut_at, len(body))])
        assert spans(fed)[-1] == (len(body) - 1, len(body))
