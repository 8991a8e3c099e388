"""Spans: where in a document the value stands that a pointer leads to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import json_spans
from harness.edits import pointer
from harness.json_spans import character, closing_gaps, locate, locate_name, steps_of, strings

_texts = st.text(st.sampled_from('ab"\\/~{}[],:1 \n\u2028é\U0001f30a'), max_size=5)
_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _texts,
    st.sampled_from([-0.0, 1e300, 10**30, "\ud800"]),
)  # fmt: skip
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.lists(st.tuples(_texts, inner), max_size=4).map(tuple)),
    max_leaves=16,
)
"""Tuples of pairs stand for objects: names may come twice."""


class Writer:
    """Writes a value as JSON with white space wherever it may be, and escapes where they need not be."""

    def __init__(self, draw: Any) -> None:
        self.white = lambda: draw(st.sampled_from([b"", b"", b" ", b"\n\t", b"\r\n  "]))
        self.escape = lambda: draw(st.booleans())

    def write(self, value: Any) -> bytes:
        return self.white() + self._bare(value) + self.white()

    def _bare(self, value: Any) -> bytes:
        if isinstance(value, list):
            return b"[" + (b",".join(map(self.write, value)) or self.white()) + b"]"
        if isinstance(value, tuple):
            fields = [self.write(name) + b":" + self.write(inner) for name, inner in value]
            return b"{" + (b",".join(fields) or self.white()) + b"}"
        ascii_only = self.escape() or value == "\ud800"
        text = json.dumps(value, ensure_ascii=ascii_only)
        if isinstance(value, str) and self.escape():
            text = text.replace(":", "\\u003a").replace("/", "\\/")
        return text.encode()


def pointers(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Every place of a decoded document."""
    yield at, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from pointers(inner, at + pointer((name,)))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from pointers(inner, f"{at}/{position}")


@settings(deadline=None, max_examples=150)
@given(value=_values, data=st.data())
def test_the_span_holds_the_value_that_the_pointer_leads_to(value: Any, data: st.DataObject) -> None:
    document = Writer(data.draw).write(value)
    decoded = json.loads(document)
    for at, inner in pointers(decoded):
        span = locate(document, at)
        assert span is not None
        found = document[slice(*span)]
        assert json.dumps(json.loads(found)) == json.dumps(inner)
        assert found == found.strip(b" \t\r\n")
        assert locate(document, at + "/no such name") is None


@settings(deadline=None, max_examples=150)
@given(value=_values, data=st.data())
def test_gaps_are_the_white_space_before_closing_brackets(value: Any, data: st.DataObject) -> None:
    """Without them the document says the same, and none is left."""
    document = Writer(data.draw).write(value)
    without = document
    for start, end in reversed(closing_gaps(document)):
        assert start < end
        assert document[start:end].strip(b" \t\r\n") == b""
        assert document[end : end + 1] in (b"]", b"}")
        without = without[:start] + without[end:]
    assert json.dumps(json.loads(without)) == json.dumps(json.loads(document))
    assert closing_gaps(without) == []


CASES: dict[str, tuple[bytes, str, bytes | None]] = {
    "the_whole": (b' {"a": 1} ', "", b'{"a": 1}'),
    "a_scalar": (b" 12 ", "", b"12"),
    "field": (b'{"a":1,"b":"x"}', "/b", b'"x"'),
    "element": (b'[{"a":1}, [2, 3]]', "/1/0", b"2"),
    "the_last_of_two_counts": (b'{"a":1,"b":0,"a":{"c":2}}', "/a", b'{"c":2}'),
    "the_last_of_two_objects": (b'{"a":{"c":1},"a":{"d":2}}', "/a/c", None),
    "twice_by_an_escape": (b'{"a":1,"\\u0061":2}', "/a", b"2"),
    "an_escaped_name": (b'{"\\"q\\"":1}', '/"q"', b"1"),
    "slash_and_tilde": (b'{"a/b~":{"~1":1}}', "/a~1b~0/~01", b"1"),
    "the_empty_name": (b'{"":{"":1}}', "//", b"1"),
    "a_number_as_a_name": (b'{"0":"x"}', "/0", b'"x"'),
    "brackets_in_strings": (b'{"a":"]}","b":"{[","c":1}', "/c", b"1"),
    "backslash_at_the_end": (b'{"a":"\\\\","b":1}', "/b", b"1"),
    "no_such_name": (b'{"a":1}', "/b", None),
    "no_such_element": (b"[1]", "/1", None),
    "no_leading_zeros": (b"[1,2]", "/01", None),
    "no_name_in_an_array": (b"[1]", "/a", None),
    "below_a_scalar": (b'{"a":1}', "/a/b", None),
    "below_a_string": (b'{"a":"{\\"b\\":1}"}', "/a/b", None),
    "empty_containers": (b'{"a":{ },"b":[ ],"c":1}', "/c", b"1"),
}


