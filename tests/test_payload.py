"""JSON out of a frame's bytes: strictly, then tolerantly, and never at the price of another exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import payload


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a":[1,2.5,true,null,"\\u00e9"]}', {"a": [1, 2.5, True, None, "é"]}),
        (b' \r\n{"a" : 1}\t', {"a": 1}),
        (b"12345678901234567890123", 12345678901234567890123),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'"\xf0\x9f\x8c\x8a"', "🌊"),
    ],
)
def test_strict(data: bytes, value: Any) -> None:
    assert payload.strict(data) == value


@pytest.mark.parametrize(
    ("data", "value", "kind"),
    [
        (b'{"a":"\\ud83d"}', {"a": "\ud83d"}, None),  # a lone surrogate
        (b'{"\\udc00":1}', {"\udc00": 1}, None),
        (b'{"a":"line\nline\x00"}', {"a": "line\nline\x00"}, "framing/invalid-json"),  # raw control characters
        (b'{"a":"\xff\xc3"}', {"a": "\ufffd\ufffd"}, "framing/invalid-utf8"),
        (b'{"a":"\xff\n"}', {"a": "\ufffd\n"}, "framing/invalid-utf8"),  # one finding is enough
        (b"[" * 250 + b"]" * 250, json.loads("[" * 250 + "]" * 250), None),
    ],
    ids=["lone_surrogate", "lone_surrogate_in_a_name", "control_characters", "invalid_utf8", "both", "deep"],
)
def test_what_the_strict_reader_refuses_and_recordings_have(data: bytes, value: Any, kind: str | None) -> None:
    with pytest.raises(ValueError):
        payload.strict(data)
    assert payload.tolerant(data) == (value, kind)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"a":', "framing/invalid-json"),
        (b' {"a"}', "framing/invalid-json"),
        (b"[1,", "framing/invalid-json"),
        (b"{'a':1}", "framing/invalid-json"),
        (b'{"a":1}}', "framing/invalid-json"),
        (b'{"a":\xff}', "framing/invalid-json"),
        (b"", "framing/non-json-data"),
        (b"   ", "framing/non-json-data"),
        (b"<html>", "framing/non-json-data"),
        (b"undefined", "framing/non-json-data"),
        (b'\xef\xbb\xbf{"a":1}', "framing/non-json-data"),
        (b'"open', "framing/non-json-data"),
        (b"[" * 300 + b"]" * 300, "framing/invalid-json"),
        (b"[" * 100_000, "framing/invalid-json"),
        (b'{"a":' * 100_000, "framing/invalid-json"),
        (b'{"a":1%b}' % (b"0" * 5000), "framing/invalid-json"),  # more digits than Python turns into a number
    ],
    ids=lambda value: value[:8].decode(errors="replace") if isinstance(value, bytes) else value,
)
def test_what_cannot_be_read_at_all(data: bytes, kind: str) -> None:
    with pytest.raises(ValueError):
        payload.strict(data)
    with pytest.raises(payload.NotJSON) as raised:
        payload.tolerant(data)
    assert raised.value.kind == kind
    assert str(raised.value)
    assert not payload.is_whole(data)


@pytest.mark.parametrize("depth", [1, 2, 255, 256])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_the_greatest_depth(depth: int, opening: str, closing: str) -> None:
    inner = opening.replace(":", ":0") if closing == "}" else opening
    text = opening * (depth - 1) + inner + closing * depth
    assert payload.from_text(text) == json.loads(text)
    deeper = opening * 256 + inner + closing * 257
    with pytest.raises(ValueError, match="nested too deeply"):
        payload.from_text(deeper)


def test_breadth_is_no_depth() -> None:
    text = json.dumps([[[n] for n in range(2000)], {"a": {"b": [{}] * 2000}}])
    assert payload.from_text(text) == json.loads(text)


@pytest.mark.parametrize("text", ["", "{", "'a'", "1 2", "[" * 100_000, '"a\nb"'])
def test_from_text_raises_value_errors_only(text: str) -> None:
    with pytest.raises(ValueError):
        payload.from_text(text)


def test_from_text_may_pass_control_characters() -> None:
    assert payload.from_text('"a\nb"', strict=False) == "a\nb"


@pytest.mark.parametrize("data", [b"1", b"null", b'"a"', b" {} ", b'{"a":"\\ud800"}', b'"\n"', b'"\xff"'])
def test_is_whole(data: bytes) -> None:
    assert payload.is_whole(data)


_pieces = st.sampled_from(
    [b'{"a":', b'"', b"\\", b"\\ud800", b"\xff", b"[", b"]", b"}", b",", b"1", b"null", b"NaN", b"1e999", b"\n"]
)


@settings(deadline=None)
@given(st.one_of(st.binary(max_size=30), st.lists(_pieces, max_size=10).map(b"".join)))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """What the strict reader takes the tolerant one takes as well, and as the same value; what neither takes is `NotJSON`."""
    try:
        strict = payload.strict(data)
    except ValueError:
        strict = None
    try:
        value, kind = payload.tolerant(data)
    except payload.NotJSON as error:
        refused = error.kind
    else:
        refused = None
    if refused is not None:
        assert refused in ("framing/invalid-json", "framing/non-json-data")
        assert strict is None
        return
    assert kind in (None, "framing/invalid-json", "framing/invalid-utf8")
    assert payload.is_whole(data)
    if strict is not None:
        assert repr(value) == repr(strict)


@pytest.mark.parametrize(
    ("data", "limit", "shown"),
    [
        (b"abc", 120, "'abc'"),
        (b"it's\n", 120, '"it\'s\\n"'),
        (b"\xff\x00", 120, "'\ufffd\\x00'"),
        ("é".encode() * 3, 2, "'éé…'"),
        (b"x" * 10_000, 3, "'xxx…'"),
        (b"", 120, "''"),
    ],
)
def test_quote(data: bytes, limit: int, shown: str) -> None:
    assert payload.quote(data, limit) == shown


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", ""),
        ("tide", "tide"),
        ("flod\u00e9 \U0001f30a", "flod\u00e9 \U0001f30a"),
        ("a\ud83c\udf0ab", "a\U0001f30ab"),
        ("\ud83c\ud83c\udf0a\udf0a", "\ud83c\U0001f30a\udf0a"),  # what is alone stays
        ("\udf0a\ud83c", "\udf0a\ud83c"),
    ],
    ids=["empty", "ascii", "whole", "halves", "halves_among_lone_ones", "the_wrong_way_round"],
)
def test_halves_of_a_character(text: str, whole: str) -> None:
    assert payload.whole(text) == whole


@pytest.mark.parametrize(
    ("data", "several"),
    [
        (b'{"a":1}\n{"a":2}\n', True),
        (b' \n {"a":1}\r\n\r\nnull', True),
        (b'{"a":1}\n\n \n', False),
        (b'{"a":1}', False),
        (b'{\n"a":1\n}\n', False),
        (b'{"a":1} {"a":2}', False),  # its first line says nothing
        (b'{"a":\n{"b":2}\n', False),
        (b"", False),
        (b" \n\t", False),
    ],
)
def test_is_several(data: bytes, several: bool) -> None:
    assert payload.is_several(data) is several


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_names_for_what_is_no_number_are_no_json(name: str) -> None:
    data = b'{"logprob":%s}' % name.encode()
    with pytest.raises(ValueError, match="column"):
        payload.strict(data)
    value, kind = payload.tolerant(data)
    assert isinstance(value["logprob"], float)
    assert kind == "framing/invalid-json"
    with pytest.raises(ValueError, match=f"{name} is no JSON"):
        payload.from_text(data.decode())


def test_a_number_too_large_for_a_float_is_json() -> None:
    assert payload.tolerant(b'{"n":1e400}') == ({"n": float("inf")}, None)


@pytest.mark.parametrize(
    ("data", "said"),
    [(b'{"a":NaN}', "NaN is no JSON"), (b'{"a":"\t"}', "control characters"), (b'{"a":"\xff"}', "no UTF-8")],
)
def test_what_was_tolerated_is_named(data: bytes, said: str) -> None:
    assert said in payload.tolerated(data)