@pytest.mark.parametrize(("document", "at", "expected"), CASES.values(), ids=CASES)
def test_locate(document: bytes, at: str, expected: bytes | None) -> None:
    span = locate(document, at)
    assert (None if span is None else document[slice(*span)]) == expected


@pytest.mark.parametrize(
    ("document", "gaps"),
    [(b"[1 ]", [(2, 3)]), (b'{"a":"x }" \n}', [(10, 12)]), (b"[ ]", [(1, 2)]), (b"[ 1, {} ]", [(7, 8)]), (b' "a ]" ', [])],
)
def test_closing_gaps(document: bytes, gaps: list[tuple[int, int]]) -> None:
    assert closing_gaps(document) == gaps


def test_gaps_are_found_without_reading_the_document_again_for_each() -> None:
    """Counted, not timed: the bytes copied are few even where there are thousands of brackets."""
    copied = 0

    class Counted(bytes):
        def __getitem__(self, key: Any) -> Any:
            nonlocal copied
            part = bytes.__getitem__(self, key)
            copied += len(part) if isinstance(key, slice) else 1
            return part

    document = Counted(b"[" + b",".join([b'{"a":[1 ]}'] * 2000) + b" ]")
    assert len(closing_gaps(document)) == 2001
    assert copied < 5 * len(document)


def test_steps() -> None:
    assert steps_of("") == []
    assert steps_of("/a/0//~1~0~01") == ["a", "0", "", "/~~1"]


def test_a_long_string_needs_no_stack() -> None:
    document = b'{"a":"%b","b":1}' % (b"x\\n" * 300_000)
    assert locate(document, "/b") == (len(document) - 2, len(document) - 1)
    assert json_spans.closing_gaps(document) == []


# names, strings, characters


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_the_name_of_every_field_is_located(data: st.DataObject) -> None:
    document = Writer(data.draw).write(data.draw(_values))
    for place, _ in pointers(json.loads(document)):
        span = locate_name(document, place)
        holder = locate(document, place.rpartition("/")[0])
        assert holder is not None
        if place and document[holder[0] : holder[0] + 1] == b"{":
            assert span is not None
            assert json.loads(document[slice(*span)]) == steps_of(place)[-1]
        else:
            assert span is None


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_every_text_of_a_document_is_among_its_strings(data: st.DataObject) -> None:
    document = Writer(data.draw).write(data.draw(_values))
    spans = list(strings(document))
    assert all(isinstance(json.loads(document[slice(*span)]), str) for span in spans)
    places = [place for place, value in pointers(json.loads(document)) if isinstance(value, str)]
    assert {locate(document, place) for place in places} <= set(spans)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_the_characters_of_a_string_are_located_one_by_one(data: st.DataObject) -> None:
    text = data.draw(st.text(st.sampled_from('ab"\\/~\n\t\x00\u2028é€\U0001f30a\ud800'), max_size=12))
    writer = Writer(data.draw)
    document = b" " + (json.dumps(text).encode() if "\ud800" in text else writer.write(text)) + b" "
    string = locate(document, "")
    assert string is not None
    spans = [character(document, string, number) for number in range(len(text) + 1)]
    assert [json.loads(b'"' + document[slice(*span)] + b'"') for span in spans[:-1]] == list(text)
    assert spans[-1] == (string[1] - 1, string[1] - 1), "behind the last one there is none"
    assert [start for start, _ in spans[1:]] == [end for _, end in spans[:-1]]


def test_bytes_that_are_no_utf_8_are_characters_too() -> None:
    document = b'"a\xe9\xffb"'
    assert [document[slice(*character(document, (0, 6), n))] for n in range(4)] == [b"a", b"\xe9", b"\xff", b"b"]


@pytest.mark.parametrize(
    "document", [b"", b"{", b'{"a', b'{"a"', b'{"a":', b'{"a":}', b"[,]", b'"\\', b"}", b'{"a" 1}', b"[[[", b'{"a":"b']
)
def test_documents_that_are_none_lead_nowhere_bad(document: bytes) -> None:
    """Payloads that were read tolerantly come here too."""
    for place in ("", "/a", "/0", "/a/b"):
        for span in (locate(document, place), locate_name(document, place)):
            assert span is None or 0 <= span[0] <= span[1] <= len(document) + 1
    list(strings(document))
